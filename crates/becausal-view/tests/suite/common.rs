//! A small run that is served, and a plain client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use becausal::data::{Origin, Writer};
use becausal::env::{Options, find, record_at_random};
use becausal::{FitParams, ReadParams, Run};
use becausal_view::{View, ViewParams};
use serde_json::Value;

/// A run of `BuildMarine` that is saved and opened again: it has an environment, but no policy.
pub static RUN: LazyLock<Arc<Run>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let entry = find("BuildMarine-v0").expect("built in");
    let environment = entry.make(&Options::default()).expect("built in");
    let data = record_at_random(&environment, 300, 5).expect("actions have labels");
    let origin = Origin {
        environment: entry.id.to_owned(),
        options: Options::default(),
        seed: Some(5),
        policy: "random".to_owned(),
    };
    let file = folder.path().join("data.parquet");
    let mut writer = Writer::create_of(&file, data.schema(), true, Some(&origin)).expect("a file");
    writer.append(&data).and_then(|()| writer.finish()).expect("written");
    let log = becausal::read(&file, &ReadParams::default()).expect("read");
    let run = becausal::fit(&log, &FitParams::default().members(2).steps(40)).expect("a fit");
    run.save(folder.path().join("run")).expect("saved");
    Arc::new(Run::open(folder.path().join("run")).expect("opened"))
});

/// The run, served.
pub fn view() -> View {
    View::start(Arc::clone(&RUN), &ViewParams::default()).expect("a server")
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// Sends bytes and reads until the server hangs up; `None` if it does so without a word.
pub fn sent(port: u16, bytes: &[u8]) -> Option<Reply> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    // The server may refuse before it has read everything.
    let _ = stream.write_all(bytes);
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Reply { status, head: head.to_owned(), body: body.to_owned() })
}

/// The path of the page: the token between slashes.
pub fn path(view: &View) -> String {
    let address = view.address();
    address[address.rfind(&format!(":{}", view.port())).expect("a port")..]
        .split_once('/')
        .map(|(_, path)| format!("/{path}"))
        .expect("a path")
}

pub fn get(view: &View, address: &str) -> Reply {
    let request =
        format!("GET {}{address} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", path(view), view.port());
    sent(view.port(), request.as_bytes()).expect("a reply")
}

pub fn post(view: &View, address: &str, body: &str) -> Reply {
    let request = format!(
        "POST {}{address} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        path(view),
        view.port(),
        body.len()
    );
    sent(view.port(), request.as_bytes()).expect("a reply")
}

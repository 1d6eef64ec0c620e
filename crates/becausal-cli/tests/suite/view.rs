//! `becausal view`: it prints its address, gives the answers of `explain`, and ends with Ctrl-C.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::{done, folder, refused};

fn viewed(folder: &Path, rest: &[&str]) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_becausal"))
        .current_dir(folder)
        .args(["view", "run", "--no-open"])
        .args(rest)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut line = String::new();
    let output = child.stdout.take().expect("an output");
    BufReader::new(output).read_line(&mut line).expect("an address");
    (child, line)
}

/// The body of the reply to a question.
fn answered(address: &str, path: &str, body: &str) -> String {
    let (host, token) = address
        .strip_prefix("http://")
        .and_then(|rest| rest.trim_end().trim_end_matches('/').split_once('/'))
        .unwrap_or_else(|| panic!("{address}"));
    let mut stream = TcpStream::connect(host).expect("it listens");
    write!(
        stream,
        "POST /{token}/{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("read");
    text.split_once("\r\n\r\n").expect("a reply").1.to_owned()
}

#[test]
fn the_viewer_answers_as_explain_does_and_ends_with_ctrl_c() {
    let folder = folder();
    let at = folder.path();
    done(at, &["collect", "AimTest-v0", "-n", "400", "-o", "data.parquet", "-q"]);
    done(at, &["fit", "data.parquet", "-o", "run", "--members", "2", "--steps", "40", "-q"]);
    let (mut child, line) = viewed(at, &["-q"]);
    let why = done(at, &["explain", "run", "--episode", "0", "--step", "2", "--json"]);
    assert_eq!(answered(&line, "api/why", r#"{"episode": 0, "step": 2}"#), why);
    let taken = done(at, &["explain", "run", "--step", "2", "--brief"]);
    let other = if taken.contains("a = 3 ") { "2" } else { "3" };
    let asked = ["explain", "run", "--step", "2", "--why-not", other, "--horizon", "3", "--json"];
    let question = format!(r#"{{"episode": 0, "step": 2, "action": "{other}", "horizon": 3}}"#);
    assert_eq!(answered(&line, "api/why-not", &question), done(at, &asked));
    let what_if = done(at, &["explain", "run", "--step", "2", "--what-if", "x1=0.5", "--json"]);
    let question = r#"{"episode": 0, "step": 2, "change": "x1=0.5"}"#;
    assert_eq!(answered(&line, "api/what-if", question), what_if);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("`kill` is there").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));

    let (mut child, line) = viewed(at, &["--json", "-q"]);
    let value: serde_json::Value = serde_json::from_str(&line).expect("one JSON object");
    let address = value["address"].as_str().expect("an address").to_owned();
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");
    let port = address.split([':', '/']).nth(4).expect("a port").to_owned();
    let error = refused(at, &["view", "run", "--no-open", "--port", &port], 1);
    assert!(error.contains(&port) && error.contains("another port"), "{error}");
    child.kill().expect("killed");
    child.wait().expect("it ends");
}

#[test]
fn a_folder_that_is_no_run_cannot_be_viewed() {
    let folder = folder();
    let error = refused(folder.path(), &["view", "nowhere", "--no-open"], 1);
    assert!(error.contains("nowhere"), "{error}");
}

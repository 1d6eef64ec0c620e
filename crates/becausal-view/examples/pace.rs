//! How long answers of the viewer take: `cargo run --release -p becausal-view --example pace -- RUN`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

use becausal::env::{action_text, typical_actions};
use becausal::{Ask, Run};
use becausal_view::{View, ViewParams};
use serde_json::json;

/// Questions of which the median is told.
const REPEATED: usize = 21;

/// Processor time of this program so far, in milliseconds; 0 where the system does not tell. It hardly depends on what else
/// the machine does.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    // Ticks of 10 ms.
    (ticks(12).unwrap_or(0.0) + ticks(13).unwrap_or(0.0)) * 10.0
}

fn median(mut work: impl FnMut(usize)) -> f64 {
    let mut times: Vec<f64> = (0..REPEATED)
        .map(|number| {
            let began = Instant::now();
            work(number);
            began.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPEATED / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("expected the folder of a run")?;
    let began = Instant::now();
    let run = Arc::new(Run::open(path)?);
    println!("opening the run: {:.0} ms", began.elapsed().as_secs_f64() * 1000.0);
    let ask = Ask::default();
    let plays = run.policy().is_some() && run.environment().is_some();
    let moment = if plays { run.play(0)?.at(10)? } else { run.recorded(0, 10)? };
    println!("an explainer: {:.1} ms", median(|_| drop(run.explainer(&ask))));
    let explainer = run.explainer(&ask)?;
    println!("the agent's side: {:.1} ms", median(|_| drop(explainer.choice(&moment))));
    println!("why: {:.1} ms", median(|_| drop(run.why(&moment, &ask))));
    let done = moment.action();
    let other = typical_actions(run.schema(), 64).into_iter().find(|action| action != done);
    let other = action_text(run.schema(), &other.ok_or("there is no other action")?);
    println!("why not {other}: {:.1} ms", median(|_| drop(run.why_not(&moment, &other, &ask))));
    let answer = run.why_not(&moment, &other, &ask)?;
    println!("its words and pictures: {:.1} ms", median(|_| drop(answer.html())));
    drop(explainer);
    let view = View::start(run, &ViewParams::default())?;
    let (_, token) = view.address().trim_end_matches('/').rsplit_once('/').ok_or("an address")?;
    let mut action = String::new();
    for (address, body) in [
        // As the page asks: five steps ahead unless somebody says otherwise.
        ("page/moment", json!({ "horizon": 5 })),
        ("page/answer", json!({ "horizon": 5 })),
        ("page/answer", json!({ "action": "other", "horizon": 5 })),
        ("page/answer", json!({ "action": "other", "horizon": 20 })),
        ("page/scenes", json!({ "action": "other", "horizon": 5 })),
        ("page/real", json!({ "action": "other", "horizon": 5 })),
    ] {
        let mut question = body.clone();
        question[if plays { "seed" } else { "episode" }] = json!(0);
        if body.get("action").is_some() {
            question["action"] = json!(action);
        }
        let mut reply = String::new();
        let before = processor_time();
        let time = median(|step| {
            question["step"] = json!(10 + step % 5);
            let text = question.to_string();
            reply.clear();
            let sent = TcpStream::connect(("127.0.0.1", view.port())).and_then(|mut stream| {
                write!(
                    stream,
                    "POST /{token}/{address} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\n\
                     Content-Length: {}\r\n\r\n{text}",
                    view.port(),
                    text.len()
                )?;
                stream.read_to_string(&mut reply)
            });
            if let Err(error) = sent {
                println!("{address}: {error}");
            }
        });
        let (head, content) = reply.split_once("\r\n\r\n").unwrap_or((&reply, ""));
        let status = head.split(' ').nth(1).unwrap_or_default();
        let worked = (processor_time() - before) / REPEATED as f64;
        println!("{address} {body}: {time:.1} ms, {worked:.1} ms of a core, status {status}");
        if address == "page/moment" {
            // The first of the other actions.
            let value: serde_json::Value = serde_json::from_str(content)?;
            let questions = value["questions"].as_str().unwrap_or_default();
            let others: Vec<&str> = questions.split("data-ask=\"").skip(2).collect();
            let first = others.first().and_then(|other| other.split('"').next());
            first.ok_or("there is no other action")?.clone_into(&mut action);
        }
    }
    Ok(())
}

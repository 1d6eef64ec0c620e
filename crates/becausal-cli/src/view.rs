//! `becausal view`: ask in the browser.

use std::process::{Command, Stdio};
use std::sync::Arc;

use becausal::Run;
use becausal_view::{ViewParams, serve};
use serde_json::json;

use crate::arguments::{Common, View};
use crate::describe;
use crate::failure::Failure;
use crate::output::{deliver, say};
use crate::progress::opening;
use crate::stop::Stop;

pub fn run(common: &Common, arguments: &View) -> Result<String, Failure> {
    let run = Arc::new(Run::open_with(&arguments.run, &opening(common))?);
    let stop = Stop::on_interrupt("", "");
    // A second Ctrl-C, while answers are still on their way, ends the program at once.
    let begun = |address: &str| {
        let text = if common.json {
            describe::line(&json!({ "address": address }))
        } else {
            format!("{address}\n")
        };
        deliver(&text, common.json, 0);
        if !common.quiet {
            say("The page is served on this machine only. Ctrl-C ends it.");
        }
        if !arguments.no_open {
            open(address);
        }
    };
    let params = ViewParams { port: arguments.port };
    serve(run, &params, begun, || stop.is_asked()).map_err(Failure::failed)?;
    Ok(String::new())
}

/// Opens a browser. Where there is none, the address was printed.
fn open(address: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.spawn();
}

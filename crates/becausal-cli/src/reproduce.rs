//! `becausal reproduce`: hands over to `becausal-paper`.

use std::path::PathBuf;
use std::process::Command;

use becausal::quoted;

use crate::arguments::{Common, Reproduce};
use crate::failure::Failure;

/// The program that measures the paper's tables and figures anew.
const PROGRAM: &str = "becausal-paper";

pub fn run(common: &Common, arguments: &Reproduce) -> Result<String, Failure> {
    let mut flags = Vec::new();
    flags.extend(common.json.then(|| "--json".to_owned()));
    flags.extend(common.quiet.then(|| "--quiet".to_owned()));
    flags.extend(common.threads.map(|threads| format!("--threads={threads}")));
    let beside = std::env::current_exe().ok().map(|program| program.with_file_name(PROGRAM));
    let program = beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(PROGRAM));
    let status = Command::new(&program).args(&arguments.arguments).args(flags).status().map_err(
        |error| {
            Failure::failed(format!(
                "cannot start {PROGRAM}: {error}. It is not installed with this program; from a \
             checkout: cargo run --release -p {PROGRAM} -- {}",
                arguments.arguments.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
            ))
        },
    )?;
    match status.code() {
        Some(0) => Ok(String::new()),
        // It has said why.
        Some(code) => std::process::exit(code),
        None => Err(Failure::failed(format!("{PROGRAM} was ended by a signal"))),
    }
}

//! `becausal`: why did the agent do that?

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(becausal_cli::main(std::env::args_os()))
}

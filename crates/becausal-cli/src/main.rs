//! `becausal`: why did the agent do that?
//!
//! The program is thin: it reads arguments, calls the library, and tells people what came of it.

mod arguments;
mod audit;
mod check;
mod collect;
mod demo;
mod describe;
mod discover;
mod envs;
mod explain;
mod failure;
mod fit;
mod picture;
mod place;
mod progress;
mod replay;
mod report;
mod reproduce;
mod stop;
mod train;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command, Common};
use failure::Failure;

fn main() -> ExitCode {
    // The Parquet decoder panics on some damaged files; the library makes an error of it.
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !becausal::data::is_decoding_parquet() {
            default(info);
        }
    }));
    let Arguments { common, command } = Arguments::parse();
    match threads(&common).and_then(|()| run(&common, &command)) {
        Ok(text) => {
            // A reader that stops reading (`| head`) is no failure.
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(failure) if failure.is_result() => {
            let _ = std::io::stdout().write_all(failure.to_string().as_bytes());
            failure.code()
        }
        Err(failure) => {
            let _ = std::io::stderr().write_all(failure.to_string().as_bytes());
            failure.code()
        }
    }
}

/// Sets the number of threads, once for the whole program.
fn threads(common: &Common) -> Result<(), Failure> {
    if let Some(threads) = common.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get())
            .build_global()
            .map_err(|error| Failure::failed(format!("cannot start {threads} threads: {error}")))?;
    }
    Ok(())
}

/// Carries out a command and gives the text for standard output.
fn run(common: &Common, command: &Command) -> Result<String, Failure> {
    match command {
        Command::Envs(arguments) => envs::run(common, arguments),
        Command::Check(arguments) => check::run(common, arguments),
        Command::Collect(arguments) => collect::run(common, arguments),
        Command::Replay(arguments) => replay::run(common, arguments),
        Command::Discover(arguments) => discover::run(common, arguments),
        Command::Fit(arguments) => fit::run(common, arguments),
        Command::Train(arguments) => train::run(common, arguments),
        Command::Explain(arguments) => explain::run(common, arguments),
        Command::Audit(arguments) => audit::run(common, arguments),
        Command::Reproduce(arguments) => reproduce::run(common, arguments),
        Command::Report(arguments) => report::run(common, arguments),
        Command::Demo(arguments) => demo::run(common, arguments),
    }
}

//! The program `becausal`, to be called from its `main` and from Python (`python -m becausal`).
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
mod output;
mod picture;
mod place;
mod progress;
mod replay;
mod report;
mod reproduce;
mod stop;
mod train;
mod view;

use std::ffi::OsString;
use std::io::Write;
use std::sync::{Arc, Once};

use becausal::Complete;
use clap::Parser;

use arguments::{Arguments, Command, Common};
use failure::Failure;
use output::{deliver, say};

/// Runs the program with these arguments, the first of which is its name, and gives its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    main_with(arguments, None)
}

/// The same; `complete` adds to every run that is opened what its folder does not hold.
pub fn main_with(
    arguments: impl IntoIterator<Item = OsString>,
    complete: Option<Arc<Complete>>,
) -> u8 {
    let words: Vec<OsString> = arguments.into_iter().collect();
    quiet_decoder();
    let Arguments { mut common, command } = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error, &words),
    };
    common.complete = complete;
    match with_threads(&common, || run(&common, &command)) {
        Ok(text) => deliver(&text, common.json, 0),
        Err(failure) if failure.is_result() => {
            deliver(&failure.to_string(), common.json, failure.code())
        }
        Err(failure) => tell(&failure, common.json),
    }
}

/// The Parquet decoder panics on some damaged files; the library makes an error of it, and nothing is printed.
fn quiet_decoder() {
    // A process may run several commands, one after the other.
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !becausal::data::is_decoding_parquet() {
                default(info);
            }
        }));
    });
}

/// Says what went wrong: to people on standard error, to programs on standard output.
fn tell(failure: &Failure, is_json: bool) -> u8 {
    if is_json {
        return deliver(&failure.json(), true, failure.code());
    }
    say(failure.to_string().trim_end());
    failure.code()
}

/// A command line that cannot be read; help and the version come this way too.
fn refuse(error: &clap::Error, words: &[OsString]) -> u8 {
    let is_json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    if error.use_stderr() && is_json {
        let text = error.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        return tell(&Failure::wrong_arguments(text.trim_end()), true);
    }
    // What cannot be printed in full is a failure.
    match error.print() {
        Ok(()) if error.use_stderr() => failure::USAGE,
        Ok(()) => match std::io::stdout().flush() {
            Ok(()) => 0,
            Err(_) => failure::FAILED,
        },
        Err(_) => failure::FAILED,
    }
}

/// The most threads that may be asked for. More than there are cores make nothing faster.
const MAX_THREADS: usize = 1024;

/// Bytes of the stack of a thread that carries out a command, as many as a program's first thread has on Linux.
const STACK: usize = 8 << 20;

/// Does something with the number of threads that was asked for.
fn with_threads<T: Send>(
    common: &Common,
    job: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let Some(threads) = common.threads else {
        return job();
    };
    if threads.get() > MAX_THREADS {
        return Err(Failure::usage(format!(
            "--threads is {threads}, expected at most {MAX_THREADS}"
        )));
    }
    // Not those of the whole process, which can be set only once: it may run other commands, too.
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.get())
        .stack_size(STACK)
        .build()
        .map_err(|error| Failure::failed(format!("cannot start {threads} threads: {error}")))?
        .install(job)
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
        Command::View(arguments) => view::run(common, arguments),
        Command::Demo(arguments) => demo::run(common, arguments),
    }
}

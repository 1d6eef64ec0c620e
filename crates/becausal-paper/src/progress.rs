//! Progress as plain lines on standard error.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use becausal::progress::{Advance, Listener};

use crate::number::count;

/// Time between two lines.
const PAUSE: Duration = Duration::from_secs(5);

/// A listener that prints a line every few seconds, or nothing when quiet.
pub fn lines(quiet: bool) -> Listener {
    if quiet {
        return Listener::default();
    }
    let due = Mutex::new(Instant::now() + PAUSE);
    Listener::new(move |at: &Advance<'_>| {
        let mut due = due.lock().unwrap_or_else(PoisonError::into_inner);
        if Instant::now() >= *due {
            *due = Instant::now() + PAUSE;
            eprintln!("{}", line(at));
        }
        ControlFlow::Continue(())
    })
}

/// Tells a listener made by [`lines`], which never stops the work, how far it is.
pub fn advance(listener: &Listener, at: &Advance<'_>) {
    let _ = listener.advance(at);
}

/// `fit: 300 of 2,000 steps (a note)`.
fn line(at: &Advance<'_>) -> String {
    let note = if at.note.is_empty() { String::new() } else { format!(" ({})", at.note) };
    format!("{}: {} of {} {}{note}", at.task, count(at.done), count(at.total), at.unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_is_done() {
        let at = Advance { task: "fit", unit: "steps", done: 300, total: 2000, note: "" };
        assert_eq!(line(&at), "fit: 300 of 2,000 steps");
        assert_eq!(line(&Advance { note: "x -> x'", ..at }), "fit: 300 of 2,000 steps (x -> x')");
    }
}

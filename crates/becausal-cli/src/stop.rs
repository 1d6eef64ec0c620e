//! Ctrl-C during long work.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::INTERRUPTED;

/// What Ctrl-C asks for. The first one lets the work stop where nothing is lost; the next one ends the
/// program at once.
#[derive(Clone)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    at_once: Arc<AtomicBool>,
}

impl Stop {
    /// Listens from now on. `first` is said at the first Ctrl-C, `second` at the next one.
    pub fn on_interrupt(first: &str, second: &str) -> Self {
        let stop = Self { asked: Arc::default(), at_once: Arc::default() };
        let (asked, at_once) = (Arc::clone(&stop.asked), Arc::clone(&stop.at_once));
        let (first, second) = (first.to_owned(), second.to_owned());
        // Without a handler the first Ctrl-C ends the program: what was saved stays.
        let _ = ctrlc::set_handler(move || {
            // Whoever started the program may have stopped listening.
            let mut listener = std::io::stderr();
            if at_once.swap(true, Ordering::SeqCst) {
                let _ = writeln!(listener, "{second}");
                std::process::exit(i32::from(INTERRUPTED));
            }
            asked.store(true, Ordering::SeqCst);
            let _ = writeln!(listener, "{first}");
        });
        stop
    }

    /// Whether to stop.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// From now on the first Ctrl-C ends the program.
    pub fn next_is_at_once(&self) {
        self.at_once.store(true, Ordering::SeqCst);
    }
}

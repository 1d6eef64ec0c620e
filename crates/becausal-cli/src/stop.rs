//! Ctrl-C while an agent learns.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::INTERRUPTED;

/// What Ctrl-C asks for. The first one lets the epoch finish, which saves it; the next one ends the
/// program at once, and so does the first one when all epochs are done.
pub struct Stop {
    asked: Arc<AtomicBool>,
    at_once: Arc<AtomicBool>,
}

impl Stop {
    /// Listens from now on. `go_on` is the command that goes on afterwards.
    pub fn on_interrupt(go_on: &str) -> Self {
        let stop = Self { asked: Arc::default(), at_once: Arc::default() };
        let (asked, at_once) = (Arc::clone(&stop.asked), Arc::clone(&stop.at_once));
        let go_on = go_on.to_owned();
        // Without a handler the first Ctrl-C ends the program: the last checkpoint stays.
        let _ = ctrlc::set_handler(move || {
            // Whoever started the program may have stopped listening.
            let mut listener = std::io::stderr();
            if at_once.swap(true, Ordering::SeqCst) {
                let _ = writeln!(listener, "stopped; to go on from the last checkpoint: {go_on}");
                std::process::exit(i32::from(INTERRUPTED));
            }
            asked.store(true, Ordering::SeqCst);
            let _ = writeln!(
                listener,
                "stopping after this epoch (Ctrl-C again: at once, from the last checkpoint)"
            );
        });
        stop
    }

    /// Whether to stop after this epoch.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// There is no epoch left to wait for.
    pub fn next_is_at_once(&self) {
        self.at_once.store(true, Ordering::SeqCst);
    }
}

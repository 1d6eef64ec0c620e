//! Long work: saying how far it is, and stopping it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How far some long work is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Advance<'a> {
    /// What is being done: `discover`, `fit`, `train`, `audit`, …; of a file that is read, its name.
    pub task: &'a str,
    /// What is counted: `pairs`, `steps`, …
    pub unit: &'static str,
    /// How many are done.
    pub done: usize,
    /// Of how many.
    pub total: usize,
    /// What was done last, and how it went, in a few words.
    pub note: &'a str,
}

/// Hears how far long work is, from any thread, and may stop it.
///
/// A closure will do:
///
/// ```
/// use std::ops::ControlFlow;
/// use becausal_core::progress::{Advance, Listener};
///
/// let patient = Listener::new(|at: &Advance<'_>| {
///     eprintln!("{}: {} of {} {}", at.task, at.done, at.total, at.unit);
///     ControlFlow::Continue(())
/// });
/// # let _ = patient;
/// ```
pub trait Progress: Send + Sync {
    /// Some more is done. `Break` stops the work as soon as it can be stopped.
    fn advance(&self, at: &Advance<'_>) -> ControlFlow<()>;
}

impl<F: Fn(&Advance<'_>) -> ControlFlow<()> + Send + Sync> Progress for F {
    fn advance(&self, at: &Advance<'_>) -> ControlFlow<()> {
        self(at)
    }
}

/// Who hears of the progress: a field of every `*Params`. Nobody, by default.
#[derive(Clone, Default)]
pub struct Listener(Option<Arc<dyn Progress>>);

impl Listener {
    /// Nobody.
    pub const NOBODY: Self = Self(None);

    /// This one.
    pub fn new(progress: impl Progress + 'static) -> Self {
        Self(Some(Arc::new(progress)))
    }

    /// Tells how far the work is; `Break` when it is to stop.
    pub fn advance(&self, at: &Advance<'_>) -> ControlFlow<()> {
        self.0.as_ref().map_or(ControlFlow::Continue(()), |progress| progress.advance(at))
    }
}

/// A listener can be handed on to whatever takes one.
impl Progress for Listener {
    fn advance(&self, at: &Advance<'_>) -> ControlFlow<()> {
        Self::advance(self, at)
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Listener(..)" } else { "Listener(nobody)" })
    }
}

/// Listeners do not matter to what is computed.
impl PartialEq for Listener {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Counts what several threads have done, and remembers whether to stop.
#[derive(Debug)]
pub struct Tracker<'a> {
    listener: &'a Listener,
    task: &'a str,
    unit: &'static str,
    total: usize,
    /// May have fractions: the elements of a vector share one pair.
    done: Mutex<f64>,
    stopped: AtomicBool,
}

impl<'a> Tracker<'a> {
    /// Work of `total` units.
    #[must_use]
    pub fn new(listener: &'a Listener, task: &'a str, unit: &'static str, total: usize) -> Self {
        let (done, stopped) = (Mutex::new(0.0), AtomicBool::new(false));
        Self { listener, task, unit, total, done, stopped }
    }

    /// The same, and says that it begins.
    #[must_use]
    pub fn begin(listener: &'a Listener, task: &'a str, unit: &'static str, total: usize) -> Self {
        let tracker = Self::new(listener, task, unit, total);
        tracker.advance(0.0, "");
        tracker
    }

    /// Work that nobody hears of.
    #[must_use]
    pub fn unheard() -> Self {
        static NOBODY: Listener = Listener::NOBODY;
        Self::new(&NOBODY, "", "", 0)
    }

    /// Begins another task for the same listener, who may have stopped this one.
    #[must_use]
    pub fn next(&self, task: &'a str, unit: &'static str, total: usize) -> Self {
        let next = Self::begin(self.listener, task, unit, total);
        next.stopped.fetch_or(self.is_stopped(), Ordering::Relaxed);
        next
    }

    /// So many more units are done.
    pub fn advance(&self, units: f64, note: &str) {
        // The lock is held while the listener is told, so that it hears the counts in order.
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += units;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let count = ((*done + 1e-6) as usize).min(self.total);
        let at = Advance { task: self.task, unit: self.unit, done: count, total: self.total, note };
        if self.listener.advance(&at).is_break() {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the listener wants the work to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_hears_whole_counts_in_order_and_can_stop() {
        let heard: Arc<Mutex<Vec<usize>>> = Arc::default();
        let list = Arc::clone(&heard);
        let listener = Listener::new(move |at: &Advance<'_>| {
            list.lock().expect("no panic").push(at.done);
            if at.done < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let tracker = Tracker::new(&listener, "discover", "pairs", 3);
        tracker.advance(0.5, "x -> x'");
        tracker.advance(0.5, "x -> x'");
        assert!(!tracker.is_stopped());
        tracker.advance(1.0, "y -> x'");
        assert!(tracker.is_stopped());
        assert_eq!(*heard.lock().expect("no panic"), [0, 1, 2]);
    }
}

//! Telling how far the work is, and hearing whether to go on.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// How far a discovery is.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Edges tested so far.
    pub done: usize,
    /// Edges to be tested.
    pub total: usize,
    /// The edge tested last: its cause.
    pub cause: String,
    /// Its effect.
    pub effect: String,
}

/// What is told of every step; the answer says whether to go on.
pub type Listener<'a> = dyn Fn(&Step) -> ControlFlow<()> + Sync + 'a;

/// Counts steps for a listener and remembers whether it wants no more.
pub(super) struct Watch<'a> {
    listener: &'a Listener<'a>,
    total: usize,
    done: Mutex<f64>,
    stopped: AtomicBool,
}

impl<'a> Watch<'a> {
    pub(super) fn new(listener: &'a Listener<'a>, total: usize) -> Self {
        Self { listener, total, done: Mutex::new(0.0), stopped: AtomicBool::new(false) }
    }

    /// So many more edges are tested, the last of them this one.
    pub(super) fn advance(&self, edges: f64, cause: &str, effect: &str) {
        // The lock is held while the listener is told, so that it hears the counts in order.
        let mut done = self.done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *done += edges;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let step = Step {
            done: ((*done + 1e-6) as usize).min(self.total),
            total: self.total,
            cause: cause.to_owned(),
            effect: effect.to_owned(),
        };
        if (self.listener)(&step).is_break() {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the listener wants no more.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

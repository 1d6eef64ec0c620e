//! Progress of long work: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use becausal::discovery::Step;
use becausal::model::FitProgress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::number;

/// How often a plain line is printed.
const PAUSE: Duration = Duration::from_secs(5);

pub struct Progress {
    bar: Option<ProgressBar>,
    /// When the next plain line is due; never when quiet.
    due: Option<Instant>,
    noun: &'static str,
    done: usize,
    total: usize,
}

impl Progress {
    /// Begins work of `total` nouns.
    pub fn new(total: usize, noun: &'static str, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (terminal && !quiet).then(|| {
            let template = "{bar:30} {human_pos}/{human_len} {msg}  {per_sec}  {eta} left";
            let bar = ProgressBar::new(total as u64).with_message(noun);
            match ProgressStyle::with_template(template) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        let due = (!terminal && !quiet).then(|| Instant::now() + PAUSE);
        Self { bar, due, noun, done: 0, total }
    }

    /// Some more is done.
    pub fn advance(&mut self, count: usize) {
        self.done += count;
        if let Some(bar) = &self.bar {
            bar.inc(count as u64);
        }
        if self.due.is_some_and(|due| Instant::now() >= due) {
            eprintln!(
                "{} of {} {}",
                number::count(self.done),
                number::count(self.total),
                self.noun
            );
            self.due = Some(Instant::now() + PAUSE);
        }
    }

    /// What is being worked on.
    pub fn at(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{}  {what}", self.noun));
        }
    }

    /// All is done: the bar goes away, the result speaks.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Progress of a discovery, told by the threads that test its edges.
pub struct EdgeProgress {
    quiet: bool,
    /// The bar and how many edges it shows as done; begun with the first edge, which tells how many there are.
    shown: Mutex<Option<(Progress, usize)>>,
}

impl EdgeProgress {
    pub fn new(quiet: bool) -> Self {
        Self { quiet, shown: Mutex::new(None) }
    }

    /// Another edge is being tested.
    pub fn show(&self, step: &Step) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let (bar, done) =
            shown.get_or_insert_with(|| (Progress::new(step.total, "edges", self.quiet), 0));
        bar.at(&format!("{} -> {}", step.cause, step.effect));
        bar.advance(step.done.saturating_sub(*done));
        *done = step.done.max(*done);
    }

    /// All edges are tested.
    pub fn finish(self) {
        if let Some((bar, _)) = self.shown.into_inner().unwrap_or_else(PoisonError::into_inner) {
            bar.finish();
        }
    }
}

/// Progress of a fit, told by the threads that fit its members.
pub struct MemberProgress {
    /// The bar, and how many steps it shows as done of each member.
    shown: Mutex<(Progress, Vec<usize>)>,
    name: &'static str,
}

impl MemberProgress {
    pub fn new(name: &'static str, members: usize, steps: usize, quiet: bool) -> Self {
        let bar = Progress::new(members * steps, "steps", quiet);
        Self { shown: Mutex::new((bar, vec![0; members])), name }
    }

    /// A member has done some more steps.
    pub fn show(&self, step: FitProgress) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let (bar, done) = &mut *shown;
        // A network that stops early has done all its steps.
        let now = if step.done { step.steps } else { step.step };
        bar.at(&format!("{}, held-out log-likelihood {:.2}", self.name, step.held_out));
        bar.advance(now - done[step.member]);
        done[step.member] = now;
    }

    /// All members are fitted.
    pub fn finish(self) {
        self.shown.into_inner().unwrap_or_else(PoisonError::into_inner).0.finish();
    }
}

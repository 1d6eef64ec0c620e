//! Progress of long work: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

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

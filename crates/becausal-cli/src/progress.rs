//! Progress of long work: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use becausal::OpenParams;
use becausal::progress::{Advance, Progress};
use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::Common;
use crate::output::{printable, say};
use crate::stop::Stop;
use becausal::render::number;

/// How often a plain line is printed. What lies between two reports of the largest work comes on top, and
/// nobody is to wait two seconds without a word.
const PAUSE: Duration = Duration::from_secs(1);

/// A bar, or plain lines.
pub struct Bar {
    /// On a terminal.
    drawn: Option<ProgressBar>,
    /// When the next plain line is due; never when quiet.
    due: Option<Instant>,
    noun: String,
    started: Instant,
    first: usize,
    done: usize,
    total: usize,
}

impl Bar {
    /// The same, as if it had begun with other work, whose next plain line was due at `due`.
    fn after(self, due: Option<Instant>) -> Self {
        Self { due: self.due.map(|own| due.unwrap_or(own)), ..self }
    }

    /// Begins work of `total` nouns, of which `done` are done.
    pub fn new(done: usize, total: usize, noun: &str, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (terminal && !quiet).then(|| {
            let template = "{bar:30} {human_pos}/{human_len} {msg}  {per_sec}  {eta} left";
            let bar = ProgressBar::new(total as u64).with_message(noun.to_owned());
            bar.set_position(done as u64);
            match ProgressStyle::with_template(template) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        let due = (!terminal && !quiet).then(|| Instant::now() + PAUSE);
        let started = Instant::now();
        Self { drawn: bar, due, noun: noun.to_owned(), started, first: done, done, total }
    }

    /// So many are done; what was done last, in a few words.
    pub fn set(&mut self, done: usize, note: &str) {
        self.done = done;
        if let Some(bar) = &self.drawn {
            bar.set_position(done as u64);
            bar.set_message(printable(&format!("{}  {note}", self.noun), false));
        }
        if self.due.is_some_and(|due| Instant::now() >= due) {
            let gap = if note.is_empty() { "" } else { "  " };
            say(&format!(
                "{} of {} {}{gap}{note}{}",
                number::count(done),
                number::count(self.total),
                self.noun,
                self.left()
            ));
            self.due = Some(Instant::now() + PAUSE);
        }
    }

    /// How long the rest will take, where that can be told.
    fn left(&self) -> String {
        let done = self.done.saturating_sub(self.first) as f64;
        if done == 0.0 {
            return String::new();
        }
        let pace = done / self.started.elapsed().as_secs_f64().max(1e-9);
        let left = self.total.saturating_sub(self.done) as f64 / pace;
        format!("  {} s left", number::brief(left.round()))
    }

    /// Prints a plain line next time, however soon.
    fn line_is_due(&mut self) {
        self.due = self.due.map(|_| Instant::now());
    }

    /// Some more are done.
    pub fn advance(&mut self, count: usize) {
        self.set(self.done + count, "");
    }

    /// All is done: the bar goes away, the result speaks.
    pub fn finish(self) {
        if let Some(bar) = self.drawn {
            bar.finish_and_clear();
        }
    }
}

/// Shows the progress of the library, task by task, and passes Ctrl-C on to it.
pub struct Shown {
    quiet: bool,
    stop: Option<Stop>,
    /// The task that is shown, or was shown last.
    current: Mutex<Option<(String, Bar)>>,
}

impl Shown {
    pub fn new(quiet: bool) -> Self {
        Self { quiet, stop: None, current: Mutex::new(None) }
    }

    /// Work that Ctrl-C can stop.
    pub fn stoppable(quiet: bool, stop: Stop) -> Self {
        Self { stop: Some(stop), ..Self::new(quiet) }
    }
}

/// How a command opens a run.
pub fn opening(common: &Common) -> OpenParams {
    let params = OpenParams::default().memory(common.memory()).progress(Shown::new(common.quiet));
    match &common.complete {
        Some(complete) => params.complete(std::sync::Arc::clone(complete)),
        None => params,
    }
}

impl Progress for Shown {
    fn advance(&self, at: &Advance<'_>) -> ControlFlow<()> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // An epoch is part of its training: both have one bar.
        let task = if at.task == "epoch" { "train" } else { at.task };
        // A fit begins anew for each kind of networks.
        let goes_on = current.as_ref().is_some_and(|(shown, bar)| {
            shown == task && bar.total == at.total && bar.done <= at.done
        });
        if !goes_on {
            // Short tasks in a row must not be silent together.
            let due = current.as_ref().and_then(|(_, bar)| bar.due);
            if let Some((_, bar)) = current.take() {
                bar.finish();
            }
            let noun = format!("{} of {task}", at.unit);
            let bar = Bar::new(at.done, at.total, &noun, self.quiet).after(due);
            *current = Some((task.to_owned(), bar));
        }
        if let Some((_, bar)) = current.as_mut() {
            // Every epoch has its line.
            if at.task == "train" && !at.note.is_empty() {
                bar.line_is_due();
            }
            bar.set(at.done, at.note);
            if at.done >= at.total
                && let Some(drawn) = &bar.drawn
            {
                drawn.finish_and_clear();
            }
        }
        if at.task == "conclude"
            && let Some(stop) = &self.stop
        {
            // There is no epoch left to wait for.
            stop.next_is_at_once();
        }
        match &self.stop {
            Some(stop) if stop.is_asked() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

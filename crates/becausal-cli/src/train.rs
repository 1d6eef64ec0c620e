//! `becausal train`: learning to act.

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Instant;

use becausal::env::find;
use becausal::learn::{EpochReport, Evaluation, Imagination, Settings};
use becausal::run::{RunDirectory, Saved, TrainError, TrainingRun};
use serde_json::json;

use crate::arguments::{Common, Train};
use crate::describe;
use crate::failure::Failure;
use crate::number::{brief, count, counted};
use crate::progress::Progress;
use crate::stop::Stop;

pub fn run(common: &Common, arguments: &Train) -> Result<String, Failure> {
    let started = Instant::now();
    let mut run = open(arguments)?;
    let go_on = go_on(arguments, &run);
    let stop = Stop::on_interrupt(&go_on);
    let broken = |error: TrainError, run: &TrainingRun| {
        Failure::from(error).with_advice(&saved(run, &go_on))
    };
    let mut told = Told::new(common, &run, started);
    let mut reached = None;
    while !run.training.is_done() && reached.is_none() && !stop.is_asked() {
        let report = run.run_epoch().map_err(|error| broken(error, &run))?;
        told.epoch(&report);
        let mean = report.evaluation.as_ref().map(Evaluation::native_mean);
        if let (Some(mean), Some(until)) = (mean, arguments.until)
            && mean >= until
        {
            reached = Some(report.real_steps);
        }
    }
    told.finish();
    if stop.is_asked() {
        run.write_policy().map_err(|error| broken(error, &run))?;
        return Err(Failure::interrupted(stopped(common, arguments, &run, &go_on)));
    }
    stop.next_is_at_once();
    let learned = started.elapsed().as_secs_f64();
    let (concluded, evaluation) = run.conclude().map_err(|error| broken(error, &run))?;
    let edges = concluded.graph.as_ref().map(|graph| graph.edges().count());
    let seconds = started.elapsed().as_secs_f64();
    let real_steps = run.training.real_steps;
    if common.json {
        return Ok(describe::line(&json!({
            "real_steps": real_steps,
            "eval_mean": evaluation.mean(),
            "eval_std": evaluation.deviation(),
            "native_eval_mean": evaluation.native_mean(),
            "seconds": seconds,
            "learning_seconds": learned,
            "edges": edges,
            "until": arguments.until,
            "reached_at": reached,
            "epochs": run.training.epoch,
            "model": run.config().settings.model.name(),
            "environment": run.config().environment,
            "seed": run.config().seed,
            "run": arguments.output,
        })));
    }
    let mut text = format!(
        "{}: {} in {} ({} s, of which {} s learning)\n\
         return of the best policy in {} new episodes: {} as the environment pays, {} by the schema's \
         reward terms (deviation {})\n",
        arguments.output.display(),
        counted(real_steps, "real step"),
        counted(run.training.epoch, "epoch"),
        brief(seconds),
        brief(learned),
        evaluation.returns.len(),
        brief(evaluation.native_mean()),
        brief(evaluation.mean()),
        brief(evaluation.deviation()),
    );
    match (arguments.until, reached) {
        (Some(until), Some(steps)) => {
            let steps = counted(steps, "real step");
            let _ = writeln!(text, "an evaluation reached {} after {steps}", brief(until));
        }
        (Some(until), None) => {
            let _ = writeln!(text, "no evaluation reached {}", brief(until));
        }
        _ => {}
    }
    let _ = writeln!(
        text,
        "\nNext: becausal explain {} --episode-seed 0 --step 0",
        arguments.output.display()
    );
    Ok(text)
}

/// The command that goes on with a training.
fn go_on(arguments: &Train, run: &TrainingRun) -> String {
    let (environment, output) = (&run.config().environment, arguments.output.display());
    let until = arguments.until.map_or_else(String::new, |until| format!(" --until {until}"));
    format!("becausal train {environment} -o {output}{until} --resume")
}

/// What is not lost, after something went wrong.
fn saved(run: &TrainingRun, go_on: &str) -> String {
    let Saved { epoch, real_steps } = run.saved();
    let steps = counted(real_steps, "real step");
    format!("Epoch {epoch} ({steps}) is saved. When this is mended, go on from there: {go_on}")
}

/// What is said after Ctrl-C.
fn stopped(common: &Common, arguments: &Train, run: &TrainingRun, go_on: &str) -> String {
    let Saved { epoch, real_steps } = run.saved();
    if common.json {
        return describe::line(&json!({
            "interrupted": true,
            "real_steps": real_steps,
            "epochs": epoch,
            "run": arguments.output,
        }));
    }
    format!(
        "{}: stopped after epoch {epoch}, {}\n\nTo go on: {go_on}\n",
        arguments.output.display(),
        counted(real_steps, "real step"),
    )
}

fn open(arguments: &Train) -> Result<TrainingRun, Failure> {
    let entry = find(&arguments.env)?;
    let path: &Path = &arguments.output;
    if arguments.resume {
        let run = TrainingRun::resume(path, arguments.steps.map(std::num::NonZeroUsize::get))?;
        if run.config().environment != entry.id {
            return Err(Failure::usage(format!(
                "{}: the run is of {}, not of {}",
                path.display(),
                run.config().environment,
                entry.id
            )));
        }
        return Ok(run);
    }
    RunDirectory::refuse_others(path)?;
    let model = arguments.model.as_deref().and_then(Imagination::of);
    let mut settings = Settings::preset(entry.id, &arguments.preset, model)
        .map_err(|error| Failure::usage(error.to_string()))?;
    if let Some(file) = &arguments.config {
        let text = std::fs::read_to_string(file).map_err(|error| {
            Failure::failed(format!("{}: cannot read the settings: {error}", file.display()))
        })?;
        settings.change(&text, &file.display().to_string())?;
    }
    for change in &arguments.set {
        settings.change(change, "--set").map_err(|error| Failure::usage(error.to_string()))?;
    }
    if model.is_some() {
        settings.model = model.unwrap_or(settings.model);
    }
    if let Some(steps) = arguments.steps {
        settings.steps = steps.get();
    }
    let environment = &arguments.environment;
    Ok(TrainingRun::begin(path, entry, &environment.options(), &settings, environment.seed)?)
}

/// Progress: a bar on a terminal, a line an epoch elsewhere.
struct Told {
    bar: Option<Progress>,
    lines: bool,
    started: Instant,
    first: usize,
    done: usize,
    total: usize,
}

impl Told {
    fn new(common: &Common, run: &TrainingRun, started: Instant) -> Self {
        let (done, total) = (run.training.real_steps, run.config().settings.steps);
        let terminal = std::io::stderr().is_terminal();
        let left = total.saturating_sub(done);
        let bar = (terminal && !common.quiet).then(|| Progress::new(left, "steps", false));
        Self { bar, lines: !terminal && !common.quiet, started, first: done, done, total }
    }

    fn epoch(&mut self, report: &EpochReport) {
        let mut text = format!("epoch {}", report.epoch);
        if let Some(mean) = report.mean_return() {
            let _ = write!(text, "  return {}", brief(mean));
        }
        if let Some(evaluation) = &report.evaluation {
            let _ = write!(text, "  evaluation {}", brief(evaluation.native_mean()));
        }
        if let Some(likelihood) = report.log_likelihood {
            let _ = write!(text, "  model log-likelihood {}", brief(likelihood));
        }
        if let Some(edges) = report.edges {
            let _ = write!(text, "  {}", counted(edges, "edge"));
        }
        if let Some(bar) = &mut self.bar {
            bar.at(&text);
            bar.advance(report.real_steps - self.done);
        }
        self.done = report.real_steps;
        if self.lines {
            let seconds = self.started.elapsed().as_secs_f64();
            let pace = (self.done - self.first) as f64 / seconds.max(1e-9);
            let left = self.total.saturating_sub(self.done) as f64 / pace.max(1e-9);
            eprintln!(
                "{} of {} steps  {text}  {} steps/s  {} s left",
                count(self.done),
                count(self.total),
                brief(pace),
                brief(left.round())
            );
        }
    }

    fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish();
        }
    }
}

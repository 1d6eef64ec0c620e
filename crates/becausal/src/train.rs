//! Learning to act: a training that lives in the folder of its run.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use becausal_core::MemoryLimit;
use becausal_core::env::Options;
use becausal_core::progress::{Advance, Listener, Progress};
use becausal_core::text::counted;
use becausal_discovery::Method;
use becausal_envs::find;
use becausal_learn::{EpochReport, Evaluated, Evaluation, Imagination, Settings};

use crate::error::Error;
use crate::memory::check_training;
use crate::run::{OpenParams, Run, TrainConfig, TrainingRun};

/// How to train.
#[derive(Debug, Clone)]
pub struct TrainParams {
    options: Options,
    preset: String,
    model: Option<Imagination>,
    method: Option<Method>,
    changes: Vec<(String, String)>,
    steps: Option<usize>,
    until: Option<f64>,
    seed: u64,
    memory: MemoryLimit,
    progress: Listener,
}

impl Default for TrainParams {
    fn default() -> Self {
        Self {
            options: Options::default(),
            preset: "default".to_owned(),
            model: None,
            method: None,
            changes: Vec::new(),
            steps: None,
            until: None,
            seed: 0,
            memory: MemoryLimit::default(),
            progress: Listener::default(),
        }
    }
}

impl TrainParams {
    /// Options of the environment, as Gymnasium calls them.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// The settings to begin with: `default`, or `paper` for its method and the settings of its table.
    #[must_use]
    pub fn preset(self, preset: impl Into<String>) -> Self {
        Self { preset: preset.into(), ..self }
    }

    /// What imagines experience for the policy.
    #[must_use]
    pub fn model(self, model: Imagination) -> Self {
        Self { model: Some(model), ..self }
    }

    /// The independence test; otherwise that of the preset.
    #[must_use]
    pub fn method(self, method: Method) -> Self {
        Self { method: Some(method), ..self }
    }

    /// Changes settings, as TOML: `members = 3`. `source` is where they stand, for errors.
    #[must_use]
    pub fn change(mut self, toml: impl Into<String>, source: impl Into<String>) -> Self {
        self.changes.push((toml.into(), source.into()));
        self
    }

    /// Real steps in all.
    #[must_use]
    pub fn steps(self, steps: usize) -> Self {
        Self { steps: Some(steps), ..self }
    }

    /// Stops when a policy reaches this mean return, as the environment pays, in two evaluations with different episodes.
    #[must_use]
    pub fn until(self, until: f64) -> Self {
        Self { until: Some(until), ..self }
    }

    /// The seed of all that is random.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// How much memory the training may take; more is refused before it begins.
    #[must_use]
    pub fn memory(self, memory: MemoryLimit) -> Self {
        Self { memory, ..self }
    }

    /// Who hears how far the training is, and may stop it after an epoch.
    #[must_use]
    pub fn progress(self, progress: impl Progress + 'static) -> Self {
        Self { progress: Listener::new(progress), ..self }
    }

    /// All settings for an environment.
    ///
    /// # Errors
    /// When there is no such preset or setting, or a value cannot be.
    pub fn settings(&self, environment: &str) -> Result<Settings, Error> {
        let mut settings = Settings::preset(environment, &self.preset, self.model)?;
        for (toml, source) in &self.changes {
            settings.change(toml, source)?;
        }
        settings.model = self.model.unwrap_or(settings.model);
        settings.method = self.method.unwrap_or(settings.method);
        settings.steps = self.steps.unwrap_or(settings.steps);
        Ok(settings)
    }
}

/// How a training went.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainSummary {
    /// Real steps in all.
    pub real_steps: usize,
    /// Real steps recorded after the training, to explain it.
    pub recorded_steps: usize,
    /// Steps in copies of the environment, and of the episodes that they were copied from, to try other actions.
    pub forked_steps: usize,
    /// Epochs in all.
    pub epochs: usize,
    /// The real steps after which a policy reached what was asked for in two evaluations.
    pub reached_at: Option<usize>,
    /// The episodes of all evaluations that chose the policy, and their steps. They are not among the real steps.
    pub evaluated: Evaluated,
    /// The best policy in new episodes.
    pub evaluation: Evaluation,
    /// Edges of the graph at the end.
    pub edges: Option<usize>,
    /// Seconds of learning, without the last fit.
    pub learning_seconds: f64,
}

/// A training that is done: how it went, and how it was begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// How it went.
    pub summary: TrainSummary,
    /// How it was begun.
    pub config: TrainConfig,
    /// Whether its run has a world model, to explain it with.
    pub has_model: bool,
}

impl Trained {
    fn open(self, path: &Path, memory: MemoryLimit) -> Result<Run, Error> {
        let mut opened = Run::open_with(path, &OpenParams::default().memory(memory))?;
        opened.training = Some(self.summary);
        Ok(opened)
    }
}

/// Learns to act in a built-in environment. Everything goes into the folder `path`, epoch by epoch:
/// whenever it is ended, [`resume`] continues from the last one.
///
/// # Errors
/// When the folder holds something already, a setting is wrong, the training breaks down, or the
/// listener stops it ([`Error::Stopped`]: what was learned is saved).
pub fn train(
    environment: &str,
    path: impl AsRef<Path>,
    params: &TrainParams,
) -> Result<Run, Error> {
    let path = path.as_ref();
    train_policy(environment, path, params)?.open(path, params.memory)
}

/// The same, without opening the run that it leaves: a training without a last fit
/// (`final_fit_steps = 0`) leaves a policy and no world model, and its run cannot be asked.
///
/// # Errors
/// As [`train()`].
pub fn train_policy(
    environment: &str,
    path: impl AsRef<Path>,
    params: &TrainParams,
) -> Result<Trained, Error> {
    let entry = find(environment)?;
    let path = path.as_ref();
    let settings = params.settings(entry.id)?;
    check_training(&settings, &entry.schema(), params.memory)?;
    // Whatever is no preset has no settings either.
    let preset = params.preset.parse().unwrap_or_default();
    let begun = (preset, &settings);
    let training = TrainingRun::begin(path, entry, &params.options, begun, params.seed)?;
    learn(training, params)
}

/// Continues the training in a folder from its last checkpoint, with its own settings; only `steps`,
/// `until`, `memory` and `progress` of the parameters count.
///
/// # Errors
/// When there is no checkpoint or it is damaged, the training breaks down, or the listener stops it.
pub fn resume(path: impl AsRef<Path>, params: &TrainParams) -> Result<Run, Error> {
    let path = path.as_ref();
    resume_policy(path, params)?.open(path, params.memory)
}

/// The same, without opening the run that it leaves; see [`train_policy`].
///
/// # Errors
/// As [`resume`].
pub fn resume_policy(path: impl AsRef<Path>, params: &TrainParams) -> Result<Trained, Error> {
    let run = TrainingRun::resume(path.as_ref(), params.steps, params.memory)?;
    check_training(&run.config().settings, run.directory().schema(), params.memory)?;
    learn(run, params)
}

fn learn(mut run: TrainingRun, params: &TrainParams) -> Result<Trained, Error> {
    let started = Instant::now();
    let total = run.config().settings.steps;
    let tell = |task: &str, done: usize, note: &str| {
        params.progress.advance(&Advance { task, unit: "steps", done, total, note }).is_break()
    };
    run.training.progress = params.progress.clone();
    run.training.until = params.until;
    let mut stopped = tell("train", run.training.real_steps, "");
    while !run.training.is_done() && run.training.reached_at().is_none() && !stopped {
        let report = run.run_epoch()?;
        stopped = tell("train", report.real_steps, &note(&report));
    }
    if stopped {
        run.write_policy()?;
        return Err(Error::Stopped(run.saved()));
    }
    let learning_seconds = started.elapsed().as_secs_f64();
    tell("conclude", run.training.real_steps, "fitting the model that explains");
    let (concluded, evaluation) = run.conclude()?;
    let summary = TrainSummary {
        real_steps: run.training.real_steps,
        recorded_steps: concluded.data.len() - run.training.data.len(),
        forked_steps: concluded.forked_steps,
        epochs: run.training.epoch,
        reached_at: run.training.reached_at(),
        evaluated: run.training.evaluated,
        evaluation,
        edges: concluded.graph.as_ref().map(|graph| graph.edges().count()),
        learning_seconds,
    };
    Ok(Trained { summary, config: run.config().clone(), has_model: concluded.model.is_some() })
}

/// How an epoch went, in a few words.
fn note(report: &EpochReport) -> String {
    let mut text = format!("epoch {}", report.epoch);
    if let Some(mean) = report.mean_return() {
        let _ = write!(text, ", return {mean:.2}");
    }
    if let Some(evaluation) = &report.evaluation {
        let _ = write!(text, ", evaluation {:.2}", evaluation.native_mean());
    }
    if let Some(confirmation) = &report.confirmation {
        let _ = write!(text, ", in other episodes {:.2}", confirmation.native_mean());
    }
    if report.evaluated.episodes > 0 {
        let episodes = counted(report.evaluated.episodes, "evaluation episode");
        let _ = write!(text, ", {episodes} so far");
    }
    if let Some(likelihood) = report.log_likelihood {
        let _ = write!(text, ", model log-likelihood {likelihood:.2}");
    }
    if let Some(edges) = report.edges {
        let _ = write!(text, ", {}", counted(edges, "edge"));
    }
    if let Some(edges) = report.edges_in_use.filter(|edges| report.edges != Some(*edges)) {
        let _ = write!(text, " ({edges} in use)");
    }
    text
}

//! A run: everything that was learned, and the questions it answers.
//!
//! On disk a run is a folder:
//!
//! | file | what |
//! |---|---|
//! | `config.toml` | how the run was made (`Record`) |
//! | `schema.toml` | what the variables are |
//! | `data.parquet` | the transitions that were learned from, and those that were held out |
//! | `graph.json` | the causal graph, with the evidence for every pair |
//! | `world-model/` | the world model: weights as safetensors, and a manifest |
//! | `policy/` | the policy of a training, or of the agent that a fit was given, in the same way |
//! | `audit.json` | how often its answers were right, once somebody audited it under its own policy |
//! | `metrics.csv`, `events.out.tfevents.becausal` | the curves of a training; the second for TensorBoard |
//! | `checkpoint.json`, `checkpoints/` | what a training needs to resume |
//!
//! Every file is written whole or not at all, and nothing in one is ever executed.

mod agents;
mod audits;
mod claim;
mod contents;
mod crc32c;
mod directory;
mod events;
mod finds;
mod kept_audit;
mod metrics;
mod moments;
mod questions;
mod replays;
mod train_config;
mod training_run;
mod tries;

pub use claim::Claim;
pub use crc32c::masked;
pub(crate) use directory::MAX_GRAPH_BYTES;
pub use directory::{RunDirectory, RunError};
pub use finds::{FoundDecision, TurningPoint};
pub use kept_audit::KeptAudit;
pub use metrics::Metrics;
pub use replays::{RealCourse, Source};
pub use train_config::TrainConfig;
pub use training_run::{Saved, TrainError, TrainingRun};
pub use tries::TryParams;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use becausal_core::env::{AnyEnvironment, Options};
use becausal_core::progress::{Listener, Progress};
use becausal_core::{MemoryLimit, Policy, Preset, Schema, Transitions};
use becausal_discovery::CausalGraph;
use becausal_explain::Scale;
use becausal_learn::ActorCritic;
use becausal_model::{ModelKind, Scores, WorldModel};

use crate::error::Error;
use crate::fit::{FitSummary, Split, has_few_recordings};
use crate::graph_view::GraphView;
use crate::record::Record;
use crate::train::TrainSummary;

/// How often a run is read because another one took its place in the meantime.
const MAX_READS: usize = 3;

/// Everything that was learned: schema, data, graph, model, policy and environment if any, and how it
/// was made.
#[derive(Clone)]
pub struct Run {
    path: Option<PathBuf>,
    record: Record,
    schema: Arc<Schema>,
    data: Transitions,
    graph: Option<CausalGraph>,
    model: WorldModel,
    policy: Option<ActorCritic>,
    /// An agent that was made elsewhere; it comes before the run's own policy.
    agent: Option<Arc<dyn Policy + Send>>,
    environment: Option<AnyEnvironment>,
    scale: Scale,
    /// Who hears how far long work is.
    progress: Listener,
    /// What an audit that was kept says of the answers.
    audited: Option<KeptAudit>,
    /// What the model is scored on; `None` for the data that it learned from.
    scored_on: Option<Transitions>,
    fit: Option<FitSummary>,
    pub(crate) training: Option<TrainSummary>,
}

/// How well a model predicts, and on which rows.
#[derive(Debug, Clone, PartialEq)]
pub struct RunScores {
    /// The scores.
    pub scores: Scores,
    /// What they were measured on.
    pub on: ScoredOn,
}

/// The rows that a model is scored on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoredOn {
    /// Held-out episodes: neither discovery nor the fit saw them.
    HeldOut,
    /// Held-out episodes that the fit did not see; the graph may come from the same log.
    HeldOutOfFit,
    /// Held-out stretches of a few long episodes: neither discovery nor the fit saw them.
    HeldOutStretches,
    /// Another log.
    Test,
    /// The rows that were learned from: nothing was held out.
    Training,
    /// The rows that were learned from: the other log that the fit was scored on is not in the run.
    TestIsGone,
}

/// How to open a run.
#[derive(Debug, Clone, Default)]
pub struct OpenParams {
    memory: MemoryLimit,
    progress: Listener,
    complete: Completion,
}

/// What adds to a run that was opened what its folder does not hold.
#[derive(Clone, Default)]
struct Completion(Option<Arc<Complete>>);

/// Adds to a run what its folder does not hold: an environment or an agent of another language.
pub type Complete = dyn Fn(Run) -> Result<Run, Error> + Send + Sync;

impl std::fmt::Debug for Completion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Completion(..)" } else { "Completion(none)" })
    }
}

impl OpenParams {
    /// How much memory its data may take; more is refused before they are read.
    #[must_use]
    pub fn memory(self, memory: MemoryLimit) -> Self {
        Self { memory, ..self }
    }

    /// Adds to the run what its folder does not hold, once it is read.
    #[must_use]
    pub fn complete(self, complete: Arc<Complete>) -> Self {
        Self { complete: Completion(Some(complete)), ..self }
    }

    /// Who hears how far the reading is, and later the scoring, and may stop the reading.
    #[must_use]
    pub fn progress(self, progress: impl Progress + 'static) -> Self {
        Self { progress: Listener::new(progress), ..self }
    }
}

impl Run {
    pub(crate) fn fitted(
        record: Record,
        data: Transitions,
        graph: Option<CausalGraph>,
        model: WorldModel,
        scored_on: Option<Transitions>,
        summary: FitSummary,
        progress: Listener,
    ) -> Result<Self, Error> {
        let schema = Arc::clone(data.schema());
        let environment = environment(&record, &schema)?;
        let scale = Scale::of(&data);
        Ok(Self {
            path: None,
            record,
            schema,
            data,
            graph,
            model,
            policy: None,
            agent: None,
            environment,
            scale,
            progress,
            audited: None,
            scored_on,
            fit: Some(summary),
            training: None,
        })
    }

    /// Opens the folder of a run.
    ///
    /// # Errors
    /// When it is not one, or something in it cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, &OpenParams::default())
    }

    /// Opens the folder of a run with a limit of memory and a listener.
    ///
    /// # Errors
    /// When it is not one, something in it cannot be read, it is too large, or the listener stops
    /// the reading.
    pub fn open_with(path: impl AsRef<Path>, params: &OpenParams) -> Result<Self, Error> {
        let path = path.as_ref();
        // A fit may put another run into the folder while this one is read.
        for _ in 1..MAX_READS {
            let before = identity(path);
            let run = Self::read(path, params);
            if identity(path) == before {
                return run;
            }
        }
        Self::read(path, params)
    }

    /// Reads every part of a run.
    fn read(path: &Path, params: &OpenParams) -> Result<Self, Error> {
        let OpenParams { memory, progress, complete } = params;
        let directory = RunDirectory::open(path)?;
        let schema = Arc::clone(directory.schema());
        let record = Record::parse(&directory.read_config()?).map_err(|problem| RunError {
            path: path.join("config.toml"),
            problem: format!(
                "cannot tell how the run was made: {problem}; restore the file, or make the run again"
            ),
        })?;
        if !directory.has_model() {
            return Err(Error::Missing { part: "world model", why: why_no_model(&record, path) });
        }
        let data = directory.read_data_with(*memory, progress)?;
        let graph = match directory.read_graph()? {
            Some(graph) => Some(graph.for_schema(&schema).map_err(|error| RunError {
                path: path.join("graph.json"),
                problem: error.to_string(),
            })?),
            None => None,
        };
        let scored_on = match &record {
            Record::Fit(fit) => {
                // Earlier versions held nothing out of a log with few episodes.
                let held_out = !fit.test_given && (fit.stretches || !has_few_recordings(&data));
                if held_out { Split::of(&data, fit.held_out, fit.seed).held_out } else { None }
            }
            Record::Train(_) => None,
        };
        let environment = environment(&record, &schema)?;
        let scale = Scale::of(&data);
        let run = Self {
            path: Some(path.to_owned()),
            record,
            schema,
            data,
            graph,
            model: directory.read_model()?,
            policy: directory.read_policy()?,
            agent: None,
            environment,
            scale,
            progress: progress.clone(),
            audited: directory.read_audit()?,
            scored_on,
            fit: None,
            training: None,
        };
        match &complete.0 {
            Some(complete) => complete(run),
            None => Ok(run),
        }
    }

    /// Writes the run into a folder. A folder with the run of an earlier fit, and nothing else in it,
    /// is replaced, whole or not at all.
    ///
    /// The curves and checkpoints of a training are not part of it: they stay in the folder that the
    /// training was made in, and only there it can be resumed.
    ///
    /// # Errors
    /// When there is something else of this name, another process writes there, or it cannot be
    /// written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.save_to(&Claim::to_replace(path.as_ref())?)
    }

    /// Writes the run into a folder that was claimed before the work ([`Claim::to_replace`]).
    ///
    /// # Errors
    /// When something else was put there in the meantime, or it cannot be written.
    pub fn save_to(&self, claim: &Claim) -> Result<(), Error> {
        RunDirectory::replace(claim, &self.schema, |directory| {
            directory.write_config(&self.record.to_toml())?;
            directory.write_data_heard(&self.data, &self.progress)?;
            if let Some(graph) = &self.graph {
                directory.write_graph(graph)?;
            }
            directory.write_model(&self.model)?;
            match &self.policy {
                Some(policy) => directory.write_policy(policy),
                None => Ok(()),
            }
        })?;
        Ok(())
    }

    /// The folder that it was opened from, if any.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// How it was made.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Whose way it was made: ours, or the paper's.
    #[must_use]
    pub fn preset(&self) -> Preset {
        match &self.record {
            Record::Fit(fit) => fit.preset,
            Record::Train(config) => config.preset,
        }
    }

    /// What the variables are.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// All its transitions, the held-out ones too.
    #[must_use]
    pub fn data(&self) -> &Transitions {
        &self.data
    }

    /// What causes what. Printed, it is a table.
    #[must_use]
    pub fn graph(&self) -> GraphView<'_> {
        GraphView::new(&self.schema, self.graph.as_ref())
    }

    /// The world model.
    #[must_use]
    pub fn model(&self) -> &WorldModel {
        &self.model
    }

    /// How the fit went; `None` in a run that was opened from its folder.
    #[must_use]
    pub fn fit_summary(&self) -> Option<&FitSummary> {
        self.fit.as_ref()
    }

    /// How the training went; `None` in a run that was opened from its folder.
    #[must_use]
    pub fn train_summary(&self) -> Option<&TrainSummary> {
        self.training.as_ref()
    }

    /// How each kind of model predicts, where that was asked for.
    #[must_use]
    pub fn compared(&self) -> &[(ModelKind, Scores)] {
        self.fit.as_ref().map_or(&[], |fit| &fit.compared)
    }

    /// How well the model predicts one step ahead: on held-out episodes, where there are some.
    #[must_use]
    pub fn scores(&self) -> RunScores {
        let on = match (&self.record, &self.scored_on) {
            (Record::Fit(fit), None) if fit.test_given => ScoredOn::TestIsGone,
            (_, None) => ScoredOn::Training,
            (Record::Fit(fit), _) if fit.test_given => ScoredOn::Test,
            (Record::Fit(fit), _) if fit.graph_given || !fit.held_out_first => {
                ScoredOn::HeldOutOfFit
            }
            (Record::Fit(fit), _) if fit.stretches => ScoredOn::HeldOutStretches,
            _ => ScoredOn::HeldOut,
        };
        let scored = self.scored_on.as_ref().unwrap_or(&self.data);
        RunScores { scores: self.model.score_heard(scored, &self.progress), on }
    }
}

/// What to do about a run that nothing can be explained with.
fn why_no_model(record: &Record, path: &Path) -> String {
    let why = match record {
        Record::Train(config) if config.settings.final_fit_steps == 0 => {
            "its training fitted none at its end (final_fit_steps = 0); train again with a last \
             fit, or fit a model to a recording of its policy"
        }
        Record::Train(_) if path.join("checkpoint.json").exists() => {
            "its training is not finished; resume it first"
        }
        Record::Train(_) => "its training was not finished; train again",
        Record::Fit(_) => "the folder `world-model` is missing; restore it, or fit again",
    };
    format!("{why} (explanations are made with it)")
}

/// The environment as it was in the run, with its options.
fn environment(record: &Record, schema: &Schema) -> Result<Option<AnyEnvironment>, Error> {
    let known = |id: &str| becausal_envs::find(id).ok().filter(|entry| *entry.schema() == *schema);
    Ok(match record {
        Record::Train(config) => Some(config.make()?),
        Record::Fit(fit) => {
            let (id, options) = match &fit.origin {
                Some(origin) => (origin.environment.as_str(), origin.options.clone()),
                None => (schema.name(), Options::default()),
            };
            match known(id) {
                Some(entry) => Some(entry.make(&options)?),
                None => None,
            }
        }
    })
}

/// Which folder a path leads to; `None` where it is not there, or the system does not say.
fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

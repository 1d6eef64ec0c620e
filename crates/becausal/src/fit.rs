//! From a log to a run: hold out, discover, fit, check, score.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use becausal_core::data::Transitions;
use becausal_core::progress::{Listener, Progress};
use becausal_core::schema::Kind;
use becausal_core::text::read_text;
use becausal_core::{MemoryLimit, Policy, Preset, Schema, Stream};
use becausal_discovery::{CausalGraph, DiscoverParams, Method, Reason, discover};
use becausal_learn::ActorCritic;
use becausal_model::{
    FitData, FitError, FitReport, MAX_MEMBERS, ModelKind, ModelParams, Scores, Shortfall,
    WorldModel,
};

use crate::error::Error;
use crate::log::Log;
use crate::memory::{check_discovery, check_fit};
use crate::recipe::Recipe;
use crate::record::{FitRecord, HELD_OUT, Record};
use crate::run::{MAX_GRAPH_BYTES, Run};
use crate::saved_policy::read_policy;

/// With fewer recordings, stretches of them are held out: too little would be left of so few.
const MIN_RECORDINGS: usize = 4;

/// Rows of such a stretch, at most. Long enough that most rows are far from the rows of another one, and
/// short enough that a log of a few thousand rows has dozens.
const MAX_STRETCH_ROWS: usize = 50;

/// A short log has at least this many stretches.
const MIN_STRETCHES: usize = 8;

/// How to fit.
///
/// ```
/// use becausal::FitParams;
/// let params = FitParams::default().seed(3).members(2).steps(500);
/// assert!(params.check().is_ok());
/// let wrong = FitParams::default().held_out(1.5).check().unwrap_err().to_string();
/// assert_eq!(wrong, "`held_out` is 1.5, expected a share from 0 to below 1");
/// ```
#[derive(Debug, Clone)]
pub struct FitParams {
    seed: u64,
    preset: Preset,
    method: Option<Method>,
    eta: Option<f64>,
    graph: Option<CausalGraph>,
    graph_file: Option<PathBuf>,
    model: ModelKind,
    members: Option<usize>,
    steps: Option<usize>,
    held_out: f64,
    test: Option<Log>,
    policy: Option<GivenPolicy>,
    compare: bool,
    memory: MemoryLimit,
    progress: Listener,
}

/// The policy of an agent that exists, which the run is to explain.
#[derive(Debug, Clone)]
enum GivenPolicy {
    /// It is in memory.
    Here(Box<ActorCritic>),
    /// It is in this file or folder.
    At(PathBuf),
}

impl Default for FitParams {
    fn default() -> Self {
        Self {
            seed: 0,
            preset: Preset::Default,
            method: None,
            eta: None,
            graph: None,
            graph_file: None,
            model: ModelKind::Causal,
            members: None,
            steps: None,
            held_out: HELD_OUT,
            test: None,
            policy: None,
            compare: false,
            memory: MemoryLimit::default(),
            progress: Listener::default(),
        }
    }
}

impl FitParams {
    /// The seed of all that is random.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Whose way: ours, or the paper's, with its test, its networks and their training.
    #[must_use]
    pub fn preset(self, preset: Preset) -> Self {
        Self { preset, ..self }
    }

    /// The independence test; otherwise that of the preset.
    #[must_use]
    pub fn method(self, method: Method) -> Self {
        Self { method: Some(method), ..self }
    }

    /// Pairs with a p-value of at most this are edges.
    #[must_use]
    pub fn eta(self, eta: f64) -> Self {
        Self { eta: Some(eta), ..self }
    }

    /// Uses this graph; nothing is discovered.
    #[must_use]
    pub fn graph(self, graph: CausalGraph) -> Self {
        Self { graph: Some(graph), graph_file: None, ..self }
    }

    /// Uses the graph in a file (`graph.json`); nothing is discovered.
    ///
    /// # Errors
    /// When it cannot be read, or is not a graph.
    pub fn graph_file(self, file: impl AsRef<Path>) -> Result<Self, Error> {
        let file = file.as_ref();
        let wrong = |problem: String| Error::File(format!("{}: {problem}", file.display()));
        let text = read_text(file, MAX_GRAPH_BYTES)
            .map_err(|error| wrong(format!("cannot read the graph: {error}")))?;
        let graph = CausalGraph::from_json(&text).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { graph: Some(graph), graph_file: Some(file.to_owned()), ..self })
    }

    /// The kind of networks: over the causes found, over everything, or one dense network.
    #[must_use]
    pub fn model(self, model: ModelKind) -> Self {
        Self { model, ..self }
    }

    /// Networks in the ensemble, each from its own sample of the episodes; otherwise 5.
    #[must_use]
    pub fn members(self, members: usize) -> Self {
        Self { members: Some(members), ..self }
    }

    /// Training steps of each network, at most; otherwise those of the preset.
    #[must_use]
    pub fn steps(self, steps: usize) -> Self {
        Self { steps: Some(steps), ..self }
    }

    /// The share of the rows, in whole episodes, that is held out before discovery to score the model.
    #[must_use]
    pub fn held_out(self, share: f64) -> Self {
        Self { held_out: share, ..self }
    }

    /// Scores on another log; then all rows of the first one are learned from.
    #[must_use]
    pub fn test(self, log: Log) -> Self {
        Self { test: Some(log), ..self }
    }

    /// Explains this agent: the run keeps its policy, and its answers, new episodes and audits are about it.
    #[must_use]
    pub fn policy(self, policy: ActorCritic) -> Self {
        Self { policy: Some(GivenPolicy::Here(Box::new(policy))), ..self }
    }

    /// The same with the policy in the folder of a run, in its folder `policy`, or by a file in that folder. It is read
    /// before the fit, which knows its variables.
    #[must_use]
    pub fn policy_file(self, path: impl Into<PathBuf>) -> Self {
        Self { policy: Some(GivenPolicy::At(path.into())), ..self }
    }

    /// Fits the other kinds of networks and the trivial baselines too: [`Run::compared`].
    #[must_use]
    pub fn compare(self, compare: bool) -> Self {
        Self { compare, ..self }
    }

    /// How much memory the work may take; more is refused before it begins.
    #[must_use]
    pub fn memory(self, memory: MemoryLimit) -> Self {
        Self { memory, ..self }
    }

    /// Who hears how far the work is, and may stop it.
    #[must_use]
    pub fn progress(self, progress: impl Progress + 'static) -> Self {
        Self { progress: Listener::new(progress), ..self }
    }

    /// Refuses a parameter that is out of its range.
    ///
    /// # Errors
    /// With the name of the parameter, what was expected and what it is.
    pub fn check(&self) -> Result<(), Error> {
        let wrong =
            |parameter, expected, got: String| Err(Error::Parameter { parameter, expected, got });
        let ModelParams { members, steps, .. } = self.recipe().model;
        if members == 0 {
            return wrong("members", "at least 1", "0".to_owned());
        }
        if members > MAX_MEMBERS {
            return wrong("members", "at most 1000", members.to_string());
        }
        if steps == 0 {
            return wrong("steps", "at least 1", "0".to_owned());
        }
        if !(0.0..1.0).contains(&self.held_out) {
            return wrong("held_out", "a share from 0 to below 1", self.held_out.to_string());
        }
        match self.eta {
            Some(eta) if !(0.0..=1.0).contains(&eta) => {
                wrong("eta", "a number from 0 to 1", eta.to_string())
            }
            _ => Ok(()),
        }
    }

    /// The recipe of the preset with what was asked for.
    fn recipe(&self) -> Recipe {
        let recipe = Recipe::of(self.preset);
        let method = self.method.unwrap_or(recipe.method);
        let model = ModelParams {
            members: self.members.unwrap_or(recipe.model.members),
            steps: self.steps.unwrap_or(recipe.model.steps),
            seed: self.seed,
            progress: self.progress.clone(),
            ..recipe.model
        };
        Recipe { method, eta: self.eta.unwrap_or(method.default_eta()), model, ..recipe }
    }

    fn record(&self, log: &Log) -> FitRecord {
        let shown = |path: &PathBuf| path.display().to_string();
        let Recipe { method, model, .. } = self.recipe();
        FitRecord {
            preset: self.preset,
            method,
            data: log.source.data.as_ref().map(shown),
            schema: log.source.schema.clone(),
            ignore: log.source.ignore.clone(),
            missing: log.source.missing,
            graph: self.graph_file.as_ref().map(shown),
            test: self.test.as_ref().and_then(|test| test.source.data.as_ref()).map(shown),
            policy: match &self.policy {
                Some(GivenPolicy::At(path)) => Some(shown(path)),
                _ => None,
            },
            model: self.model,
            members: model.members,
            steps: model.steps,
            eta: self.eta,
            seed: self.seed,
            held_out: if self.test.is_some() { 0.0 } else { self.held_out },
            held_out_first: true,
            stretches: has_few_recordings(log.transitions()),
            graph_given: self.graph.is_some(),
            test_given: self.test.is_some(),
            policy_given: self.policy.is_some(),
            tried: 0,
            origin: log.origin().cloned(),
        }
    }
}

/// What is learned from, and what is only scored on.
pub(crate) struct Split {
    /// The episodes to learn from; stretches where there are few episodes.
    pub learned: Transitions,
    /// Their rows, ascending.
    rows: Vec<usize>,
    /// The episodes or stretches to score on, where there are some.
    pub held_out: Option<Transitions>,
}

impl Split {
    /// Holds out a share of the episodes, those of one recording together; of stretches where there
    /// are too few recordings.
    pub fn of(data: &Transitions, share: f64, seed: u64) -> Self {
        let rows = (data.len() / MIN_STRETCHES).clamp(1, MAX_STRETCH_ROWS);
        let parts = if has_few_recordings(data) { data.in_stretches(rows) } else { data.clone() };
        if share == 0.0 || parts.episodes() < MIN_RECORDINGS {
            return Self { rows: (0..data.len()).collect(), learned: parts, held_out: None };
        }
        let split = parts.split_episodes(share, &mut Stream::keyed(seed, &[7]));
        Self {
            rows: parts.rows_of(&split.train),
            learned: parts.select_episodes(&split.train),
            held_out: Some(parts.select_episodes(&split.held_out)),
        }
    }
}

/// Whether a log has so few recordings that stretches of them are held out.
pub(crate) fn has_few_recordings(data: &Transitions) -> bool {
    data.recordings() < MIN_RECORDINGS
}

/// How a fit went.
#[derive(Debug, Clone)]
pub struct FitSummary {
    /// Network by network.
    pub report: FitReport,
    /// Where the causes found were not enough.
    pub shortfalls: Vec<Shortfall>,
    /// How each kind of model predicts, where that was asked for.
    pub compared: Vec<(ModelKind, Scores)>,
    /// In which share of the recorded steps the given policy's most likely action is the recorded one; `None` without a
    /// policy, and where an action is a continuous number.
    pub agreement: Option<f64>,
}

/// Learns from a log: holds episodes out, discovers the causal graph, fits the world model, checks it
/// against unrestricted networks, and scores it on the held-out episodes.
///
/// # Errors
/// When a parameter is out of its range, the log is too short, a value is not finite, or the listener
/// stops the work.
pub fn fit(log: &Log, params: &FitParams) -> Result<Run, Error> {
    params.check()?;
    let data = log.transitions();
    let schema = Arc::clone(data.schema());
    if let Some(test) = &params.test
        && test.schema().variables() != schema.variables()
    {
        return Err(Error::Parameter {
            parameter: "test",
            expected: "a log of the same variables",
            got: format!("one of `{}`", test.schema().name()),
        });
    }
    let policy = given_policy(params, &schema)?;
    let recipe = params.recipe();
    check_fit(&recipe.model, &schema, data.len(), params.memory)?;
    if params.graph.is_none() {
        check_discovery(data, params.memory)?;
    }
    let share = if params.test.is_some() { 0.0 } else { params.held_out };
    let split = Split::of(data, share, params.seed);
    // Discovery knows itself what to do with few episodes.
    let mut graph = find_graph(&schema, &data.select_rows(&split.rows), params, &recipe)?;
    let structure = recipe.structure(&schema, &graph);
    let prepared = FitData::new(&split.learned, &recipe.model)?;
    let scored_on = match &params.test {
        Some(test) => Some(test.transitions().clone()),
        None => split.held_out,
    };
    let scored = scored_on.as_ref().unwrap_or(data);
    let kinds = if params.compare { ModelKind::ALL.to_vec() } else { vec![params.model] };
    let mut chosen = None;
    let mut compared = Vec::new();
    let mut shortfalls = Vec::new();
    for kind in kinds {
        let (model, report) = if kind == ModelKind::Causal {
            let made = recipe.fit(&schema, &prepared, &mut graph)?;
            shortfalls = made.shortfalls;
            (made.model, made.report)
        } else {
            WorldModel::fit_to(&prepared, kind, &structure, &recipe.model)?
        };
        if params.compare {
            compared.push((kind, model.score_heard(scored, &params.progress)));
        }
        if kind == params.model {
            chosen = Some((model, report));
        }
    }
    let Some((model, report)) = chosen else {
        return Err(Error::Parameter {
            parameter: "model",
            expected: "causal, full or mlp",
            got: params.model.name().to_owned(),
        });
    };
    let agreement = policy.as_ref().and_then(|policy| agreement(policy, data));
    let summary = FitSummary { report, shortfalls, compared, agreement };
    let record = Record::Fit(Box::new(params.record(log)));
    let run = Run::fitted(
        record,
        data.clone(),
        Some(graph),
        model,
        scored_on,
        summary,
        params.progress.clone(),
    )?;
    Ok(run.of_agent(policy))
}

/// The policy of the agent that the run is to explain, if there is one.
fn given_policy(params: &FitParams, schema: &Arc<Schema>) -> Result<Option<ActorCritic>, Error> {
    match &params.policy {
        None => Ok(None),
        Some(GivenPolicy::At(path)) => read_policy(path, schema).map(Some),
        Some(GivenPolicy::Here(policy)) if **policy.schema() == **schema => {
            Ok(Some(ActorCritic::clone(policy)))
        }
        Some(GivenPolicy::Here(policy)) => Err(Error::Parameter {
            parameter: "policy",
            expected: "one with the schema of the log",
            got: format!("one for `{}`", policy.schema().name()),
        }),
    }
}

/// In which share of the rows the most likely action is the recorded one.
fn agreement(policy: &ActorCritic, data: &Transitions) -> Option<f64> {
    let schema = data.schema();
    let is_continuous = |slot: usize| matches!(schema.variable_of(slot).kind, Kind::Continuous(_));
    if data.is_empty() || schema.action_slots().any(is_continuous) {
        return None;
    }
    let rows = |slots: std::ops::Range<usize>| -> Vec<Vec<f64>> {
        let row = |row: usize| slots.clone().map(|slot| data.column(slot).get(row)).collect();
        (0..data.len()).map(row).collect()
    };
    let chosen = policy.modes(&rows(schema.state_slots()));
    let recorded = rows(schema.action_slots());
    let same = chosen.iter().zip(&recorded).filter(|(one, other)| one == other).count();
    Some(same as f64 / data.len() as f64)
}

/// The graph that was given, or the one that the rows show.
fn find_graph(
    schema: &Schema,
    learned: &Transitions,
    params: &FitParams,
    recipe: &Recipe,
) -> Result<CausalGraph, Error> {
    if let Some(graph) = &params.graph {
        let graph = graph.clone().for_schema(schema).map_err(|error| match &params.graph_file {
            Some(file) => Error::File(format!("{}: {error}", file.display())),
            None => Error::Discovery(error),
        })?;
        return Ok(match params.eta {
            Some(eta) => graph.with_eta(eta),
            None => graph,
        });
    }
    let discovering = DiscoverParams {
        method: recipe.method,
        eta: Some(recipe.eta),
        seed: params.seed,
        progress: params.progress.clone(),
        ..DiscoverParams::default()
    };
    let graph = discover(learned, &discovering)?;
    if graph.pairs().iter().any(|pair| pair.reason == Some(Reason::Interrupted)) {
        return Err(Error::Fit(FitError::Stopped));
    }
    Ok(graph)
}

//! A model that a recipe makes of recorded rows, and what it is worth.

use becausal::discovery::{CausalGraph, DiscoverParams, discover};
use becausal::env::{self, AnyEnvironment, find, record_at_random};
use becausal::explain::{
    Acting, Ask, Audit, AuditParams, Explainer, InfluenceBy, Measure, Moment, NEGLIGIBLE, Scale,
    audit,
};
use becausal::learn::{Evaluation, Settings, Training};
use becausal::model::{FitData, ModelParams, Scores, WorldModel};
use becausal::progress::{Advance, Listener};
use becausal::{Environment, Preset, RandomPolicy, Recipe, Stream, Transitions};

use crate::{Failure, progress};

/// The share of the rows, in whole episodes, that nothing is learned from.
const HELD_OUT: f64 = 0.1;

/// Steps of the chains, as in the paper's figures.
const HORIZON: usize = 4;

/// Rows of an environment under random actions: some to learn from, some to score on.
pub struct Rows {
    pub environment: AnyEnvironment,
    pub seed: u64,
    /// All of them.
    pub data: Transitions,
    learned: Transitions,
    pub held_out: Transitions,
}

impl Rows {
    pub fn record(id: &str, rows: usize, seed: u64) -> Result<Self, Failure> {
        let environment = find(id)?.make(&env::Options::default())?;
        let data = record_at_random(&environment, rows, seed)?;
        let split = data.split_episodes(HELD_OUT, &mut Stream::keyed(seed, &[7]));
        let learned = data.select_episodes(&split.train);
        let held_out = data.select_episodes(&split.held_out);
        if held_out.is_empty() {
            return Err(format!("{id}: {rows} rows are too few to hold an episode out").into());
        }
        Ok(Self { environment, seed, data, learned, held_out })
    }

    /// The graph by the test of a recipe.
    pub fn discover(&self, listener: &Listener, recipe: &Recipe) -> Result<CausalGraph, Failure> {
        let params = DiscoverParams {
            method: recipe.method,
            eta: Some(recipe.eta),
            seed: self.seed,
            progress: listener.clone(),
            ..DiscoverParams::default()
        };
        Ok(discover(&self.learned, &params)?)
    }

    /// Fits a model by a recipe.
    pub fn fit(
        &self,
        listener: &Listener,
        recipe: &Recipe,
        mut graph: CausalGraph,
    ) -> Result<Fitted<'_>, Failure> {
        let model =
            ModelParams { seed: self.seed, progress: listener.clone(), ..recipe.model.clone() };
        let recipe = Recipe { model, ..recipe.clone() };
        let prepared = FitData::new(&self.learned, &recipe.model)?;
        let made = recipe.fit(self.data.schema(), &prepared, &mut graph)?;
        let scores = made.model.score(&self.held_out);
        Ok(Fitted { rows: self, graph, model: made.model, scores })
    }
}

/// A model and how well it predicts the held-out rows.
pub struct Fitted<'a> {
    rows: &'a Rows,
    pub graph: CausalGraph,
    pub model: WorldModel,
    pub scores: Scores,
}

/// How large explanations are, on average over some recorded steps.
pub struct Sizes {
    /// Influences in a chain.
    pub chain: f64,
    /// Facts in the complete explanan.
    pub complete: f64,
    /// Facts in the minimal explanan.
    pub minimal: f64,
}

impl Fitted<'_> {
    /// How large the explanations of some steps are, evenly spread over the held-out rows.
    pub fn sizes(&self, preset: Preset, tau: f64, decisions: usize) -> Result<Sizes, Failure> {
        let data = &self.rows.held_out;
        let ask = Ask::default().preset(preset).horizon(HORIZON).tau(tau);
        let explainer = Explainer::new(&self.model, None, Some(&self.graph), ask)?
            .with_scale(Scale::of(&self.rows.data), NEGLIGIBLE);
        let places: Vec<(usize, usize)> = (0..data.episodes())
            .flat_map(|episode| (0..data.episode(episode).len()).map(move |step| (episode, step)))
            .collect();
        let count = decisions.clamp(1, places.len());
        let mut sums = [0.0; 3];
        for at in 0..count {
            let (episode, step) = places[at * places.len() / count];
            let why = explainer.why(&Moment::recorded(data, episode, step)?)?;
            let facts = |of: &becausal::explain::Explanan| {
                (of.rewards.len() + of.heads.len() + of.intermediates.len()) as f64
            };
            let each =
                [why.chain.edges().count() as f64, facts(&why.complete), facts(&why.minimal)];
            sums.iter_mut().zip(each).for_each(|(sum, value)| *sum += value);
        }
        let [chain, complete, minimal] = sums.map(|sum| sum / count as f64);
        Ok(Sizes { chain, complete, minimal })
    }

    /// How often its explanations hold in the environment under random actions.
    pub fn audit(&self, listener: &Listener, tau: f64, states: usize) -> Result<Audit, Failure> {
        let environment = &self.rows.environment;
        let policy = RandomPolicy::new(environment.schema().clone())?;
        let params = AuditParams {
            states,
            tau,
            seed: self.rows.seed,
            acting: Acting::Sampled,
            progress: listener.clone(),
            ..AuditParams::default()
        };
        Ok(audit(environment, &self.model, &policy, &self.rows.data, &params)?)
    }
}

/// Precision and recall of the changes that explanations claim.
pub fn changes(audit: &Audit) -> [Option<f64>; 2] {
    let scores = &audit.explanations.by_kind;
    [Measure::Precision, Measure::Recall].map(|measure| scores.value(measure))
}

/// Precision and recall of single influences, by a measure.
pub fn influences(audit: &Audit, by: InfluenceBy) -> [Option<f64>; 2] {
    let name = if by == InfluenceBy::Attention { "attention" } else { "chains" };
    let line = audit.influences.iter().find(|line| line.name == name);
    [Measure::Precision, Measure::Recall]
        .map(|measure| line.and_then(|line| line.by_kind.value(measure)))
}

/// How a training went.
pub struct Trained {
    /// The real steps after which an evaluation reached the return that was asked for.
    pub reached_at: Option<usize>,
    /// The mean return of the best policy in new episodes.
    pub final_return: f64,
}

/// Trains a policy; `until` ends the training early.
pub fn train(
    listener: &Listener,
    environment: &AnyEnvironment,
    settings: &Settings,
    seed: u64,
    until: Option<f64>,
) -> Result<Trained, Failure> {
    let mut training = Training::new(environment, settings, seed)?;
    let mut reached_at = None;
    while !training.is_done() && reached_at.is_none() {
        let report = training.run_epoch()?;
        let (done, total) = (report.real_steps, settings.steps);
        let at = Advance { task: "train", unit: "real steps", done, total, note: "" };
        progress::advance(listener, &at);
        let mean = report.evaluation.as_ref().map(Evaluation::native_mean);
        if mean.zip(until).is_some_and(|(mean, until)| mean >= until) {
            reached_at = Some(report.real_steps);
        }
    }
    let final_return = training.final_evaluation()?.native_mean();
    Ok(Trained { reached_at, final_return })
}

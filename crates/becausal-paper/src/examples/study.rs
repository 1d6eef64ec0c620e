//! What both environments of the paper's figures go through: a policy, what it lives through, the graph,
//! the model, and a chain.

use std::ops::ControlFlow;

use becausal::Policy;
use becausal::discovery::{Options, discover};
use becausal::env::{self, AnyEnvironment, find};
use becausal::explain::{
    Explainer, Options as Choices, Scale, Situation, Why, decisions, typical_actions,
};
use becausal::learn::{ActorCritic, Exploration, Imagination, Settings, Training, interact};
use becausal::model::{Dynamics, ModelKind, ModelParams, Scores, Structure, WorldModel};
use becausal::{CausalGraph, Environment, Transitions};

use crate::arguments::Common;
use crate::failure::Failure;
use crate::fit::split;
use crate::progress::{EdgeProgress, MemberProgress, Progress};

use super::Size;

/// Steps of the paper's chains.
pub const HORIZON: usize = 4;

/// The paper's threshold of influences.
pub const TAU: f64 = 0.1;

/// Seed of all that is random.
const SEED: u64 = 1;

/// The noise of what is recorded: in each episode some of the actions are random, from none to half of them.
const NOISE: Exploration = Exploration { share: 1.0, rate: 0.5, ..Exploration::NONE };

/// Episodes without noise that show how good the policy is.
const EVALUATED: u64 = 20;

/// Differences below this share of a variable's spread in the data are not told, as in `explain`.
const NEGLIGIBLE: f64 = 0.01;

/// Actions that a decision is compared with, at most.
const MOST_ACTIONS: usize = 16;

/// What is studied.
pub struct Subject {
    pub id: &'static str,
    /// Who acts.
    pub policy: Box<dyn Policy>,
    /// Transitions to record.
    pub rows: usize,
    /// The paper's threshold of p-values.
    pub eta: f64,
}

/// What came of it.
pub struct Study {
    pub policy: Box<dyn Policy>,
    /// The mean return without noise, as the environment pays.
    pub paid: f64,
    pub data: Transitions,
    pub graph: CausalGraph,
    pub structure: Structure,
    /// The causal model, and how well it predicts episodes that it did not learn from.
    pub model: WorldModel,
    pub scores: Scores,
}

impl Study {
    /// Records a policy with noise, finds the graph and fits the causal model.
    pub fn of(common: &Common, size: &Size, subject: Subject) -> Result<Self, Failure> {
        let Subject { id, policy, rows, eta } = subject;
        let environment = find(id)?.make(&env::Options::default())?;
        let paid = mean_return(&environment, policy.as_ref())?;
        let data = interact(&environment, policy.as_ref(), (rows, rows), NOISE, SEED)?;
        let progress = EdgeProgress::new(common.quiet);
        let options = Options { eta: Some(eta), seed: SEED, ..Options::default() };
        let graph = discover(&data, &options, &|step| {
            progress.show(step);
            ControlFlow::Continue(())
        })?;
        progress.finish();
        let structure = Structure::of(data.schema(), &graph);
        let (learned, kept_apart) = split(&data, SEED);
        let model = fit(common, size, ModelKind::Causal, &structure, &learned, true)?;
        let scores = model.score(&kept_apart);
        Ok(Self { policy, paid, data, graph, structure, model, scores })
    }

    /// A model of another kind on the same episodes; without pruning it is the paper's.
    pub fn other_model(
        &self,
        common: &Common,
        size: &Size,
        kind: ModelKind,
        pruned: bool,
    ) -> Result<WorldModel, Failure> {
        fit(common, size, kind, &self.structure, &split(&self.data, SEED).0, pruned)
    }

    /// Why the action of a recorded step was taken, by a model and for some rewards.
    pub fn why(
        &self,
        dynamics: &dyn Dynamics,
        place: (usize, usize),
        rewards: &[&str],
    ) -> Result<Why, Failure> {
        let explainer = self.explainer(dynamics, rewards)?;
        let situation = Situation::recorded(&self.data, place.0, place.1, HORIZON)?;
        Ok(explainer.why(&situation)?)
    }

    /// The recorded step (episode and step) in which the choice mattered most, by the causal model, among
    /// those that are wanted, and how many were compared, `most` at most.
    pub fn telling_step(
        &self,
        most: usize,
        wanted: impl Fn(&Transitions, usize) -> bool,
    ) -> Result<((usize, usize), usize), Failure> {
        let data = &self.data;
        let all: Vec<(usize, usize)> = (0..data.episodes())
            .flat_map(|episode| {
                let rows = data.episode(episode);
                let whole = rows.len().saturating_sub(HORIZON - 1);
                (0..whole).map(move |step| (episode, step))
            })
            .filter(|&(episode, step)| wanted(data, data.episode(episode).start + step))
            .collect();
        let count = all.len().min(most);
        let places: Vec<(usize, usize)> =
            (0..count).map(|at| all[at * all.len() / count]).collect();
        let explainer = self.explainer(&self.model, &[])?;
        let actions = typical_actions(data.schema(), MOST_ACTIONS);
        let found = decisions(&explainer, data, &actions, &places)?;
        let first = found.first().map(|decision| (decision.episode, decision.step));
        let first = first.or(places.first().copied()).ok_or_else(|| {
            Failure::failed(format!(
                "{}: no recorded step is fit for the example; more rows would help",
                data.schema().name()
            ))
        })?;
        Ok((first, count))
    }

    fn explainer<'a>(
        &'a self,
        dynamics: &'a dyn Dynamics,
        rewards: &[&str],
    ) -> Result<Explainer<'a>, Failure> {
        let choices = Choices {
            horizon: HORIZON,
            tau: TAU,
            rewards: rewards.iter().map(|&reward| reward.to_owned()).collect(),
            discount: 1.0,
        };
        let policy = Some(self.policy.as_ref());
        let explainer = Explainer::new(dynamics, policy, Some(&self.graph), choices)?;
        Ok(explainer.with_scale(Scale::of(&self.data), NEGLIGIBLE))
    }

    /// How many rows fulfil something.
    pub fn rows_with(&self, holds: impl Fn(&[f64]) -> bool) -> usize {
        (0..self.data.len()).filter(|&row| holds(&self.data.row(row))).count()
    }

    /// The slot of a variable's value in a row.
    pub fn slot(&self, name: &str) -> usize {
        let slots = self.data.schema().slots();
        slots.iter().position(|slot| slot.name == name).unwrap_or(0)
    }
}

/// What a policy is paid in an episode, in the mean, when it takes its most likely actions.
fn mean_return(environment: &AnyEnvironment, policy: &dyn Policy) -> Result<f64, Failure> {
    let mut environment = environment.clone();
    let mut paid = 0.0;
    for seed in 0..EVALUATED {
        environment.reset(seed);
        loop {
            let action = policy.mode(environment.state());
            let step = environment.step(&action)?;
            paid += step.reward;
            if step.terminated || step.truncated {
                break;
            }
        }
    }
    Ok(paid / EVALUATED as f64)
}

/// A policy that was learned without a model: any policy can be explained, however it was learned.
pub fn learned_policy(
    common: &Common,
    id: &str,
    steps: usize,
) -> Result<(ActorCritic, usize), Failure> {
    let environment = find(id)?.make(&env::Options::default())?;
    let mut settings = Settings::preset(id, "default", Some(Imagination::None))?;
    settings.steps = steps;
    let mut training = Training::new(&environment, &settings, SEED)?;
    let mut bar = Progress::new(steps, "steps of training", common.quiet);
    let mut shown = 0;
    while !training.is_done() {
        let done = training.run_epoch()?.real_steps.min(steps);
        bar.advance(done - shown);
        shown = done;
    }
    bar.finish();
    Ok((training.best_agent().clone(), training.real_steps))
}

fn fit(
    common: &Common,
    size: &Size,
    kind: ModelKind,
    structure: &Structure,
    data: &Transitions,
    pruned: bool,
) -> Result<WorldModel, Failure> {
    let mut options = ModelParams {
        members: size.members,
        steps: size.fit,
        seed: SEED,
        ..ModelParams::default()
    };
    if !pruned {
        options.prune = 1.0;
    }
    let progress = MemberProgress::new(kind.name(), size.members, size.fit, common.quiet);
    let (model, _) = WorldModel::fit(data, kind, structure, &options, &|step| progress.show(step))?;
    progress.finish();
    Ok(model)
}

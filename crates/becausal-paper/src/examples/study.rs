//! What both environments of the paper's figures go through: record a policy, discover the graph,
//! fit the model, explain a decision.

use becausal::discovery::{CausalGraph, DiscoverParams, discover};
use becausal::env::{self, AnyEnvironment, MAX_EPISODE_STEPS, find, play_episode, typical_actions};
use becausal::explain::{
    Ask, Explainer, Moment, NEGLIGIBLE, Scale, Why, Worth, find as find_decisions,
};
use becausal::learn::{ActorCritic, Exploration, Imagination, Settings, Training, interact};
use becausal::model::{Dynamics, ModelKind, ModelParams, Scores, Structure, WorldModel};
use becausal::progress::{Advance, Listener};
use becausal::{Policy, Stream, Transitions};

use crate::number::{counted, percent};
use crate::{Failure, progress};

use super::Size;

/// Steps of the paper's chains.
pub const HORIZON: usize = 4;

/// The paper's threshold of influences.
pub const TAU: f64 = 0.1;

/// Seed of all that is random.
const SEED: u64 = 1;

/// The share of the rows whose episodes are held out, before anything is learned.
const HELD_OUT: f64 = 0.1;

/// The noise while recording: in each episode a share of the actions is random, drawn from 0 to
/// `rate`.
const NOISE: Exploration = Exploration { share: 1.0, rate: 0.5, ..Exploration::NONE };

/// Episodes without noise that show how good the policy is.
const EVALUATION_EPISODES: u32 = 20;

/// Maximum number of actions that a decision is compared with.
const MAX_ACTIONS: usize = 16;

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

/// A recorded policy with its graph and model.
pub struct Study {
    policy: Box<dyn Policy>,
    /// The mean return without noise, in the environment's own reward.
    pub mean_return: f64,
    /// All recorded episodes. Any of their steps can be explained.
    pub data: Transitions,
    /// The episodes that the graph was discovered from and the models were fitted to.
    pub learned: Transitions,
    /// How many episodes were held out.
    held_out_episodes: usize,
    pub graph: CausalGraph,
    structure: Structure,
    pub model: WorldModel,
    /// How well the causal model predicts the held-out episodes.
    scores: Scores,
}

impl Study {
    /// Records a policy with noise, holds episodes out, and learns the graph and the causal model
    /// from the others.
    pub fn of(listener: &Listener, size: &Size, subject: Subject) -> Result<Self, Failure> {
        let Subject { id, policy, rows, eta } = subject;
        let environment = find(id)?.make(&env::Options::default())?;
        let mean_return = mean_return(&environment, policy.as_ref())?;
        let data = interact(&environment, policy.as_ref(), (rows, rows), NOISE, SEED)?;
        let split = data.split_episodes(HELD_OUT, &mut Stream::keyed(SEED, &[7]));
        let learned = data.select_episodes(&split.train);
        let params = DiscoverParams {
            eta: Some(eta),
            seed: SEED,
            progress: listener.clone(),
            ..DiscoverParams::default()
        };
        let graph = discover(&learned, &params)?;
        let structure = Structure::of_edges(data.schema(), &graph);
        let params = model_params(listener, size);
        let (model, _) = WorldModel::fit(&learned, ModelKind::Causal, &structure, &params)?;
        let scores = model.score(&data.select_episodes(&split.held_out));
        let held_out_episodes = split.held_out.len();
        Ok(Self {
            policy,
            mean_return,
            data,
            learned,
            held_out_episodes,
            graph,
            structure,
            model,
            scores,
        })
    }

    /// The paper's counter-example, fitted to the same episodes: every effect reads every cause, and
    /// nothing is pruned.
    pub fn full_model(&self, listener: &Listener, size: &Size) -> Result<WorldModel, Failure> {
        let params = ModelParams { hold: 0.0, prune: 1.0, ..model_params(listener, size) };
        Ok(WorldModel::fit(&self.learned, ModelKind::Full, &self.structure, &params)?.0)
    }

    /// Why the action of a recorded step was taken, by a model and for some rewards (all if empty).
    pub fn why(
        &self,
        dynamics: &dyn Dynamics,
        (episode, step): (usize, usize),
        rewards: &[&str],
    ) -> Result<Why, Failure> {
        let moment = Moment::recorded(&self.data, episode, step)?;
        Ok(self.explainer(dynamics, rewards)?.why(&moment)?)
    }

    /// The recorded step (episode and step) whose action is better than the best other action by the
    /// largest margin, by the causal model. Compares at most `max` of the steps that are `wanted`,
    /// and returns how many.
    pub fn clearest_decision(
        &self,
        max: usize,
        wanted: impl Fn(&Transitions, usize) -> bool,
    ) -> Result<((usize, usize), usize), Failure> {
        let data = &self.data;
        let candidates: Vec<(usize, usize)> = (0..data.episodes())
            .flat_map(|episode| {
                let with_horizon = data.episode(episode).len().saturating_sub(HORIZON - 1);
                (0..with_horizon).map(move |step| (episode, step))
            })
            .filter(|&(episode, step)| wanted(data, data.episode(episode).start + step))
            .collect();
        let count = candidates.len().min(max);
        let places: Vec<(usize, usize)> =
            (0..count).map(|at| candidates[at * candidates.len() / count]).collect();
        let explainer = self.explainer(&self.model, &[])?;
        let actions = typical_actions(data.schema(), MAX_ACTIONS);
        let found = find_decisions(&explainer, data, &actions, &places, Worth::Costly)?;
        let first = found.first().map(|decision| (decision.episode, decision.step));
        let first = first.or(places.first().copied()).ok_or_else(|| {
            format!(
                "{}: no recorded step suits the example; record more rows",
                data.schema().name()
            )
        })?;
        Ok((first, count))
    }

    fn explainer<'a>(
        &'a self,
        dynamics: &'a dyn Dynamics,
        rewards: &[&str],
    ) -> Result<Explainer<'a>, Failure> {
        let ask = Ask::default().horizon(HORIZON).tau(TAU);
        let ask = rewards.iter().fold(ask, |ask, &reward| ask.reward(reward));
        let policy = Some(self.policy.as_ref());
        let explainer = Explainer::new(dynamics, policy, Some(&self.graph), ask)?;
        Ok(explainer.with_scale(Scale::of(&self.data), NEGLIGIBLE))
    }

    /// How many of the rows that were learned from fulfil a condition.
    pub fn rows_with(&self, holds: impl Fn(&[f64]) -> bool) -> usize {
        (0..self.learned.len()).filter(|&row| holds(&self.learned.row(row))).count()
    }

    /// The slot of a variable's value in a row.
    pub fn slot(&self, name: &str) -> Result<usize, Failure> {
        let schema = self.data.schema();
        let slot = schema.slots().iter().position(|slot| slot.name == name);
        Ok(slot.ok_or_else(|| format!("{} has no variable `{name}`", schema.name()))?)
    }

    /// How the data were recorded, divided and learned from.
    pub fn method_words(&self) -> String {
        format!(
            "In each episode a share of the actions, between 0 and {}, is random. Held out before \
             anything is learned: {} ({}). The graph is discovered from the other {} by \
             becausal's own test with the threshold {}.",
            percent(NOISE.rate),
            counted(self.held_out_episodes, "episode"),
            counted(self.scores.rows, "transition"),
            counted(self.learned.len(), "transition"),
            self.graph.eta,
        )
    }

    /// How well the model predicts.
    pub fn score_words(&self) -> String {
        format!(
            "On the held-out episodes, the causal model's root mean square error one step ahead \
             is {} of a variable's standard deviation, on average over the variables.",
            percent(self.scores.mean_error())
        )
    }
}

/// `mean of 20 episodes without noise`.
pub fn evaluation_words() -> String {
    format!("mean of {EVALUATION_EPISODES} episodes without noise")
}

/// The mean return of a policy that always takes its most likely action, in the environment's own
/// reward.
fn mean_return(environment: &AnyEnvironment, policy: &dyn Policy) -> Result<f64, Failure> {
    let mut environment = environment.clone();
    let mut actor = |_: usize, state: &[f64]| Some(policy.mode(state));
    let mut total = 0.0;
    for seed in 0..EVALUATION_EPISODES {
        let seed = u64::from(seed);
        let episode = play_episode(&mut environment, seed, MAX_EPISODE_STEPS, &mut actor)?;
        total += episode.steps().iter().filter_map(|step| step.paid).sum::<f64>();
    }
    Ok(total / f64::from(EVALUATION_EPISODES))
}

/// A policy trained without a model, and the real steps it took. Explanations work for any policy,
/// however it was trained.
pub fn trained_policy(
    listener: &Listener,
    id: &str,
    steps: usize,
) -> Result<(ActorCritic, usize), Failure> {
    let environment = find(id)?.make(&env::Options::default())?;
    let mut settings = Settings::preset(id, "default", Some(Imagination::None))?;
    settings.steps = steps;
    let mut training = Training::new(&environment, &settings, SEED)?;
    while !training.is_done() {
        let done = training.run_epoch()?.real_steps.min(steps);
        let at = Advance { task: "train", unit: "real steps", done, total: steps, note: id };
        progress::advance(listener, &at);
    }
    Ok((training.best_agent().clone(), training.real_steps))
}

fn model_params(listener: &Listener, size: &Size) -> ModelParams {
    ModelParams {
        members: size.members,
        steps: size.fit_steps.get(),
        seed: SEED,
        progress: listener.clone(),
        ..ModelParams::default()
    }
}

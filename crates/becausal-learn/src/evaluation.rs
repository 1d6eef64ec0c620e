//! Evaluating a policy in its environment.

use becausal_core::env::{AnyEnvironment, MAX_EPISODE_STEPS, play_episode};
use becausal_core::trajectory::Trajectory;
use becausal_core::{Policy, Stream};
use rayon::prelude::*;

use super::actor_critic::ActorCritic;
use super::error::LearningError;

/// The returns of episodes in which the agent always took the most likely action.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evaluation {
    /// The return of each episode by the schema's reward terms.
    pub returns: Vec<f64>,
    /// The return of each episode by the environment's own reward.
    pub native: Vec<f64>,
    /// Steps of each episode.
    pub lengths: Vec<usize>,
}

impl Evaluation {
    /// The mean return by the schema's reward terms.
    #[must_use]
    pub fn mean(&self) -> f64 {
        mean(&self.returns)
    }

    /// The standard deviation of the returns.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let center = self.mean();
        let squares: Vec<f64> = self.returns.iter().map(|r| (r - center) * (r - center)).collect();
        mean(&squares).sqrt()
    }

    /// The mean return by the environment's own reward.
    #[must_use]
    pub fn native_mean(&self) -> f64 {
        mean(&self.native)
    }

    /// The mean number of steps of an episode.
    #[must_use]
    pub fn mean_length(&self) -> f64 {
        self.lengths.iter().sum::<usize>() as f64 / self.lengths.len().max(1) as f64
    }
}

/// The episodes of evaluations, which choose the best policy, and their steps. They are no real steps of the training:
/// nothing is learned from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Evaluated {
    /// Episodes.
    pub episodes: usize,
    /// Their steps.
    pub steps: usize,
}

impl Evaluated {
    /// Adds those of an evaluation.
    pub fn add(&mut self, evaluation: &Evaluation) {
        self.episodes += evaluation.lengths.len();
        self.steps += evaluation.lengths.iter().sum::<usize>();
    }
}

/// A policy that reached a mean return in two evaluations with different episodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confirmed {
    /// The smaller of both mean returns.
    pub mean: f64,
    /// The real steps of the training by then.
    pub real_steps: usize,
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

/// Plays `episodes` episodes in parallel, each with its own seed derived from `seed` and `key`.
///
/// # Errors
/// When an episode does not end, or a reward is NaN or infinite.
pub fn evaluate(
    agent: &ActorCritic,
    environment: &AnyEnvironment,
    episodes: usize,
    seed: u64,
    key: &[u32],
) -> Result<Evaluation, LearningError> {
    // Environments need not be shared between threads: each episode gets its own copy beforehand.
    #[expect(clippy::cast_possible_truncation, reason = "episodes are few")]
    let copies: Vec<(u64, AnyEnvironment)> = (0..episodes)
        .map(|episode| Stream::keyed(seed, &[key, &[episode as u32]].concat()).next_u64())
        .map(|seed| (seed, environment.clone()))
        .collect();
    let played: Result<Vec<Trajectory>, LearningError> =
        copies.into_par_iter().map(|(seed, copy)| play(agent, copy, seed)).collect();
    let mut evaluation = Evaluation::default();
    for episode in played? {
        evaluation.returns.push(episode.discounted(1.0));
        evaluation.native.push(episode.steps().iter().filter_map(|step| step.paid).sum());
        evaluation.lengths.push(episode.len());
    }
    Ok(evaluation)
}

/// An episode in which always the most likely action is taken.
fn play(
    agent: &ActorCritic,
    mut environment: AnyEnvironment,
    seed: u64,
) -> Result<Trajectory, LearningError> {
    let mut actor = |_: usize, state: &[f64]| Some(agent.mode(state));
    let episode = play_episode(&mut environment, seed, MAX_EPISODE_STEPS, &mut actor)?;
    if !episode.is_over() {
        let environment = episode.schema().name().to_owned();
        return Err(LearningError::Endless { environment, steps: episode.len() });
    }
    for (step, made) in episode.steps().iter().enumerate() {
        let reward: f64 = made.rewards.iter().sum();
        if !reward.is_finite() {
            return Err(LearningError::Reward { reward: reward.to_string(), step });
        }
    }
    Ok(episode)
}

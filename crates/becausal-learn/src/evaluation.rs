//! How good a policy is in its environment.

use becausal_core::env::{AnyEnvironment, MAX_EPISODE_STEPS, play_episode};
use becausal_core::trajectory::Trajectory;
use becausal_core::{Policy, Stream};
use rayon::prelude::*;

use super::actor_critic::ActorCritic;
use super::error::LearningError;

/// Returns of some episodes in which always the most likely action was taken.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evaluation {
    /// By the schema's reward terms, episode by episode.
    pub returns: Vec<f64>,
    /// As the environment itself pays.
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

    /// The deviation of the returns.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let middle = self.mean();
        let squares: Vec<f64> = self.returns.iter().map(|r| (r - middle) * (r - middle)).collect();
        mean(&squares).sqrt()
    }

    /// The mean of what the environment itself pays.
    #[must_use]
    pub fn native_mean(&self) -> f64 {
        mean(&self.native)
    }

    /// The mean number of steps.
    #[must_use]
    pub fn mean_length(&self) -> f64 {
        self.lengths.iter().sum::<usize>() as f64 / self.lengths.len().max(1) as f64
    }
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

/// Plays `episodes` episodes, each from its own seed derived from `seed` and `key`.
///
/// # Errors
/// When an episode does not end, or a reward is NaN or infinite.
pub fn evaluate(
    agent: &ActorCritic,
    environment: &AnyEnvironment,
    episodes: usize,
    seed: u64,
    key: u32,
) -> Result<Evaluation, LearningError> {
    // Environments need not be shared between threads: each episode gets its own copy beforehand.
    #[expect(clippy::cast_possible_truncation, reason = "episodes are few")]
    let copies: Vec<(u64, AnyEnvironment)> = (0..episodes)
        .map(|episode| Stream::keyed(seed, &[key, episode as u32]).next_u64())
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

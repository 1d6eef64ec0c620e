//! Evaluating a policy in its environment.

use becausal_core::Stream;
use becausal_core::env::{AnyEnvironment, Environment};

use super::actor_critic::ActorCritic;
use super::error::LearningError;
use super::experience::Experience;

/// Steps after which an episode counts as endless.
pub const MAX_EPISODE_STEPS: usize = 100_000;

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
    key: u32,
) -> Result<Evaluation, LearningError> {
    let schema = environment.schema();
    #[expect(clippy::cast_possible_truncation, reason = "episodes are few")]
    let seeds: Vec<u64> = (0..episodes)
        .map(|episode| Stream::keyed(seed, &[key, episode as u32]).next_u64())
        .collect();
    let (states, actions) = (schema.state_slots().len(), schema.action_slots().len());
    let mut result = Evaluation {
        returns: vec![0.0; episodes],
        native: vec![0.0; episodes],
        lengths: vec![0; episodes],
    };
    let mut copies: Vec<AnyEnvironment> = vec![environment.clone(); episodes];
    copies.iter_mut().zip(seeds).for_each(|(copy, seed)| copy.reset(seed));
    let mut playing: Vec<usize> = (0..episodes).collect();
    let mut numbers = vec![0.0; actions];
    let mut action = vec![0.0; actions];
    for step in 0.. {
        if playing.is_empty() {
            break;
        }
        if step == MAX_EPISODE_STEPS {
            let environment = schema.name().to_owned();
            return Err(LearningError::Endless { environment, steps: step });
        }
        let states_now: Vec<f64> =
            playing.iter().flat_map(|&at| copies[at].state()).copied().collect();
        let outputs = agent.act(&states_now);
        let mut steps = Experience::new(schema, playing.len());
        let mut unfinished = Vec::with_capacity(playing.len());
        for (row, &at) in playing.iter().enumerate() {
            agent.space().mode(outputs.row(0, row), &mut numbers);
            agent.space().action(&numbers, &mut action);
            let after = copies[at].step(&action)?;
            steps.push(&states_now[row * states..][..states], &action, after.outcomes, after.state);
            result.native[at] += after.reward;
            result.lengths[at] += 1;
            if !after.terminated && !after.truncated {
                unfinished.push(at);
            }
        }
        for (reward, &at) in steps.rewards_from(schema, 0).into_iter().zip(&playing) {
            if !reward.is_finite() {
                return Err(LearningError::Reward { reward: reward.to_string(), step });
            }
            result.returns[at] += reward;
        }
        playing = unfinished;
    }
    Ok(result)
}

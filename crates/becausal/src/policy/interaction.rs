//! Real samples for the buffer of the world model.

use std::sync::Arc;

use crate::data::{Row, Transitions};
use crate::env::{AnyEnvironment, Environment, random_action};
use crate::random::Stream;

use super::Policy;
use super::error::LearningError;
use super::evaluation::LONGEST_EPISODE;

/// How much an agent tries out while it collects samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exploration {
    /// The share of the samples in whose episodes random actions are mixed.
    pub share: f64,
    /// How often an action is random in such an episode: drawn evenly from 0 to this, an episode
    /// at a time.
    pub rate: f64,
    /// Episodes are cut after this many steps; 0 for the environment's own limit.
    pub longest: usize,
}

/// Records whole episodes until there are `rows` transitions or more, but never more than `most`.
///
/// Exploring episodes come first. Everything is drawn from streams keyed by `seed` and the episode.
///
/// # Errors
/// When an episode does not end, or a state is not a number.
pub fn interact(
    environment: &AnyEnvironment,
    policy: &dyn Policy,
    (rows, most): (usize, usize),
    exploration: Exploration,
    seed: u64,
) -> Result<Transitions, LearningError> {
    let schema = Arc::clone(environment.schema());
    let mut record = Transitions::new(Arc::clone(&schema));
    let mut environment = environment.clone();
    let mut action = vec![0.0; schema.action_slots().len()];
    let rows = rows.min(most);
    for episode in 0.. {
        if record.len() >= rows {
            break;
        }
        environment.reset(Stream::keyed(seed, &[episode, 0]).next_u64());
        let mut stream = Stream::keyed(seed, &[episode, 1]);
        let exploring = (record.len() as f64) < exploration.share * rows as f64;
        let rate = if exploring { stream.uniform(0.0, exploration.rate) } else { 0.0 };
        record.begin_episode();
        for step in 1.. {
            let state = environment.state().to_vec();
            if stream.unit() < rate {
                random_action(&schema, &mut stream, &mut action)?;
            } else {
                action = policy.sample(&state, &mut stream);
            }
            let after = environment.step(&action)?;
            if let Some(at) = after.state.iter().position(|value| !value.is_finite()) {
                return Err(LearningError::State {
                    variable: schema.slots()[at].name.clone(),
                    value: after.state[at].to_string(),
                    place: "in the environment",
                });
            }
            let full = record.len() + 1 >= most || step == exploration.longest;
            let over = after.terminated || after.truncated;
            record.push(&Row {
                state: &state,
                action: &action,
                outcomes: after.outcomes,
                next: after.state,
                reward: after.reward,
                terminated: after.terminated,
                truncated: after.truncated || (full && !after.terminated),
            });
            if over || full {
                break;
            }
            if step >= LONGEST_EPISODE {
                let environment = schema.name().to_owned();
                return Err(LearningError::Endless { environment, steps: step });
            }
        }
    }
    Ok(record)
}

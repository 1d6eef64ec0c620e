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
    /// The share of these episodes in which all random actions are the same one. Noise averages out;
    /// a bias that lasts leads the episode elsewhere, and the policy still steers.
    pub biased: f64,
    /// The share of the samples, the last ones, in which the policy takes its most likely action
    /// every time. What only comes of constancy (a lander that rests) is seen in no other way.
    pub greedy: f64,
    /// Episodes are cut after this many steps; 0 for the environment's own limit.
    pub longest: usize,
}

impl Exploration {
    /// The policy as it is, in episodes as long as they are.
    pub const NONE: Self = Self { share: 0.0, rate: 0.0, biased: 0.0, greedy: 0.0, longest: 0 };
}

/// Records whole episodes until there are `rows` transitions or more, but never more than `most`.
///
/// Exploring episodes come first, greedy ones last. Everything is drawn from streams keyed by `seed` and the episode.
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
        let greedy = record.len() as f64 >= (1.0 - exploration.greedy) * rows as f64;
        let rate = if exploring { stream.uniform(0.0, exploration.rate) } else { 0.0 };
        let biased = rate > 0.0 && exploration.biased > 0.0 && stream.unit() < exploration.biased;
        let mut tried = vec![0.0; action.len()];
        if biased {
            random_action(&schema, &mut stream, &mut tried)?;
        }
        record.begin_episode();
        for step in 1.. {
            let state = environment.state().to_vec();
            if stream.unit() < rate {
                if !biased {
                    random_action(&schema, &mut stream, &mut tried)?;
                }
                action.copy_from_slice(&tried);
            } else if greedy && !exploring {
                action = policy.mode(&state);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Options, find};
    use crate::policy::RandomPolicy;

    /// The engines of every episode of 300 random samples.
    fn engines(exploration: Exploration) -> Vec<Vec<f64>> {
        let environment = find("LunarLander-v3").expect("an environment");
        let environment = environment.make(&Options::default()).expect("an environment");
        let policy = RandomPolicy::new(Arc::clone(environment.schema())).expect("a policy");
        let record = interact(&environment, &policy, (300, 600), exploration, 7).expect("samples");
        let slot = environment.schema().action_slots().start;
        let engines = record.column(slot).to_numbers();
        (0..record.episodes()).map(|episode| engines[record.episode(episode)].to_vec()).collect()
    }

    fn changes(engines: &[f64]) -> usize {
        engines.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    #[test]
    fn a_biased_episode_tries_one_action_more_often() {
        let most_common = |biased: f64| -> f64 {
            let exploration =
                Exploration { share: 1.0, rate: 1.0, biased, longest: 100, ..Exploration::NONE };
            let episodes = engines(exploration);
            let share = |engines: &Vec<f64>| {
                let of = |engine: f64| engines.iter().filter(|e| **e == engine).count();
                let most = [0.0, 1.0, 2.0, 3.0].map(of).into_iter().max().unwrap_or(0);
                most as f64 / engines.len() as f64
            };
            episodes.iter().map(share).sum::<f64>() / episodes.len() as f64
        };
        assert!(most_common(1.0) > most_common(0.0) + 0.1);
    }

    #[test]
    fn the_last_samples_are_greedy() {
        // The most likely action of the random policy is always the same.
        let exploration = Exploration { share: 0.3, greedy: 0.5, longest: 50, ..Exploration::NONE };
        let engines = engines(exploration);
        assert!(changes(&engines[0]) > 0);
        assert_eq!(changes(engines.last().expect("episodes")), 0);
    }
}

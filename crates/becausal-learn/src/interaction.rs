//! Real samples for the buffer of the world model.

use std::sync::Arc;

use becausal_core::Stream;
use becausal_core::data::{Row, Transitions};
use becausal_core::env::{AnyEnvironment, Environment, random_action};

use super::error::LearningError;
use becausal_core::Policy;
use becausal_core::env::MAX_EPISODE_STEPS;

/// How much an agent tries out while it collects samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exploration {
    /// The share of the samples in whose episodes the agent has urges: to one random action, for a while.
    pub share: f64,
    /// For which share of such an episode there is an urge: drawn evenly from 0 to this, an episode
    /// at a time.
    pub rate: f64,
    /// An urge lasts 1 to this many steps, the longer the rarer. One of a single step is a random
    /// action; in a longer one a share of the actions, drawn evenly, is what it urges to. Noise
    /// averages out; what lasts leads the episode elsewhere, and the policy still steers.
    pub longest_urge: usize,
    /// The share of the samples, the last ones, in which the policy takes its most likely action
    /// every time. What only comes of constancy (a lander that rests) is seen in no other way.
    pub greedy: f64,
    /// Episodes are cut after this many steps; 0 for the environment's own limit.
    pub longest: usize,
}

impl Exploration {
    /// The policy as it is, in episodes as long as they are.
    pub const NONE: Self = Self { share: 0.0, rate: 0.0, longest_urge: 1, greedy: 0.0, longest: 0 };

    /// How long an urge lasts: 1 to `longest_urge` steps, evenly in the logarithm.
    fn draw_length(&self, stream: &mut Stream) -> usize {
        let longest = self.longest_urge.max(1);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 on")]
        let steps = (longest as f64 + 1.0).powf(stream.unit()) as usize;
        steps.clamp(1, longest)
    }

    /// How often an urge begins where there is none, so that there is one in a share `rate` of all
    /// steps.
    fn chance_to_begin(&self, rate: f64) -> f64 {
        let longest = self.longest_urge.max(1);
        let logarithm = (longest as f64 + 1.0).ln();
        // The mean of floor(e^(u * logarithm)), u even in 0 to 1: the chances to reach 1, 2, 3, ...
        let mean: f64 = (1..=longest).map(|steps| 1.0 - (steps as f64).ln() / logarithm).sum();
        rate / (rate + mean * (1.0 - rate)).max(f64::MIN_POSITIVE)
    }
}

/// An urge to an action.
#[derive(Default)]
struct Urge {
    action: Vec<f64>,
    /// Steps that it still lasts.
    left: usize,
    /// The share of actions that it decides.
    strength: f64,
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
        let chance = exploration.chance_to_begin(rate);
        let mut urge = Urge { action: action.clone(), ..Urge::default() };
        record.begin_episode();
        for step in 1.. {
            let state = environment.state().to_vec();
            if urge.left == 0 && stream.unit() < chance {
                random_action(&schema, &mut stream, &mut urge.action)?;
                urge.left = exploration.draw_length(&mut stream);
                urge.strength = if urge.left == 1 { 1.0 } else { stream.unit() };
            }
            let urged = urge.left > 0 && stream.unit() < urge.strength;
            urge.left = urge.left.saturating_sub(1);
            if urged {
                action.copy_from_slice(&urge.action);
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
            if step >= MAX_EPISODE_STEPS {
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
    use becausal_core::RandomPolicy;
    use becausal_core::env::Options;
    use becausal_envs::find;

    /// The engines of every episode of so many random samples.
    fn engines(exploration: Exploration, samples: usize) -> Vec<Vec<f64>> {
        let environment = find("LunarLander-v3").expect("an environment");
        let environment = environment.make(&Options::default()).expect("an environment");
        let policy = RandomPolicy::new(Arc::clone(environment.schema())).expect("a policy");
        let most = (samples, 2 * samples);
        let record = interact(&environment, &policy, most, exploration, 7).expect("samples");
        let slot = environment.schema().action_slots().start;
        let engines = record.column(slot).to_numbers();
        (0..record.episodes()).map(|episode| engines[record.episode(episode)].to_vec()).collect()
    }

    fn changes(engines: &[f64]) -> usize {
        engines.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    #[test]
    fn urges_last_for_a_while() {
        let longest_run = |longest_urge: usize| -> usize {
            let exploration = Exploration {
                share: 1.0,
                rate: 1.0,
                longest_urge,
                longest: 100,
                ..Exploration::NONE
            };
            let same = |engines: &Vec<f64>| {
                engines.chunk_by(|a, b| a == b).map(<[f64]>::len).max().unwrap_or(0)
            };
            engines(exploration, 2000).iter().map(same).max().unwrap_or(0)
        };
        let (long, short) = (longest_run(60), longest_run(1));
        assert!(short < 12 && long > 2 * short, "{long} {short}");
    }

    #[test]
    fn urges_take_the_same_share_of_steps_however_long_they_last() {
        let mut stream = Stream::new(1);
        for longest_urge in [1, 4, 60] {
            let exploration = Exploration { longest_urge, ..Exploration::NONE };
            let chance = exploration.chance_to_begin(0.3);
            let (mut urged, mut all) = (0.0, 0.0);
            while all < 200_000.0 {
                let begins = stream.unit() < chance;
                let steps = if begins { exploration.draw_length(&mut stream) } else { 1 };
                assert!((1..=longest_urge).contains(&steps));
                urged += if begins { steps as f64 } else { 0.0 };
                all += steps as f64;
            }
            assert!((urged / all - 0.3).abs() < 0.01, "{longest_urge}: {}", urged / all);
        }
    }

    #[test]
    fn the_last_samples_are_greedy() {
        // The most likely action of the random policy is always the same.
        let exploration = Exploration { share: 0.3, greedy: 0.5, longest: 50, ..Exploration::NONE };
        let engines = engines(exploration, 300);
        assert!(changes(&engines[0]) > 0);
        assert_eq!(changes(engines.last().expect("episodes")), 0);
    }
}

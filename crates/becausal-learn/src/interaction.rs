//! Real transitions for the buffer of the world model.

use std::sync::Arc;

use becausal_core::Stream;
use becausal_core::data::{Row, Transitions};
use becausal_core::env::{AnyEnvironment, Environment, random_action};

use super::error::LearningError;
use becausal_core::Policy;
use becausal_core::env::MAX_EPISODE_STEPS;

/// How an agent explores while it collects samples.
///
/// An *urge* is one random action that the agent is drawn to for a while. Independent noise averages
/// out; an urge leads the episode elsewhere, while the policy still steers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exploration {
    /// The share of the samples, the first ones, in whose episodes there are urges.
    pub share: f64,
    /// The largest share of an episode's steps with an urge. The share of each episode is drawn
    /// uniformly from 0 to this.
    pub rate: f64,
    /// The longest urge, in steps. Longer urges are rarer: lengths are uniform in the logarithm. An
    /// urge of one step replaces the action; a longer one replaces a share of the actions that is
    /// drawn uniformly from 0 to 1.
    pub longest_urge: usize,
    /// The share of the samples, the last ones, in which the policy always takes its most likely
    /// action. Some states, such as a lander at rest, are reached in no other way.
    pub greedy: f64,
    /// Episodes are truncated after this many steps; 0 for the environment's own limit.
    pub longest: usize,
}

impl Exploration {
    /// No exploration: actions sampled from the policy, episodes of full length.
    pub const NONE: Self = Self { share: 0.0, rate: 0.0, longest_urge: 1, greedy: 0.0, longest: 0 };

    /// Draws the length of an urge: 1 to `longest_urge` steps, uniform in the logarithm.
    fn draw_length(&self, stream: &mut Stream) -> usize {
        let longest = self.longest_urge.max(1);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1")]
        let steps = (longest as f64 + 1.0).powf(stream.unit()) as usize;
        steps.clamp(1, longest)
    }

    /// The probability that an urge starts in a step without one, so that a share `rate` of all steps
    /// has one.
    fn start_probability(&self, rate: f64) -> f64 {
        let longest = self.longest_urge.max(1);
        let logarithm = (longest as f64 + 1.0).ln();
        // The mean of floor(e^(u * logarithm)), u uniform from 0 to 1: the sum of the probabilities
        // to reach 1, 2, 3, ...
        let mean: f64 = (1..=longest).map(|steps| 1.0 - (steps as f64).ln() / logarithm).sum();
        rate / (rate + mean * (1.0 - rate)).max(f64::MIN_POSITIVE)
    }
}

/// A random action that the agent is drawn to.
#[derive(Default)]
struct Urge {
    action: Vec<f64>,
    /// Steps left.
    left: usize,
    /// The share of the actions that it replaces.
    strength: f64,
}

/// Records whole episodes until there are at least `rows` transitions, but at most `max_rows`.
///
/// Exploring episodes come first, greedy ones last. All randomness comes from streams keyed by `seed`
/// and the episode.
///
/// # Errors
/// When an episode does not end, or a state is NaN or infinite.
pub fn interact(
    environment: &AnyEnvironment,
    policy: &dyn Policy,
    (rows, max_rows): (usize, usize),
    exploration: Exploration,
    seed: u64,
) -> Result<Transitions, LearningError> {
    let schema = Arc::clone(environment.schema());
    let mut record = Transitions::new(Arc::clone(&schema));
    let mut environment = environment.clone();
    let mut action = vec![0.0; schema.action_slots().len()];
    let rows = rows.min(max_rows);
    for episode in 0.. {
        if record.len() >= rows {
            break;
        }
        environment.reset(Stream::keyed(seed, &[episode, 0]).next_u64());
        let mut stream = Stream::keyed(seed, &[episode, 1]);
        let exploring = (record.len() as f64) < exploration.share * rows as f64;
        let greedy = record.len() as f64 >= (1.0 - exploration.greedy) * rows as f64;
        let rate = if exploring { stream.uniform(0.0, exploration.rate) } else { 0.0 };
        let start_probability = exploration.start_probability(rate);
        let mut urge = Urge { action: action.clone(), ..Urge::default() };
        record.begin_episode();
        for step in 1.. {
            let state = environment.state().to_vec();
            if urge.left == 0 && stream.unit() < start_probability {
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
            let full = record.len() + 1 >= max_rows || step == exploration.longest;
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

    /// The engine actions of a random policy, episode by episode.
    fn engines(exploration: Exploration, samples: usize) -> Vec<Vec<f64>> {
        let environment = find("LunarLander-v3").expect("an environment");
        let environment = environment.make(&Options::default()).expect("an environment");
        let policy = RandomPolicy::new(Arc::clone(environment.schema())).expect("a policy");
        let rows = (samples, 2 * samples);
        let record = interact(&environment, &policy, rows, exploration, 7).expect("samples");
        let slot = environment.schema().action_slots().start;
        let engines = record.column(slot).to_numbers();
        (0..record.episodes()).map(|episode| engines[record.episode(episode)].to_vec()).collect()
    }

    fn changes(engines: &[f64]) -> usize {
        engines.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    #[test]
    fn longer_urges_give_longer_runs_of_one_action() {
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
    fn the_share_of_steps_with_an_urge_does_not_depend_on_its_length() {
        let mut stream = Stream::new(1);
        for longest_urge in [1, 4, 60] {
            let exploration = Exploration { longest_urge, ..Exploration::NONE };
            let probability = exploration.start_probability(0.3);
            let (mut urged, mut all) = (0.0, 0.0);
            while all < 200_000.0 {
                let starts = stream.unit() < probability;
                let steps = if starts { exploration.draw_length(&mut stream) } else { 1 };
                assert!((1..=longest_urge).contains(&steps));
                urged += if starts { steps as f64 } else { 0.0 };
                all += steps as f64;
            }
            assert!((urged / all - 0.3).abs() < 0.01, "{longest_urge}: {}", urged / all);
        }
    }

    #[test]
    fn the_last_samples_are_greedy() {
        // The random policy's most likely action is always the same.
        let exploration = Exploration { share: 0.3, greedy: 0.5, longest: 50, ..Exploration::NONE };
        let engines = engines(exploration, 300);
        assert!(changes(&engines[0]) > 0);
        assert_eq!(changes(engines.last().expect("episodes")), 0);
    }
}

//! Real experience: many copies of an environment played side by side.

use becausal_core::Stream;
use becausal_core::env::{AnyEnvironment, Batch, Environment, MAX_EPISODE_STEPS};

use super::actor_critic::ActorCritic;
use super::error::LearningError;
use super::experience::Experience;
use super::observation::Running;

/// Copies of an environment whose episodes go on from one round to the next.
///
/// All that happens in an episode follows from its seed and its actions. These are kept, so that a
/// training that was stopped goes on in the middle of its episodes.
#[derive(Clone)]
pub struct Play {
    batch: Batch<AnyEnvironment>,
    current: Vec<Current>,
    seed: u64,
    /// Episodes begun so far.
    begun: u32,
    discount: f64,
}

/// The episode that a copy is in.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Current {
    /// What it was begun with.
    pub seed: u64,
    /// All actions taken in it, one after the other.
    pub actions: Vec<f64>,
    /// Rewards so far by the schema's terms.
    total: f64,
    native: f64,
    /// Rewards so far, earlier ones discounted.
    discounted: f64,
}

/// An episode that came to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayedEpisode {
    /// Its return by the schema's reward terms.
    pub total: f64,
    /// Its return as the environment pays.
    pub native: f64,
    /// Its steps.
    pub steps: usize,
}

impl Play {
    /// Begins an episode in each of `copies` copies.
    #[must_use]
    pub fn new(environment: &AnyEnvironment, copies: usize, seed: u64, discount: f64) -> Self {
        let seeds: Vec<u64> = (0..).take(copies).map(|number| seed_of(seed, number)).collect();
        let current = seeds.iter().map(|&seed| Current { seed, ..Current::default() }).collect();
        let begun = u32::try_from(copies).unwrap_or(u32::MAX);
        Self { batch: Batch::new(environment, &seeds), current, seed, begun, discount }
    }

    /// Goes on where another one was: its episodes begun, and the seed and the actions of
    /// those that were not over.
    ///
    /// # Errors
    /// When the environment does not take these actions.
    pub fn resume(
        environment: &AnyEnvironment,
        seed: u64,
        discount: f64,
        begun: u32,
        episodes: &[(u64, Vec<f64>)],
    ) -> Result<Self, LearningError> {
        let seeds: Vec<u64> = episodes.iter().map(|(seed, _)| *seed).collect();
        let schema = environment.schema();
        let width = schema.action_slots().len();
        let mut copies = Vec::new();
        let mut current = Vec::new();
        for (seed, actions) in episodes {
            let mut copy = environment.clone();
            copy.reset(*seed);
            let mut now = Current { seed: *seed, ..Current::default() };
            for action in actions.chunks_exact(width) {
                let mut lived = Experience::new(schema, 1);
                let state = copy.state().to_vec();
                let step = copy.step(action)?;
                lived.push(&state, action, step.outcomes, step.state);
                now.add(action, lived.rewards_from(schema, 0)[0], step.reward, discount);
            }
            copies.push(copy);
            current.push(now);
        }
        let mut batch = Batch::new(environment, &seeds);
        batch.replace(copies);
        Ok(Self { batch, current, seed, begun, discount })
    }

    /// What [`resume`](Self::resume) needs.
    #[must_use]
    pub fn memory(&self) -> (u32, Vec<(u64, Vec<f64>)>) {
        let episodes = self.current.iter().map(|now| (now.seed, now.actions.clone()));
        (self.begun, episodes.collect())
    }

    /// Plays `steps` steps in each copy with actions drawn from the policy. `returns` learns the
    /// size of the discounted returns; episodes that end are handed to `ended`.
    ///
    /// # Errors
    /// When an episode does not end, or a reward is not a number.
    pub fn experience(
        &mut self,
        agent: &ActorCritic,
        steps: usize,
        stream: &mut Stream,
        returns: &mut Running,
        ended: &mut Vec<PlayedEpisode>,
    ) -> Result<Experience, LearningError> {
        let schema = std::sync::Arc::clone(becausal_core::Policy::schema(agent));
        let (states, outcomes) = (schema.state_slots().len(), schema.outcome_slots().len());
        let width = schema.action_slots().len();
        let copies = self.batch.len();
        let mut lived = Experience::new(&schema, copies);
        let mut actions = vec![0.0; copies * width];
        let mut numbers = vec![0.0; width];
        for _ in 0..steps {
            let before = self.batch.states().to_vec();
            let said = agent.act(&before);
            for copy in 0..copies {
                let chance = agent.space().draw(said.row(0, copy), stream, &mut numbers);
                agent.space().action(&numbers, &mut actions[copy * width..][..width]);
                lived.log_probabilities.push(chance);
                lived.numbers.extend_from_slice(&numbers);
            }
            lived.said.extend_from_slice(&said.values);
            self.batch.step(&actions)?;
            let from = lived.len();
            for copy in 0..copies {
                lived.push(
                    &before[copy * states..][..states],
                    &actions[copy * width..][..width],
                    &self.batch.outcomes()[copy * outcomes..][..outcomes],
                    &self.batch.states()[copy * states..][..states],
                );
            }
            let rewards = lived.rewards_from(&schema, from);
            for (copy, &reward) in rewards.iter().enumerate() {
                if !reward.is_finite() {
                    let step = self.current[copy].actions.len() / width;
                    return Err(LearningError::Reward { reward: reward.to_string(), step });
                }
                let terminated = self.batch.terminated()[copy];
                let over = terminated || self.batch.truncated()[copy];
                lived.terminated.push(terminated);
                lived.ended.push(over);
                let action = &actions[copy * width..][..width];
                let now = &mut self.current[copy];
                now.add(action, reward, self.batch.rewards()[copy], self.discount);
                returns.add(now.discounted);
                let steps = now.actions.len() / width;
                if over {
                    ended.push(PlayedEpisode { total: now.total, native: now.native, steps });
                    let seed = seed_of(self.seed, self.begun);
                    self.begun += 1;
                    *now = Current { seed, ..Current::default() };
                    self.batch.reset(copy, seed);
                } else if steps >= MAX_EPISODE_STEPS {
                    let environment = schema.name().to_owned();
                    return Err(LearningError::Endless { environment, steps });
                }
            }
            lived.rewards.extend(rewards);
        }
        Ok(lived)
    }
}

impl Current {
    fn add(&mut self, action: &[f64], reward: f64, native: f64, discount: f64) {
        self.actions.extend_from_slice(action);
        self.total += reward;
        self.native += native;
        self.discounted = discount * self.discounted + reward;
    }
}

fn seed_of(seed: u64, number: u32) -> u64 {
    Stream::keyed(seed, &[0x706c_6179, number]).next_u64()
}

//! Real experience: many copies of an environment played in parallel.

use becausal_core::Stream;
use becausal_core::env::{AnyEnvironment, Batch, Environment, MAX_EPISODE_STEPS};

use super::actor_critic::ActorCritic;
use super::error::LearningError;
use super::experience::Experience;
use super::observation::Running;

/// Copies of an environment whose episodes continue from one round to the next.
///
/// An episode is determined by its seed and its actions. Both are kept, so that a training can resume
/// in the middle of its episodes.
#[derive(Clone)]
pub struct Play {
    batch: Batch<AnyEnvironment>,
    current: Vec<Current>,
    seed: u64,
    /// Episodes started so far.
    started: u32,
    discount: f64,
}

/// The episode that a copy is in.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Current {
    /// The seed of its reset.
    pub seed: u64,
    /// The actions taken in it, in order.
    pub actions: Vec<f64>,
    /// The sum of the rewards so far by the schema's reward terms.
    total: f64,
    /// The sum of the environment's own rewards so far.
    native: f64,
    /// The sum of the rewards so far, earlier ones discounted.
    discounted: f64,
}

/// A finished episode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayedEpisode {
    /// Its return by the schema's reward terms.
    pub total: f64,
    /// Its return by the environment's own reward.
    pub native: f64,
    /// Its number of steps.
    pub steps: usize,
}

impl Play {
    /// Starts an episode in each of `copies` copies.
    #[must_use]
    pub fn new(environment: &AnyEnvironment, copies: usize, seed: u64, discount: f64) -> Self {
        let seeds: Vec<u64> = (0..).take(copies).map(|number| seed_of(seed, number)).collect();
        let current = seeds.iter().map(|&seed| Current { seed, ..Current::default() }).collect();
        let started = u32::try_from(copies).unwrap_or(u32::MAX);
        Self { batch: Batch::new(environment, &seeds), current, seed, started, discount }
    }

    /// Resumes from the [`memory`](Self::memory) of another one: the number of episodes started, and
    /// the seed and the actions of the unfinished ones.
    ///
    /// # Errors
    /// When the environment refuses an action.
    pub fn resume(
        environment: &AnyEnvironment,
        seed: u64,
        discount: f64,
        started: u32,
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
                let mut played = Experience::new(schema, 1);
                let state = copy.state().to_vec();
                let step = copy.step(action)?;
                played.push(&state, action, step.outcomes, step.state);
                now.add(action, played.rewards_from(schema, 0)[0], step.reward, discount);
            }
            copies.push(copy);
            current.push(now);
        }
        let mut batch = Batch::new(environment, &seeds);
        batch.replace(copies);
        Ok(Self { batch, current, seed, started, discount })
    }

    /// The state that [`resume`](Self::resume) needs.
    #[must_use]
    pub fn memory(&self) -> (u32, Vec<(u64, Vec<f64>)>) {
        let episodes = self.current.iter().map(|now| (now.seed, now.actions.clone()));
        (self.started, episodes.collect())
    }

    /// Plays `steps` steps in each copy with actions drawn from the policy. Discounted returns are
    /// added to `returns`, finished episodes to `ended`.
    ///
    /// # Errors
    /// When an episode does not end, or a reward is NaN or infinite.
    pub fn experience(
        &mut self,
        agent: &ActorCritic,
        steps: usize,
        stream: &mut Stream,
        returns: &mut Running,
        ended: &mut Vec<PlayedEpisode>,
    ) -> Result<Experience, LearningError> {
        let schema = std::sync::Arc::clone(becausal_core::Policy::schema(agent));
        let (states, outcome_width) = (schema.state_slots().len(), schema.outcome_slots().len());
        let width = schema.action_slots().len();
        let copies = self.batch.len();
        let mut experience = Experience::new(&schema, copies);
        let mut actions = vec![0.0; copies * width];
        for _ in 0..steps {
            let before = self.batch.states().to_vec();
            experience.act(agent, &before, stream, &mut actions);
            self.batch.step(&actions)?;
            let from = experience.len();
            for copy in 0..copies {
                experience.push(
                    &before[copy * states..][..states],
                    &actions[copy * width..][..width],
                    &self.batch.outcomes()[copy * outcome_width..][..outcome_width],
                    &self.batch.states()[copy * states..][..states],
                );
            }
            let rewards = experience.rewards_from(&schema, from);
            for (copy, &reward) in rewards.iter().enumerate() {
                if !reward.is_finite() {
                    let step = self.current[copy].actions.len() / width;
                    return Err(LearningError::Reward { reward: reward.to_string(), step });
                }
                let terminated = self.batch.terminated()[copy];
                let over = terminated || self.batch.truncated()[copy];
                experience.terminated.push(terminated);
                experience.ended.push(over);
                let action = &actions[copy * width..][..width];
                let now = &mut self.current[copy];
                now.add(action, reward, self.batch.rewards()[copy], self.discount);
                returns.add(now.discounted);
                let steps = now.actions.len() / width;
                if over {
                    ended.push(PlayedEpisode { total: now.total, native: now.native, steps });
                    let seed = seed_of(self.seed, self.started);
                    self.started += 1;
                    *now = Current { seed, ..Current::default() };
                    self.batch.reset(copy, seed);
                } else if steps >= MAX_EPISODE_STEPS {
                    let environment = schema.name().to_owned();
                    return Err(LearningError::Endless { environment, steps });
                }
            }
            experience.rewards.extend(rewards);
        }
        Ok(experience)
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

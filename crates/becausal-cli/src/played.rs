//! Episodes whose seeds are known: they can be played again, step by step.

use std::sync::Arc;

use becausal::Policy;
use becausal::data::Row;
use becausal::env::{AnyEnvironment, replay};
use becausal::{Environment, Transitions};

use crate::failure::Failure;

/// Longer episodes are cut.
const LONGEST: usize = 2000;

/// Episodes of an environment, each with the seed that it began with.
pub struct Played<'a> {
    pub environment: &'a AnyEnvironment,
    pub data: &'a Transitions,
    pub seeds: Vec<u64>,
}

impl Played<'_> {
    /// Plays the beginning of an episode again, up to before a step, perhaps with another action at one step and the
    /// recorded ones after it.
    pub fn again(
        &self,
        episode: usize,
        until: usize,
        other: Option<(usize, &[f64])>,
    ) -> Result<(Transitions, AnyEnvironment), Failure> {
        let slots = self.data.schema().action_slots();
        let rows = self.data.episode(episode).take(until);
        let mut actions: Vec<Vec<f64>> =
            rows.map(|row| self.data.row(row)[slots.clone()].to_vec()).collect();
        if let Some((step, action)) = other {
            actions[step] = action.to_vec();
        }
        Ok(replay(self.environment.clone(), self.seeds[episode], &actions)?)
    }

    /// The environment's drawing of the state before a step, where it has one.
    pub fn scene(&self, episode: usize, step: usize) -> Option<String> {
        self.again(episode, step, None).ok()?.1.scene()
    }
}

/// Episodes in which a policy takes its most likely actions, one for each seed.
pub fn play(
    environment: &AnyEnvironment,
    policy: &dyn Policy,
    seeds: &[u64],
) -> Result<Transitions, Failure> {
    let mut environment = environment.clone();
    let mut record = Transitions::new(Arc::clone(environment.schema()));
    for &seed in seeds {
        environment.reset(seed);
        record.begin_episode();
        for step in 1.. {
            let state = environment.state().to_vec();
            let action = policy.mode(&state);
            let after = environment.step(&action)?;
            let over = after.terminated || after.truncated || step == LONGEST;
            record.push(&Row {
                state: &state,
                action: &action,
                outcomes: after.outcomes,
                next: after.state,
                reward: after.reward,
                terminated: after.terminated,
                truncated: over && !after.terminated,
            });
            if over {
                break;
            }
        }
    }
    Ok(record)
}

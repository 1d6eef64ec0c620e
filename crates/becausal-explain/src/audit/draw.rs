//! The states of an audit: steps of fresh episodes.

use becausal_core::data::Coverage;
use becausal_core::env::{Environment, play_episode};
use becausal_core::progress::Tracker;
use becausal_core::trajectory::Trajectory;
use becausal_core::{Policy, Stream, Transitions};
use rayon::prelude::*;

use super::{Acting, AuditParams};
use crate::error::ExplainError;

/// Episodes that were played for an audit, and how to come back to each of their steps.
pub struct Played {
    /// All steps.
    pub steps: Transitions,
    /// The seed of each episode.
    seeds: Vec<u64>,
}

/// Where an audit asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The episode, counted from 0.
    pub episode: usize,
    /// The step in it, counted from 0.
    pub step: usize,
}

impl Played {
    /// Plays so many episodes. An audit plays one for every state.
    ///
    /// # Errors
    /// When the environment refuses an action, no episode has a step, or the listener stops the work.
    pub fn new<E: Environment>(
        environment: &E,
        policy: &dyn Policy,
        episodes: usize,
        params: &AuditParams,
    ) -> Result<Self, ExplainError> {
        let count = u32::try_from(episodes).unwrap_or(u32::MAX);
        let tracker = Tracker::new(&params.progress, "play", "episodes", episodes);
        // Environments may not be `Sync`, so each episode gets its own copy beforehand.
        let copies: Vec<(u32, E)> =
            (0..count).map(|number| (number, environment.clone())).collect();
        let played = copies
            .into_par_iter()
            .map(|(number, mut copy)| {
                if tracker.is_stopped() {
                    return Err(ExplainError::Stopped);
                }
                let seed = Stream::keyed(params.seed, &[number, 0]).next_u64();
                let mut draws = Stream::keyed(params.seed, &[number, 1]);
                let mut actor = |_: usize, state: &[f64]| {
                    Some(match params.acting {
                        Acting::MostLikely => policy.mode(state),
                        Acting::Sampled => policy.sample(state, &mut draws),
                    })
                };
                let episode = play_episode(&mut copy, seed, params.longest_episode, &mut actor)?;
                tracker.advance(1.0, "");
                Ok((seed, episode))
            })
            .collect::<Result<Vec<(u64, Trajectory)>, ExplainError>>()?;
        let mut steps = Transitions::new(environment.schema().clone());
        let mut seeds = Vec::new();
        for (seed, episode) in played.iter().filter(|(_, episode)| !episode.is_empty()) {
            episode.append_to(&mut steps);
            seeds.push(*seed);
        }
        if steps.is_empty() {
            return Err(ExplainError::Audit("every episode was over before its first step".into()));
        }
        Ok(Self { steps, seeds })
    }

    /// Steps drawn evenly over the kinds of states, so that rare ones count as much as common ones.
    #[must_use]
    pub fn by_kind(&self, count: usize, seed: u64) -> Vec<Place> {
        let coverage = Coverage::of(&self.steps);
        let mut stream = Stream::keyed(seed, &[u32::MAX, 2]);
        (0..count).map(|_| self.place(coverage.draw(&mut stream))).collect()
    }

    /// Steps drawn evenly from all.
    #[must_use]
    pub fn by_step(&self, count: usize, seed: u64) -> Vec<Place> {
        let mut stream = Stream::keyed(seed, &[u32::MAX, 3]);
        (0..count).map(|_| self.place(stream.below(self.steps.len()))).collect()
    }

    fn place(&self, row: usize) -> Place {
        let episode = self.steps.episode_of(row);
        Place { episode, step: row - self.steps.episode(episode).start }
    }

    /// Comes back to every place, in parallel. `look` gets the number of the place, the environment as it stood there,
    /// and at most `horizon` recorded steps.
    ///
    /// # Errors
    /// Those of `look`, and when the listener of `tracker` stops the work.
    pub fn visit<E: Environment, T: Send>(
        &self,
        environment: &E,
        places: &[Place],
        horizon: usize,
        tracker: &Tracker<'_>,
        look: impl Fn(u32, &E, &Trajectory) -> Result<T, ExplainError> + Sync,
    ) -> Result<Vec<T>, ExplainError> {
        // Environments may not be `Sync`, so each place gets its own copy beforehand.
        let copies: Vec<(u32, Place, E)> = (0..)
            .zip(places)
            .map(|(number, &place)| (number, place, environment.clone()))
            .collect();
        copies
            .into_par_iter()
            .map(|(number, place, copy)| {
                if tracker.is_stopped() {
                    return Err(ExplainError::Stopped);
                }
                let record = Trajectory::recorded(&self.steps, place.episode, place.step, horizon)?;
                let seen = look(number, &self.environment_at(&copy, place)?, &record)?;
                tracker.advance(1.0, "");
                Ok(seen)
            })
            .collect()
    }

    /// The environment as it was before a step.
    fn environment_at<E: Environment>(
        &self,
        environment: &E,
        place: Place,
    ) -> Result<E, ExplainError> {
        let mut copy = environment.clone();
        copy.reset(self.seeds[place.episode]);
        let schema = self.steps.schema();
        let first = self.steps.episode(place.episode).start;
        for row in first..first + place.step {
            copy.step(&self.steps.row(row)[schema.action_slots()])?;
        }
        Ok(copy)
    }
}

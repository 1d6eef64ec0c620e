//! Episodes that were played, or replayed from their seed.

use becausal_core::env::{AnyEnvironment, EnvironmentError, play_episode};
use becausal_core::trajectory::{Step, Trajectory};
use becausal_explain::{Anchor, Moment};

use crate::error::Error;
use becausal_core::text::counted;

/// An episode that a run's policy played.
#[derive(Debug, Clone, PartialEq)]
pub struct Episode {
    seed: u64,
    trajectory: Trajectory,
}

impl Episode {
    pub(crate) fn new(seed: u64, trajectory: Trajectory) -> Self {
        Self { seed, trajectory }
    }

    /// The seed that it began with.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What happened.
    #[must_use]
    pub fn trajectory(&self) -> &Trajectory {
        &self.trajectory
    }

    /// How many steps it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.trajectory.len()
    }

    /// Whether it has no steps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.trajectory.is_empty()
    }

    /// One of its steps, to ask about.
    ///
    /// # Errors
    /// When it has no such step.
    pub fn at(&self, step: usize) -> Result<Moment, Error> {
        if step >= self.len() {
            return Err(Error::File(format!(
                "there is no step {step}: the episode of seed {} has {}, counted from 0",
                self.seed,
                counted(self.len(), "step")
            )));
        }
        let actions = self.trajectory.steps().iter().take(step).map(|step| step.action.clone());
        let anchor = Anchor::Played { seed: self.seed, actions: actions.collect() };
        Ok(Moment::played(&self.trajectory, step)?.anchored(anchor))
    }
}

/// Takes recorded actions again, from the seed that their episode began with.
pub(crate) fn replay_steps(
    environment: &mut AnyEnvironment,
    seed: u64,
    steps: &[Step],
) -> Result<Trajectory, EnvironmentError> {
    let actions: Vec<Vec<f64>> = steps.iter().map(|step| step.action.clone()).collect();
    replay_actions(environment, seed, &actions)
}

/// Takes actions again, from the seed that their episode began with.
pub(crate) fn replay_actions(
    environment: &mut AnyEnvironment,
    seed: u64,
    actions: &[Vec<f64>],
) -> Result<Trajectory, EnvironmentError> {
    let mut actor = |number: usize, _: &[f64]| actions.get(number).cloned();
    play_episode(environment, seed, actions.len(), &mut actor)
}

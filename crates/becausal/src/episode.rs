//! Episodes that were played, or replayed from their seed.

use becausal_core::env::{AnyEnvironment, EnvironmentError, play_episode};
use becausal_core::trajectory::{Step, Trajectory};
use becausal_explain::Moment;

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
        Ok(Moment::played(&self.trajectory, step)?)
    }
}

/// Takes recorded actions again, from the seed that their episode began with.
pub(crate) fn replay_steps(
    environment: &mut AnyEnvironment,
    seed: u64,
    steps: &[Step],
) -> Result<Trajectory, EnvironmentError> {
    let mut actor = |number: usize, _: &[f64]| steps.get(number).map(|step| step.action.clone());
    play_episode(environment, seed, steps.len(), &mut actor)
}

//! Episodes that were played, or replayed from their seed.

use becausal_core::trajectory::Trajectory;
use becausal_explain::Moment;

use crate::error::Error;

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
                "there is no step {step}: the episode of seed {} has {} steps, counted from 0",
                self.seed,
                self.len()
            )));
        }
        Ok(Moment::played(&self.trajectory, step)?)
    }
}

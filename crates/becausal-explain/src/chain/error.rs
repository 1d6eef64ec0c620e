//! What a chain cannot be built from.

use becausal_core::trajectory::TrajectoryError;

/// Something that a chain cannot be built from.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ChainError {
    /// A threshold that is no share.
    #[error("tau is {0}, expected a number from 0 to 1: an influence above it counts")]
    Tau(f64),
    /// Too few or too many steps.
    #[error("a horizon of {given} steps, expected 1 to {most}")]
    Horizon {
        /// The number asked for.
        given: usize,
        /// The largest possible.
        most: usize,
    },
    /// A reward term that the schema does not have.
    #[error("there is no reward `{name}` ({hint}); the rewards are: {known}")]
    Reward {
        /// The name asked for.
        name: String,
        /// The name that was probably meant.
        hint: String,
        /// All names.
        known: String,
    },
    /// A schema without rewards.
    #[error("the schema has no reward terms: there is nothing that a chain could lead to")]
    NoRewards,
    /// Steps that do not form a trajectory, or were not recorded.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryError),
}

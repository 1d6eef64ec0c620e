//! Errors of causal chains.

use becausal_core::trajectory::TrajectoryError;

/// Why a chain cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ChainError {
    /// A threshold that is not between 0 and 1.
    #[error("tau is {0}, expected a number from 0 to 1: an influence above it counts")]
    Tau(f64),
    /// Too few or too many steps.
    #[error("a horizon of {given} steps, expected 1 to {most}")]
    Horizon {
        /// The number asked for.
        given: usize,
        /// The maximum.
        most: usize,
    },
    /// A reward term that the schema does not have.
    #[error("there is no reward `{name}` ({hint}); the rewards are: {known}")]
    Reward {
        /// The name asked for.
        name: String,
        /// A suggestion for the name.
        hint: String,
        /// All reward names.
        known: String,
    },
    /// A schema without rewards.
    #[error("the schema has no reward terms: there is nothing that a chain could lead to")]
    NoRewards,
    /// Steps that do not form a trajectory, or were not recorded.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryError),
}

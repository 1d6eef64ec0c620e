//! What a chain cannot be built from.

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
    /// A step that was not recorded.
    #[error("there is no step {step} in episode {episode}: it has {length} steps, counted from 0")]
    Step {
        /// The step asked for.
        step: usize,
        /// The episode.
        episode: usize,
        /// How many steps it has.
        length: usize,
    },
    /// An episode that was not recorded.
    #[error("there is no episode {episode}: the data have {episodes}, counted from 0")]
    Episode {
        /// The episode asked for.
        episode: usize,
        /// How many there are.
        episodes: usize,
    },
    /// Parts that do not belong together.
    #[error("{what}: {given}, expected {expected}")]
    Size {
        /// What does not fit.
        what: &'static str,
        /// How many there are.
        given: usize,
        /// How many there should be.
        expected: usize,
    },
}

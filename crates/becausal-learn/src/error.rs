//! What can go wrong while an agent learns.

use becausal_core::data::DataError;
use becausal_core::env::EnvironmentError;
use becausal_discovery::DiscoveryError;
use becausal_model::FitError;

/// Something that ends a training. What was saved before stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum LearningError {
    /// The environment says no.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The graph could not be found.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// The world model could not be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A file could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A reward is not a number.
    #[error(
        "a reward is {reward} (in row {step} of the experience to learn from): look for a division \
         by zero or the logarithm of 0 in the reward terms of the schema"
    )]
    Reward {
        /// Its value.
        reward: String,
        /// The row.
        step: usize,
    },
    /// A state is not a number.
    #[error("`{variable}` became {value} {place}: a state must be a finite number")]
    State {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// In the environment or in the model.
        place: &'static str,
    },
    /// An episode that does not end.
    #[error(
        "an episode of {environment} did not end within {steps} steps: \
         set its option max_episode_steps"
    )]
    Endless {
        /// The environment.
        environment: String,
        /// Steps that were tried.
        steps: usize,
    },
    /// The gradient is not a number.
    #[error(
        "the policy's gradient is not a number: lower policy_rate, or look at the size of the \
         rewards"
    )]
    Broken,
    /// A setting that is not there or has a wrong value.
    #[error("{0}")]
    Setting(String),
}

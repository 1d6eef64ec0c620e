//! What can go wrong while an agent learns.

use becausal_core::data::DataError;
use becausal_core::env::EnvironmentError;
use becausal_core::text::counted;
use becausal_discovery::DiscoveryError;
use becausal_model::FitError;

/// An error that ends a training. What was saved before stays intact.
#[derive(Debug, thiserror::Error)]
pub enum LearningError {
    /// The environment refused a step or an action.
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
    /// A reward is NaN or infinite.
    #[error(
        "a reward is {reward} (row {step} of the experience), expected a finite number: look for a \
         division by zero or the logarithm of 0 in the reward terms of the schema"
    )]
    Reward {
        /// Its value.
        reward: String,
        /// Its row in the experience.
        step: usize,
    },
    /// A state is NaN or infinite.
    #[error("`{variable}` became {value} {place}, expected a finite number")]
    State {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// Where: in the environment or in a rollout of the model.
        place: &'static str,
    },
    /// An episode that does not end.
    #[error(
        "an episode of {environment} did not end within {}: \
         limit its length with the environment option max_episode_steps",
        counted(*.steps, "step")
    )]
    Endless {
        /// The environment.
        environment: String,
        /// Steps played.
        steps: usize,
    },
    /// The gradient is NaN or infinite.
    #[error(
        "the gradient of the policy is NaN or infinite: lower policy_rate, or check the size of the \
         rewards"
    )]
    Broken,
    /// An unknown setting, or one with a wrong value.
    #[error("{0}")]
    Setting(String),
}

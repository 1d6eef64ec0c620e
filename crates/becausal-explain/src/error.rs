//! What cannot be explained.

use crate::chain::ChainError;
use becausal_core::env::EnvironmentError;
use becausal_core::trajectory::TrajectoryError;

/// Something that cannot be explained.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExplainError {
    /// No chain can be built.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// An action that is none, or an environment that refuses.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A change that names no variable that could be changed, or an impossible value.
    #[error("\"{text}\" is not a change: {message}")]
    Change {
        /// What was asked for.
        text: String,
        /// What was expected.
        message: String,
    },
    /// A value that a variable cannot have.
    #[error("`{name}`: {objection}")]
    Value {
        /// The variable or its element.
        name: String,
        /// Why not.
        objection: String,
    },
    /// A factor that is no discount.
    #[error("the discount is {0}, expected a number above 0 and up to 1")]
    Discount(f64),
    /// A model of something else.
    #[error(
        "the model was made for the variables of `{model}`, which are not those of `{data}`: use \
         the data and the model of one run"
    )]
    Schema {
        /// The schema of the model.
        model: String,
        /// The schema of what is to be explained.
        data: String,
    },
    /// The listener stopped the work.
    #[error("stopped before it was done")]
    Stopped,
    /// Nothing to audit, or nothing to compare with.
    #[error("nothing to audit: {0}")]
    Audit(String),
}

impl From<TrajectoryError> for ExplainError {
    fn from(error: TrajectoryError) -> Self {
        Self::Chain(error.into())
    }
}

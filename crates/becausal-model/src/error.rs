//! Errors of fitting a world model.

use becausal_core::text::counted;

/// Why a world model could not be fitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// There are too few rows or episodes.
    #[error(
        "too few data to fit a world model: expected at least 20 rows in 2 episodes (some are held \
         out), got {} in {}",
        counted(*.rows, "row"),
        counted(*.episodes, "episode")
    )]
    TooFew {
        /// Number of rows.
        rows: usize,
        /// Number of episodes.
        episodes: usize,
    },
    /// A value is NaN or infinite.
    #[error("`{column}` is {value} in row {row}: a world model needs finite numbers")]
    NotFinite {
        /// The column.
        column: String,
        /// Its value.
        value: String,
        /// The row, counted from 1.
        row: usize,
    },
    /// The listener stopped the fit.
    #[error("the fit was stopped")]
    Stopped,
    /// The likelihood became infinite or not a number.
    #[error(
        "the fit failed at step {step} of member {member}: the likelihood of `{variable}` is NaN or \
         infinite. Check its column for extreme values, or lower the learning rate"
    )]
    Broken {
        /// The step.
        step: usize,
        /// The member.
        member: usize,
        /// The effect.
        variable: String,
    },
}

//! Why a world model could not be fitted.

/// Something a world model cannot be fitted to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// There are too few rows or episodes.
    #[error(
        "{rows} rows in {episodes} episodes are too few to fit a world model \
         (at least 2 episodes and 20 rows: some are held out to see how good it is)"
    )]
    TooFew {
        /// Rows of the data.
        rows: usize,
        /// Episodes of the data.
        episodes: usize,
    },
    /// A value is not a number.
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
        "the fit broke down at step {step} of member {member}: the likelihood of `{variable}` is \
         not a number. Look for extreme values in its column, or lower the learning rate"
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

//! What can go wrong at the front door.

use becausal_core::MemoryError;
use becausal_core::data::{DataError, Problem};
use becausal_core::env::EnvironmentError;
use becausal_core::schema::SchemaError;
use becausal_core::text::counted;
use becausal_core::trajectory::TrajectoryError;
use becausal_discovery::DiscoveryError;
use becausal_explain::ExplainError;
use becausal_explain::chain::ChainError;
use becausal_learn::LearningError;
use becausal_model::FitError;

use crate::run::{RunError, Saved, TrainError};

/// Something that could not be done, in words: what, where, expected and got.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is out of its range.
    #[error("`{parameter}` is {got}, expected {expected}")]
    Parameter {
        /// Its name.
        parameter: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        got: String,
    },
    /// The work needs more memory than it may take.
    #[error("{work}: {error}")]
    Memory {
        /// What was to be done: `the fit`, …
        work: &'static str,
        /// What is needed, and what may be used.
        error: MemoryError,
    },
    /// A schema file is wrong.
    #[error("{file}: {error}")]
    Schema {
        /// The file.
        file: String,
        /// Every mistake, with its line and column.
        error: SchemaError,
    },
    /// A file of transitions cannot be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Columns in memory do not fit their schema.
    #[error("the columns: {0}")]
    Columns(#[from] Problem),
    /// Discovery cannot be made, or a graph cannot be read.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// A model cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A question cannot be answered.
    #[error(transparent)]
    Explain(#[from] ExplainError),
    /// An environment or an action is not there.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A policy cannot be learned.
    #[error(transparent)]
    Learning(#[from] LearningError),
    /// A run cannot be read or written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run lacks what the question needs.
    #[error("this run has no {part}: {why}")]
    Missing {
        /// `policy`, `environment`, `seed`, …
        part: &'static str,
        /// What it is needed for, and what can be done instead.
        why: String,
    },
    /// A file cannot be read or drawn.
    #[error("{0}")]
    File(String),
    /// A listener stopped a training; this much is saved.
    #[error("stopped after epoch {}; saved: {}", .0.epoch, counted(.0.real_steps, "real step"))]
    Stopped(Saved),
}

impl From<ChainError> for Error {
    fn from(error: ChainError) -> Self {
        Self::Explain(error.into())
    }
}

impl From<TrajectoryError> for Error {
    fn from(error: TrajectoryError) -> Self {
        Self::Explain(error.into())
    }
}

impl From<TrainError> for Error {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Run(error) => Self::Run(error),
            TrainError::Learning(error) => Self::Learning(error),
        }
    }
}

//! Errors of explanations.

use crate::chain::ChainError;
use crate::influence_by::InfluenceBy;
use becausal_core::env::EnvironmentError;
use becausal_core::trajectory::TrajectoryError;

/// Why something cannot be explained.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExplainError {
    /// No chain can be built.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// An invalid action, or an error of the environment.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A change with an unknown variable or an invalid value.
    #[error("\"{text}\" is not a change: {message}")]
    Change {
        /// What was asked for.
        text: String,
        /// What was expected.
        message: String,
    },
    /// A value that is invalid for its variable.
    #[error("`{name}`: {objection}")]
    Value {
        /// The variable or its element.
        name: String,
        /// Why it is invalid.
        objection: String,
    },
    /// The other action is the one that was taken.
    #[error("the action taken is {action}: there is nothing to compare; ask about another action")]
    SameAction {
        /// The action, as a person writes it.
        action: String,
    },
    /// A value so far from the data that a model says nothing about it.
    #[error(
        "`{name}` = {value:e} is {distance:.1e} standard deviations outside the data, expected at most \
         {most:e}: the model cannot say what follows there"
    )]
    FarOutside {
        /// The state variable.
        name: String,
        /// Its value; of a vector, the one farthest from 0.
        value: f64,
        /// How far outside it is, in standard deviations.
        distance: f64,
        /// How far it may be.
        most: f64,
    },
    /// A number of the answer is NaN or infinite.
    #[error("{what} is {value} at step {step}: an explanation needs finite numbers ({hint})")]
    NotFinite {
        /// The reward term or the variable.
        what: String,
        /// NaN, inf or -inf.
        value: String,
        /// The step in its episode.
        step: usize,
        /// Where to look.
        hint: &'static str,
    },
    /// An influence that cannot be measured as was asked for.
    #[error(
        "the influence by {by} cannot be measured: {why}; ask for another measure, for instance state"
    )]
    Influence {
        /// The measure.
        by: InfluenceBy,
        /// Why not.
        why: &'static str,
    },
    /// A discount factor out of range.
    #[error("the discount is {0}, expected a number above 0 and up to 1")]
    Discount(f64),
    /// A model with another schema.
    #[error(
        "the model was made for the variables of `{model}`, which are not those of `{data}`, by name, kind or order: use \
         the data and the model of one run, or make a run of an earlier version again"
    )]
    Schema {
        /// The schema of the model.
        model: String,
        /// The schema of the data.
        data: String,
    },
    /// A graph whose causes and effects are not those of the model, in its order.
    #[error(
        "the graph is of other variables than the model: expected {expected}, got {got} (put it into \
         the order of the schema first, with `CausalGraph::for_schema`)"
    )]
    Graph {
        /// The variables of the model.
        expected: String,
        /// Those of the graph.
        got: String,
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

//! What can be wrong with a discovery or with a graph file.

/// A discovery that cannot be made, or a graph that cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DiscoveryError {
    /// Nothing to learn from.
    #[error("there are no transitions to learn from")]
    Empty,
    /// The threshold is not a probability.
    #[error("eta is {0}, expected a number from 0 to 1")]
    Eta(f64),
    /// A required or forbidden edge names something that is not there.
    #[error("the edge `{cause} -> {effect}`: there is no {what} `{name}` ({hint})")]
    Edge {
        /// The edge's cause as given.
        cause: String,
        /// The edge's effect as given.
        effect: String,
        /// Cause or effect.
        what: &'static str,
        /// What was not found.
        name: String,
        /// What was probably meant.
        hint: String,
    },
    /// An edge both required and forbidden.
    #[error("the edge `{0}` is required and forbidden at once")]
    Contradiction(String),
    /// Graphs by action need one categorical action.
    #[error("graphs by action need one categorical action; {0}")]
    NoActionValues(String),
    /// A graph of other variables.
    #[error(
        "the graph names `{name}`, which the schema `{schema}` does not have ({hint}): it was made \
         from other data"
    )]
    OtherVariables {
        /// The variable.
        name: String,
        /// The name of the schema.
        schema: String,
        /// What was probably meant.
        hint: String,
    },
    /// A graph file that is not one.
    #[error("not a causal graph: {0}")]
    Graph(String),
}

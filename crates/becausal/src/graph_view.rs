//! The causal graph of a run, to be read and drawn.

use std::fmt;

use becausal_core::Schema;
use becausal_discovery::CausalGraph;
use becausal_render::{LayoutOptions, Picture, graph_picture, graph_summary, graph_text};

use crate::error::Error;

/// The causal graph of a run. Printed, it is a table of its edges and of what the data cannot tell.
#[derive(Debug, Clone, Copy)]
pub struct GraphView<'a> {
    schema: &'a Schema,
    graph: Option<&'a CausalGraph>,
}

impl<'a> GraphView<'a> {
    /// A graph of this schema's variables.
    #[must_use]
    pub fn new(schema: &'a Schema, graph: Option<&'a CausalGraph>) -> Self {
        Self { schema, graph }
    }

    /// The graph itself; `None` in a run whose model reads everything.
    #[must_use]
    pub fn get(&self) -> Option<&'a CausalGraph> {
        self.graph
    }

    /// The picture of the graph, to be drawn or written as DOT.
    ///
    /// # Errors
    /// When the run has no graph.
    pub fn picture(&self) -> Result<Picture, Error> {
        let missing = || Error::Missing {
            part: "causal graph",
            why: "its model reads every variable".to_owned(),
        };
        let graph = self.graph.ok_or_else(missing)?;
        graph_picture(graph, self.schema).map_err(|error| Error::File(error.to_string()))
    }

    /// The graph as SVG.
    ///
    /// # Errors
    /// When the run has no graph.
    pub fn svg(&self) -> Result<String, Error> {
        Ok(self.picture()?.drawing(&LayoutOptions::default()).svg())
    }
}

impl fmt::Display for GraphView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.graph {
            None => writeln!(f, "This run has no causal graph: its model reads every variable."),
            Some(graph) => write!(f, "{}\n\n{}", graph_summary(graph), graph_text(graph)),
        }
    }
}

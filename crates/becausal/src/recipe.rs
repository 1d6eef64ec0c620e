//! How a graph is found and a model is fitted, choice by choice.

use becausal_core::{Preset, Schema};
use becausal_discovery::{CausalGraph, Method};
use becausal_model::{
    Checked, FitData, FitError, FitReport, ModelKind, ModelParams, Parents, Shortfall, Structure,
    WorldModel,
};

/// How a graph is found and a model is fitted to it. [`fit`](crate::fit()) takes one of two recipes, ours and the
/// paper's; between them, every choice can be made by itself.
///
/// ```
/// use becausal::{Preset, Recipe};
/// let paper = Recipe::of(Preset::Paper);
/// assert_eq!(paper.method.name(), "fcit");
/// assert!(!paper.checked && !paper.model.persist);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// The independence test.
    pub method: Method,
    /// Pairs with a p-value of at most this are edges.
    pub eta: f64,
    /// Which pairs of the graph the networks read.
    pub parents: Parents,
    /// Whether the model is compared with unrestricted networks, and widened where a cause is missing.
    pub checked: bool,
    /// The networks and their training.
    pub model: ModelParams,
}

/// A causal model that was made by a recipe.
#[derive(Debug)]
pub struct Made {
    /// The model.
    pub model: WorldModel,
    /// The report of its fit.
    pub report: FitReport,
    /// Where the causes found were not enough; empty where nobody looked.
    pub shortfalls: Vec<Shortfall>,
}

impl Recipe {
    /// The recipe of a preset.
    #[must_use]
    pub fn of(preset: Preset) -> Self {
        match preset {
            Preset::Default => Self {
                method: Method::Auto,
                eta: Method::Auto.default_eta(),
                parents: Parents::Cautious,
                checked: true,
                model: ModelParams::default(),
            },
            Preset::Paper => Self {
                method: Method::Fcit,
                eta: Method::Fcit.default_eta(),
                parents: Parents::Edges,
                checked: false,
                model: ModelParams::paper(),
            },
        }
    }

    /// What the networks read, by a graph.
    #[must_use]
    pub fn structure(&self, schema: &Schema, graph: &CausalGraph) -> Structure {
        match self.parents {
            Parents::Edges => Structure::of_edges(schema, graph),
            Parents::Cautious => Structure::of(schema, graph),
        }
    }

    /// Fits a causal model. Where it is checked, causes that were missed become untestable in the graph.
    ///
    /// # Errors
    /// When a fit breaks down, or the listener stops it.
    pub fn fit(
        &self,
        schema: &Schema,
        data: &FitData,
        graph: &mut CausalGraph,
    ) -> Result<Made, FitError> {
        let structure = self.structure(schema, graph);
        if self.checked {
            let Checked { model, report, shortfalls } =
                Checked::fit_structure(data, &structure, graph, &self.model)?;
            return Ok(Made { model, report, shortfalls });
        }
        let (model, report) = WorldModel::fit_to(data, ModelKind::Causal, &structure, &self.model)?;
        Ok(Made { model, report, shortfalls: Vec::new() })
    }
}

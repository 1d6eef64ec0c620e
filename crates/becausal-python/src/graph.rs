//! What causes what.

use std::sync::Arc;

use becausal::discovery::Verdict;
use becausal::render::{LayoutOptions, reason_words};
use becausal::{CausalGraph, GraphView, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error;

/// The causal graph: for every pair of a cause and an effect, whether it is an edge and how sure that is.
///
/// >>> print(run.graph)  # doctest: +ELLIPSIS
/// 6 edges of 12 pairs by auto ...
/// >>> run.graph.parents("humidity'")
/// ['humidity', 'device']
#[pyclass(name = "Graph", module = "becausal", frozen)]
pub struct PyGraph {
    pub schema: Arc<Schema>,
    pub graph: Option<CausalGraph>,
}

impl PyGraph {
    fn view(&self) -> GraphView<'_> {
        GraphView::new(&self.schema, self.graph.as_ref())
    }

    pub fn needed(&self) -> PyResult<&CausalGraph> {
        let words = "this run has no causal graph: its model reads every variable";
        self.graph.as_ref().ok_or_else(|| error::raised("MissingError", words.to_owned()))
    }
}

#[pymethods]
impl PyGraph {
    /// The names of the causes: states, then actions.
    #[getter]
    fn causes(&self) -> Vec<String> {
        self.schema.causes()
    }

    /// The names of the effects: next states (`x'`), then outcomes.
    #[getter]
    fn effects(&self) -> Vec<String> {
        self.schema.effects()
    }

    /// Every pair as a dict: cause, effect, p, strength, verdict (`edge`, `none` or `untestable`) and, where
    /// the data cannot tell, the reason.
    #[getter]
    fn pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let graph = self.needed()?;
        let pairs = PyList::empty(py);
        for pair in graph.pairs() {
            let dict = PyDict::new(py);
            dict.set_item("cause", graph.cause(pair.cause))?;
            dict.set_item("effect", graph.effect(pair.effect))?;
            dict.set_item("p", pair.p)?;
            dict.set_item("strength", pair.strength)?;
            dict.set_item("verdict", pair.verdict.word())?;
            dict.set_item("reason", pair.reason.as_ref().map(reason_words))?;
            pairs.append(dict)?;
        }
        Ok(pairs)
    }

    /// The edges as a pandas frame.
    #[getter]
    fn edges<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("becausal._data")?.call_method1("edges", (slf,))
    }

    /// The causes of an effect.
    fn parents(&self, effect: &str) -> PyResult<Vec<String>> {
        let graph = self.needed()?;
        if !graph.effects().iter().any(|known| known == effect) {
            return Err(error::invalid(format!(
                "there is no effect `{effect}`, expected one of {}",
                graph.effects().join(", ")
            )));
        }
        Ok(graph.parents(effect).into_iter().map(str::to_owned).collect())
    }

    /// The same graph with another threshold for the p-values of edges; nothing is tested again.
    fn with_eta(&self, eta: f64) -> PyResult<Self> {
        if !(0.0..=1.0).contains(&eta) {
            return Err(error::invalid(format!("`eta` is {eta}, expected a number from 0 to 1")));
        }
        let graph = self.needed()?.clone().with_eta(eta);
        Ok(Self { schema: Arc::clone(&self.schema), graph: Some(graph) })
    }

    /// A NetworkX graph of the edges, with `p` and `strength`.
    fn to_networkx<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("becausal._data")?.call_method1("to_networkx", (slf,))
    }

    /// The picture as SVG.
    #[getter]
    fn svg(&self) -> PyResult<String> {
        self.view().svg().map_err(error::of)
    }

    /// The picture as PNG.
    #[pyo3(signature = (scale=2.0))]
    fn png(&self, scale: f32) -> PyResult<Vec<u8>> {
        let picture = self.view().picture().map_err(error::of)?;
        let drawing = picture.drawing(&LayoutOptions::default());
        drawing.png(scale.into()).map_err(|problem| error::invalid(problem.to_string()))
    }

    /// The graph in Graphviz's language.
    #[getter]
    fn dot(&self) -> PyResult<String> {
        Ok(self.view().picture().map_err(error::of)?.dot())
    }

    /// Everything as JSON, as in `graph.json`.
    #[getter]
    fn json(&self) -> PyResult<String> {
        Ok(self.needed()?.to_json())
    }

    fn __str__(&self) -> String {
        self.view().to_string()
    }

    fn __repr__(&self) -> String {
        let edges = self.graph.as_ref().map_or(0, |graph| {
            graph.pairs().iter().filter(|pair| pair.verdict == Verdict::Edge).count()
        });
        format!("<Graph of {}: {edges} edges>", self.schema.name())
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("becausal._html")?.call_method1("graph", (slf,))
    }
}

//! Moments to ask about, and the answers.

use std::sync::Arc;

use becausal::schema::Schema;
use becausal::text::counted;
use becausal::{Answer, Episode, Moment, env};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::count::Count;
use crate::error;

/// A step of an episode, to ask about.
///
/// >>> moment = run.recorded(26, 20)
/// >>> moment
/// <Moment at step 20: device = heat>
/// >>> moment.state["temperature"]
/// 17.45
#[pyclass(name = "Moment", module = "becausal", frozen)]
pub struct PyMoment {
    pub moment: Moment,
}

impl PyMoment {
    fn schema(&self) -> &Arc<Schema> {
        self.moment.record().schema()
    }
}

/// Values by their columns: labels, booleans and numbers.
fn values<'py>(
    py: Python<'py>,
    schema: &Schema,
    slots: std::ops::Range<usize>,
    values: &[f64],
) -> PyResult<Bound<'py, PyDict>> {
    use becausal::schema::Kind;
    let dict = PyDict::new(py);
    for (slot, &value) in slots.zip(values) {
        let name = &schema.slots()[slot].name;
        match &schema.variable_of(slot).kind {
            Kind::Boolean => dict.set_item(name, value != 0.0)?,
            kind @ Kind::Categorical(_) => dict.set_item(name, kind.show(value))?,
            // Whole numbers of a schema are exact: below 2^53.
            #[expect(clippy::cast_possible_truncation, reason = "a whole number")]
            Kind::Integer(_) => dict.set_item(name, value as i64)?,
            Kind::Continuous(_) | Kind::Circular(_) => dict.set_item(name, value)?,
        }
    }
    Ok(dict)
}

#[pymethods]
impl PyMoment {
    /// The number of the step in its episode.
    #[getter]
    fn step(&self) -> usize {
        self.moment.record().first()
    }

    /// The state before the step.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values(py, self.schema(), self.schema().state_slots(), self.moment.state())
    }

    /// The action taken.
    #[getter]
    fn action<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values(py, self.schema(), self.schema().action_slots(), self.moment.action())
    }

    fn __repr__(&self) -> String {
        let schema = self.schema();
        let text = env::action_text(schema, self.moment.action());
        let mut names = schema.action_slots().map(|slot| schema.slots()[slot].name.as_str());
        match (names.next(), names.next()) {
            (Some(name), None) => format!("<Moment at step {}: {name} = {text}>", self.step()),
            _ => format!("<Moment at step {}: {text}>", self.step()),
        }
    }
}

/// An episode that the agent played.
#[pyclass(name = "Episode", module = "becausal", frozen)]
pub struct PyEpisode {
    pub episode: Episode,
}

#[pymethods]
impl PyEpisode {
    /// The seed that it began with.
    #[getter]
    fn seed(&self) -> u64 {
        self.episode.seed()
    }

    /// What the environment paid in all.
    #[getter]
    fn reward(&self) -> f64 {
        let steps = self.episode.trajectory().steps();
        steps.iter().map(|step| step.paid.unwrap_or_else(|| step.rewards.iter().sum())).sum()
    }

    /// Whether it ended by the rules of the environment.
    #[getter]
    fn terminated(&self) -> bool {
        self.episode.trajectory().terminated()
    }

    /// One of its steps, to ask about.
    fn at(&self, step: Count) -> PyResult<PyMoment> {
        Ok(PyMoment { moment: self.episode.at(step.0).map_err(error::of)? })
    }

    fn __len__(&self) -> usize {
        self.episode.len()
    }

    fn __repr__(&self) -> String {
        format!("<Episode from seed {}: {}>", self.seed(), counted(self.episode.len(), "step"))
    }
}

/// The answer to *why*, *why not* or *what if*. Printed, it is the whole text; a notebook shows words, chain
/// and, for a comparison, the waterfall of the rewards.
///
/// >>> answer = run.why_not(run.recorded(26, 20), "off")
/// >>> answer.question
/// 'Why device = heat and not device = off at step 20?'
/// >>> answer.sentence.startswith("Because after 1 step temperature is")
/// True
#[pyclass(name = "Answer", module = "becausal", frozen)]
pub struct PyAnswer {
    pub answer: Answer,
}

#[pymethods]
impl PyAnswer {
    /// The question.
    #[getter]
    fn question(&self) -> String {
        self.answer.question()
    }

    /// The answer in one or two sentences.
    #[getter]
    fn sentence(&self) -> String {
        self.answer.sentence()
    }

    /// The agent's side: how likely its action was, and which state variables made it choose so; `None` where
    /// its policy is not known.
    #[getter]
    fn choice(&self) -> Option<String> {
        self.answer.choice()
    }

    /// Question, answer, the agent's side, how sure it is, what differs, and the caveats that could change it.
    #[getter]
    fn text(&self) -> String {
        self.answer.text()
    }

    /// The same with every step, influence and caveat.
    #[getter]
    fn details(&self) -> String {
        self.answer.details()
    }

    /// Everything as JSON.
    #[getter]
    fn json(&self) -> String {
        self.answer.json().to_string()
    }

    /// The causal chain as SVG.
    #[getter]
    fn svg(&self) -> PyResult<String> {
        self.answer.svg().map_err(error::of)
    }

    /// The reward difference, term by term, as SVG; `None` for a *why* without another action.
    #[getter]
    fn waterfall(&self) -> PyResult<Option<String>> {
        Ok(self.answer.worth().map_err(error::of)?.map(|drawing| drawing.svg()))
    }

    /// The causal chain as PNG.
    #[pyo3(signature = (scale=2.0))]
    fn png(&self, scale: f32) -> PyResult<Vec<u8>> {
        let drawing = self.answer.drawing().map_err(error::of)?;
        drawing.png(scale.into()).map_err(|problem| error::invalid(problem.to_string()))
    }

    /// The causal chain in Graphviz's language.
    #[getter]
    fn dot(&self) -> PyResult<String> {
        self.answer.dot().map_err(error::of)
    }

    fn __str__(&self) -> String {
        self.answer.text()
    }

    fn __repr__(&self) -> String {
        format!("<Answer to \"{}\">", self.answer.question())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.answer == other.answer
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("becausal._html")?.call_method1("answer", (slf,))
    }
}

//! How often the answers hold.

use becausal::Audit;
use becausal::explain::Measure;
use becausal::render::AuditText;
use pyo3::prelude::*;

/// How often the answers hold in the environment. Printed, it is the whole table.
#[pyclass(name = "Audit", module = "becausal", frozen)]
pub struct PyAudit {
    pub audit: Audit,
}

#[pymethods]
impl PyAudit {
    /// Of the changes that the answers claim, the share that happens; `None` where they claim none.
    #[getter]
    fn precision(&self) -> Option<f64> {
        self.audit.explanations.by_kind.value(Measure::Precision)
    }

    /// Of the changes that happen, the share that the answers claim.
    #[getter]
    fn recall(&self) -> Option<f64> {
        self.audit.explanations.by_kind.value(Measure::Recall)
    }

    /// Of the reward differences that are not negligible, the share with the right sign; `None` where there
    /// is none.
    #[getter]
    fn sign(&self) -> Option<f64> {
        self.audit.explanations.by_kind.value(Measure::Sign)
    }

    /// Pairs of a state and another action that were tried.
    #[getter]
    fn cases(&self) -> usize {
        self.audit.cases
    }

    /// The tables.
    #[getter]
    fn text(&self) -> String {
        self.audit.text()
    }

    /// Everything as JSON.
    #[getter]
    fn json(&self) -> String {
        self.audit.json().to_string()
    }

    fn __str__(&self) -> String {
        self.audit.text()
    }

    fn __repr__(&self) -> String {
        let shown =
            |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
        format!(
            "<Audit of {} cases: precision {}, recall {}>",
            self.audit.cases,
            shown(self.precision()),
            shown(self.recall())
        )
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("becausal._html")?.call_method1("audit", (slf,))
    }
}

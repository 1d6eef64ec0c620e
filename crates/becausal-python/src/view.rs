//! A run in the browser.

use std::sync::{Arc, Mutex, PoisonError};

use becausal::Run;
use becausal_view::{View, ViewParams};
use pyo3::prelude::*;

use crate::error;

/// A run that is shown in the browser.
///
/// >>> view = run.view(open=False)
/// >>> view.address.startswith("http://127.0.0.1:")
/// True
/// >>> view.stop()
#[pyclass(name = "View", module = "becausal", frozen)]
pub struct PyView {
    address: String,
    view: Mutex<Option<View>>,
}

impl PyView {
    /// Serves a run.
    pub fn start(run: Arc<Run>, port: u16) -> PyResult<Self> {
        let view = View::start(run, &ViewParams { port })
            .map_err(|problem| error::invalid(problem.to_string()))?;
        Ok(Self { address: view.address().to_owned(), view: Mutex::new(Some(view)) })
    }

    /// The server, if it still runs; it is ended by being dropped.
    fn take(&self) -> Option<View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[pymethods]
impl PyView {
    /// The address of the page, with its token. Who knows it may ask.
    #[getter]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Ends it.
    fn stop(&self, py: Python<'_>) {
        let view = self.take();
        // A question on its way may ask the agent, in Python.
        py.detach(move || drop(view));
    }

    fn __repr__(&self) -> String {
        format!("<View at {}>", self.address)
    }
}

impl Drop for PyView {
    fn drop(&mut self) {
        let view = self.take();
        Python::attach(|py| py.detach(move || drop(view)));
    }
}

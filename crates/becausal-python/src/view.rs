//! A run in the browser.

use std::sync::{Arc, Mutex, PoisonError};

use becausal::Run;
use becausal_view::{Failures, View, ViewParams};
use pyo3::prelude::*;

use crate::error;
use crate::policy::Callbacks;

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

/// The viewer's questions call the same Python code as those of the run.
struct Watched(Arc<Callbacks>);

impl Failures for Watched {
    fn count(&self) -> usize {
        self.0.halts()
    }

    fn take(&self) -> String {
        let words = self.0.words();
        // The exception is dropped: it is told on the page.
        drop(self.0.take());
        words
    }
}

impl PyView {
    /// Serves a run.
    pub fn start(run: Arc<Run>, callbacks: Arc<Callbacks>, port: u16) -> PyResult<Self> {
        let view = View::start_watched(run, &ViewParams { port }, Box::new(Watched(callbacks)))
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

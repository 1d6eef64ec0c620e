//! A Python environment as an [`Environment`].

use std::sync::Arc;

use becausal::env::{self, EnvironmentError, StepResult};
use becausal::{Environment, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::bytes::{doubles, of_doubles};
use crate::error;
use crate::policy::Callbacks;

/// An environment behind an adapter of `becausal._gymnasium`.
///
/// A clone is a seed and a list of actions: `adapter.at(seed, bytes, steps)` makes a fresh environment and
/// takes them again, once the clone is asked for a step. It gives a session and the state there, and
/// `session.step(bytes)` gives state, outcomes, reward, terminated and truncated.
pub struct PythonEnvironment {
    schema: Arc<Schema>,
    adapter: Py<PyAny>,
    callbacks: Arc<Callbacks>,
    session: Option<Py<PyAny>>,
    seed: u64,
    actions: Vec<f64>,
    steps: usize,
    state: Vec<f64>,
    outcomes: Vec<f64>,
    over: bool,
}

impl PythonEnvironment {
    pub fn new(schema: Arc<Schema>, adapter: Py<PyAny>, callbacks: Arc<Callbacks>) -> Self {
        let state = vec![0.0; schema.state_slots().len()];
        let outcomes = vec![0.0; schema.outcome_slots().len()];
        Self {
            schema,
            adapter,
            callbacks,
            session: None,
            seed: 0,
            actions: Vec::new(),
            steps: 0,
            state,
            outcomes,
            over: false,
        }
    }

    fn failed(&self, exception: PyErr) -> EnvironmentError {
        let message = exception.to_string();
        self.callbacks.fail(exception);
        EnvironmentError::Failed { environment: self.schema.name().to_owned(), message }
    }

    /// A fresh environment after the steps so far, and its state.
    fn begin(&self) -> PyResult<(Py<PyAny>, Vec<f64>)> {
        let (session, state) = Python::attach(|py| -> PyResult<_> {
            let actions = of_doubles(py, self.actions.iter().copied());
            let begun =
                self.adapter.bind(py).call_method1("at", (self.seed, actions, self.steps))?;
            let (session, state): (Py<PyAny>, Bound<'_, PyBytes>) = begun.extract()?;
            Ok((session, doubles(state.as_bytes())))
        })?;
        if state.len() != self.schema.state_slots().len() {
            return Err(error::invalid(format!(
                "{} observes {} numbers, while the run has {} state variables",
                self.schema.name(),
                state.len(),
                self.schema.state_slots().len()
            )));
        }
        Ok((session, state))
    }

    fn checked_session(&mut self) -> Result<Py<PyAny>, EnvironmentError> {
        if self.session.is_none() {
            let (session, state) = self.begin().map_err(|exception| self.failed(exception))?;
            if state != self.state {
                return Err(self.failed(error::raised(
                    "ReplayError",
                    format!(
                        "{}: a fresh environment that takes the same {} actions from the same seed is \
                         not in the same state: it keeps randomness that reset(seed) does not set, so \
                         what would have happened cannot be tried in it",
                        self.schema.name(),
                        self.steps
                    ),
                )));
            }
            self.session = Some(session);
        }
        let session = self.session.as_ref();
        Ok(Python::attach(|py| session.map(|session| session.clone_ref(py))).expect("made above"))
    }
}

impl Clone for PythonEnvironment {
    fn clone(&self) -> Self {
        Self {
            schema: Arc::clone(&self.schema),
            adapter: Python::attach(|py| self.adapter.clone_ref(py)),
            callbacks: Arc::clone(&self.callbacks),
            session: None,
            actions: self.actions.clone(),
            state: self.state.clone(),
            outcomes: self.outcomes.clone(),
            ..*self
        }
    }
}

impl Environment for PythonEnvironment {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn reset(&mut self, seed: u64) {
        (self.seed, self.steps, self.over, self.session) = (seed, 0, false, None);
        self.actions.clear();
        if self.callbacks.is_over() {
            return;
        }
        match self.begin() {
            Ok((session, state)) => (self.session, self.state) = (Some(session), state),
            // The next step says so.
            Err(exception) => self.callbacks.fail(exception),
        }
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn repeats(&self) -> bool {
        // What cannot be asked fails in the next step.
        Python::attach(|py| {
            self.adapter.bind(py).getattr("problem").is_ok_and(|problem| problem.is_none())
        })
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        env::check_step(&self.schema, self.over, action)?;
        if self.callbacks.is_over() {
            let environment = self.schema.name().to_owned();
            let message = self.callbacks.words();
            return Err(EnvironmentError::Failed { environment, message });
        }
        let session = self.checked_session()?;
        let step = Python::attach(|py| -> PyResult<_> {
            let given = of_doubles(py, action.iter().copied());
            let step = session.bind(py).call_method1("step", (given,))?;
            let (state, outcomes, reward, terminated, truncated): SteppedBytes<'_> =
                step.extract()?;
            let numbers = (doubles(state.as_bytes()), doubles(outcomes.as_bytes()));
            Ok((numbers, reward, terminated, truncated))
        });
        let ((state, outcomes), reward, terminated, truncated) =
            step.map_err(|exception| self.failed(exception))?;
        if state.len() != self.state.len() || outcomes.len() != self.outcomes.len() {
            let words = format!(
                "{}: a step gave {} states and {} outcomes, expected {} and {} as in the schema",
                self.schema.name(),
                state.len(),
                outcomes.len(),
                self.state.len(),
                self.outcomes.len()
            );
            return Err(self.failed(error::invalid(words)));
        }
        self.actions.extend_from_slice(action);
        self.steps += 1;
        self.over = terminated || truncated;
        (self.state, self.outcomes) = (state, outcomes);
        let (state, outcomes) = (&self.state, &self.outcomes);
        Ok(StepResult { state, outcomes, reward, terminated, truncated })
    }
}

/// State, outcomes, reward, terminated and truncated, as a session of Python gives them.
type SteppedBytes<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, f64, bool, bool);

/// The built-in environments: id, steps of an episode at most, and options.
#[pyfunction]
pub fn environments(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for entry in env::entries() {
        let dict = PyDict::new(py);
        dict.set_item("id", entry.id)?;
        dict.set_item("max_episode_steps", entry.max_episode_steps)?;
        let options: Vec<(&str, &str)> =
            entry.options().map(|option| (option.name, option.default)).collect();
        dict.set_item("options", options)?;
        list.append(dict)?;
    }
    Ok(list)
}

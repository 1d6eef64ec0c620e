//! A Python agent as a [`Policy`].

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use becausal::env::EnvironmentError;
use becausal::schema::Kind;
use becausal::{Policy, Schema, Stream};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bytes::{doubles, of_doubles};
use crate::error;

/// What Python code raised while the library called it, and whether it is to be called no more.
#[derive(Default)]
pub struct Callbacks {
    /// The exception and its words: Python must not be entered while the lock is held.
    raised: Mutex<Option<(PyErr, String)>>,
    failed: AtomicBool,
    stopped: AtomicBool,
    /// How often one of both happened.
    halts: AtomicUsize,
}

impl Callbacks {
    /// Remembers the first exception.
    pub fn fail(&self, exception: PyErr) {
        let words = exception.to_string();
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.get_or_insert((exception, words));
        self.failed.store(true, Ordering::SeqCst);
        self.halts.fetch_add(1, Ordering::SeqCst);
    }

    /// From now on nothing is called.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.halts.fetch_add(1, Ordering::SeqCst);
    }

    /// How often Python code failed or was stopped so far. Calls on one run share its callbacks: one during
    /// which this number grew may have been given actions that nobody chose.
    pub fn halts(&self) -> usize {
        self.halts.load(Ordering::SeqCst)
    }

    /// Why nothing is called any more, in words.
    pub fn words(&self) -> String {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.as_ref().map_or_else(|| "stopped".to_owned(), |(_, words)| words.clone())
    }

    /// Whether nothing is called any more.
    pub fn is_over(&self) -> bool {
        self.failed.load(Ordering::SeqCst) || self.stopped.load(Ordering::SeqCst)
    }

    /// The exception, if there was one; calls may begin again.
    pub fn take(&self) -> Option<PyErr> {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.failed.store(false, Ordering::SeqCst);
        self.stopped.store(false, Ordering::SeqCst);
        raised.map(|(exception, _)| exception)
    }
}

/// An agent behind an adapter of `becausal._policies`: `modes(bytes, rows) -> bytes`, and `probabilities` in
/// the same way, or `None`.
pub struct PythonPolicy {
    schema: Arc<Schema>,
    adapter: Py<PyAny>,
    callbacks: Arc<Callbacks>,
    /// Agents need not be safe to call from several threads. Taken before Python is entered, so that no
    /// thread waits for it with Python's own lock in its hands.
    lock: Mutex<()>,
    /// Whether the agent answers many states in one call.
    is_quick: bool,
}

impl PythonPolicy {
    pub fn new(
        schema: Arc<Schema>,
        adapter: Py<PyAny>,
        is_quick: bool,
        callbacks: Arc<Callbacks>,
    ) -> Self {
        Self { schema, adapter, callbacks, lock: Mutex::new(()), is_quick }
    }

    /// An action that is in the schema, where the agent gives none.
    fn any_action(&self) -> Vec<f64> {
        let value = |slot: usize| match &self.schema.variable_of(slot).kind {
            Kind::Continuous(bounds) | Kind::Integer(bounds) => {
                0.0_f64.max(bounds.low.unwrap_or(0.0)).min(bounds.high.unwrap_or(f64::MAX))
            }
            _ => 0.0,
        };
        self.schema.action_slots().map(value).collect()
    }

    /// Calls a method of the adapter with these states, and expects `width` numbers for each; `None` where it
    /// failed.
    fn ask(&self, method: &str, states: &[&[f64]], width: usize) -> Option<Vec<f64>> {
        if self.callbacks.is_over() {
            return None;
        }
        let _one_at_a_time = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = states.len();
        let answer = Python::attach(|py| -> PyResult<Option<Vec<f64>>> {
            let states = of_doubles(py, states.iter().copied().flatten().copied());
            let answer = self.adapter.bind(py).call_method1(method, (states, rows))?;
            if answer.is_none() {
                return Ok(None);
            }
            let numbers = doubles(answer.cast::<PyBytes>()?.as_bytes());
            if numbers.len() != rows * width {
                return Err(error::invalid(format!(
                    "the policy returned {} numbers for {rows} states, expected {width} for each",
                    numbers.len()
                )));
            }
            Ok(Some(numbers))
        });
        answer.unwrap_or_else(|exception| {
            self.callbacks.fail(exception);
            None
        })
    }

    /// For each state the weight of every label, where the action is a single category and the agent knows.
    fn weights(&self, states: &[&[f64]]) -> Option<(usize, Vec<f64>)> {
        let slots = self.schema.action_slots();
        let labels = match &self.schema.variable_of(slots.start).kind {
            Kind::Categorical(labels) if slots.len() == 1 => labels.len(),
            _ => return None,
        };
        let weights = self.ask("probabilities", states, labels)?;
        let is_wrong = |row: &[f64]| {
            row.iter().any(|weight| !weight.is_finite() || *weight < 0.0)
                || row.iter().sum::<f64>() <= 0.0
        };
        if let Some(row) = weights.chunks_exact(labels).find(|row| is_wrong(row)) {
            self.callbacks.fail(error::invalid(format!(
                "the policy returned the probabilities {row:?}, expected numbers from 0 on that are not all 0"
            )));
            return None;
        }
        Some((labels, weights))
    }

    /// Refuses what is not an action.
    fn checked(&self, action: &[f64]) -> Option<Vec<f64>> {
        let slots = self.schema.action_slots();
        for (slot, &value) in slots.zip(action) {
            if let Some(objection) = self.schema.variable_of(slot).kind.objection(value) {
                let name = &self.schema.slots()[slot].name;
                self.callbacks.fail(error::invalid(format!(
                    "the policy returned an invalid action: `{name}`: {objection}"
                )));
                return None;
            }
        }
        Some(action.to_vec())
    }
}

impl Policy for PythonPolicy {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn mode(&self, state: &[f64]) -> Vec<f64> {
        let answer = self
            .ask("modes", &[state], self.schema.action_slots().len())
            .and_then(|action| self.checked(&action));
        answer.unwrap_or_else(|| self.any_action())
    }

    fn modes(&self, states: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let states: Vec<&[f64]> = states.iter().map(Vec::as_slice).collect();
        let width = self.schema.action_slots().len();
        let answer = self.ask("modes", &states, width).and_then(|actions| {
            actions.chunks_exact(width).map(|action| self.checked(action)).collect()
        });
        answer.unwrap_or_else(|| vec![self.any_action(); states.len()])
    }

    fn sample(&self, state: &[f64], stream: &mut Stream) -> Vec<f64> {
        // A policy without probabilities always does the same.
        let Some((labels, weights)) = self.weights(&[state]) else {
            return self.mode(state);
        };
        let mut left = stream.unit() * weights.iter().sum::<f64>();
        let drawn = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        vec![drawn.unwrap_or(labels - 1) as f64]
    }

    fn probabilities(&self, states: &[Vec<f64>], actions: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
        let asked: Vec<&[f64]> = states.iter().map(Vec::as_slice).collect();
        let (labels, weights) = self.weights(&asked)?;
        let of_state = |weights: &[f64]| {
            let total: f64 = weights.iter().sum();
            // Probabilities are given for a single action variable, label by label.
            let of_action = |action: &Vec<f64>| {
                let place = (0..labels).find(|&label| action[..] == [label as f64])?;
                Some(weights[place] / total)
            };
            actions.iter().map(of_action).collect()
        };
        weights.chunks_exact(labels).map(of_state).collect()
    }

    fn is_quick(&self) -> bool {
        self.is_quick
    }

    fn check(&self) -> Result<(), EnvironmentError> {
        if !self.callbacks.is_over() {
            return Ok(());
        }
        let message = self.callbacks.words();
        Err(EnvironmentError::Failed { environment: "the policy".to_owned(), message })
    }
}

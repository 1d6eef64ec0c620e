//! A model as a world in which an agent can act.

use std::sync::Arc;

use becausal_core::World;
use becausal_core::env::{EnvironmentError, StepResult, check_step};
use becausal_core::schema::Schema;

use super::dynamics::{Dynamics, Noise, Prediction};

/// A model that continues from a state under given noise, and then takes the most likely course.
pub struct ModelWorld<'a> {
    dynamics: &'a dyn Dynamics,
    noise: std::slice::Iter<'a, Noise>,
    state: Vec<f64>,
    outcomes: Vec<f64>,
    over: bool,
}

impl<'a> ModelWorld<'a> {
    /// The world of a model, in this state. `noise` is that of its steps, one after the other.
    #[must_use]
    pub fn new(dynamics: &'a dyn Dynamics, state: Vec<f64>, noise: &'a [Noise]) -> Self {
        Self { dynamics, noise: noise.iter(), state, outcomes: Vec::new(), over: false }
    }
}

impl World for ModelWorld<'_> {
    fn schema(&self) -> &Arc<Schema> {
        self.dynamics.schema()
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        let schema = Arc::clone(self.dynamics.schema());
        check_step(&schema, self.over, action)?;
        let noise = self.noise.next().cloned().unwrap_or_default();
        let Prediction { outcomes, next } = self.dynamics.step(&self.state, action, &noise);
        let row = [&self.state[..], action, &outcomes, &next].concat();
        let reward = schema.rewards().iter().map(|term| term.expression.value(&row)).sum();
        self.over = schema.termination().is_some_and(|when| when.value(&row) != 0.0);
        (self.state, self.outcomes) = (next, outcomes);
        Ok(StepResult {
            state: &self.state,
            outcomes: &self.outcomes,
            reward,
            terminated: self.over,
            truncated: false,
        })
    }

    fn is_real(&self) -> bool {
        false
    }
}

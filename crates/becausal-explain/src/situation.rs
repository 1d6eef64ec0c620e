//! The moment that a question is about.

use std::sync::Arc;

use super::error::ExplainError;
use crate::chain::{Step, Trajectory};
use becausal_core::Transitions;
use becausal_core::schema::Schema;

/// A state and an action, and what was recorded from there on.
#[derive(Debug, Clone, PartialEq)]
pub struct Situation {
    record: Trajectory,
    state: Vec<f64>,
    action: Vec<f64>,
}

impl Situation {
    /// A step of recorded data and at most `most` steps from it on.
    ///
    /// # Errors
    /// When there is no such episode or step.
    pub fn recorded(
        data: &Transitions,
        episode: usize,
        step: usize,
        most: usize,
    ) -> Result<Self, ExplainError> {
        crate::chain::check_horizon(most)?;
        let record = Trajectory::recorded(data, episode, step, most)?;
        let (state, action) = (record.steps()[0].state.clone(), record.steps()[0].action.clone());
        Ok(Self { record, state, action })
    }

    /// Recorded steps, the first of which is step `first` of its episode.
    ///
    /// # Errors
    /// When there are none, or their sizes do not fit the schema.
    pub fn of_steps(
        schema: Arc<Schema>,
        first: usize,
        steps: Vec<Step>,
    ) -> Result<Self, ExplainError> {
        let Some((state, action)) = steps.first().map(|s| (s.state.clone(), s.action.clone()))
        else {
            return Err(ExplainError::Chain(crate::chain::ChainError::Step {
                step: first,
                episode: 0,
                length: first,
            }));
        };
        Ok(Self { record: Trajectory::new(schema, first, steps)?, state, action })
    }

    /// A state and an action that nobody recorded.
    ///
    /// # Errors
    /// When a value is none of its variable's.
    pub fn imagined(
        schema: &Arc<Schema>,
        state: Vec<f64>,
        action: Vec<f64>,
    ) -> Result<Self, ExplainError> {
        check_values(schema, schema.state_slots(), &state)?;
        check_values(schema, schema.action_slots(), &action)?;
        let record = Trajectory::new(Arc::clone(schema), 0, Vec::new())?;
        Ok(Self { record, state, action })
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &[f64] {
        &self.state
    }

    /// The action that is asked about.
    #[must_use]
    pub fn action(&self) -> &[f64] {
        &self.action
    }

    /// What was recorded from there on; may be nothing.
    #[must_use]
    pub fn record(&self) -> &Trajectory {
        &self.record
    }
}

/// Refuses values that are none of their variables'.
pub(super) fn check_values(
    schema: &Schema,
    slots: std::ops::Range<usize>,
    values: &[f64],
) -> Result<(), ExplainError> {
    if values.len() != slots.len() {
        return Err(ExplainError::Chain(crate::chain::ChainError::Size {
            what: "values",
            given: values.len(),
            expected: slots.len(),
        }));
    }
    for (slot, &value) in slots.zip(values) {
        if let Some(objection) = schema.variable_of(slot).kind.objection(value) {
            let name = schema.slots()[slot].name.clone();
            return Err(ExplainError::Value { name, objection });
        }
    }
    Ok(())
}

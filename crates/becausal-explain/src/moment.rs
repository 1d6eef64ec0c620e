//! The moment that a question is about.

use std::sync::Arc;

use super::error::ExplainError;
use crate::chain::MAX_HORIZON;
use becausal_core::Transitions;
use becausal_core::schema::Schema;
use becausal_core::trajectory::{Step, Trajectory, TrajectoryError};

/// A state, an action, and the recorded steps from there on.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    record: Trajectory,
    state: Vec<f64>,
    action: Vec<f64>,
    anchor: Option<Anchor>,
}

/// Where a moment can be found again, so that something else can be tried there.
#[derive(Debug, Clone, PartialEq)]
pub enum Anchor {
    /// A step of the run's own recording, both counted from 0.
    Recorded {
        /// The episode.
        episode: usize,
        /// The step.
        step: usize,
    },
    /// A step of an episode that was played from a seed.
    Played {
        /// The seed.
        seed: u64,
        /// The actions before the step.
        actions: Vec<Vec<f64>>,
    },
}

impl Moment {
    /// A step of recorded data and the steps after it, up to the maximum horizon.
    ///
    /// # Errors
    /// When there is no such episode or step.
    pub fn recorded(data: &Transitions, episode: usize, step: usize) -> Result<Self, ExplainError> {
        Self::recorded_for(data, (episode, step), MAX_HORIZON)
    }

    /// The same with so many steps at most, at least one: copying a long episode for each of its steps takes a while.
    ///
    /// # Errors
    /// When there is no such episode or step.
    pub fn recorded_for(
        data: &Transitions,
        (episode, step): (usize, usize),
        most: usize,
    ) -> Result<Self, ExplainError> {
        let record = Trajectory::recorded(data, episode, step, most.max(1))?;
        let (state, action) = (record.steps()[0].state.clone(), record.steps()[0].action.clone());
        Ok(Self { record, state, action, anchor: None })
    }

    /// A step of a played episode and the steps after it.
    ///
    /// # Errors
    /// When the episode has no such step.
    pub fn played(episode: &Trajectory, step: usize) -> Result<Self, ExplainError> {
        let schema = Arc::clone(episode.schema());
        let steps: Vec<Step> =
            episode.steps().iter().skip(step).take(MAX_HORIZON).cloned().collect();
        if steps.is_empty() {
            let length = episode.len();
            return Err(TrajectoryError::Step { step, episode: 0, length }.into());
        }
        Self::of_steps(schema, episode.first() + step, steps)
    }

    /// Recorded steps, the first of which is step `first` of its episode.
    ///
    /// # Errors
    /// When there are no steps, or their sizes do not fit the schema.
    pub fn of_steps(
        schema: Arc<Schema>,
        first: usize,
        steps: Vec<Step>,
    ) -> Result<Self, ExplainError> {
        let Some((state, action)) = steps.first().map(|s| (s.state.clone(), s.action.clone()))
        else {
            return Err(ExplainError::from(TrajectoryError::Step {
                step: first,
                episode: 0,
                length: first,
            }));
        };
        Ok(Self { record: Trajectory::new(schema, first, steps)?, state, action, anchor: None })
    }

    /// A state and an action without a record.
    ///
    /// # Errors
    /// When a value is invalid for its variable.
    pub fn imagined(
        schema: &Arc<Schema>,
        mut state: Vec<f64>,
        action: Vec<f64>,
    ) -> Result<Self, ExplainError> {
        check_values(schema, schema.state_slots(), &state)?;
        for (slot, value) in schema.state_slots().zip(&mut state) {
            *value = schema.variable_of(slot).kind.written(*value);
        }
        check_values(schema, schema.action_slots(), &action)?;
        let record = Trajectory::new(Arc::clone(schema), 0, Vec::new())?;
        Ok(Self { record, state, action, anchor: None })
    }

    /// The same moment, which can be found again at a place.
    #[must_use]
    pub fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor: Some(anchor), ..self }
    }

    /// Where it can be found again, if that is known.
    #[must_use]
    pub fn anchor(&self) -> Option<&Anchor> {
        self.anchor.as_ref()
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &[f64] {
        &self.state
    }

    /// The action asked about.
    #[must_use]
    pub fn action(&self) -> &[f64] {
        &self.action
    }

    /// The recorded steps from there on; may be empty.
    #[must_use]
    pub fn record(&self) -> &Trajectory {
        &self.record
    }
}

/// Checks the number of values, and that each is valid for its variable.
pub(super) fn check_values(
    schema: &Schema,
    slots: std::ops::Range<usize>,
    values: &[f64],
) -> Result<(), ExplainError> {
    if values.len() != slots.len() {
        return Err(ExplainError::from(TrajectoryError::Size {
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

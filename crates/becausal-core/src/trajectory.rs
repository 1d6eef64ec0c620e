//! What happened, or what would: a sequence of steps.

use std::sync::Arc;

use crate::data::{Row, Transitions};
use crate::node::{Node, Part, Shape};
use crate::schema::Schema;
use crate::text::counted;

/// One step of a trajectory. Values stand slot by slot, in the order of the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The state before the step, s.
    pub state: Vec<f64>,
    /// The action, a.
    pub action: Vec<f64>,
    /// The outcomes, o.
    pub outcomes: Vec<f64>,
    /// The state after the step, s'.
    pub next: Vec<f64>,
    /// The value of each reward term.
    pub rewards: Vec<f64>,
    /// The episode ends with this step by its own rules.
    pub terminated: bool,
    /// The step was recorded; otherwise a model predicts it.
    pub recorded: bool,
    /// What the environment itself paid, where that is known.
    pub paid: Option<f64>,
}

impl Step {
    /// A step whose rewards, and whose end unless it is known, are computed from the schema. Circular values are
    /// put on their circle first.
    #[must_use]
    pub fn new(
        schema: &Schema,
        [state, action, outcomes, next]: [&[f64]; 4],
        terminated: Option<bool>,
    ) -> Self {
        let mut row = [state, action, outcomes, next].concat();
        let slots = schema.slots().len();
        for (slot, value) in row.iter_mut().enumerate().take(slots) {
            *value = schema.variable_of(slot).kind.written(*value);
        }
        let rewards = schema.rewards().iter().map(|term| term.expression.value(&row)).collect();
        let ends = || schema.termination().is_some_and(|when| when.value(&row) != 0.0);
        Self {
            state: row[..state.len()].to_vec(),
            action: action.to_vec(),
            outcomes: outcomes.to_vec(),
            next: row[row.len() - next.len()..].to_vec(),
            rewards,
            terminated: terminated.unwrap_or_else(ends),
            recorded: terminated.is_some(),
            paid: None,
        }
    }
}

/// Steps one after the other, recorded ones first.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    schema: Arc<Schema>,
    shape: Shape,
    /// The number of the first step in its episode.
    first: usize,
    steps: Vec<Step>,
    /// The episode was cut short from outside after the last step.
    truncated: bool,
}

/// Steps that do not form a trajectory, or were not recorded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrajectoryError {
    /// A step that was not recorded.
    #[error(
        "there is no step {step} in episode {episode}: it has {}, counted from 0",
        counted(*.length, "step")
    )]
    Step {
        /// The step asked for.
        step: usize,
        /// The episode.
        episode: usize,
        /// How many steps it has.
        length: usize,
    },
    /// An episode that was not recorded.
    #[error("there is no episode {episode}: the data have {episodes}, counted from 0")]
    Episode {
        /// The episode asked for.
        episode: usize,
        /// How many there are.
        episodes: usize,
    },
    /// Parts that do not belong together.
    #[error("{what}: {given}, expected {expected}")]
    Size {
        /// What does not fit.
        what: &'static str,
        /// How many there are.
        given: usize,
        /// How many there should be.
        expected: usize,
    },
}

impl Trajectory {
    /// A trajectory without steps yet, at the beginning of an episode.
    #[must_use]
    pub fn begin(schema: &Arc<Schema>) -> Self {
        let (schema, shape) = (Arc::clone(schema), Shape::of(schema));
        Self { schema, shape, first: 0, steps: Vec::new(), truncated: false }
    }

    /// A trajectory of these steps, the first of which is step `first` of its episode.
    ///
    /// # Errors
    /// When a step has not as many numbers as the schema has slots.
    pub fn new(
        schema: Arc<Schema>,
        first: usize,
        steps: Vec<Step>,
    ) -> Result<Self, TrajectoryError> {
        let sizes = [
            ("numbers in a state", schema.state_slots().len()),
            ("numbers in an action", schema.action_slots().len()),
            ("numbers in the outcomes", schema.outcome_slots().len()),
            ("numbers in a next state", schema.next_slots().len()),
            ("reward terms", schema.rewards().len()),
        ];
        for step in &steps {
            let parts = [&step.state, &step.action, &step.outcomes, &step.next, &step.rewards];
            for ((what, expected), part) in sizes.into_iter().zip(parts) {
                if part.len() != expected {
                    return Err(TrajectoryError::Size { what, given: part.len(), expected });
                }
            }
        }
        let shape = Shape::of(&schema);
        Ok(Self { schema, shape, first, steps, truncated: false })
    }

    /// At most `most` recorded steps from step `step` of an episode on.
    ///
    /// # Errors
    /// When there is no such episode or step.
    pub fn recorded(
        data: &Transitions,
        episode: usize,
        step: usize,
        most: usize,
    ) -> Result<Self, TrajectoryError> {
        let episodes = data.episodes();
        if episode >= episodes {
            return Err(TrajectoryError::Episode { episode, episodes });
        }
        let rows = data.episode(episode);
        if step >= rows.len() {
            return Err(TrajectoryError::Step { step, episode, length: rows.len() });
        }
        let schema = data.schema();
        let record = |row: usize| {
            let values = data.row(row);
            let parts = [
                &values[schema.state_slots()],
                &values[schema.action_slots()],
                &values[schema.outcome_slots()],
                &values[schema.next_slots()],
            ];
            let mut step = Step::new(schema, parts, Some(data.terminated()[row]));
            step.paid = data.reward().map(|reward| reward[row]);
            step
        };
        let last = rows.end;
        let taken = rows.skip(step).take(most);
        let steps: Vec<Step> = taken.map(record).collect();
        let whole = last == data.episode(episode).start + step + steps.len();
        let trajectory = Self::new(Arc::clone(schema), step, steps)?;
        Ok(Self { truncated: whole && !trajectory.terminated(), ..trajectory })
    }

    /// What the variables are.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// How many variables of each part there are.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of the first step in its episode.
    #[must_use]
    pub fn first(&self) -> usize {
        self.first
    }

    /// The steps.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The number of steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are no steps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// How many of its steps were recorded.
    #[must_use]
    pub fn recorded_steps(&self) -> usize {
        self.steps.iter().filter(|step| step.recorded).count()
    }

    /// Whether the last step ended the episode.
    #[must_use]
    pub fn terminated(&self) -> bool {
        self.steps.last().is_some_and(|step| step.terminated)
    }

    /// Whether the episode was cut short from outside after the last step.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// Whether nothing can follow: the episode ended, or was cut short.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.terminated() || self.truncated
    }

    /// Adds a step at the end. `truncated` says that the episode was cut short after it.
    pub(crate) fn push(&mut self, step: Step, truncated: bool) {
        self.truncated = truncated && !step.terminated;
        self.steps.push(step);
    }

    /// The same trajectory with only its first steps; it can be continued.
    #[must_use]
    pub fn shortened(mut self, steps: usize) -> Self {
        self.truncated &= steps >= self.steps.len();
        self.steps.truncate(steps);
        self
    }

    /// The same trajectory, to be continued by a model where the record was cut short.
    #[must_use]
    pub fn continued(self) -> Self {
        Self { truncated: false, ..self }
    }

    /// Adds the steps to recorded data as an episode of its own. An episode that is not over is truncated there.
    pub fn append_to(&self, data: &mut Transitions) {
        data.begin_episode();
        for (number, step) in self.steps.iter().enumerate() {
            let last = number + 1 == self.steps.len();
            data.push(&Row {
                state: &step.state,
                action: &step.action,
                outcomes: &step.outcomes,
                next: &step.next,
                reward: step.paid.unwrap_or_else(|| step.rewards.iter().sum()),
                terminated: step.terminated,
                truncated: last && !step.terminated,
            });
        }
    }

    /// The state before a step, or after the last.
    #[must_use]
    pub fn state(&self, step: usize) -> Option<&[f64]> {
        match self.steps.get(step) {
            Some(step) => Some(&step.state),
            None if step == self.steps.len() => self.steps.last().map(|step| &step.next[..]),
            None => None,
        }
    }

    /// The numbers of a node, `None` beyond the end.
    #[must_use]
    pub fn value(&self, node: Node) -> Option<&[f64]> {
        let part = |values: &'_ [f64], ranges: &[std::ops::Range<usize>]| {
            ranges.get(node.index).cloned().filter(|range| range.end <= values.len())
        };
        let step = self.steps.get(node.step);
        match node.part {
            Part::State => {
                let state = self.state(node.step)?;
                Some(&state[part(state, &self.shape.states)?])
            }
            Part::Action => {
                let action = &step?.action;
                Some(&action[part(action, &self.shape.actions)?])
            }
            Part::Outcome => {
                let outcomes = &step?.outcomes;
                Some(&outcomes[part(outcomes, &self.shape.outcomes)?])
            }
            Part::Reward => step?.rewards.get(node.index..=node.index),
        }
    }

    /// The value of a state variable one step before, where there is one.
    #[must_use]
    pub fn before(&self, node: Node) -> Option<&[f64]> {
        match (node.part, node.step.checked_sub(1)) {
            (Part::State, Some(step)) => self.value(Node { step, ..node }),
            _ => None,
        }
    }

    /// Whether the value of a node was recorded rather than predicted.
    #[must_use]
    pub fn is_recorded(&self, node: Node) -> bool {
        let step = match node.part {
            Part::State => node.step.saturating_sub(1),
            _ => node.step,
        };
        self.steps.get(step).is_some_and(|step| step.recorded)
    }

    /// The discounted sum of all reward terms.
    #[must_use]
    pub fn discounted(&self, discount: f64) -> f64 {
        let mut factor = 1.0;
        let mut sum = 0.0;
        for step in &self.steps {
            sum += factor * step.rewards.iter().sum::<f64>();
            factor *= discount;
        }
        sum
    }
}

//! A world model as explanations see it: one step at a time, its noise in the open.

use std::sync::Arc;

use super::influence::Influence;
use becausal_core::schema::Schema;

/// What a world model can be asked about single steps.
///
/// *Causes* are u = (s, a): the state variables and then the action variables, in the order of the
/// schema. *Effects* are v = (s', o): the next states and then the outcomes. A vector is one
/// variable. Values are given slot by slot, as an [`Environment`](becausal_core::Environment) gives them.
pub trait Dynamics: Sync {
    /// What the variables are.
    fn schema(&self) -> &Arc<Schema>;

    /// `PA(v_j)`: the causes of an effect under whatever action, by index, in order.
    fn parents(&self, effect: usize) -> &[usize];

    /// What follows from a state and an action when the noise is this.
    fn step(&self, state: &[f64], action: &[f64], noise: &Noise) -> Prediction;

    /// The noise of a recorded step: with it, [`step`](Self::step) gives the recorded values again.
    fn noise(&self, state: &[f64], action: &[f64], outcomes: &[f64], next: &[f64]) -> Noise;

    /// How strongly each effect depends on each state variable when this action is taken in this
    /// state: the local action influence model.
    fn influence(&self, state: &[f64], action: &[f64]) -> Influence;

    /// How far the members of the model disagree about each effect here, in units of the
    /// variable's spread in the data; 0 for a model of one member.
    fn disagreement(&self, state: &[f64], action: &[f64]) -> Vec<f64>;

    /// How far each state variable is outside the values that the model was fitted to, in units of
    /// their spread; 0 inside.
    fn distance(&self, state: &[f64]) -> Vec<f64>;

    /// The effects by name, next states with a prime.
    fn effects(&self) -> Vec<String> {
        self.schema().effects()
    }
}

/// What a step leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The outcomes o, in the order of the schema's outcome slots.
    pub outcomes: Vec<f64>,
    /// The next state s', in the order of the schema's state slots.
    pub next: Vec<f64>,
}

/// Everything about a step that the state and the action do not decide.
///
/// What the numbers mean is the model's own affair; they are good for another
/// [`step`](Dynamics::step) of the same model, which then shows what *would* have happened.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Noise {
    values: Option<Vec<f64>>,
}

impl Noise {
    /// The noise under which the most likely values come out.
    #[must_use]
    pub fn most_likely() -> Self {
        Self::default()
    }

    /// Noise of these values.
    #[must_use]
    pub fn of(values: Vec<f64>) -> Self {
        Self { values: Some(values) }
    }

    /// The values, `None` for the most likely course.
    #[must_use]
    pub fn values(&self) -> Option<&[f64]> {
        self.values.as_deref()
    }
}

//! The interface of a world model for explanations: single steps with explicit noise.

use std::sync::Arc;

use super::carried::Recorded;
use super::influence::Influence;
use becausal_core::schema::Schema;
use becausal_core::trajectory::Step;
use becausal_core::{Stream, Transitions};

/// What a world model says about single steps.
///
/// *Causes* are u = (s, a): the state variables and then the action variables, in the order of the
/// schema. *Effects* are v = (s', o): the next states and then the outcomes. A vector is one
/// variable. Values are in the order of the slots, like those of an
/// [`Environment`](becausal_core::Environment).
pub trait Dynamics: Sync {
    /// The schema of the variables.
    fn schema(&self) -> &Arc<Schema>;

    /// `PA(v_j)`: the causes of an effect under any action, by index, ascending.
    fn parents(&self, effect: usize) -> &[usize];

    /// The result of an action in a state, given the noise.
    fn step(&self, state: &[f64], action: &[f64], noise: &Noise) -> Prediction;

    /// The noise of a recorded step: with it, [`step`](Self::step) reproduces the recorded values.
    fn noise(&self, state: &[f64], action: &[f64], outcomes: &[f64], next: &[f64]) -> Noise;

    /// The [noise](Self::noise) of many recorded steps.
    fn noises(&self, steps: &[&Step]) -> Vec<Noise> {
        let noise =
            |step: &&Step| self.noise(&step.state, &step.action, &step.outcomes, &step.next);
        steps.iter().map(noise).collect()
    }

    /// How many models it consists of, each of which may be the true one.
    fn members(&self) -> usize {
        1
    }

    /// The [noise](Self::noise) of steps, and noise that is possible as well: as each member sees it, `count` times, drawn
    /// where the record leaves it open. `None` in place of a step that was not recorded: all of its noise is drawn.
    fn possible_noise(&self, steps: &[Option<&Step>], count: usize, _seed: u64) -> PossibleNoise {
        let noise = |step: Option<&Step>| match step {
            Some(step) => self.noise(&step.state, &step.action, &step.outcomes, &step.next),
            None => Noise::most_likely(),
        };
        let likely: Vec<Noise> = steps.iter().copied().map(noise).collect();
        let drawn = vec![vec![likely.clone(); count]; self.members().max(1)];
        PossibleNoise { likely, drawn }
    }

    /// Noise of steps that one member predicted, as it would see them in a record: drawn where they leave it open.
    fn noise_of_predicted(
        &self,
        _member: usize,
        steps: &[&Step],
        _stream: &mut Stream,
    ) -> Vec<Noise> {
        vec![Noise::most_likely(); steps.len()]
    }

    /// The results of actions in states, given the noise of each, by one member: as many as there are
    /// states.
    fn steps_of(
        &self,
        _member: usize,
        states: &[Vec<f64>],
        actions: &[Vec<f64>],
        noise: &[&Noise],
    ) -> Vec<Prediction> {
        let steps = states.iter().zip(actions).zip(noise);
        steps.map(|((state, action), noise)| self.step(state, action, noise)).collect()
    }

    /// How unexpected each effect of a result is, in nats: minus the logarithm of its likelihood, on the scale of
    /// the data; `None` from a model that cannot say.
    fn surprise(
        &self,
        _state: &[f64],
        _action: &[f64],
        _outcomes: &[f64],
        _next: &[f64],
    ) -> Option<Vec<f64>> {
        None
    }

    /// How strongly each effect depends on each state variable, given this state and action: the
    /// local action influence model.
    fn influence(&self, state: &[f64], action: &[f64]) -> Influence;

    /// The values that [`influence`](Self::influence) gives to every state variable in turn:
    /// `[variables][values][slots of the variable]`. Nothing if it does not work by trying values.
    fn substitutes(&self) -> Vec<Vec<Vec<f64>>> {
        Vec::new()
    }

    /// The same as [`influence`](Self::influence), by some of the [values](Self::substitutes) alone:
    /// `tried[variable][value]`.
    fn influence_by(&self, state: &[f64], action: &[f64], _tried: &[Vec<bool>]) -> Influence {
        self.influence(state, action)
    }

    /// The same for several states and actions at once.
    fn influences(&self, situations: &[Situation<'_>]) -> Vec<Influence> {
        situations.iter().map(|(state, action)| self.influence(state, action)).collect()
    }

    /// The same by the attention of the networks, which depends on the action alone; `None` for models
    /// without it.
    fn attention(&self, _action: &[f64]) -> Option<Influence> {
        None
    }

    /// The same by the likelihood lost over recorded transitions when a variable takes another value; `None`
    /// for models without one.
    fn effect(&self, _rows: &Transitions) -> Option<Influence> {
        None
    }

    /// How much the members of the model disagree about each effect in each situation, in standard deviations of the
    /// variable in the data; 0 for a model with one member. `[situations][effects]`
    fn disagreement(&self, situations: &[Situation<'_>]) -> Vec<Vec<f64>>;

    /// How far each state variable is outside the range of the data that the model was fitted to,
    /// in standard deviations; 0 inside.
    fn distance(&self, state: &[f64]) -> Vec<f64>;

    /// How probable the labels of a result are, for each effect that is a flag or a category; `None` for
    /// numbers.
    fn chances(
        &self,
        _state: &[f64],
        _action: &[f64],
        _outcomes: &[f64],
        _next: &[f64],
    ) -> Vec<Option<f64>> {
        vec![None; self.effects().len()]
    }

    /// The names of the effects, next states with a prime.
    fn effects(&self) -> Vec<String> {
        self.schema().effects()
    }
}

/// A state and the action taken in it.
pub type Situation<'a> = (&'a [f64], &'a [f64]);

/// The noise of some steps.
#[derive(Debug, Clone, PartialEq)]
pub struct PossibleNoise {
    /// The most likely noise: `[steps]`.
    pub likely: Vec<Noise>,
    /// Noise that is possible as well: `[members][draws][steps]`.
    pub drawn: Vec<Vec<Vec<Noise>>>,
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The outcomes o, in the order of the schema's outcome slots.
    pub outcomes: Vec<f64>,
    /// The next state s', in the order of the schema's state slots.
    pub next: Vec<f64>,
}

/// Everything about a step that the state and the action do not determine.
///
/// The meaning of the numbers depends on the model. Use them in another [`step`](Dynamics::step) of
/// the same model to see what *would* have happened.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Noise {
    values: Option<Vec<f64>>,
    /// What the values leave open, drawn: a standard normal number for each target. `None` for its mean.
    open: Option<Vec<f64>>,
    /// The recorded step that it was inferred from.
    recorded: Option<Recorded>,
}

impl Noise {
    /// The noise that gives the most likely values.
    #[must_use]
    pub fn most_likely() -> Self {
        Self::default()
    }

    /// Noise with these values.
    #[must_use]
    pub fn of(values: Vec<f64>) -> Self {
        Self { values: Some(values), ..Self::default() }
    }

    /// The same noise with what it leaves open.
    #[must_use]
    pub(super) fn with_open(self, open: Vec<f64>) -> Self {
        Self { open: Some(open), ..self }
    }

    /// What the values leave open; `None` for its mean.
    #[must_use]
    pub(super) fn open(&self) -> Option<&[f64]> {
        self.open.as_deref()
    }

    /// The same noise, inferred from a recorded step.
    #[must_use]
    pub(super) fn recorded_in(self, step: Recorded) -> Self {
        Self { recorded: Some(step), ..self }
    }

    /// The recorded step that it was inferred from.
    #[must_use]
    pub(super) fn recorded(&self) -> Option<&Recorded> {
        self.recorded.as_ref()
    }

    /// The values; `None` for the noise that gives the most likely values.
    #[must_use]
    pub fn values(&self) -> Option<&[f64]> {
        self.values.as_deref()
    }
}

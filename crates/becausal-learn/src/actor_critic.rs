//! The networks of an agent: the actor chooses actions, the critic values states.

use std::sync::Arc;

use rayon::prelude::*;

use becausal_core::Stream;
use becausal_core::env::EnvironmentError;
use becausal_core::schema::Schema;
use becausal_nn::{Activation, Block, Parameters, Perceptron, Pool, Shape, Source, Tape, Variable};

use super::action_space::ActionSpace;
use super::observation::Observation;
use becausal_core::Policy;

/// Rows computed at a time. Fixed, so that results do not depend on the number of threads.
pub(super) const CHUNK_ROWS: usize = 256;

/// An actor and a critic: two perceptrons that read the same observation. It is a [`Policy`].
#[derive(Debug, Clone)]
pub struct ActorCritic {
    schema: Arc<Schema>,
    space: ActionSpace,
    /// How states become inputs.
    pub observation: Observation,
    /// The weights of both networks.
    pub parameters: Parameters,
    actor: Perceptron,
    critic: Perceptron,
    hidden: Vec<usize>,
    /// How much reward one unit of the critic's values is; it learns from scaled rewards. `None` where that was not
    /// kept.
    pub value_unit: Option<f64>,
}

impl ActorCritic {
    /// Networks with hidden layers of these widths. At first all actions are about equally likely.
    ///
    /// # Errors
    /// When an action cannot be chosen by a policy; see [`ActionSpace::of`].
    pub fn new(
        schema: &Arc<Schema>,
        hidden: &[usize],
        stream: &mut Stream,
    ) -> Result<Self, EnvironmentError> {
        let space = ActionSpace::of(schema)?;
        let observation = Observation::of(schema);
        let mut parameters = Parameters::default();
        let widths = |last: usize| [&[observation.features()], hidden, &[last]].concat();
        let mut network = |name: &str, last: usize| {
            let widths = widths(last);
            Perceptron::new(&mut parameters, name, 1, &widths, Activation::Tanh, stream)
        };
        let actor = network("actor", space.columns());
        let critic = network("critic", 1);
        let actor = actor.with_small_output(&mut parameters, 0.01);
        Ok(Self {
            schema: Arc::clone(schema),
            space,
            observation,
            parameters,
            actor,
            critic,
            hidden: hidden.to_vec(),
            value_unit: None,
        })
    }

    /// The actions it can choose.
    #[must_use]
    pub fn space(&self) -> &ActionSpace {
        &self.space
    }

    /// The widths of the hidden layers.
    #[must_use]
    pub fn hidden(&self) -> &[usize] {
        &self.hidden
    }

    /// From observations `[1, rows, features]` to the outputs of the actor `[1, rows, columns]` and
    /// of the critic `[1, rows, 1]`.
    pub fn forward(&self, tape: &mut Tape<'_>, observations: Block) -> (Variable, Variable) {
        let input = tape.input(observations);
        let actor = self.actor.forward(tape, input, Source::Each);
        let critic = self.critic.forward(tape, input, Source::Each);
        (actor, critic)
    }

    /// The actor's outputs for states `[rows, state slots]`: `[1, rows, columns]`.
    #[must_use]
    pub fn act(&self, states: &[f64]) -> Block {
        self.in_chunks(states, &self.actor, self.space.columns())
    }

    /// The critic's values of states `[rows, state slots]`: `[rows]`.
    #[must_use]
    pub fn value(&self, states: &[f64]) -> Vec<f64> {
        let values = self.in_chunks(states, &self.critic, 1).values;
        values.into_iter().map(f64::from).collect()
    }

    fn in_chunks(&self, states: &[f64], network: &Perceptron, columns: usize) -> Block {
        let width = self.schema.state_slots().len();
        let compute = |states: &[f64]| {
            let mut tape = Tape::computing(&self.parameters, Pool::default());
            let input = tape.input(self.observation.encode(states));
            let outputs = network.forward(&mut tape, input, Source::Each);
            tape.value(outputs).values.clone()
        };
        let values = if states.len() <= CHUNK_ROWS * width {
            compute(states)
        } else {
            states.par_chunks(CHUNK_ROWS * width).flat_map_iter(compute).collect()
        };
        Block::new(Shape::new(1, states.len() / width, columns), values)
    }
}

impl Policy for ActorCritic {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn mode(&self, state: &[f64]) -> Vec<f64> {
        self.modes(&[state.to_vec()]).remove(0)
    }

    fn modes(&self, states: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let outputs = self.act(&states.concat());
        let of_state = |row: usize| {
            let mut numbers = vec![0.0; self.space.heads().len()];
            self.space.mode(outputs.row(0, row), &mut numbers);
            let mut action = vec![0.0; numbers.len()];
            self.space.action(&numbers, &mut action);
            action
        };
        (0..states.len()).map(of_state).collect()
    }

    fn probabilities(&self, states: &[Vec<f64>], actions: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
        let outputs = self.act(&states.concat());
        let of_state = |row: usize| {
            let of_action = |action: &Vec<f64>| self.space.probability(outputs.row(0, row), action);
            actions.iter().map(of_action).collect()
        };
        (0..states.len()).map(of_state).collect()
    }

    fn values(&self, states: &[Vec<f64>]) -> Option<Vec<f64>> {
        let unit = self.value_unit?;
        Some(self.value(&states.concat()).into_iter().map(|value| unit * value).collect())
    }

    fn sample(&self, state: &[f64], stream: &mut Stream) -> Vec<f64> {
        let outputs = self.act(state);
        let mut numbers = vec![0.0; self.space.heads().len()];
        self.space.draw(outputs.row(0, 0), stream, &mut numbers);
        let mut action = vec![0.0; numbers.len()];
        self.space.action(&numbers, &mut action);
        action
    }
}

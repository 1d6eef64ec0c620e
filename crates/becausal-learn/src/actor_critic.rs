//! The networks of an agent: what to do, and how good a state is.

use std::sync::Arc;

use rayon::prelude::*;

use becausal_core::Stream;
use becausal_core::env::EnvironmentError;
use becausal_core::schema::Schema;
use becausal_nn::{Activation, Block, Parameters, Perceptron, Pool, Shape, Source, Tape, Variable};

use super::action_space::ActionSpace;
use super::observation::Observation;
use becausal_core::Policy;

/// Rows that are computed at a time. Fixed, so that results do not depend on threads.
pub(super) const PIECE: usize = 256;

/// An actor and a critic, both perceptrons over the same observation. A [`Policy`] by itself.
#[derive(Debug, Clone)]
pub struct ActorCritic {
    schema: Arc<Schema>,
    space: ActionSpace,
    /// How states become inputs.
    pub observation: Observation,
    /// All that is learned.
    pub parameters: Parameters,
    actor: Perceptron,
    critic: Perceptron,
    hidden: Vec<usize>,
}

impl ActorCritic {
    /// Networks with hidden layers of these widths; at first every action is about as likely.
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
        })
    }

    /// What it can do.
    #[must_use]
    pub fn space(&self) -> &ActionSpace {
        &self.space
    }

    /// The widths of the hidden layers.
    #[must_use]
    pub fn hidden(&self) -> &[usize] {
        &self.hidden
    }

    /// From observations `[1, rows, features]`: what the actor says `[1, rows, columns]` and what
    /// the critic says `[1, rows, 1]`.
    pub fn forward(&self, tape: &mut Tape<'_>, observations: Block) -> (Variable, Variable) {
        let input = tape.input(observations);
        let actor = self.actor.forward(tape, input, Source::Each);
        let critic = self.critic.forward(tape, input, Source::Each);
        (actor, critic)
    }

    /// What the actor says about states `[rows, state slots]`: `[1, rows, columns]`.
    #[must_use]
    pub fn act(&self, states: &[f64]) -> Block {
        self.pieces(states, &self.actor, self.space.columns())
    }

    /// What the critic says about states `[rows, state slots]`: `[rows]`.
    #[must_use]
    pub fn value(&self, states: &[f64]) -> Vec<f64> {
        let values = self.pieces(states, &self.critic, 1).values;
        values.into_iter().map(f64::from).collect()
    }

    fn pieces(&self, states: &[f64], network: &Perceptron, columns: usize) -> Block {
        let width = self.schema.state_slots().len();
        let compute = |states: &[f64]| {
            let mut tape = Tape::computing(&self.parameters, Pool::default());
            let input = tape.input(self.observation.encode(states));
            let said = network.forward(&mut tape, input, Source::Each);
            tape.value(said).values.clone()
        };
        let values = if states.len() <= PIECE * width {
            compute(states)
        } else {
            states.par_chunks(PIECE * width).flat_map_iter(compute).collect()
        };
        Block::new(Shape::new(1, states.len() / width, columns), values)
    }
}

impl Policy for ActorCritic {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn mode(&self, state: &[f64]) -> Vec<f64> {
        let said = self.act(state);
        let mut numbers = vec![0.0; self.space.heads().len()];
        self.space.mode(said.row(0, 0), &mut numbers);
        let mut action = vec![0.0; numbers.len()];
        self.space.action(&numbers, &mut action);
        action
    }

    fn sample(&self, state: &[f64], stream: &mut Stream) -> Vec<f64> {
        let said = self.act(state);
        let mut numbers = vec![0.0; self.space.heads().len()];
        self.space.draw(said.row(0, 0), stream, &mut numbers);
        let mut action = vec![0.0; numbers.len()];
        self.space.action(&numbers, &mut action);
        action
    }
}

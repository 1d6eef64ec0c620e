//! The dense baseline: one network that reads all inputs.

use std::sync::Arc;

use becausal_core::Stream;
use becausal_core::schema::Role;
use becausal_nn::{Activation, Block, Parameters, Perceptron, Shape, Source, Tape, Variable};

use super::encoding::Encoding;
use super::inputs::Inputs;
use super::persistence::{Persistence, persist};
use super::target::Target;

/// A network with all inputs, two hidden layers and all outputs. It predicts numbers as changes.
#[derive(Debug, Clone)]
pub(super) struct DenseNetwork {
    layers: Perceptron,
    targets: Arc<[Target]>,
    effects: usize,
    columns: usize,
}

impl DenseNetwork {
    pub fn new(
        encoding: &Encoding,
        effects: usize,
        hidden: usize,
        parameters: &mut Parameters,
        stream: &mut Stream,
    ) -> Self {
        let schema = encoding.schema();
        let count = |role| schema.of_role(role).count() * encoding.features(role);
        let inputs = count(Role::State) + count(Role::Action);
        let columns = encoding.output_columns();
        let widths = [inputs, hidden, hidden, effects * columns];
        let layers = Perceptron::new(parameters, "dense", 1, &widths, Activation::Silu, stream)
            .with_small_output(parameters, 0.1);
        Self { layers, targets: encoding.targets().into(), effects, columns }
    }

    /// The parameters of the distributions: `[effects, rows, columns]`.
    pub fn forward(&self, tape: &mut Tape<'_>, inputs: Inputs) -> Variable {
        let rows = inputs.rows();
        let starts = Persistence::of_all(self.effects).starts(&inputs, &self.targets);
        let Inputs { states, actions, action_of, .. } = inputs;
        let widths = [&states, &actions].map(|block| block.shape.groups * block.shape.columns);
        let mut joined = Block::zeros(Shape::new(1, rows, widths[0] + widths[1]));
        for (row, into) in joined.values.chunks_exact_mut(widths[0] + widths[1]).enumerate() {
            let mut at = 0;
            for (block, row) in [(&states, row), (&actions, action_of[row] as usize)] {
                for group in 0..block.shape.groups {
                    into[at..][..block.shape.columns].copy_from_slice(block.row(group, row));
                    at += block.shape.columns;
                }
            }
        }
        let joined = tape.input(joined);
        let outputs = self.layers.forward(tape, joined, Source::Each);
        let split = split(tape, outputs, self.effects, self.columns);
        persist(tape, split, &starts, &self.targets)
    }
}

/// From `[1, rows, effects * columns]` to `[effects, rows, columns]`.
fn split(tape: &mut Tape<'_>, x: Variable, effects: usize, columns: usize) -> Variable {
    let rows = tape.value(x).shape.rows;
    let mut parts = tape.scratch(Shape::new(effects, rows, columns));
    let from = tape.value(x);
    for effect in 0..effects {
        for (row, into) in parts.group_mut(effect).chunks_exact_mut(columns).enumerate() {
            into.copy_from_slice(&from.row(0, row)[effect * columns..][..columns]);
        }
    }
    tape.push(parts, Split { x, effects, columns })
}

struct Split {
    x: Variable,
    effects: usize,
    columns: usize,
}

impl becausal_nn::Operation for Split {
    fn backward(
        &self,
        _result: Variable,
        gradient: &mut [f32],
        back: &mut becausal_nn::Backward<'_>,
    ) {
        let (effects, columns) = (self.effects, self.columns);
        let into = back.gradient(self.x);
        for (at, gradient) in gradient.chunks_exact(columns).enumerate() {
            let rows = into.len() / (effects * columns);
            let (effect, row) = (at / rows, at % rows);
            let into = &mut into[(row * effects + effect) * columns..][..columns];
            into.iter_mut().zip(gradient).for_each(|(into, gradient)| *into += gradient);
        }
    }
}

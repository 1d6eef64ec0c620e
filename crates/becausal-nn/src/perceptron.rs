//! Multi-layer perceptrons.

use super::activation::Activation;
use super::linear::{Layer, Source};
use super::parameters::Parameters;
use super::tape::{Tape, Variable};
use becausal_core::Stream;

/// Rows that go through all layers together: 64 rows of 64 numbers are 16 kB, half of the fastest cache.
const BLOCK_ROWS: usize = 64;

/// Linear layers with activations between them, one network per group.
#[derive(Debug, Clone)]
pub struct Perceptron {
    layers: Vec<Layer>,
    activation: Activation,
}

impl Perceptron {
    /// Layers of these widths: the first is the number of inputs, the last that of outputs.
    pub fn new(
        parameters: &mut Parameters,
        name: &str,
        groups: usize,
        widths: &[usize],
        activation: Activation,
        stream: &mut Stream,
    ) -> Self {
        let layers = widths
            .windows(2)
            .enumerate()
            .map(|(at, pair)| {
                let name = format!("{name}.{at}");
                Layer::new(parameters, &name, groups, (pair[0], pair[1]), activation.gain(), stream)
            })
            .collect();
        Self { layers, activation }
    }

    /// Multiplies the weights and the bias of the last layer by a factor.
    #[must_use]
    pub fn with_small_output(self, parameters: &mut Parameters, factor: f32) -> Self {
        if let Some(last) = self.layers.last() {
            last.scale(parameters, factor);
        }
        self
    }

    /// The last layer.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn last(&self) -> &Layer {
        self.layers.last().expect("a perceptron has layers")
    }

    /// From `[groups, rows, in]` to `[groups, rows, out]`, without an activation after the last
    /// layer.
    pub fn forward(&self, tape: &mut Tape<'_>, x: Variable, source: Source) -> Variable {
        let mut x = x;
        for (at, layer) in self.layers.iter().enumerate() {
            if at > 0 {
                x = self.activation.forward(tape, x);
            }
            x = layer.forward(tape, x, if at == 0 { source } else { Source::Each });
        }
        x
    }

    /// One group alone, without a tape: from `[rows, in]` to `[rows, out]`.
    #[must_use]
    pub fn of_group(
        &self,
        parameters: &Parameters,
        group: usize,
        x: &[f32],
        rows: usize,
    ) -> Vec<f32> {
        let inputs = x.len() / rows.max(1);
        self.of_rows(parameters, group, rows, |first, block| {
            block.copy_from_slice(&x[first * inputs..][..block.len()]);
        })
    }

    /// The same for rows that are made where they are needed: `write` gets the number of the first row and memory for
    /// some rows, `[rows, in]`.
    #[must_use]
    pub fn of_rows(
        &self,
        parameters: &Parameters,
        group: usize,
        rows: usize,
        mut write: impl FnMut(usize, &mut [f32]),
    ) -> Vec<f32> {
        let Some(first) = self.layers.first() else { return Vec::new() };
        let (inputs, _) = first.extent(parameters);
        let (_, outputs) = self.last().extent(parameters);
        let mut y = Vec::with_capacity(rows * outputs);
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for start in (0..rows).step_by(BLOCK_ROWS) {
            let count = BLOCK_ROWS.min(rows - start);
            from.resize(count * inputs, 0.0);
            write(start, &mut from);
            for (at, layer) in self.layers.iter().enumerate() {
                if at > 0 {
                    self.activation.apply(&mut from);
                }
                layer.of_group_into(parameters, group, (&from, count), &mut to);
                std::mem::swap(&mut from, &mut to);
            }
            y.extend_from_slice(&from);
        }
        y
    }
}

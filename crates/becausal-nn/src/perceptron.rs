//! Multi-layer perceptrons.

use super::activation::Activation;
use super::linear::{Layer, Source};
use super::parameters::Parameters;
use super::tape::{Tape, Variable};
use becausal_core::Stream;

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
        let mut x = x.to_vec();
        for (at, layer) in self.layers.iter().enumerate() {
            if at > 0 {
                self.activation.apply(&mut x);
            }
            x = layer.of_group(parameters, group, &x, rows);
        }
        x
    }
}

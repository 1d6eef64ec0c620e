//! Linear layers, one per group.

use super::block::Shape;
use super::math::simd;
use super::parameters::{Parameter, Parameters};
use super::product::{Transposed, add_product, product, product_plus_row};
use super::tape::{Backward, Operation, Tape, Variable};
use becausal_core::Stream;

/// Which group of the input each group of a layer reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Each group reads the group of the same index.
    Each,
    /// All groups read this group.
    Shared(usize),
}

/// The gain, sqrt(3), with which the outputs of a layer have the same variance as its inputs:
/// uniform weights within sqrt(3 / in) have a variance of 1 / in.
pub const VARIANCE_PRESERVING_GAIN: f64 = 1.732_050_807_568_877_2;

/// A linear map per group: y = x W + b with W `[groups, in, out]` and b `[groups, 1, out]`.
#[derive(Debug, Clone, Copy)]
pub struct Layer {
    weight: Parameter,
    bias: Option<Parameter>,
}

impl Layer {
    /// A layer with a bias. Weights are drawn uniformly within gain / sqrt(in), biases within
    /// 1 / sqrt(in).
    pub fn new(
        parameters: &mut Parameters,
        name: &str,
        groups: usize,
        (inputs, outputs): (usize, usize),
        gain: f64,
        stream: &mut Stream,
    ) -> Self {
        let mut layer =
            Self::without_bias(parameters, name, groups, (inputs, outputs), gain, stream);
        let shape = Shape::new(groups, 1, outputs);
        let bound = 1.0 / (inputs.max(1) as f64).sqrt();
        layer.bias = Some(parameters.add_uniform(&format!("{name}.bias"), shape, bound, stream));
        layer
    }

    /// A layer without a bias. Weights are drawn uniformly within gain / sqrt(in).
    pub fn without_bias(
        parameters: &mut Parameters,
        name: &str,
        groups: usize,
        (inputs, outputs): (usize, usize),
        gain: f64,
        stream: &mut Stream,
    ) -> Self {
        let bound = gain / (inputs.max(1) as f64).sqrt();
        let shape = Shape::new(groups, inputs, outputs);
        let weight = parameters.add_uniform(&format!("{name}.weight"), shape, bound, stream);
        Self { weight, bias: None }
    }

    /// Multiplies weights and bias by a factor, for outputs that start near zero.
    pub fn scale(&self, parameters: &mut Parameters, factor: f32) {
        for parameter in std::iter::once(self.weight).chain(self.bias) {
            parameters.of_mut(parameter).values.iter_mut().for_each(|value| *value *= factor);
        }
    }

    /// The bias, if the layer has one: `[groups, 1, out]`.
    #[must_use]
    pub fn bias(&self) -> Option<Parameter> {
        self.bias
    }

    /// From `[groups, rows, in]`, or one shared group of the input, to `[groups, rows, out]`.
    pub fn forward(&self, tape: &mut Tape<'_>, x: Variable, source: Source) -> Variable {
        let parameters = tape.parameters();
        let Shape { groups, columns: outputs, .. } = parameters.of(self.weight).shape;
        let rows = tape.value(x).shape.rows;
        let mut y = tape.scratch(Shape::new(groups, rows, outputs));
        let from = tape.value(x);
        for group in 0..groups {
            let read = from.group(read_group(source, group));
            self.write(parameters, group, (read, rows), y.group_mut(group));
        }
        tape.push(y, Linear { layer: *self, x, source })
    }

    /// The number of inputs and of outputs.
    #[must_use]
    pub fn extent(&self, parameters: &Parameters) -> (usize, usize) {
        let Shape { rows: inputs, columns: outputs, .. } = parameters.of(self.weight).shape;
        (inputs, outputs)
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
        let mut y = Vec::new();
        self.of_group_into(parameters, group, (x, rows), &mut y);
        y
    }

    /// The same into memory that is used again.
    pub fn of_group_into(
        &self,
        parameters: &Parameters,
        group: usize,
        (x, rows): (&[f32], usize),
        y: &mut Vec<f32>,
    ) {
        y.resize(rows * self.extent(parameters).1, 0.0);
        self.write(parameters, group, (x, rows), y);
    }

    /// Writes y = x W + b of a group.
    fn write(
        &self,
        parameters: &Parameters,
        group: usize,
        (x, rows): (&[f32], usize),
        y: &mut [f32],
    ) {
        let weight = parameters.of(self.weight);
        let Shape { rows: inputs, columns: outputs, .. } = weight.shape;
        let weight = (weight.group(group), inputs, outputs, Transposed::No);
        let x = (x, rows, inputs, Transposed::No);
        match self.bias {
            Some(bias) => product_plus_row(x, weight, parameters.of(bias).group(group), y),
            None => product(x, weight, y),
        }
    }
}

fn read_group(source: Source, group: usize) -> usize {
    match source {
        Source::Each => group,
        Source::Shared(group) => group,
    }
}

struct Linear {
    layer: Layer,
    x: Variable,
    source: Source,
}

impl Operation for Linear {
    fn backward(&self, _result: Variable, gradient: &mut [f32], back: &mut Backward<'_>) {
        let weight = back.parameters.of(self.layer.weight);
        let Shape { groups, rows: inputs, columns: outputs } = weight.shape;
        let x = back.value(self.x);
        let rows = x.shape.rows;
        for group in 0..groups {
            let dy = &gradient[group * rows * outputs..][..rows * outputs];
            let read = read_group(self.source, group);
            let dw = &mut back.learned.of_mut(self.layer.weight)[group * inputs * outputs..]
                [..inputs * outputs];
            let across = (x.group(read), rows, inputs, Transposed::Yes);
            add_product(across, (dy, rows, outputs, Transposed::No), dw);
            if let Some(bias) = self.layer.bias {
                let db = &mut back.learned.of_mut(bias)[group * outputs..][..outputs];
                simd(
                    #[inline(always)]
                    || {
                        for row in dy.chunks_exact(outputs.max(1)) {
                            db.iter_mut().zip(row).for_each(|(db, dy)| *db += dy);
                        }
                    },
                );
            }
        }
        if !back.wants(self.x) {
            return;
        }
        let (dx, untouched) = match self.source {
            Source::Each => back.gradient_or_untouched(self.x),
            Source::Shared(_) => (back.gradient(self.x), false),
        };
        for group in 0..groups {
            let dy = (&gradient[group * rows * outputs..][..rows * outputs], rows, outputs);
            let size = rows * inputs;
            let dx = &mut dx[read_group(self.source, group) * size..][..size];
            let weight = (weight.group(group), inputs, outputs, Transposed::Yes);
            let multiply = if untouched { product } else { add_product };
            multiply((dy.0, dy.1, dy.2, Transposed::No), weight, dx);
        }
    }
}

//! A record of operations, for computing gradients by going back through it.

use std::collections::HashMap;

use super::block::{Block, Shape};
use super::math::{add_scaled, simd};
use super::parameters::{Gradients, Parameters};

/// A value on a [`Tape`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable(usize);

/// A recorded operation.
pub trait Operation: Send {
    /// Given the gradient of its result, adds to the gradients of its inputs.
    ///
    /// `gradient` is not needed afterwards and may be overwritten.
    fn backward(&self, result: Variable, gradient: &mut [f32], back: &mut Backward<'_>);
}

/// Memory that is reused from one tape to the next.
///
/// Buffers are grouped by capacity, a power of two, because the next tape may have a few rows more
/// or fewer.
#[derive(Debug, Default)]
pub struct Pool {
    free: HashMap<u32, Vec<Vec<f32>>>,
}

impl Pool {
    /// `len` numbers with arbitrary values.
    fn take(&mut self, len: usize) -> Vec<f32> {
        let capacity = len.max(1).next_power_of_two();
        let reused = self.free.get_mut(&capacity.ilog2()).and_then(Vec::pop);
        let mut values = reused.unwrap_or_else(|| Vec::with_capacity(capacity));
        values.resize(len, 0.0);
        values
    }

    fn give(&mut self, values: Vec<f32>) {
        if let Some(exponent) = values.capacity().checked_ilog2() {
            self.free.entry(exponent).or_default().push(values);
        }
    }
}

/// Computes with the parameters of a network, and records the operations if gradients are needed.
pub struct Tape<'p> {
    parameters: &'p Parameters,
    values: Vec<Block>,
    operations: Vec<Option<Box<dyn Operation>>>,
    /// Which values are inputs: their memory does not go back to the pool.
    outside: Vec<bool>,
    pool: Pool,
    recording: bool,
}

impl<'p> Tape<'p> {
    /// A tape for training: [`backward`](Self::backward) computes gradients.
    #[must_use]
    pub fn recording(parameters: &'p Parameters, pool: Pool) -> Self {
        Self {
            parameters,
            values: Vec::new(),
            operations: Vec::new(),
            outside: Vec::new(),
            pool,
            recording: true,
        }
    }

    /// A tape for computing values only.
    #[must_use]
    pub fn computing(parameters: &'p Parameters, pool: Pool) -> Self {
        Self { recording: false, ..Self::recording(parameters, pool) }
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &'p Parameters {
        self.parameters
    }

    /// A value.
    #[must_use]
    pub fn value(&self, variable: Variable) -> &Block {
        &self.values[variable.0]
    }

    /// A block of this shape with *arbitrary* numbers, to be overwritten.
    #[must_use]
    pub fn scratch(&mut self, shape: Shape) -> Block {
        Block::new(shape, self.pool.take(shape.len()))
    }

    /// Adds an input, which has no gradient.
    pub fn input(&mut self, block: Block) -> Variable {
        self.place(block, None, true)
    }

    /// Adds a block made from [`scratch`](Self::scratch), which has no gradient.
    pub fn constant(&mut self, block: Block) -> Variable {
        self.place(block, None, false)
    }

    /// Adds the result of an operation. The operation is dropped if the tape does not record.
    pub fn push(&mut self, block: Block, operation: impl Operation + 'static) -> Variable {
        let operation = self.recording.then(|| Box::new(operation) as Box<dyn Operation>);
        self.place(block, operation, false)
    }

    fn place(
        &mut self,
        block: Block,
        operation: Option<Box<dyn Operation>>,
        outside: bool,
    ) -> Variable {
        self.values.push(block);
        self.operations.push(operation);
        self.outside.push(outside);
        Variable(self.values.len() - 1)
    }

    /// Takes a result as given: nothing is learned through it.
    pub fn hold(&mut self, variable: Variable) {
        self.operations[variable.0] = None;
    }

    /// Adds the gradients of the sum of all numbers in `loss` to `gradients`.
    ///
    /// # Panics
    /// When the tape does not record.
    pub fn backward(&mut self, loss: Variable, gradients: &mut Gradients) {
        assert!(self.recording, "gradients need a tape that records");
        let mut back = Backward {
            parameters: self.parameters,
            values: &self.values,
            learned: gradients,
            gradients: ValueGradients {
                gradients: self.values.iter().map(|_| None).collect(),
                wanted: self.operations.iter().map(Option::is_some).collect(),
                pool: &mut self.pool,
            },
            passed_on_to: None,
        };
        back.gradients.of(loss, self.values[loss.0].shape).fill(1.0);
        for at in (0..=loss.0).rev() {
            let Some(operation) = &self.operations[at] else { continue };
            let Some(mut gradient) = back.gradients.gradients[at].take() else { continue };
            operation.backward(Variable(at), &mut gradient, &mut back);
            match back.passed_on_to.take() {
                Some(to) => back.gradients.receive(to, gradient),
                None => back.gradients.pool.give(gradient),
            }
        }
    }

    /// Ends the tape and returns its memory for the next one.
    #[must_use]
    pub fn finish(mut self) -> Pool {
        for (block, outside) in self.values.into_iter().zip(self.outside) {
            if !outside {
                self.pool.give(block.values);
            }
        }
        self.pool
    }
}

/// What an operation can access in the backward pass.
pub struct Backward<'a> {
    /// The parameters.
    pub parameters: &'a Parameters,
    /// All values of the tape.
    values: &'a [Block],
    /// Gradients of the parameters, to add to.
    pub learned: &'a mut Gradients,
    /// Gradients of the values, to add to.
    pub gradients: ValueGradients<'a>,
    /// See [`pass_on`](Self::pass_on).
    passed_on_to: Option<Variable>,
}

impl<'a> Backward<'a> {
    /// A value.
    #[must_use]
    pub fn value(&self, variable: Variable) -> &'a Block {
        &self.values[variable.0]
    }

    /// Whether the gradient of this value is needed.
    #[must_use]
    pub fn wants(&self, variable: Variable) -> bool {
        self.gradients.wanted[variable.0]
    }

    /// The gradient of a value, to add to. It starts at zero.
    pub fn gradient(&mut self, variable: Variable) -> &mut [f32] {
        self.gradients.of(variable, self.values[variable.0].shape)
    }

    /// The gradient of a value, and whether it is untouched: then its numbers are *arbitrary*, and all of
    /// them must be overwritten. Otherwise it is to be added to.
    ///
    /// Most values are read by one operation, so this saves filling with zeros and adding to them.
    pub fn gradient_or_untouched(&mut self, variable: Variable) -> (&mut [f32], bool) {
        self.gradients.or_untouched(variable, self.values[variable.0].shape)
    }

    /// Says that the gradient of the result, as the operation leaves it, is to be added to that of an input
    /// of the same shape. Where nothing was added to it yet, its memory is handed over.
    pub fn pass_on(&mut self, input: Variable) {
        self.passed_on_to = Some(input);
    }
}

/// The gradients of the values of a tape.
pub struct ValueGradients<'a> {
    gradients: Vec<Option<Vec<f32>>>,
    wanted: Vec<bool>,
    pool: &'a mut Pool,
}

impl ValueGradients<'_> {
    fn of(&mut self, variable: Variable, shape: Shape) -> &mut [f32] {
        let (gradient, untouched) = self.or_untouched(variable, shape);
        if untouched {
            gradient.fill(0.0);
        }
        gradient
    }

    /// Adds to the gradient of a value.
    fn receive(&mut self, variable: Variable, gradient: Vec<f32>) {
        match &mut self.gradients[variable.0] {
            Some(sum) => {
                simd(
                    #[inline(always)]
                    || add_scaled(sum, 1.0, &gradient),
                );
                self.pool.give(gradient);
            }
            untouched => *untouched = Some(gradient),
        }
    }

    fn or_untouched(&mut self, variable: Variable, shape: Shape) -> (&mut [f32], bool) {
        let gradient = &mut self.gradients[variable.0];
        let untouched = gradient.is_none();
        (gradient.get_or_insert_with(|| self.pool.take(shape.len())), untouched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Activation, Layer, Source};
    use becausal_core::Stream;

    #[test]
    fn nothing_is_learned_through_a_held_result() {
        let learned = |held: bool| {
            let mut parameters = Parameters::default();
            let layer = Layer::new(&mut parameters, "l", 1, (2, 3), 1.0, &mut Stream::new(1));
            let mut gradients = parameters.gradients();
            let mut tape = Tape::recording(&parameters, Pool::default());
            let x = tape.input(Block::new(Shape::new(1, 1, 2), vec![0.5, -1.0]));
            let y = layer.forward(&mut tape, x, Source::Each);
            let loss = Activation::Silu.forward(&mut tape, y);
            if held {
                tape.hold(y);
            }
            tape.backward(loss, &mut gradients);
            gradients.norm()
        };
        assert!(learned(false) > 0.1);
        assert_eq!(learned(true), 0.0);
    }

    #[test]
    fn buffers_are_reused_for_similar_sizes() {
        let mut pool = Pool::default();
        for len in (1000..1024).chain([0, 1, 600]) {
            let values = pool.take(len);
            assert_eq!(values.len(), len);
            pool.give(values);
        }
        let kept: usize = pool.free.values().map(Vec::len).sum();
        assert_eq!(kept, 2, "one for 513 to 1024 numbers, one for up to 1");
    }
}

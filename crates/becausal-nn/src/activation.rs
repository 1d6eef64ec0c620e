//! Activation functions.

use super::linear::EVEN_GAIN;
use super::math::{sigmoid, simd, tanh};
use super::tape::{Backward, Operation, Tape, Variable};

/// A function of each number alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// x * sigmoid(x): smooth, so that smooth physics is learned well.
    Silu,
    /// The hyperbolic tangent.
    Tanh,
}

impl Activation {
    /// The gain of the layers before it, when they begin.
    ///
    /// Networks of seven layers with a gain of 1 hardly see what they read at first, and learn
    /// slowly. Policies have three, and begin with little to say on purpose.
    #[must_use]
    pub fn gain(self) -> f64 {
        match self {
            Self::Silu => EVEN_GAIN,
            Self::Tanh => 1.0,
        }
    }

    /// `[groups, rows, columns]` to the same.
    pub fn forward(self, tape: &mut Tape<'_>, x: Variable) -> Variable {
        let mut y = tape.scratch(tape.value(x).shape);
        let from = &tape.value(x).values;
        simd(
            #[inline(always)]
            || {
                let pairs = y.values.iter_mut().zip(from);
                match self {
                    Self::Silu => pairs.for_each(|(y, &x)| *y = x * sigmoid(x)),
                    Self::Tanh => pairs.for_each(|(y, &x)| *y = tanh(x)),
                }
            },
        );
        tape.push(y, Activate { activation: self, x })
    }
}

struct Activate {
    activation: Activation,
    x: Variable,
}

impl Operation for Activate {
    fn backward(&self, result: Variable, gradient: &mut [f32], back: &mut Backward<'_>) {
        let x = &back.value(self.x).values;
        let y = &back.value(result).values;
        let dx = back.gradient(self.x);
        simd(
            #[inline(always)]
            || {
                let rows = dx.iter_mut().zip(&*gradient).zip(x).zip(y);
                match self.activation {
                    Activation::Silu => rows.for_each(|(((dx, dy), &x), &y)| {
                        let s = sigmoid(x);
                        *dx += dy * (s + y * (1.0 - s));
                    }),
                    Activation::Tanh => {
                        rows.for_each(|(((dx, dy), _), &y)| *dx += dy * (1.0 - y * y));
                    }
                }
            },
        );
    }
}

//! Activation functions.

use super::linear::VARIANCE_PRESERVING_GAIN;
use super::math::{flush, sigmoid, simd, tanh};
use super::tape::{Backward, Operation, Tape, Variable};

/// An elementwise activation function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// x * sigmoid(x): smooth, and therefore good at learning smooth physics.
    Silu,
    /// The hyperbolic tangent.
    Tanh,
}

impl Activation {
    /// The initial gain of the layers before it.
    ///
    /// With a gain of 1, the outputs of a network of seven layers hardly depend on its inputs at
    /// first, and it learns slowly. Policies have three layers, and their outputs start small on
    /// purpose.
    #[must_use]
    pub fn gain(self) -> f64 {
        match self {
            Self::Silu => VARIANCE_PRESERVING_GAIN,
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
                let values = y.values.iter_mut().zip(from);
                match self {
                    Self::Silu => values.for_each(|(y, &x)| *y = x * sigmoid(x)),
                    Self::Tanh => values.for_each(|(y, &x)| *y = tanh(x)),
                }
            },
        );
        tape.push(y, Activate { activation: self, x })
    }

    /// The same in place, without a tape.
    pub fn apply(self, values: &mut [f32]) {
        simd(
            #[inline(always)]
            || match self {
                Self::Silu => values.iter_mut().for_each(|x| *x *= sigmoid(*x)),
                Self::Tanh => values.iter_mut().for_each(|x| *x = tanh(*x)),
            },
        );
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
        // The gradient of y becomes that of x in place.
        simd(
            #[inline(always)]
            || {
                let rows = gradient.iter_mut().zip(x).zip(y);
                match self.activation {
                    Activation::Silu => rows.for_each(|((dy, &x), &y)| {
                        let s = sigmoid(x);
                        *dy = flush(*dy * (s + y * (1.0 - s)));
                    }),
                    Activation::Tanh => {
                        rows.for_each(|((dy, _), &y)| *dy = flush(*dy * (1.0 - y * y)));
                    }
                }
            },
        );
        back.pass_on(self.x);
    }
}

//! The likelihood of data under the distributions that a network predicts.

use std::sync::Arc;

use super::block::{Block, Shape};
use super::distribution::Distribution;
use super::math::flush;
use super::tape::{Backward, Operation, Tape, Variable};

/// The position of a distribution's parameters in the outputs of a network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Head {
    /// The group.
    pub group: usize,
    /// The first column.
    pub column: usize,
    /// The distribution.
    pub distribution: Distribution,
}

impl Head {
    /// Its parameters in a row of `outputs`, `[groups, rows, columns]`.
    #[must_use]
    pub fn parameters<'a>(&self, outputs: &'a Block, row: usize) -> &'a [f32] {
        &outputs.row(self.group, row)[self.column..][..self.distribution.parameters()]
    }
}

/// The negative log-likelihood of observed values, as a loss.
#[derive(Debug, Clone)]
pub struct Likelihood {
    heads: Arc<[Head]>,
    balance: f64,
}

impl Likelihood {
    /// The likelihood of the values of these heads.
    #[must_use]
    pub fn new(heads: Arc<[Head]>) -> Self {
        Self { heads, balance: 0.0 }
    }

    /// Multiplies the gradient of each value by its standard deviation to the power of `balance`.
    ///
    /// The gradient of a value that is almost certain is huge, and would dominate the parameters
    /// that the heads share. The optimum of each head stays the same (beta-NLL of Seitzer et al.
    /// 2022, whose beta is half of `balance`).
    #[must_use]
    pub fn balanced(mut self, balance: f64) -> Self {
        self.balance = balance;
        self
    }

    /// The factor of the gradient of a value with this standard deviation.
    fn factor(&self, deviation: f64) -> f64 {
        // The usual exponents, without the general power.
        if self.balance == 1.0 {
            deviation
        } else if self.balance == 0.0 {
            1.0
        } else {
            deviation.powf(self.balance)
        }
    }

    /// Minus the mean log-likelihood of a row, summed over the heads: `[1, 1, 1]`.
    ///
    /// `outputs` is `[groups, rows, columns]`, `targets` the observed values `[heads, rows, 1]`. A value that is NaN is not
    /// learned from.
    pub fn loss(&self, tape: &mut Tape<'_>, outputs: Variable, targets: Variable) -> Variable {
        let shape = tape.value(outputs).shape;
        let mut slopes = tape.scratch(shape);
        slopes.values.fill(0.0);
        let (values, seen) = (tape.value(outputs), tape.value(targets));
        let one_row = 1.0 / shape.rows as f64;
        let mut loss = 0.0;
        for (at, head) in self.heads.iter().enumerate() {
            for (row, &target) in seen.group(at).iter().enumerate() {
                let from = (head.group * shape.rows + row) * shape.columns + head.column;
                let slopes = &mut slopes.values[from..][..head.distribution.parameters()];
                let parameters = head.parameters(values, row);
                let target = f64::from(target);
                if target.is_nan() {
                    continue;
                }
                let distribution = head.distribution;
                let (log, uncertainty) =
                    distribution.log_likelihood_and_uncertainty(parameters, target, slopes);
                loss -= one_row * log;
                if let Some(deviation) = uncertainty {
                    #[expect(clippy::cast_possible_truncation, reason = "single precision")]
                    let factor = self.factor(deviation) as f32;
                    for slope in slopes {
                        *slope *= factor;
                    }
                }
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "values are single precision")]
        let loss = Block::new(Shape::new(1, 1, 1), vec![loss as f32]);
        // The slopes are already known. The tape keeps them for the backward pass.
        let slopes = tape.constant(slopes);
        tape.push(loss, Loss { outputs, slopes })
    }

    /// The log-likelihood of every row under each head, 0 where the value is NaN: `[heads][rows]`.
    #[must_use]
    pub fn rows(&self, outputs: &Block, targets: &Block) -> Vec<Vec<f64>> {
        let mut slopes = vec![0.0; outputs.shape.columns];
        let mut of = |(at, head): (usize, &Head)| -> Vec<f64> {
            let rows = targets.group(at).iter().enumerate();
            rows.map(|(row, &target)| {
                if target.is_nan() {
                    return 0.0;
                }
                let parameters = head.parameters(outputs, row);
                head.distribution.log_likelihood(parameters, f64::from(target), &mut slopes)
            })
            .collect()
        };
        self.heads.iter().enumerate().map(&mut of).collect()
    }
}

struct Loss {
    outputs: Variable,
    slopes: Variable,
}

impl Operation for Loss {
    fn backward(&self, _result: Variable, gradient: &mut [f32], back: &mut Backward<'_>) {
        let slopes = back.value(self.slopes);
        let factor = -gradient[0] / slopes.shape.rows as f32;
        let outputs = back.gradient(self.outputs);
        for (gradient, slope) in outputs.iter_mut().zip(&slopes.values) {
            *gradient += flush(factor * slope);
        }
    }
}

//! Evaluates expressions in bulk: one instruction at a time over a block of rows.

use super::expression::{Binary, Expression, Instruction, Unary};

/// Rows of numbers that expressions can read, one column per [`Slot`](super::Slot).
pub trait Columns {
    /// Writes the values of `slot` in rows `from..from + into.len()` into `into`.
    fn load(&self, slot: usize, from: usize, into: &mut [f64]);
}

/// A single transition as a row: states, actions, outcomes, next states.
impl Columns for [f64] {
    fn load(&self, slot: usize, _: usize, into: &mut [f64]) {
        into.fill(self[slot]);
    }
}

/// Rows per block: few enough that the values on the stack stay in the first-level cache.
const BLOCK: usize = 512;

impl Expression {
    /// The value in each row `from..from + into.len()`, written into `into`.
    ///
    /// Booleans come out as 0 and 1. A value is NaN or infinite where the arithmetic is
    /// (`0 / 0`, `log(0)`); callers that cannot use such a value have to check.
    pub fn evaluate<C: Columns + ?Sized>(&self, columns: &C, from: usize, into: &mut [f64]) {
        let mut stack = vec![0.0; (self.depth() * BLOCK).max(BLOCK)];
        for (block, out) in into.chunks_mut(BLOCK).enumerate() {
            let rows = out.len();
            let first = from + block * BLOCK;
            let mut top = 0; // values on the stack
            for instruction in self.code() {
                match *instruction {
                    Instruction::Constant(value) => {
                        stack[top * BLOCK..][..rows].fill(value);
                        top += 1;
                    }
                    Instruction::Load(slot) => {
                        columns.load(slot, first, &mut stack[top * BLOCK..][..rows]);
                        top += 1;
                    }
                    Instruction::One(function) => {
                        one(function, &mut stack[(top - 1) * BLOCK..][..rows]);
                    }
                    Instruction::Two(function) => {
                        top -= 1;
                        let (left, right) = stack.split_at_mut(top * BLOCK);
                        two(function, &mut left[(top - 1) * BLOCK..][..rows], &right[..rows]);
                    }
                    Instruction::Choose => {
                        top -= 2;
                        let (left, right) = stack.split_at_mut(top * BLOCK);
                        let choice = &mut left[(top - 1) * BLOCK..][..rows];
                        for (index, value) in choice.iter_mut().enumerate() {
                            let (then, otherwise) = (right[index], right[BLOCK + index]);
                            *value = if *value == 0.0 { otherwise } else { then };
                        }
                    }
                }
            }
            out.copy_from_slice(&stack[..rows]);
        }
    }

    /// The value in a single transition: states, actions, outcomes, next states.
    #[must_use]
    pub fn value(&self, transition: &[f64]) -> f64 {
        let mut value = [0.0];
        self.evaluate(transition, 0, &mut value);
        value[0]
    }
}

fn one(function: Unary, values: &mut [f64]) {
    fn each(values: &mut [f64], function: impl Fn(f64) -> f64) {
        for value in values {
            *value = function(*value);
        }
    }
    match function {
        Unary::Negate => each(values, |x| -x),
        Unary::Not => each(values, |x| truth(x == 0.0)),
        Unary::Abs => each(values, f64::abs),
        Unary::Sqrt => each(values, f64::sqrt),
        Unary::Exp => each(values, f64::exp),
        Unary::Log => each(values, f64::ln),
        Unary::Sin => each(values, f64::sin),
        Unary::Cos => each(values, f64::cos),
        Unary::Tan => each(values, f64::tan),
        Unary::Asin => each(values, f64::asin),
        Unary::Acos => each(values, f64::acos),
        Unary::Atan => each(values, f64::atan),
        Unary::Tanh => each(values, f64::tanh),
        Unary::Floor => each(values, f64::floor),
        Unary::Ceil => each(values, f64::ceil),
        Unary::Round => each(values, f64::round),
        Unary::Sign => each(values, |x| if x == 0.0 { 0.0 } else { x.signum() }),
    }
}

fn two(function: Binary, left: &mut [f64], right: &[f64]) {
    fn each(left: &mut [f64], right: &[f64], function: impl Fn(f64, f64) -> f64) {
        for (x, y) in left.iter_mut().zip(right) {
            *x = function(*x, *y);
        }
    }
    match function {
        Binary::Add => each(left, right, |x, y| x + y),
        Binary::Subtract => each(left, right, |x, y| x - y),
        Binary::Multiply => each(left, right, |x, y| x * y),
        Binary::Divide => each(left, right, |x, y| x / y),
        Binary::Power => each(left, right, |x, y| if y == 2.0 { x * x } else { x.powf(y) }),
        Binary::Equal => each(left, right, |x, y| truth(x == y)),
        Binary::Unequal => each(left, right, |x, y| truth(x != y)),
        Binary::Less => each(left, right, |x, y| truth(x < y)),
        Binary::LessOrEqual => each(left, right, |x, y| truth(x <= y)),
        Binary::Greater => each(left, right, |x, y| truth(x > y)),
        Binary::GreaterOrEqual => each(left, right, |x, y| truth(x >= y)),
        Binary::And => each(left, right, |x, y| truth(x != 0.0 && y != 0.0)),
        Binary::Or => each(left, right, |x, y| truth(x != 0.0 || y != 0.0)),
        // Unlike f64::min and f64::max, these propagate NaN.
        Binary::Min => each(left, right, |x, y| if y < x || y.is_nan() { y } else { x }),
        Binary::Max => each(left, right, |x, y| if y > x || y.is_nan() { y } else { x }),
        Binary::Hypot => each(left, right, f64::hypot),
        Binary::Atan2 => each(left, right, f64::atan2),
    }
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

//! A gated recurrent unit that reads a sequence of variables, one network per group.

use std::sync::Arc;

use super::block::{Block, Shape};
use super::linear::{Layer, Source, VARIANCE_PRESERVING_GAIN};
use super::math::{sigmoid, simd, tanh};
use super::parameters::{Parameter, Parameters};
use super::tape::{Backward, Operation, Tape, Variable};
use becausal_core::Stream;

/// A gated recurrent unit (Cho et al. 2014) per group:
///
/// r = sigmoid(`W_r` x + `b_r` + `U_r` h), z = sigmoid(`W_z` x + `b_z` + `U_z` h),
/// n = tanh(`W_n` x + `b_n` + r (`U_n` h + c)), h' = (1 - z) n + z h.
#[derive(Debug, Clone, Copy)]
pub struct Gru {
    input: Layer,
    hidden: Layer,
    candidate_bias: Parameter,
    groups: usize,
    width: usize,
}

impl Gru {
    /// Units with `inputs` inputs and a hidden state of `width` numbers.
    pub fn new(
        parameters: &mut Parameters,
        name: &str,
        groups: usize,
        (inputs, width): (usize, usize),
        stream: &mut Stream,
    ) -> Self {
        let input = Layer::new(
            parameters,
            &format!("{name}.input"),
            groups,
            (inputs, 3 * width),
            VARIANCE_PRESERVING_GAIN,
            stream,
        );
        let hidden = Layer::without_bias(
            parameters,
            &format!("{name}.hidden"),
            groups,
            (width, 3 * width),
            VARIANCE_PRESERVING_GAIN,
            stream,
        );
        let candidate_bias = parameters
            .add(&format!("{name}.candidate_bias"), Block::zeros(Shape::new(groups, 1, width)));
        Self { input, hidden, candidate_bias, groups, width }
    }

    /// Reads the groups of `sequence`, `[length, rows, in]`, one after the other, and returns the
    /// final hidden state, `[groups, rows, width]`.
    ///
    /// `reads[group][at]` says whether a group reads the variable at position `at`. The hidden
    /// state of a group that reads none is zero.
    pub fn forward(
        &self,
        tape: &mut Tape<'_>,
        sequence: Variable,
        reads: &[Vec<bool>],
    ) -> Variable {
        let Shape { groups: length, rows, .. } = tape.value(sequence).shape;
        let mut hidden = None;
        for at in 0..length {
            let seen: Arc<[bool]> = reads.iter().map(|group| group[at]).collect();
            let x = self.input.forward(tape, sequence, Source::Shared(at));
            let previous = hidden.map(|h| (h, self.hidden.forward(tape, h, Source::Each)));
            let step = Step { candidate_bias: self.candidate_bias, x, previous, seen };
            let block = tape.scratch(Shape::new(self.groups, rows, self.width));
            let block = step.compute(tape, block);
            hidden = Some(tape.push(block, step));
        }
        hidden.unwrap_or_else(|| {
            let shape = Shape::new(self.groups, rows, self.width);
            tape.input(Block::zeros(shape))
        })
    }
}

/// The update of the hidden state by one variable.
struct Step {
    candidate_bias: Parameter,
    /// `[groups, rows, 3 width]`: the contributions of the variable to r, z and n.
    x: Variable,
    /// The previous hidden state and its contributions to r, z and n; `None` for zeros.
    previous: Option<(Variable, Variable)>,
    seen: Arc<[bool]>,
}

impl Step {
    fn compute(&self, tape: &Tape<'_>, mut into: Block) -> Block {
        let Shape { groups, rows, columns: width } = into.shape;
        let x = tape.value(self.x);
        let previous = self.previous.map(|(h, g)| (tape.value(h), tape.value(g)));
        let zeros = vec![0.0; 3 * width];
        for group in 0..groups {
            let bias = tape.parameters().of(self.candidate_bias).group(group);
            for row in 0..rows {
                let (h, hidden_gates) = match previous {
                    Some((h, gates)) => (h.row(group, row), gates.row(group, row)),
                    None => (&zeros[..width], &zeros[..]),
                };
                let into = &mut into.values[(group * rows + row) * width..][..width];
                if self.seen[group] {
                    step(x.row(group, row), hidden_gates, h, bias, into);
                } else {
                    into.copy_from_slice(h);
                }
            }
        }
        into
    }
}

/// The three gates of a row, each as wide as the hidden state.
fn split(gates: &[f32]) -> (&[f32], &[f32], &[f32]) {
    let width = gates.len() / 3;
    let (r, rest) = gates.split_at(width);
    let (z, n) = rest.split_at(width);
    (r, z, n)
}

#[expect(clippy::many_single_char_names, reason = "the letters of the equations")]
fn step(x: &[f32], hidden_gates: &[f32], h: &[f32], bias: &[f32], into: &mut [f32]) {
    let width = h.len();
    let ((xr, xz, xn), (hr, hz, hn)) = (split(x), split(hidden_gates));
    simd(
        #[inline(always)]
        || {
            for i in 0..width {
                let r = sigmoid(xr[i] + hr[i]);
                let z = sigmoid(xz[i] + hz[i]);
                let n = tanh(xn[i] + r * (hn[i] + bias[i]));
                into[i] = (1.0 - z) * n + z * h[i];
            }
        },
    );
}

impl Operation for Step {
    fn backward(&self, result: Variable, gradient: &mut [f32], back: &mut Backward<'_>) {
        let Shape { groups, rows, columns: width } = back.value(result).shape;
        let x = back.value(self.x);
        let previous = self.previous.map(|(h, g)| (back.value(h), back.value(g)));
        let zeros = vec![0.0; 3 * width];
        // Gradients of the contributions of x and h to the gates, row by row.
        let (mut dx, mut dg) = (vec![0.0; 3 * width], vec![0.0; 3 * width]);
        for group in (0..groups).filter(|&group| self.seen[group]) {
            let bias = back.parameters.of(self.candidate_bias).group(group);
            for row in 0..rows {
                let at = group * rows + row;
                let dh = &mut gradient[at * width..][..width];
                let (h, hidden_gates) = match previous {
                    Some((h, gates)) => (h.row(group, row), gates.row(group, row)),
                    None => (&zeros[..width], &zeros[..]),
                };
                step_back(x.row(group, row), hidden_gates, h, bias, dh, &mut dx, &mut dg);
                add(&mut back.gradient(self.x)[at * 3 * width..][..3 * width], &dx);
                let db = &mut back.learned.of_mut(self.candidate_bias)[group * width..][..width];
                add(db, &dg[2 * width..]);
                if let Some((_, gates)) = self.previous {
                    add(&mut back.gradient(gates)[at * 3 * width..][..3 * width], &dg);
                }
            }
        }
        // The previous hidden state gets z times the gradient where a variable was read, and the
        // whole gradient elsewhere.
        if let Some((h, _)) = self.previous {
            add(back.gradient(h), gradient);
        }
    }
}

fn add(into: &mut [f32], values: &[f32]) {
    simd(
        #[inline(always)]
        || into.iter_mut().zip(values).for_each(|(into, value)| *into += value),
    );
}

/// The gradients of the gates of a row. `dh` is the gradient of h' on input and that of h on
/// output.
#[expect(clippy::many_single_char_names, reason = "the letters of the equations")]
fn step_back(
    x: &[f32],
    hidden_gates: &[f32],
    h: &[f32],
    bias: &[f32],
    dh: &mut [f32],
    dx: &mut [f32],
    dg: &mut [f32],
) {
    let width = h.len();
    let ((xr, xz, xn), (hr, hz, hn)) = (split(x), split(hidden_gates));
    let (dxr, rest) = dx.split_at_mut(width);
    let (dxz, dxn) = rest.split_at_mut(width);
    simd(
        #[inline(always)]
        || {
            for i in 0..width {
                let r = sigmoid(xr[i] + hr[i]);
                let z = sigmoid(xz[i] + hz[i]);
                let candidate = hn[i] + bias[i];
                let n = tanh(xn[i] + r * candidate);
                let dn = dh[i] * (1.0 - z) * (1.0 - n * n);
                dxz[i] = dh[i] * (h[i] - n) * z * (1.0 - z);
                dxr[i] = dn * candidate * r * (1.0 - r);
                dxn[i] = dn;
                dg[i] = dxr[i];
                dg[width + i] = dxz[i];
                dg[2 * width + i] = dn * r;
                dh[i] *= z;
            }
        },
    );
}

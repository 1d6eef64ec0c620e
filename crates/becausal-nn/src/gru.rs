//! A gated recurrent unit that reads a sequence of variables, one network per group.

use std::sync::Arc;

use super::block::{Block, Shape};
use super::linear::{Layer, Source, VARIANCE_PRESERVING_GAIN};
use super::math::{add_scaled, sigmoid, simd, tanh};
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
        let Shape { rows, columns: width, .. } = into.shape;
        let x = tape.value(self.x);
        let previous = self.previous.map(|(h, g)| (tape.value(h), tape.value(g)));
        let previous = Previous { values: previous, zeros: vec![0.0; 3 * width] };
        let mut gates = Gates::new(width);
        for (group, &seen) in self.seen.iter().enumerate() {
            let bias = tape.parameters().of(self.candidate_bias).group(group);
            let into = into.group_mut(group);
            simd(
                #[inline(always)]
                || {
                    for (row, into) in into.chunks_exact_mut(width).take(rows).enumerate() {
                        let (h, hidden_gates) = previous.row(group, row);
                        if seen {
                            gates.open(x.row(group, row), hidden_gates, bias);
                            gates.update(h, into);
                        } else {
                            into.copy_from_slice(h);
                        }
                    }
                },
            );
        }
        into
    }
}

/// The previous hidden states and their contributions to the gates; zeros before the first step.
struct Previous<'a> {
    values: Option<(&'a Block, &'a Block)>,
    zeros: Vec<f32>,
}

impl Previous<'_> {
    #[inline]
    fn row(&self, group: usize, row: usize) -> (&[f32], &[f32]) {
        match self.values {
            Some((h, gates)) => (h.row(group, row), gates.row(group, row)),
            None => (&self.zeros[..self.zeros.len() / 3], &self.zeros),
        }
    }
}

/// The three parts of a row, each as wide as the hidden state.
#[inline]
fn split(gates: &[f32]) -> (&[f32], &[f32], &[f32]) {
    let width = gates.len() / 3;
    let (r, rest) = gates.split_at(width);
    let (z, n) = rest.split_at(width);
    (r, z, n)
}

/// The gates r and z of a row and its candidate n.
///
/// Each loop below reads few slices and writes one. A loop over all of them at once is not vectorised,
/// because the compiler cannot tell that so many slices do not overlap.
struct Gates {
    r: Vec<f32>,
    z: Vec<f32>,
    n: Vec<f32>,
}

impl Gates {
    fn new(width: usize) -> Self {
        Self { r: vec![0.0; width], z: vec![0.0; width], n: vec![0.0; width] }
    }

    /// Computes the gates and the candidate from the contributions of x and h.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "compiled with the vector width of the caller")]
    fn open(&mut self, x: &[f32], hidden_gates: &[f32], bias: &[f32]) {
        let Self { r, z, n } = self;
        let ((xr, xz, xn), (hr, hz, hn)) = (split(x), split(hidden_gates));
        for (r, (x, h)) in r.iter_mut().zip(xr.iter().zip(hr)) {
            *r = sigmoid(x + h);
        }
        for (z, (x, h)) in z.iter_mut().zip(xz.iter().zip(hz)) {
            *z = sigmoid(x + h);
        }
        let hidden = hn.iter().zip(bias);
        for (n, ((x, r), (h, bias))) in n.iter_mut().zip(xn.iter().zip(r).zip(hidden)) {
            *n = tanh(x + *r * (h + bias));
        }
    }

    /// h' from h.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "compiled with the vector width of the caller")]
    fn update(&self, h: &[f32], into: &mut [f32]) {
        for (into, ((z, n), h)) in into.iter_mut().zip(self.z.iter().zip(&self.n).zip(h)) {
            *into = (1.0 - z) * n + z * h;
        }
    }

    /// The gradients of the contributions of x and of h to the gates, `[3 width]` each. `dh` is the
    /// gradient of h' on input and that of h on output.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "compiled with the vector width of the caller")]
    fn back(
        &self,
        (hidden_gates, h, bias): (&[f32], &[f32], &[f32]),
        dh: &mut [f32],
        dx: &mut [f32],
        dg: &mut [f32],
    ) {
        let Self { r, z, n } = self;
        let (_, _, hn) = split(hidden_gates);
        let (dxr, rest) = dx.split_at_mut(h.len());
        let (dxz, dxn) = rest.split_at_mut(h.len());
        for (dxn, ((dh, z), n)) in dxn.iter_mut().zip(dh.iter().zip(z).zip(n)) {
            *dxn = dh * (1.0 - z) * (1.0 - n * n);
        }
        for (dxz, ((dh, h), (z, n))) in dxz.iter_mut().zip(dh.iter().zip(h).zip(z.iter().zip(n))) {
            *dxz = dh * (h - n) * z * (1.0 - z);
        }
        let hidden = hn.iter().zip(bias);
        for (dxr, ((dxn, r), (h, bias))) in dxr.iter_mut().zip(dxn.iter().zip(r).zip(hidden)) {
            *dxr = dxn * (h + bias) * r * (1.0 - r);
        }
        let (dg_gates, dg_candidate) = dg.split_at_mut(2 * h.len());
        for (dg, (dxn, r)) in dg_candidate.iter_mut().zip(dxn.iter().zip(r)) {
            *dg = dxn * r;
        }
        dg_gates.copy_from_slice(&dx[..2 * h.len()]);
        for (dh, z) in dh.iter_mut().zip(z) {
            *dh *= z;
        }
    }
}

impl Operation for Step {
    fn backward(&self, result: Variable, gradient: &mut [f32], back: &mut Backward<'_>) {
        let Shape { groups, rows, columns: width } = back.value(result).shape;
        let x = back.value(self.x);
        let previous = self.previous.map(|(h, g)| (back.value(h), back.value(g)));
        let previous = Previous { values: previous, zeros: vec![0.0; 3 * width] };
        // Gradients of the contributions of x and h to the gates of a group.
        let size = rows * 3 * width;
        let (mut dx, mut dg) = (vec![0.0; size], vec![0.0; size]);
        let mut gates = Gates::new(width);
        for group in (0..groups).filter(|&group| self.seen[group]) {
            let bias = back.parameters.of(self.candidate_bias).group(group);
            let dh = &mut gradient[group * rows * width..][..rows * width];
            let db = &mut back.learned.of_mut(self.candidate_bias)[group * width..][..width];
            simd(
                #[inline(always)]
                || {
                    let rows = dh.chunks_exact_mut(width).enumerate();
                    let into = dx.chunks_exact_mut(3 * width).zip(dg.chunks_exact_mut(3 * width));
                    for ((row, dh), (dx, dg)) in rows.zip(into) {
                        let (h, hidden_gates) = previous.row(group, row);
                        gates.open(x.row(group, row), hidden_gates, bias);
                        gates.back((hidden_gates, h, bias), dh, dx, dg);
                        add_scaled(db, 1.0, &dg[2 * width..]);
                    }
                },
            );
            add(&mut back.gradient(self.x)[group * size..][..size], &dx);
            if let Some((_, gates)) = self.previous {
                add(&mut back.gradient(gates)[group * size..][..size], &dg);
            }
        }
        // The previous hidden state gets z times the gradient where a variable was read, and the
        // whole gradient elsewhere.
        if let Some((h, _)) = self.previous {
            back.pass_on(h);
        }
    }
}

fn add(into: &mut [f32], values: &[f32]) {
    simd(
        #[inline(always)]
        || add_scaled(into, 1.0, values),
    );
}

//! Gradient descent of a member on its negative log-likelihood.

use std::sync::Arc;

use becausal_core::Stream;
use becausal_nn::{AdamW, Gradients, Likelihood, Pool, Schedule, Tape};

use super::encoding::Encoding;
use super::error::FitError;
use super::inputs::Encoded;
use super::member::Member;
use super::structure::Structure;
use super::train::ModelParams;

/// Decay rate of the squared gradients in [`AdamW`]: a memory of a hundred steps instead of the
/// usual thousand. A row that breaks a rule has a large gradient, and must not slow down the
/// training after it.
const BETA2: f64 = 0.99;

/// The training data of the members.
#[derive(Clone, Copy)]
pub(super) struct Lessons<'a> {
    pub encoding: &'a Encoding,
    pub structure: &'a Arc<Structure>,
    pub rows: &'a Encoded,
}

/// The training state of one member: its batches, moments and learning rate.
pub(super) struct Descent<'a> {
    lessons: Lessons<'a>,
    /// The index of the member, for errors.
    at: usize,
    batch: usize,
    schedule: Schedule,
    likelihood: Likelihood,
    adam: AdamW,
    gradients: Gradients,
    pool: Pool,
    order: Order,
    stream: Stream,
    step: usize,
}

impl<'a> Descent<'a> {
    /// Starts with `sample`, the rows to train on, some of which occur several times.
    pub fn new(
        lessons: Lessons<'a>,
        options: &ModelParams,
        schedule: Schedule,
        (at, member): (usize, &Member),
        sample: Vec<usize>,
        mut stream: Stream,
    ) -> Self {
        let mut adam = AdamW::new(&member.parameters, options.decay, options.clip);
        adam.beta2 = BETA2;
        Self {
            lessons,
            at,
            batch: options.batch,
            schedule,
            likelihood: Likelihood::new(lessons.encoding.heads()).balanced(options.balance),
            adam,
            gradients: member.parameters.gradients(),
            pool: Pool::default(),
            order: Order::new(sample, &mut stream),
            stream,
            step: 0,
        }
    }

    /// One step on the next batch. If `held`, the attention weights do not change.
    ///
    /// # Errors
    /// When the likelihood or its gradient is not finite.
    pub fn step(&mut self, member: &mut Member, held: bool) -> Result<(), FitError> {
        let Lessons { structure, rows, .. } = self.lessons;
        let batch = rows.select(self.order.next(self.batch, &mut self.stream));
        let mut tape = Tape::recording(&member.parameters, std::mem::take(&mut self.pool));
        let (outputs, _) = member.forward(&mut tape, batch.inputs, structure);
        let targets = tape.input(batch.targets);
        let loss = self.likelihood.loss(&mut tape, outputs, targets);
        self.gradients.clear();
        tape.backward(loss, &mut self.gradients);
        if !tape.value(loss).values[0].is_finite() {
            let rows = self.likelihood.rows(tape.value(outputs), tape.value(targets));
            return Err(self.broken(&rows));
        }
        self.pool = tape.finish();
        if held {
            member.hold_weights(&mut self.gradients);
        }
        let rate = self.schedule.rate(self.step);
        let norm = self.adam.step(&mut member.parameters, &self.gradients, rate);
        if !norm.is_finite() {
            return Err(self.broken(&[]));
        }
        self.step += 1;
        Ok(())
    }

    /// The mean log-likelihood per row.
    pub fn likelihood_of(&self, member: &Member, rows: &Encoded) -> f64 {
        let outputs = member.predict(&rows.inputs, self.lessons.structure);
        let each = self.likelihood.rows(&outputs, &rows.targets);
        each.iter().flatten().sum::<f64>() / rows.inputs.rows().max(1) as f64
    }

    /// The error of a fit whose likelihood is not finite; `rows` is `[heads][rows]`.
    fn broken(&self, rows: &[Vec<f64>]) -> FitError {
        let encoding = self.lessons.encoding;
        let bad = rows.iter().position(|rows| rows.iter().any(|value| !value.is_finite()));
        let effect = bad.map_or(0, |target| encoding.targets()[target].effect);
        let variable = encoding.schema().effects()[effect].clone();
        FitError::Broken { step: self.step, member: self.at, variable }
    }
}

/// Rows in a random order, which is shuffled again after each pass.
struct Order {
    rows: Vec<usize>,
    at: usize,
}

impl Order {
    fn new(rows: Vec<usize>, stream: &mut Stream) -> Self {
        let mut order = Self { rows, at: 0 };
        order.shuffle(stream);
        order
    }

    fn shuffle(&mut self, stream: &mut Stream) {
        let order = stream.permutation(self.rows.len());
        self.rows = order.iter().map(|&at| self.rows[at]).collect();
        self.at = 0;
    }

    /// The next rows. If too few are left, all rows are shuffled first.
    fn next(&mut self, count: usize, stream: &mut Stream) -> &[usize] {
        let count = count.min(self.rows.len());
        if self.at + count > self.rows.len() {
            self.shuffle(stream);
        }
        self.at += count;
        &self.rows[self.at - count..self.at]
    }
}

//! Gradient descent of a member on its negative log-likelihood.

use std::sync::Arc;

use becausal_core::Stream;
use becausal_nn::{AdamW, Gradients, Likelihood, Pool, Schedule, Tape};

use super::encoding::Encoding;
use super::error::FitError;
use super::inputs::Encoded;
use super::member::Member;
use super::structure::Structure;
use super::target::place;
use super::train::ModelParams;

/// Decay rate of the squared gradients in [`AdamW`]: a memory of a hundred steps instead of the
/// usual thousand. A row that breaks a rule has a large gradient, and must not slow down the
/// training after it.
const BETA2: f64 = 0.99;

/// Rows of a batch come in multiples of this, which matrix products like best.
const TILE_ROWS: usize = 8;

/// The least log-likelihood of a value, in nats, for the question whether a training still improves. A
/// single value at a contact of the lander may have -10,000, and the mean of 2,000 rows jumps with it.
const MIN_NATS: f64 = -5.0;

/// How likely the held-out rows are: mean log-likelihoods per row, summed over the effects.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeldOut {
    pub mean: f64,
    /// The same where no value has less than [`MIN_NATS`].
    pub bounded: f64,
}

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
    /// Rows per step at the start and at the end.
    first_batch: usize,
    batch: usize,
    schedule: Schedule,
    likelihood: Likelihood,
    adam: AdamW,
    gradients: Gradients,
    pool: Pool,
    order: Order,
    stream: Stream,
    step: usize,
    /// How far the schedule has come, in its steps.
    position: usize,
    /// Steps of the schedule that a step passes.
    pace: usize,
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
            first_batch: options.batch,
            batch: options.batch,
            schedule,
            likelihood: Likelihood::new(lessons.encoding.heads()).balanced(options.balance),
            adam,
            gradients: member.parameters.gradients(),
            pool: Pool::default(),
            order: Order::new(sample, &mut stream),
            stream,
            step: 0,
            position: 0,
            pace: 1,
        }
    }

    /// Begins with batches of this many rows.
    pub fn growing_from(mut self, first_batch: usize) -> Self {
        self.first_batch = first_batch.clamp(1, self.batch);
        self
    }

    /// From now on a step passes this many steps of the schedule.
    pub fn hurry(&mut self, pace: usize) {
        self.pace = pace;
    }

    /// The number of steps done.
    pub fn steps(&self) -> usize {
        self.step
    }

    /// How far the schedule has come, in its steps.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The number of rows of the next step. It grows by the same factor in every step of the schedule.
    ///
    /// While the learning rate is high, many small steps learn more than few large ones; when it falls, the
    /// noise of small batches would be what is left.
    fn rows(&self) -> usize {
        let share = self.position as f64 / self.schedule.steps as f64;
        let growth = (self.batch as f64 / self.first_batch as f64).powf(share);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let rows = (self.first_batch as f64 * growth) as usize;
        rows.next_multiple_of(TILE_ROWS).min(self.batch)
    }

    /// One step on the next batch. If `held`, the attention weights do not change.
    ///
    /// # Errors
    /// When the likelihood or its gradient is not finite.
    pub fn step(&mut self, member: &mut Member, held: bool) -> Result<(), FitError> {
        let Lessons { structure, rows, .. } = self.lessons;
        let count = self.rows();
        let batch = rows.select(self.order.next(count, &mut self.stream));
        let mut tape = Tape::recording(&member.parameters, std::mem::take(&mut self.pool));
        let (outputs, alpha) = member.forward(&mut tape, batch.inputs, structure);
        if let (true, Some(alpha)) = (held, alpha) {
            tape.hold(alpha);
        }
        let mut targets = batch.targets;
        place(self.lessons.encoding.targets(), tape.value(outputs), &mut targets);
        let targets = tape.input(targets);
        let loss = self.likelihood.loss(&mut tape, outputs, targets);
        self.gradients.clear();
        tape.backward(loss, &mut self.gradients);
        if !tape.value(loss).values[0].is_finite() {
            let rows = self.likelihood.rows(tape.value(outputs), tape.value(targets));
            return Err(self.broken(&rows));
        }
        self.pool = tape.finish();
        let rate = self.schedule.rate(self.position);
        let norm = self.adam.step(&mut member.parameters, &self.gradients, rate);
        if !norm.is_finite() {
            return Err(self.broken(&[]));
        }
        self.step += 1;
        self.position += self.pace;
        Ok(())
    }

    /// How likely some rows are to a member.
    pub fn likelihood_of(&self, member: &Member, rows: &Encoded) -> HeldOut {
        let outputs = member.predict(&rows.inputs, self.lessons.structure);
        let mut targets = rows.targets.clone();
        place(self.lessons.encoding.targets(), &outputs, &mut targets);
        let each = self.likelihood.rows(&outputs, &targets);
        let mean = |least: f64| {
            let sum: f64 = each.iter().flatten().map(|value| value.max(least)).sum();
            sum / rows.inputs.rows().max(1) as f64
        };
        HeldOut { mean: mean(f64::NEG_INFINITY), bounded: mean(MIN_NATS) }
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

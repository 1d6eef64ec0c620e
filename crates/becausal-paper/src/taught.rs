//! Networks that are told what other actions really earn.

use becausal::Stream;
use becausal::progress::{Listener, Tracker};
use becausal_nn::{
    Activation, AdamW, Backward, Block, Operation, Parameters, Perceptron, Pool, Schedule, Shape,
    Source, Tape, Variable,
};
use rayon::prelude::*;

use crate::Failure;
use crate::number::mean_and_deviation;

/// Networks whose mean is taken.
pub const MEMBERS: u32 = 3;

/// Hidden layers of a network.
const WIDTHS: [usize; 3] = [192, 192, 192];

/// Rows of a training step.
const BATCH: usize = 256;

/// How often a network is compared with the best one so far.
const CHECKS: usize = 40;

/// The largest error, in squashed units, that counts by its square: a smooth absolute error. Its minimum is the median, which
/// is what gets most signs right.
const SMOOTH: f32 = 0.1;

/// A share of a standard deviation that is still told apart from 0: a lander at rest differs by such shares.
const FINE: f64 = 0.001;

/// Another action in a state, and the answer.
pub struct Lesson {
    pub inputs: Vec<f64>,
    /// The true reward difference, taken minus other.
    pub difference: f64,
    /// Not learned from, but used to choose when a network is best.
    pub held_out: bool,
}

/// Inputs as they are read, and the squashed difference.
type Row = (Vec<f32>, f32);

/// How inputs are read: each in standard deviations, and each number by its order of magnitude too.
struct Reading {
    /// Mean and standard deviation of every input, and whether it is a number rather than a flag.
    columns: Vec<(f64, f64, bool)>,
}

impl Reading {
    fn of(lessons: &[Lesson]) -> Self {
        let column = |at: usize| {
            let values: Vec<f64> = lessons.iter().map(|lesson| lesson.inputs[at]).collect();
            let (mean, deviation) = mean_and_deviation(&values);
            let is_number = values.iter().any(|&value| value != 0.0 && value != 1.0);
            (mean, if deviation > 0.0 { deviation } else { 1.0 }, is_number)
        };
        Self { columns: (0..lessons[0].inputs.len()).into_par_iter().map(column).collect() }
    }

    fn read(&self, row: &[f64]) -> Vec<f32> {
        let mut read = Vec::new();
        for (&value, &(mean, deviation, is_number)) in row.iter().zip(&self.columns) {
            read.push((value - mean) / deviation);
            if is_number {
                read.push((value / (FINE * deviation)).asinh() / (1.0 / FINE).asinh());
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "networks are single precision")]
        read.into_iter().map(|value| value as f32).collect()
    }
}

/// Networks that were told the answers.
pub struct Taught {
    reading: Reading,
    /// Differences are learned as asinh(difference / scale): sign and order of magnitude.
    scale: f64,
    members: Vec<(Parameters, Perceptron)>,
}

impl Taught {
    /// Teaches every network in so many steps.
    ///
    /// # Errors
    /// When there is nothing to learn from, or nothing held out.
    pub fn new(
        lessons: &[Lesson],
        steps: usize,
        seed: u64,
        progress: &Listener,
    ) -> Result<Self, Failure> {
        let (held_out, learned): (Vec<&Lesson>, Vec<&Lesson>) =
            lessons.iter().partition(|lesson| lesson.held_out);
        if held_out.is_empty() || learned.is_empty() {
            return Err(
                "too few states to learn from and to hold some out: give more --states".into()
            );
        }
        let reading = Reading::of(lessons);
        let mut sizes: Vec<f64> = lessons.iter().map(|lesson| lesson.difference.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let median = sizes[sizes.len() / 2];
        let scale = if median > 0.0 { median } else { 1.0 };
        let [learned, held_out] = [learned, held_out].map(|lessons| {
            let row = |lesson: &&Lesson| {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "networks are single precision"
                )]
                let squashed = (lesson.difference / scale).asinh() as f32;
                (reading.read(&lesson.inputs), squashed)
            };
            lessons.par_iter().map(row).collect::<Vec<Row>>()
        });
        let tracker = Tracker::begin(progress, "teach", "steps", steps * MEMBERS as usize);
        let teach = |member: u32| {
            let stream = Stream::keyed(seed, &[member, 8]);
            teach(&learned, &held_out, steps, stream, &tracker)
        };
        let members = (0..MEMBERS).into_par_iter().map(teach).collect();
        Ok(Self { reading, scale, members })
    }

    /// The reward difference of another action, taken minus other.
    pub fn difference(&self, inputs: &[f64]) -> f64 {
        let row = self.reading.read(inputs);
        let said = |(parameters, layers): &(Parameters, Perceptron)| {
            f64::from(layers.of_group(parameters, 0, &row, 1)[0])
        };
        let mean = self.members.iter().map(said).sum::<f64>() / self.members.len() as f64;
        self.scale * mean.sinh()
    }
}

/// Teaches a network, and returns it as it was when it erred least about the rows that are held out.
fn teach(
    learned: &[Row],
    held_out: &[Row],
    steps: usize,
    mut stream: Stream,
    tracker: &Tracker<'_>,
) -> (Parameters, Perceptron) {
    let columns = learned[0].0.len();
    let widths = [&[columns], &WIDTHS[..], &[1]].concat();
    let mut parameters = Parameters::default();
    let layers =
        Perceptron::new(&mut parameters, "taught", 1, &widths, Activation::Silu, &mut stream);
    let schedule = Schedule { peak: 0.002, end: 0.01, warm_up: steps / 40, steps };
    let mut adam = AdamW::new(&parameters, 0.01, 1.0);
    let mut gradients = parameters.gradients();
    let mut pool = Pool::default();
    let mut best = (f64::INFINITY, parameters.clone());
    for step in 0..steps {
        let drawn: Vec<&Row> = (0..BATCH).map(|_| &learned[stream.below(learned.len())]).collect();
        let inputs = drawn.iter().flat_map(|(inputs, _)| inputs.iter().copied()).collect();
        let targets = drawn.iter().map(|(_, target)| *target).collect();
        let mut tape = Tape::recording(&parameters, pool);
        let inputs = tape.input(Block::new(Shape::new(1, BATCH, columns), inputs));
        let said = layers.forward(&mut tape, inputs, Source::Each);
        // The gradient is known without the value of the loss.
        let loss = tape.push(Block::zeros(Shape::new(1, 1, 1)), SmoothError { said, targets });
        tape.backward(loss, &mut gradients);
        pool = tape.finish();
        adam.step(&mut parameters, &gradients, schedule.rate(step));
        gradients.clear();
        if (step + 1) % steps.div_ceil(CHECKS) == 0 || step + 1 == steps {
            let error = error(&layers, &parameters, held_out);
            if error < best.0 {
                best = (error, parameters.clone());
            }
        }
        tracker.advance(1.0, "");
    }
    (best.1, layers)
}

/// The mean absolute error about some rows, squashed.
fn error(layers: &Perceptron, parameters: &Parameters, rows: &[Row]) -> f64 {
    let write = |first: usize, block: &mut [f32]| {
        let inputs = rows[first..].iter().flat_map(|(inputs, _)| inputs);
        block.iter_mut().zip(inputs).for_each(|(value, input)| *value = *input);
    };
    let said = layers.of_rows(parameters, 0, rows.len(), write);
    let errors = said.iter().zip(rows).map(|(said, (_, target))| f64::from((said - target).abs()));
    errors.sum::<f64>() / rows.len() as f64
}

/// The mean absolute error of a batch, smooth near 0.
struct SmoothError {
    said: Variable,
    targets: Vec<f32>,
}

impl Operation for SmoothError {
    fn backward(&self, _result: Variable, gradient: &mut [f32], back: &mut Backward<'_>) {
        let said = back.value(self.said);
        let share = gradient[0] / self.targets.len() as f32;
        let slopes = back.gradient(self.said).iter_mut();
        for ((slope, said), target) in slopes.zip(&said.values).zip(&self.targets) {
            *slope += share * ((said - target) / SMOOTH).clamp(-1.0, 1.0);
        }
    }
}

//! Teaches networks what the noise of one step says about another, from copies of an environment.

use std::sync::Arc;

use rayon::prelude::*;

use becausal_core::Stream;
use becausal_core::env::Fork;
use becausal_core::progress::{Listener, Tracker};
use becausal_core::trajectory::Step;
use becausal_nn::{
    AdamW, Backward, Block, Head, Likelihood, Operation, Parameters, Perceptron, Pool, Schedule,
    Shape, Source, Tape, Variable,
};

use super::carried::Known;
use super::dynamics::Dynamics;
use super::encoding::single;
use super::error::FitError;
use super::shared_noise::{
    Asked, Given, MAX_NUMBERS, MEMBERS, NOISE, SharedNoise, Sorted, contexts, distances,
};
use super::world_model::{WorldModel, index};

/// Pairs of a training step: as many as rows of the world model's.
const BATCH: usize = 256;

/// The highest learning rate, and the weight decay. They were not varied.
const RATE: f64 = 0.002;
const DECAY: f64 = 0.01;

/// How often a network sees every pair, at most, and the steps that even the fewest pairs are worth.
const PASSES: usize = 16;
const LEAST_STEPS: usize = 500;

/// How often a network is compared with the best one so far.
const CHECKS: usize = 20;

/// Of so many episodes one is held out to choose when a network is best, and another one to decide whether it is better than
/// the rule.
const EPISODES: usize = 12;

/// The least log-likelihood of a value that counts, in nats: one surprise must not decide which network is best.
const LEAST: f64 = -5.0;

/// Pairs of steps that are encoded at once.
const CHUNK: usize = 128;

/// How networks are taught what the noise of one step says about another.
#[derive(Debug, Clone)]
pub struct NoiseLessonParams {
    /// Training steps of each network, at most. Few pairs need fewer.
    pub steps: usize,
    /// The seed of all that is random.
    pub seed: u64,
    /// Receives the progress and may stop the work.
    pub progress: Listener,
}

impl Default for NoiseLessonParams {
    fn default() -> Self {
        // On landers 401 and 402, twice the steps with three times as many pairs and wider networks gave signs no better
        // by more than a point.
        Self { steps: 8000, seed: 0, progress: Listener::default() }
    }
}

/// A pair of steps with the same noise.
struct Pair<'a> {
    recorded: &'a Step,
    other: &'a Step,
}

/// A pair as the networks learn from it.
struct Row {
    context: Vec<f32>,
    given: Given,
    /// What the rule leaves open of each number.
    open: Vec<f32>,
    /// The noises of the numbers in the other step, and its labels.
    answers: Vec<f32>,
}

impl WorldModel {
    /// Learns from copies of an environment what the noise of one step says about the same noise in another step. Returns by
    /// how many nats a value of a step is better predicted than by the rule (and a label than from the step alone), in
    /// episodes that neither taught nor chose; nothing is kept where that is not above 0, and nothing returned where there was
    /// too little to learn from, or there are more numbers than networks can relate to each other. It replaces what was learned
    /// this way before.
    ///
    /// # Errors
    /// When the listener stops it; what was learned before is then kept.
    pub fn learn_shared_noise(
        &mut self,
        forks: &[Fork],
        params: &NoiseLessonParams,
    ) -> Result<Option<f64>, FitError> {
        let sorted = Sorted::of(self);
        let among = |wanted: &dyn Fn(usize) -> bool| -> Vec<&Fork> {
            forks.iter().filter(|fork| wanted(fork.episode % EPISODES)).collect()
        };
        let parts = [among(&|at| at > 1), among(&|at| at == 0), among(&|at| at == 1)];
        let few = parts.iter().any(Vec::is_empty) || sorted.numbers.len() > MAX_NUMBERS;
        if few {
            return Ok(None);
        }
        let reach = self.reach(&parts[0]);
        let [learned, choosing, judging] = parts.map(|forks| self.lesson(&sorted, &forks));
        let lesson = Lesson::new(&sorted, learned);
        let rule = lesson.score(&judging, Said::ByRule);
        let enough = (PASSES * lesson.learned.len()).div_ceil(BATCH).max(LEAST_STEPS);
        let steps = params.steps.min(enough);
        let tracker = Tracker::begin(&params.progress, "share noise", "steps", steps * MEMBERS);
        let teach = |member: usize| {
            let mut stream = Stream::keyed(params.seed, &[index(member)]);
            let (parameters, network) = SharedNoise::network(self, &mut stream);
            lesson.teach((parameters, network), &choosing, steps, &mut stream, &tracker)
        };
        let members: Vec<_> = (0..MEMBERS).into_par_iter().map(teach).collect();
        if tracker.is_stopped() {
            return Err(FitError::Stopped);
        }
        let score = |(parameters, network): &(Parameters, Perceptron)| {
            lesson.score(&judging, Said::By(parameters, network))
        };
        let gain = members.iter().map(score).sum::<f64>() / MEMBERS as f64 - rule;
        self.shared_noise = (gain > 0.0).then(|| Arc::new(SharedNoise { members, reach }));
        Ok(Some(gain))
    }

    /// How far apart the states of two steps are at most.
    fn reach(&self, forks: &[&Fork]) -> Block {
        let mut reach: Vec<f32> = Vec::new();
        for (recorded, other) in
            forks.iter().flat_map(|fork| fork.recorded.iter().zip(fork.other.steps()))
        {
            for (at, apart) in distances(self, &recorded.state, &other.state).enumerate() {
                reach.resize(reach.len().max(at + 1), 0.0);
                reach[at] = reach[at].max(single(apart.abs()));
            }
        }
        Block::new(Shape::new(1, 1, reach.len()), reach)
    }

    /// The pairs of steps in some forks, as networks learn from them.
    fn lesson(&self, sorted: &Sorted, forks: &[&Fork]) -> Vec<Row> {
        let pairs: Vec<Pair<'_>> = forks
            .iter()
            .flat_map(|fork| fork.recorded.iter().zip(fork.other.steps()))
            .map(|(recorded, other)| Pair { recorded, other })
            .collect();
        pairs.par_chunks(CHUNK).flat_map_iter(|pairs| self.rows_of(sorted, pairs)).collect()
    }

    fn rows_of(&self, sorted: &Sorted, pairs: &[Pair<'_>]) -> Vec<Row> {
        let recorded: Vec<&Step> = pairs.iter().map(|pair| pair.recorded).collect();
        let others: Vec<&Step> = pairs.iter().map(|pair| pair.other).collect();
        let [seen, other] = [self.noises(&recorded), self.noises(&others)];
        let of_recorded = |noise| self.seen_noise(noise);
        let seen: Vec<_> = seen.iter().filter_map(of_recorded).collect();
        let other: Vec<_> = other.iter().filter_map(of_recorded).collect();
        let outputs = self.mean_outputs(&others);
        let asked: Vec<Asked<'_>> = others
            .iter()
            .zip(&seen)
            .enumerate()
            .map(|(row, (step, seen))| {
                let targets = self.encoding.targets().iter();
                let parameters: Vec<Vec<f32>> =
                    targets.map(|target| target.head.parameters(&outputs, row).to_vec()).collect();
                let assumed = self.assumed(seen, &step.action, &parameters);
                Asked { situation: (&step.state, &step.action), parameters, assumed }
            })
            .collect();
        let both: Vec<_> = seen.iter().zip(&asked).collect();
        let contexts = contexts(self, &both);
        let width = contexts.len() / both.len().max(1);
        let row = |(at, context): (usize, &[f32])| {
            let numbers = sorted.numbers.iter().map(|&target| single(other[at].number(target)));
            let mut labels = &other[at].recorded.labels[..];
            let label = |&(_, parameters): &(usize, usize)| {
                let (own, rest) = labels.split_at(1 + parameters);
                labels = rest;
                own[0]
            };
            let open = |&target: &usize| match asked[at].assumed[target] {
                Known::Number { open, .. } => single(open),
                _ => 1.0,
            };
            Row {
                context: context.to_vec(),
                given: Given::of(sorted, &seen[at], &asked[at], self),
                open: sorted.numbers.iter().map(open).collect(),
                answers: numbers.chain(sorted.labels.iter().map(label)).collect(),
            }
        };
        contexts.chunks_exact(width.max(1)).enumerate().map(row).collect()
    }
}

/// Who says what the noise of a step is.
#[derive(Clone, Copy)]
enum Said<'a> {
    /// The rule, and of labels the step alone.
    ByRule,
    /// A network.
    By(&'a Parameters, &'a Perceptron),
}

/// What is learned from.
struct Lesson {
    learned: Vec<Row>,
    likelihood: Likelihood,
    /// The columns of what a network's outputs mean.
    columns: usize,
    numbers: usize,
}

impl Lesson {
    fn new(sorted: &Sorted, learned: Vec<Row>) -> Self {
        let numbers = sorted.numbers.len();
        let mut heads: Vec<Head> =
            (0..numbers).map(|at| Head { group: 0, column: 2 * at, distribution: NOISE }).collect();
        let mut column = 2 * numbers;
        for &(_, parameters) in &sorted.labels {
            let distribution = match parameters {
                1 => becausal_nn::Distribution::Bernoulli,
                labels => becausal_nn::Distribution::Categorical(labels),
            };
            heads.push(Head { group: 0, column, distribution });
            column += parameters;
        }
        let likelihood = Likelihood::new(heads.into()).balanced(1.0);
        Self { learned, likelihood, columns: column, numbers }
    }

    /// Teaches a network. Returns it as it was when it was best about the rows that choose.
    fn teach(
        &self,
        (mut parameters, network): (Parameters, Perceptron),
        choosing: &[Row],
        steps: usize,
        stream: &mut Stream,
        tracker: &Tracker<'_>,
    ) -> (Parameters, Perceptron) {
        let schedule = Schedule { peak: RATE, end: 0.01, warm_up: steps / 40, steps };
        let mut adam = AdamW::new(&parameters, DECAY, 1.0);
        let mut gradients = parameters.gradients();
        let mut pool = Pool::default();
        let mut best = (f64::NEG_INFINITY, parameters.clone());
        for step in 0..steps {
            if tracker.is_stopped() {
                break;
            }
            let draw = |_| &self.learned[stream.below(self.learned.len())];
            let rows: Vec<&Row> = (0..BATCH).map(draw).collect();
            let mut tape = Tape::recording(&parameters, pool);
            let outputs = self.outputs(&mut tape, &network, &rows);
            let answers = tape.input(Self::answers(&rows));
            let loss = self.likelihood.loss(&mut tape, outputs, answers);
            gradients.clear();
            tape.backward(loss, &mut gradients);
            pool = tape.finish();
            adam.step(&mut parameters, &gradients, schedule.rate(step));
            if (step + 1) % steps.div_ceil(CHECKS) == 0 || step + 1 == steps {
                let score = self.score(choosing, Said::By(&parameters, &network));
                if score > best.0 {
                    best = (score, parameters.clone());
                }
            }
            tracker.advance(1.0, "");
        }
        (best.1, network)
    }

    /// What a network says of some rows: `[1, rows, columns]`.
    fn outputs(&self, tape: &mut Tape<'_>, network: &Perceptron, rows: &[&Row]) -> Variable {
        let width = rows[0].context.len();
        let contexts = rows.iter().flat_map(|row| row.context.iter().copied()).collect();
        let contexts = tape.input(Block::new(Shape::new(1, rows.len(), width), contexts));
        let said = network.forward(tape, contexts, Source::Each);
        let mut mixed = tape.scratch(Shape::new(1, rows.len(), self.columns));
        let values = tape.value(said);
        for (at, row) in rows.iter().enumerate() {
            row.given
                .mixed(values.row(0, at), &mut mixed.values[at * self.columns..][..self.columns]);
        }
        let each = rows.iter().flat_map(|row| (0..self.numbers).map(|at| (&row.given, at)));
        let noise = each.flat_map(|(given, at)| given.noise_for(at)).collect();
        tape.push(mixed, Mix { said, noise, numbers: self.numbers })
    }

    /// What is to be learned of some rows: `[numbers and labels, rows, 1]`.
    fn answers(rows: &[&Row]) -> Block {
        let heads = rows[0].answers.len();
        let values = (0..heads).flat_map(|at| rows.iter().map(move |row| row.answers[at]));
        Block::new(Shape::new(heads, rows.len(), 1), values.collect())
    }

    /// The mean log-likelihood of a value of a step, in nats.
    fn score(&self, rows: &[Row], said: Said<'_>) -> f64 {
        let of = |rows: &[Row]| {
            let rows: Vec<&Row> = rows.iter().collect();
            let answers = Self::answers(&rows);
            let each = match said {
                Said::By(parameters, network) => {
                    let mut tape = Tape::computing(parameters, Pool::default());
                    let outputs = self.outputs(&mut tape, network, &rows);
                    self.likelihood.rows(tape.value(outputs), &answers)
                }
                Said::ByRule => self.likelihood.rows(&self.by_rule(&rows), &answers),
            };
            each.iter().flatten().map(|value| value.max(LEAST)).sum::<f64>()
        };
        let sum: f64 = rows.chunks(1024).map(of).sum();
        sum / (rows.len() * rows[0].answers.len()) as f64
    }

    /// What the rule says of some rows: `[1, rows, columns]`.
    fn by_rule(&self, rows: &[&Row]) -> Block {
        let of_row = |row: &&Row| {
            let numbers = row.given.assumed.iter().zip(&row.open);
            let numbers = numbers.flat_map(|(&mean, &open)| [mean, NOISE.raw_scale(open)]);
            numbers.chain(row.given.labels.iter().copied()).collect::<Vec<f32>>()
        };
        let values = rows.iter().flat_map(of_row).collect();
        Block::new(Shape::new(1, rows.len(), self.columns), values)
    }
}

/// What [`Given::mixed`] does, for the gradient.
struct Mix {
    said: Variable,
    /// What the weights of each number are multiplied with: `[rows, numbers, 2 numbers]`.
    noise: Vec<f32>,
    numbers: usize,
}

impl Operation for Mix {
    fn backward(&self, _result: Variable, gradient: &mut [f32], back: &mut Backward<'_>) {
        let count = self.numbers;
        let shape = back.value(self.said).shape;
        let slopes = back.gradient(self.said).chunks_exact_mut(shape.columns);
        let gradients = gradient.chunks_exact(gradient.len() / shape.rows);
        for (at, (slopes, gradient)) in slopes.zip(gradients).enumerate() {
            let (numbers, labels) = slopes.split_at_mut(count * (2 * count + 2));
            for (number, slopes) in numbers.chunks_exact_mut(2 * count + 2).enumerate() {
                let [mean, raw] = [gradient[2 * number], gradient[2 * number + 1]];
                let noise = &self.noise[(at * count + number) * 2 * count..][..2 * count];
                slopes.iter_mut().zip(noise).for_each(|(slope, noise)| *slope += mean * noise);
                slopes[2 * count] += mean;
                slopes[2 * count + 1] += raw;
            }
            let of_labels = &gradient[2 * count..];
            labels.iter_mut().zip(of_labels).for_each(|(slope, gradient)| *slope += gradient);
        }
    }
}

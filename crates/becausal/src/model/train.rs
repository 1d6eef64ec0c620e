//! Learning: the networks are fitted by maximum likelihood.

use std::sync::Arc;

use crate::nn::{AdamW, Likelihood, Parameters, Pool, Schedule, Tape};
use crate::random::Stream;

use super::dynamics::effects;
use super::encoding::Encoding;
use super::inputs::Encoded;
use super::member::Member;
use super::network::Sizes;
use super::probe::Probe;
use super::structure::Structure;

/// The share of the steps after which nothing is pruned any more.
const LAST_PRUNING: f64 = 0.9;

/// How a world model is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// Networks in the ensemble.
    pub members: usize,
    /// How wide they are.
    pub sizes: Sizes,
    /// Rows a step.
    pub batch: usize,
    /// Steps a member, at most.
    pub steps: usize,
    /// The highest learning rate.
    pub rate: f64,
    /// Weight decay.
    pub decay: f64,
    /// The largest norm of a gradient.
    pub clip: f64,
    /// See [`Likelihood::balanced`].
    pub balance: f64,
    /// Parents that do not matter under an action are pruned after this share of the steps; 1 for
    /// never.
    pub prune: f64,
    /// The share of the episodes that is held out to stop early and to score.
    pub held_out: f64,
    /// Stops after so many looks at the held-out episodes without an improvement.
    pub patience: usize,
    /// Steps between two looks.
    pub interval: usize,
    /// Of all that is random.
    pub seed: u64,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            members: 5,
            sizes: Sizes::default(),
            batch: 256,
            steps: 2000,
            rate: 6e-3,
            decay: 1e-3,
            clip: 5.0,
            balance: 1.0,
            prune: 0.4,
            held_out: 0.1,
            patience: 12,
            interval: 100,
            seed: 0,
        }
    }
}

/// How far a fit has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitProgress {
    /// Which network.
    pub member: usize,
    /// Steps made.
    pub step: usize,
    /// Steps to make, at most.
    pub steps: usize,
    /// The mean log-likelihood of a held-out row at the last look.
    pub held_out: f64,
    /// Whether this network is done.
    pub done: bool,
}

/// Something a world model cannot be fitted to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// There are too few rows or episodes.
    #[error(
        "{rows} rows in {episodes} episodes are too few to fit a world model \
         (at least 2 episodes and 20 rows: some are held out to see how good it is)"
    )]
    TooFew {
        /// Rows of the data.
        rows: usize,
        /// Episodes of the data.
        episodes: usize,
    },
    /// A value is not a number.
    #[error("`{column}` is {value} in row {row}: a world model needs finite numbers")]
    NotFinite {
        /// The column.
        column: String,
        /// Its value.
        value: String,
        /// The row, counted from 1.
        row: usize,
    },
    /// The likelihood became infinite or not a number.
    #[error(
        "the fit broke down at step {step} of member {member}: the likelihood of `{variable}` is \
         not a number. Look for extreme values in its column, or lower the learning rate"
    )]
    Broken {
        /// The step.
        step: usize,
        /// The member.
        member: usize,
        /// The effect.
        variable: String,
    },
}

/// How the fit of a member went.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberReport {
    /// Steps made.
    pub steps: usize,
    /// The step at which the held-out likelihood was best: the parameters are those.
    pub best_step: usize,
    /// The mean log-likelihood of a held-out row then, summed over the effects.
    pub held_out: f64,
    /// Step and held-out log-likelihood at every look.
    pub curve: Vec<(usize, f64)>,
}

pub(super) struct Training<'a> {
    pub options: &'a FitOptions,
    pub encoding: &'a Encoding,
    pub structure: &'a Arc<Structure>,
    /// All rows to learn from.
    pub rows: &'a Encoded,
    /// Rows to look at now and then.
    pub held_out: &'a Encoded,
    /// Whether the structure was found in the data, or is just everything.
    pub found: bool,
    /// Some of them with inputs replaced, to see what matters.
    pub probe: &'a Probe,
}

impl Training<'_> {
    /// Fits a member to `sample`, rows to learn from, some of them several times.
    pub fn run(
        &self,
        at: usize,
        member: &mut Member,
        sample: &[usize],
        stream: &mut Stream,
        listener: &(dyn Fn(FitProgress) + Sync),
    ) -> Result<MemberReport, FitError> {
        let options = self.options;
        let likelihood = Likelihood::new(self.encoding.heads()).balanced(options.balance);
        let mut adam = AdamW::new(&member.parameters, options.decay, options.clip);
        let warm_up = (options.steps / 20).clamp(1, 100);
        let steps = options.steps;
        let schedule = Schedule { peak: options.rate, end: 0.01, warm_up, steps };
        let mut gradients = member.parameters.gradients();
        let mut pool = Pool::default();
        let mut order = Order::new(sample, stream);
        let mut best = Best::new(&member.parameters, self.look(member, &likelihood));
        let to_prune = member.has_weights() && options.prune < 1.0;
        let mut held = to_prune;
        for step in 0..steps {
            let batch = self.rows.select(order.next(options.batch, stream));
            let mut tape = Tape::recording(&member.parameters, pool);
            let (said, _) = member.forward(&mut tape, batch.inputs, self.structure);
            let targets = tape.input(batch.targets);
            let loss = likelihood.loss(&mut tape, said, targets);
            gradients.clear();
            tape.backward(loss, &mut gradients);
            let finite = tape.value(loss).values[0].is_finite();
            if !finite {
                let rows = likelihood.rows(tape.value(said), tape.value(targets));
                return Err(broken(self.encoding, &rows, step, at));
            }
            pool = tape.finish();
            if held {
                member.hold_weights(&mut gradients);
            }
            let norm = adam.step(&mut member.parameters, &gradients, schedule.rate(step));
            if !norm.is_finite() {
                return Err(broken(self.encoding, &[], step, at));
            }
            let last = step + 1 == steps;
            if (step + 1) % options.interval == 0 || last {
                let held_out = self.look(member, &likelihood);
                best.look(step + 1, held_out, &member.parameters);
                let share = (step + 1) as f64 / steps as f64;
                if to_prune && share >= options.prune && share <= LAST_PRUNING {
                    member.pruned = self.probe.prune(member, self.structure, self.found);
                    best.restart(self.look(member, &likelihood), &member.parameters);
                    held = false;
                }
                let done = last || best.since >= options.patience;
                listener(FitProgress { member: at, step: step + 1, steps, held_out, done });
                if done {
                    break;
                }
            }
        }
        Ok(best.finish(member))
    }

    /// The mean log-likelihood of a held-out row.
    fn look(&self, member: &Member, likelihood: &Likelihood) -> f64 {
        let said = member.predict(&self.held_out.inputs, self.structure);
        let rows = likelihood.rows(&said, &self.held_out.targets);
        let count = self.held_out.inputs.rows().max(1) as f64;
        rows.iter().flatten().sum::<f64>() / count
    }
}

/// A fit whose likelihood is not a number; `rows` is `[heads][rows]`.
pub(super) fn broken(
    encoding: &Encoding,
    rows: &[Vec<f64>],
    step: usize,
    member: usize,
) -> FitError {
    let bad = rows.iter().position(|rows| rows.iter().any(|value| !value.is_finite()));
    let effect = bad.map_or(0, |target| encoding.targets()[target].effect);
    let names = effects(encoding.schema());
    FitError::Broken { step, member, variable: names[effect].clone() }
}

/// Rows in a random order, again and again.
pub(super) struct Order {
    rows: Vec<usize>,
    at: usize,
}

impl Order {
    pub fn new(sample: &[usize], stream: &mut Stream) -> Self {
        let mut order = Self { rows: sample.to_vec(), at: 0 };
        order.shuffle(stream);
        order
    }

    fn shuffle(&mut self, stream: &mut Stream) {
        let order = stream.permutation(self.rows.len());
        self.rows = order.iter().map(|&at| self.rows[at]).collect();
        self.at = 0;
    }

    /// The next rows; when too few are left, all are shuffled first.
    pub fn next(&mut self, count: usize, stream: &mut Stream) -> &[usize] {
        let count = count.min(self.rows.len());
        if self.at + count > self.rows.len() {
            self.shuffle(stream);
        }
        self.at += count;
        &self.rows[self.at - count..self.at]
    }
}

/// The best parameters so far.
struct Best {
    parameters: Parameters,
    step: usize,
    held_out: f64,
    since: usize,
    steps: usize,
    curve: Vec<(usize, f64)>,
}

impl Best {
    fn new(parameters: &Parameters, held_out: f64) -> Self {
        let curve = vec![(0, held_out)];
        Self { parameters: parameters.clone(), step: 0, held_out, since: 0, steps: 0, curve }
    }

    fn look(&mut self, step: usize, held_out: f64, parameters: &Parameters) {
        self.curve.push((step, held_out));
        self.steps = step;
        if held_out > self.held_out || !self.held_out.is_finite() {
            self.parameters = parameters.clone();
            self.step = step;
            self.held_out = held_out;
            self.since = 0;
        } else {
            self.since += 1;
        }
    }

    /// Begins anew from here: what was before does not count any more.
    fn restart(&mut self, held_out: f64, parameters: &Parameters) {
        self.held_out = f64::NAN;
        self.look(self.steps, held_out, parameters);
    }

    fn finish(self, member: &mut Member) -> MemberReport {
        member.parameters = self.parameters;
        MemberReport {
            steps: self.steps,
            best_step: self.step,
            held_out: self.held_out,
            curve: self.curve,
        }
    }
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;
    use crate::data::{Row, Transitions};
    use crate::model::ModelKind;
    use crate::model::persistence::Persistence;
    use crate::nn::Gradients;
    use crate::schema::Schema;

    /// Every kind of variable, a vector, two actions.
    fn data() -> Transitions {
        let schema = Schema::parse(
            r#"
            name = "All"
            [state]
            x = { kind = "continuous" }
            n = { kind = "integer" }
            b = { kind = "boolean" }
            c = { kind = "categorical", labels = ["r", "g", "b"] }
            v = { kind = "continuous", size = 2 }
            [action]
            a = { kind = "categorical", labels = ["0", "1"] }
            u = { kind = "continuous", low = -1.0, high = 1.0 }
            [outcome]
            o = { kind = "boolean" }
            [reward]
            "x" = "x'"
            "#,
        );
        let schema = Arc::new(schema.expect("a schema"));
        let mut data = Transitions::new(Arc::clone(&schema));
        let mut stream = Stream::new(9);
        for row in 0..40 {
            if row % 10 == 0 {
                data.begin_episode();
            }
            let mut state = || {
                let numbers = [stream.normal(), stream.below(5) as f64, stream.below(2) as f64];
                let rest = [stream.below(3) as f64, stream.normal(), stream.normal()];
                [&numbers[..], &rest[..]].concat()
            };
            let (before, after) = (state(), state());
            data.push(&Row {
                state: &before,
                action: &[stream.below(2) as f64, stream.uniform(-1.0, 1.0)],
                outcomes: &[stream.below(2) as f64],
                next: &after,
                reward: 0.0,
                terminated: false,
                truncated: row % 10 == 9,
            });
        }
        data
    }

    struct Case {
        structure: Arc<Structure>,
        encoded: Encoded,
        likelihood: Likelihood,
    }

    impl Case {
        fn new(data: &Transitions, encoding: &Encoding) -> Self {
            let parents = vec![
                vec![0, 1, 5, 6],
                vec![1, 2, 5],
                vec![3, 4, 6],
                vec![],
                vec![0, 4],
                vec![2, 5, 6],
            ];
            Self {
                structure: Arc::new(Structure::new(5, 2, parents)),
                encoded: encoding.encode_all(data),
                likelihood: Likelihood::new(encoding.heads()),
            }
        }

        fn loss(&self, member: &Member, gradients: Option<&mut Gradients>) -> f64 {
            let mut tape = Tape::recording(&member.parameters, Pool::default());
            let inputs = self.encoded.inputs.clone();
            let (said, _) = member.forward(&mut tape, inputs, &self.structure);
            let targets = tape.input(self.encoded.targets.clone());
            let loss = self.likelihood.loss(&mut tape, said, targets);
            if let Some(gradients) = gradients {
                tape.backward(loss, gradients);
            }
            // Summed in double precision: differences of the loss itself would be too coarse.
            let rows = self.likelihood.rows(tape.value(said), tape.value(targets));
            -rows.iter().flatten().sum::<f64>() / 40.0
        }
    }

    fn member(kind: ModelKind, encoding: &Arc<Encoding>, case: &Case, seed: u64) -> Member {
        let sizes = Sizes { encoder: 6, hidden: 5, action: 4, key: 3 };
        let persistence = Persistence::of_all(6);
        let mut stream = Stream::new(seed);
        let mut member =
            Member::new(kind, encoding, &case.structure, &persistence, sizes, &mut stream);
        // Keys and biases begin at zero: moved, so that every path has a gradient.
        for (_, block) in member.parameters.iter_mut() {
            for weight in &mut block.values {
                *weight += (stream.below(81) as f32 - 40.0) / 100.0;
            }
        }
        member
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let data = data();
        let encoding = Arc::new(Encoding::of(&data));
        let case = Case::new(&data, &encoding);
        for kind in ModelKind::ALL {
            let mut member = member(kind, &encoding, &case, 3);
            let mut gradients = member.parameters.gradients();
            case.loss(&member, Some(&mut gradients));
            let names: Vec<(String, usize)> = member
                .parameters
                .iter()
                .map(|(name, block)| (name.to_owned(), block.values.len()))
                .collect();
            let mut stream = Stream::new(1);
            for (at, (name, count)) in names.iter().enumerate() {
                for _ in 0..4 {
                    let place = stream.below(*count);
                    let step = 2e-3;
                    let mut near = |step: f32| {
                        let (_, block) = member.parameters.iter_mut().nth(at).expect("a block");
                        let kept = block.values[place];
                        block.values[place] = kept + step;
                        let loss = case.loss(&member, None);
                        let (_, block) = member.parameters.iter_mut().nth(at).expect("a block");
                        block.values[place] = kept;
                        loss
                    };
                    let difference = (near(step) - near(-step)) / f64::from(2.0 * step);
                    let found = f64::from(gradients.blocks()[at][place]);
                    assert!(
                        (difference - found).abs() < 2e-3 + 0.02 * difference.abs(),
                        "{} {name}[{place}]: {found}, by differences {difference}",
                        kind.name()
                    );
                }
            }
        }
    }

    #[test]
    fn gradients_on_threads_are_those_of_one_after_the_other() {
        let data = data();
        let encoding = Arc::new(Encoding::of(&data));
        let case = Case::new(&data, &encoding);
        let gradients = |seed: u64| {
            let member = member(ModelKind::Causal, &encoding, &case, seed);
            let mut gradients = member.parameters.gradients();
            case.loss(&member, Some(&mut gradients));
            gradients
        };
        let alone: Vec<Gradients> = (0..16).map(gradients).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("threads");
        let together: Vec<Gradients> =
            pool.install(|| (0..16_u64).into_par_iter().map(gradients).collect());
        assert_eq!(alone, together);
    }
}

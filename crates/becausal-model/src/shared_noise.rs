//! What the noise of a recorded step says about another step with the same noise, learned from copies of an environment.
//!
//! A log shows every moment once, so it cannot tell how the noise under one action goes together with the noise under
//! another; [`coupling`](super::coupling) then has to assume it. An environment that can be copied shows more: a copy that
//! takes another action meets the same noise ([`forks`](becausal_core::env::forks)). From many such pairs of steps networks
//! learn
//!
//! z' = r + A(c) z + B(c) z σ / σ' + b(c), with a standard deviation d(c),
//!
//! where z are the standardised noises of all numbers in the recorded step and z' those in the other one, σ and σ' the
//! deviations that the world model predicts for both, r is what the assumption says, and the context c is both states, both
//! actions, z itself, both deviations, and the labels of the recorded step. Two random numbers that push a lander about when
//! an engine runs move three velocities: whichever engine runs, A and B map the one push to the other. Labels are learned
//! given those of the recorded step.

use becausal_core::Stream;
use becausal_nn::{Activation, Block, Distribution, Parameters, Perceptron, Shape, take_blocks};

use super::carried::{Known, SeenNoise, is_label};
use super::dynamics::Situation;
use super::encoding::single;
use super::world_model::WorldModel;

/// Networks whose mean is taken. They are taught at the same time, and a small machine has two cores.
pub(super) const MEMBERS: usize = 2;

/// The width of the two hidden layers of a network. On lander 401, widths of 96 and 192 gave the same signs (.856), and 192 a
/// precision that was higher by .01 in twice the time.
const WIDTH: usize = 128;

/// The most numbers in a step: the outputs of a network grow with their square.
pub(super) const MAX_NUMBERS: usize = 128;

/// The largest standardised noise that is told apart: beyond it the model was wrong, and more so is not worse.
const LARGEST_NOISE: f64 = 8.0;

/// The largest logit that is told apart: a probability of 0.9997.
const LARGEST_LOGIT: f32 = 8.0;

/// The least deviation that noise is measured in.
const LEAST_DEVIATION: f64 = 1e-9;

/// A tenth of the usual change of a step is where distances between states turn from linear to logarithmic.
const NEAR: f64 = 0.1;

/// Networks that were shown pairs of steps with the same noise.
#[derive(Debug, Clone)]
pub(super) struct SharedNoise {
    pub members: Vec<(Parameters, Perceptron)>,
    /// How far apart, in usual changes of a step, the two states were at most, for every number that has a value before the
    /// step: `[1, 1, distances]`. Farther away the networks would guess.
    pub reach: Block,
}

/// A step that is asked about.
pub(super) struct Asked<'a> {
    pub situation: Situation<'a>,
    /// What the world model predicts for every target.
    pub parameters: Vec<Vec<f32>>,
    /// What the rule says of every target.
    pub assumed: Vec<Known>,
}

/// The targets of a model, sorted.
pub(super) struct Sorted {
    /// Those that are numbers.
    pub numbers: Vec<usize>,
    /// Those that are labels, with their numbers of parameters.
    pub labels: Vec<(usize, usize)>,
}

/// What the networks' answers are added to, for one step.
pub(super) struct Given {
    /// The recorded noises of the numbers.
    pub seen: Vec<f32>,
    /// The same times the recorded deviations.
    pushes: Vec<f32>,
    /// One over the deviations of the step that is asked about.
    shares: Vec<f32>,
    /// What the rule says of each number.
    pub assumed: Vec<f32>,
    /// The parameters of the labels.
    pub labels: Vec<f32>,
}

impl Sorted {
    pub fn of(model: &WorldModel) -> Self {
        let (mut numbers, mut labels) = (Vec::new(), Vec::new());
        for (at, target) in model.encoding.targets().iter().enumerate() {
            let distribution = target.head.distribution;
            if is_label(distribution) {
                labels.push((at, distribution.parameters()));
            } else {
                numbers.push(at);
            }
        }
        Self { numbers, labels }
    }

    /// What a network says of each number: A and B of all numbers, b, and the raw deviation.
    pub fn of_number(&self) -> usize {
        2 * self.numbers.len() + 2
    }

    /// The outputs of a network: what it says of each number, then what it adds to the parameters of the labels.
    pub fn outputs(&self) -> usize {
        self.numbers.len() * self.of_number() + self.label_parameters()
    }

    pub fn label_parameters(&self) -> usize {
        self.labels.iter().map(|(_, parameters)| parameters).sum()
    }
}

impl Given {
    pub fn of(
        sorted: &Sorted,
        seen: &SeenNoise<'_>,
        asked: &Asked<'_>,
        model: &WorldModel,
    ) -> Self {
        let numbers = &sorted.numbers;
        let deviation = |target: usize| deviation(model, target, &asked.parameters[target]);
        let bounded = |noise: f64| single(noise.clamp(-LARGEST_NOISE, LARGEST_NOISE));
        let push = |&target: &usize| single(seen.number(target) * seen.deviation(target));
        let share = |&target: &usize| single(1.0 / deviation(target).max(LEAST_DEVIATION));
        let assumed = |&target: &usize| match asked.assumed[target] {
            Known::Number { mean, .. } => bounded(mean),
            _ => 0.0,
        };
        let labels = sorted.labels.iter().flat_map(|&(target, _)| &asked.parameters[target]);
        Self {
            seen: numbers.iter().map(|&target| bounded(seen.number(target))).collect(),
            pushes: numbers.iter().map(push).collect(),
            shares: numbers.iter().map(share).collect(),
            assumed: numbers.iter().map(assumed).collect(),
            labels: labels.map(|logit| logit.clamp(-LARGEST_LOGIT, LARGEST_LOGIT)).collect(),
        }
    }

    /// The recorded noises, then the same in deviations of number `at` in the step that is asked about.
    pub fn noise_for(&self, at: usize) -> impl Iterator<Item = f32> {
        let share = self.shares[at];
        #[expect(clippy::cast_possible_truncation, reason = "a small whole number")]
        let scaled =
            move |push: &f32| (push * share).clamp(-LARGEST_NOISE as f32, LARGEST_NOISE as f32);
        self.seen.iter().copied().chain(self.pushes.iter().map(scaled))
    }

    /// What a network's outputs mean: for each number the mean of its noise and a raw deviation, then the parameters of
    /// the labels.
    pub fn mixed(&self, said: &[f32], into: &mut [f32]) {
        let count = self.seen.len();
        let (numbers, labels) = said.split_at(count * (2 * count + 2));
        let (means, parameters) = into.split_at_mut(2 * count);
        for (at, said) in numbers.chunks_exact(2 * count + 2).enumerate() {
            let noise = self.noise_for(at);
            let shared: f32 = said.iter().zip(noise).map(|(weight, noise)| weight * noise).sum();
            means[2 * at] = self.assumed[at] + shared + said[2 * count];
            means[2 * at + 1] = said[2 * count + 1];
        }
        for ((parameter, own), added) in parameters.iter_mut().zip(&self.labels).zip(labels) {
            *parameter = own + added;
        }
    }
}

impl SharedNoise {
    /// A network that has learned nothing: its means are all but those of the rule.
    pub fn network(model: &WorldModel, stream: &mut Stream) -> (Parameters, Perceptron) {
        let widths = [context_width(model), WIDTH, WIDTH, Sorted::of(model).outputs()];
        let mut parameters = Parameters::default();
        let network =
            Perceptron::new(&mut parameters, "shared", 1, &widths, Activation::Silu, stream);
        let network = network.with_small_output(&mut parameters, 0.1);
        (parameters, network)
    }

    /// What is known of every target, given the noise of a recorded step with the same noise.
    pub fn answers(
        &self,
        model: &WorldModel,
        pairs: &[(&SeenNoise<'_>, &Asked<'_>)],
    ) -> Vec<Vec<Known>> {
        let sorted = Sorted::of(model);
        let contexts = contexts(model, pairs);
        let count = sorted.numbers.len();
        let width = 2 * count + sorted.label_parameters();
        let mut sums = vec![vec![0.0; width]; pairs.len()];
        let mut own = vec![0.0; width];
        for (parameters, network) in &self.members {
            let said = network.of_group(parameters, 0, &contexts, pairs.len());
            let rows = said.chunks_exact(sorted.outputs());
            for ((said, (seen, asked)), sum) in rows.zip(pairs).zip(&mut sums) {
                Given::of(&sorted, seen, asked, model).mixed(said, &mut own);
                sum.iter_mut().zip(&own).for_each(|(sum, own)| *sum += own);
            }
        }
        let share = 1.0 / self.members.len() as f32;
        let answer = |sum: Vec<f32>| {
            let mean: Vec<f32> = sum.into_iter().map(|sum| share * sum).collect();
            let mut known = vec![Known::SameNoise; model.encoding.targets().len()];
            for (&target, said) in sorted.numbers.iter().zip(mean.chunks_exact(2)) {
                let mean = f64::from(said[0]).clamp(-2.0 * LARGEST_NOISE, 2.0 * LARGEST_NOISE);
                let open = NOISE.deviation(said).unwrap_or(1.0).min(LARGEST_NOISE);
                known[target] = Known::Number { mean, open };
            }
            let mut labels = &mean[2 * count..];
            for &(target, parameters) in &sorted.labels {
                let (own, rest) = labels.split_at(parameters);
                known[target] = Known::Label(own.to_vec());
                labels = rest;
            }
            known
        };
        sums.into_iter().map(answer).collect()
    }
}

/// How the noise of a number is distributed around what the networks say. What copies of the environment leave open is
/// at least a fiftieth of a deviation.
pub(super) const NOISE: Distribution = Distribution::Tailed { floor: 0.02 };

/// The predicted deviation of a number.
fn deviation(model: &WorldModel, target: usize, parameters: &[f32]) -> f64 {
    let distribution = model.encoding.targets()[target].head.distribution;
    distribution.deviation(parameters).unwrap_or(0.0)
}

/// The width of a context.
fn context_width(model: &WorldModel) -> usize {
    let schema = model.encoding.schema();
    let nothing = (vec![0.0; schema.state_slots().len()], vec![0.0; schema.action_slots().len()]);
    let inputs = model.inputs_of(&[(&nothing.0, &nothing.1)]);
    let [states, actions] =
        [&inputs.states, &inputs.actions].map(|block| block.shape.groups * block.shape.columns);
    let targets = model.encoding.targets();
    let sorted = Sorted::of(model);
    let distances = targets.iter().filter(|target| target.before.is_some()).count();
    // The recorded label as flags, one for each label of a category.
    let labels = 3 * sorted.label_parameters();
    2 * (states + actions) + distances + 3 * sorted.numbers.len() + labels
}

/// What the networks read: `[pairs, context]`.
pub(super) fn contexts(model: &WorldModel, pairs: &[(&SeenNoise<'_>, &Asked<'_>)]) -> Vec<f32> {
    let sides = pairs.iter().flat_map(|(seen, asked)| [seen.situation(), asked.situation]);
    let inputs = model.inputs_of(&sides.collect::<Vec<Situation<'_>>>());
    let sorted = Sorted::of(model);
    let mut contexts = Vec::with_capacity(pairs.len() * context_width(model));
    for (at, (seen, asked)) in pairs.iter().enumerate() {
        for side in [2 * at, 2 * at + 1] {
            for group in 0..inputs.states.shape.groups {
                contexts.extend_from_slice(inputs.states.row(group, side));
            }
            for group in 0..inputs.actions.shape.groups {
                let action = inputs.action_of[side] as usize;
                contexts.extend_from_slice(inputs.actions.row(group, action));
            }
        }
        // Small distances are told apart, too.
        let apart = distances(model, seen.situation().0, asked.situation.0);
        contexts.extend(apart.map(|apart| single((apart / NEAR).asinh() / 3.0)));
        let logarithm = |deviation: f64| single(deviation.max(1e-6).ln() / 3.0);
        for &target in &sorted.numbers {
            let noise = seen.number(target).clamp(-LARGEST_NOISE, LARGEST_NOISE);
            let other = deviation(model, target, &asked.parameters[target]);
            let recorded = logarithm(seen.deviation(target));
            contexts.extend([single(noise.asinh()), recorded, logarithm(other)]);
        }
        let mut recorded = &seen.recorded.labels[..];
        for &(target, parameters) in &sorted.labels {
            let (own, rest) = recorded.split_at(1 + parameters);
            recorded = rest;
            let logits = own[1..].iter().chain(&asked.parameters[target]);
            match parameters {
                1 => contexts.push(own[0]),
                labels => contexts.extend((0..labels).map(|label| is(own[0] == label as f32))),
            }
            contexts.extend(logits.map(|logit| logit.clamp(-LARGEST_LOGIT, LARGEST_LOGIT) / 4.0));
        }
    }
    contexts
}

/// How far a state is from another one, in usual changes of a step: every number that has a value before the step.
pub(super) fn distances(model: &WorldModel, from: &[f64], to: &[f64]) -> impl Iterator<Item = f64> {
    let targets = model.encoding.targets().iter();
    targets.filter_map(move |target| {
        let slot = target.before?;
        let [to, from] = [to, from].map(|state| target.scale.apply(state[slot]));
        Some(target.error(to, from))
    })
}

fn is(flag: bool) -> f32 {
    if flag { 1.0 } else { 0.0 }
}

impl SharedNoise {
    /// Whether two states are no farther apart than those that were learned from.
    pub fn reaches(&self, model: &WorldModel, from: &[f64], to: &[f64]) -> bool {
        let most = self.reach.values.iter().map(|&most| f64::from(most));
        distances(model, from, to).zip(most).all(|(apart, most)| apart.abs() <= most)
    }

    /// The networks in these blocks.
    ///
    /// # Errors
    /// A message that says which block is missing or does not match.
    pub fn stored(model: &WorldModel, mut blocks: Vec<(String, Block)>) -> Result<Self, String> {
        // A network is allocated before its weights are looked up, so it may not be larger than what is there.
        let sorted = Sorted::of(model);
        let stored: usize = blocks.iter().map(|(_, block)| block.values.len()).sum();
        let widest = context_width(model).max(sorted.outputs());
        if sorted.numbers.len() > MAX_NUMBERS || widest.saturating_mul(WIDTH) > stored {
            return Err(format!("the weights `{}` are missing", prefix(0)));
        }
        let at = blocks.iter().position(|(name, _)| name == REACH);
        let (_, reach) = blocks.swap_remove(at.ok_or(format!("`{REACH}` is missing"))?);
        let targets = model.encoding.targets().iter();
        let distances = targets.filter(|target| target.before.is_some()).count();
        let is_finite = reach.values.iter().all(|most| most.is_finite());
        if reach.shape != Shape::new(1, 1, distances) || !is_finite {
            return Err(format!("`{REACH}` is not that of its variables"));
        }
        let mut members = Vec::with_capacity(MEMBERS);
        for at in 0..MEMBERS {
            let (mut parameters, network) = Self::network(model, &mut Stream::new(0));
            blocks = take_blocks(&mut parameters, &prefix(at), blocks)?;
            members.push((parameters, network));
        }
        Ok(Self { members, reach })
    }

    /// The blocks of all networks, with their names.
    pub fn blocks(&self) -> impl Iterator<Item = (String, &Block)> {
        let networks = self.members.iter().enumerate().flat_map(|(at, (parameters, _))| {
            parameters.iter().map(move |(name, block)| (prefix(at) + name, block))
        });
        networks.chain([(REACH.to_owned(), &self.reach)])
    }
}

/// The name of the block with the largest distances.
const REACH: &str = "shared reach";

/// What the names of a network's blocks begin with.
fn prefix(member: usize) -> String {
    format!("shared {member}.")
}

//! Scores of the predictions of a world model.

use rayon::prelude::*;

use becausal_core::data::{LabelGroup, Transitions};
use becausal_core::progress::{Listener, Tracker};
use becausal_nn::{Block, Distribution};

use super::inputs::Encoded;
use super::member::Member;
use super::target::Target;
use super::world_model::WorldModel;

/// 90 % of a normal distribution lie within this many standard deviations of the mean.
const NORMAL_90: f64 = 1.644_853_626_951_472_7;

/// A predicted standard deviation below this share of a variable's usual change counts as no noise.
const MIN_NOISE: f64 = 0.005;

/// A flag or category whose likeliest value is expected to be wrong less often than this is no noise.
const MIN_CHANCE: f64 = 0.005;

/// How well an effect is predicted one step ahead.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableScore {
    /// The effect, next states with a prime.
    pub name: String,
    /// Root mean square error in standard deviations of the variable: 1 is as good as predicting
    /// the mean. For a category, the square root of the share of wrong predictions.
    pub error: f64,
    /// The same relative to the usual change; `None` for outcomes, flags and categories.
    pub change_error: Option<f64>,
    /// The share of the variance that is explained, 1 - error^2.
    pub explained: f64,
    /// Mean log-likelihood of a value in nats; densities are in the variable's own units.
    pub log_likelihood: f64,
    /// The share of the values inside the predicted 90 % interval; `None` if the model predicts no
    /// noise.
    pub coverage: Option<f64>,
    /// For a flag or a category, how often the model expects another value than the likeliest one.
    pub chance: Option<f64>,
}

impl VariableScore {
    /// Whether the model predicts the effect without noise.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.coverage.is_none() && self.chance.is_none_or(|chance| chance < MIN_CHANCE)
    }
}

/// How well all effects are predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// The number of rows.
    pub rows: usize,
    /// The scores of each effect.
    pub variables: Vec<VariableScore>,
    /// Errors where the state has the same labels and flags: a lander in the air and on the ground. Empty
    /// where all rows have the same, there are more than eight groups, or nobody asked.
    pub groups: Vec<GroupErrors>,
}

/// Errors in rows whose states have the same labels and flags.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupErrors {
    /// The labels and flags.
    pub name: String,
    /// The number of rows.
    pub rows: usize,
    /// The error of each effect, in standard deviations of the variable in the data as a whole; for a category, the
    /// square root of the share of wrong predictions.
    pub errors: Vec<f64>,
}

impl Scores {
    /// The mean error over the effects.
    #[must_use]
    pub fn mean_error(&self) -> f64 {
        self.variables.iter().map(|v| v.error).sum::<f64>() / self.variables.len().max(1) as f64
    }

    /// The median of the errors of the variables, in standard deviations; 0 without variables.
    #[must_use]
    pub fn median_error(&self) -> f64 {
        let mut errors: Vec<f64> = self.variables.iter().map(|variable| variable.error).collect();
        errors.sort_by(f64::total_cmp);
        match errors.len() {
            0 => 0.0,
            count if count % 2 == 1 => errors[count / 2],
            count => f64::midpoint(errors[count / 2 - 1], errors[count / 2]),
        }
    }

    /// The log-likelihood of a row: the sum over the effects.
    #[must_use]
    pub fn log_likelihood(&self) -> f64 {
        self.variables.iter().map(|variable| variable.log_likelihood).sum()
    }
}

impl WorldModel {
    /// Predicts recorded transitions one step ahead and scores the predictions. The ensemble
    /// predicts the mean of its members; its distribution is their mixture.
    #[must_use]
    pub fn score(&self, data: &Transitions) -> Scores {
        let encoded = self.encoding.encode_all(data, &Tracker::unheard());
        let nobody = &Listener::NOBODY;
        self.score_outputs(&encoded, &self.outputs_of(&encoded, nobody), nobody)
    }

    /// The same, and the errors by the labels and flags of the state; a listener hears how far it is.
    #[must_use]
    pub fn score_heard(&self, data: &Transitions, listener: &Listener) -> Scores {
        let encoded = self.encoding.encode_all(data, &Tracker::unheard());
        let outputs = self.outputs_of(&encoded, listener);
        let mut scores = self.score_outputs(&encoded, &outputs, listener);
        scores.groups = self.group_errors(&encoded, &outputs, LabelGroup::of(data));
        scores
    }

    /// The errors in each group of rows.
    fn group_errors(
        &self,
        encoded: &Encoded,
        outputs: &[Block],
        groups: Vec<LabelGroup>,
    ) -> Vec<GroupErrors> {
        let of_group = |LabelGroup { name, rows }: LabelGroup| {
            let of_effect = |effect: usize| {
                let targets = self.encoding.targets().iter().enumerate();
                let (mut squares, mut elements) = (0.0, 0.0);
                for (at, target) in targets.filter(|(_, target)| target.effect == effect) {
                    let seen = encoded.targets.group(at);
                    elements += 1.0;
                    for &row in &rows {
                        let each =
                            outputs.iter().map(|outputs| target.head.parameters(outputs, row));
                        let error = squared_error(target, &each, f64::from(seen[row]));
                        squares += error * in_deviations(target).powi(2);
                    }
                }
                (squares / (rows.len() as f64 * f64::max(elements, 1.0))).sqrt()
            };
            let errors = (0..self.structure.effects()).into_par_iter().map(of_effect).collect();
            GroupErrors { name, rows: rows.len(), errors }
        };
        groups.into_iter().map(of_group).collect()
    }

    /// The outputs of each member for some rows.
    pub(super) fn outputs_of(&self, encoded: &Encoded, listener: &Listener) -> Vec<Block> {
        let rows = self.members.len() * encoded.inputs.rows();
        let watch = Tracker::begin(listener, "predict", "rows", rows);
        let inputs = &encoded.inputs;
        let predict = |member: &Member| {
            let mut outputs = member.predict_watched(inputs, &self.structure, &watch);
            self.encoding.apply_stops(&mut outputs);
            outputs
        };
        self.members.par_iter().map(predict).collect()
    }

    /// The scores of outputs that are known already.
    pub(super) fn score_outputs(
        &self,
        encoded: &Encoded,
        outputs: &[Block],
        listener: &Listener,
    ) -> Scores {
        let rows = encoded.inputs.rows();
        let watch = Tracker::begin(listener, "score", "effects", self.structure.effects());
        let names = self.schema().effects();
        let of_effect = |(effect, name): (usize, String)| {
            let mut total = Sums::default();
            for (at, target) in self.encoding.targets().iter().enumerate() {
                if target.effect == effect {
                    total.add(&Sums::of(target, outputs, encoded.targets.group(at)));
                }
            }
            watch.advance(1.0, "");
            total.score(name, rows)
        };
        let variables = names.into_par_iter().enumerate().map(of_effect).collect();
        Scores { rows, variables, groups: Vec::new() }
    }
}

/// Sums over the rows, and over the elements of a vector.
#[derive(Debug, Default)]
struct Sums {
    elements: f64,
    squares: f64,
    change_squares: Option<f64>,
    log_likelihood: f64,
    covered: f64,
    noisy: f64,
    numbers: f64,
    /// The sum of the probabilities of other labels than the likeliest, and the number of labels.
    other_labels: f64,
    labels: f64,
}

impl Sums {
    fn of(target: &Target, outputs: &[Block], seen: &[f32]) -> Self {
        let distribution = target.head.distribution;
        let mut sums = Self { elements: 1.0, ..Self::default() };
        let mut slopes = vec![0.0; distribution.parameters()];
        let mut change_squares = 0.0;
        for (row, &value) in seen.iter().enumerate() {
            let value = f64::from(value);
            if value.is_nan() {
                // Rows that a stop decides are not learned from.
                continue;
            }
            let each = outputs.iter().map(|outputs| target.head.parameters(outputs, row));
            let means = side_by_side(target, each.clone().map(|p| distribution.mean(p)));
            let mean = means.iter().sum::<f64>() / means.len() as f64;
            let squared_error = squared_error(target, &each, value);
            change_squares += squared_error;
            sums.squares += squared_error * in_deviations(target).powi(2);
            let logs: Vec<f64> = each
                .clone()
                .map(|p| {
                    let value = target.near(value, distribution.mean(p));
                    distribution.log_likelihood(p, value, &mut slopes)
                })
                .collect();
            sums.log_likelihood += log_mean(&logs);
            let is_density = match distribution {
                Distribution::Normal { .. } | Distribution::Tailed { .. } => true,
                // At a bound there is a probability.
                Distribution::Cut { .. } => !distribution.is_at_bound(value),
                _ => false,
            };
            if is_density {
                sums.log_likelihood -= target.scale.scale.ln();
            }
            if let Some(likeliest) = likeliest(&distribution, &each) {
                sums.labels += 1.0;
                sums.other_labels += 1.0 - likeliest;
            }
            if let Some(deviation) = deviation_of_mixture(&distribution, each, &means, mean) {
                let half = match distribution {
                    Distribution::Rounded { half, .. } => half,
                    _ => 0.0,
                };
                sums.numbers += 1.0;
                sums.noisy += f64::from(u8::from(deviation > MIN_NOISE.max(half)));
                let inside = target.error(value, mean).abs() <= NORMAL_90 * deviation + half;
                sums.covered += f64::from(u8::from(inside));
            }
        }
        sums.change_squares = target.before.map(|_| change_squares);
        sums
    }

    fn add(&mut self, other: &Self) {
        self.elements += other.elements;
        self.squares += other.squares;
        self.change_squares = match (self.change_squares, other.change_squares) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        self.log_likelihood += other.log_likelihood;
        self.covered += other.covered;
        self.noisy += other.noisy;
        self.numbers += other.numbers;
        self.other_labels += other.other_labels;
        self.labels += other.labels;
    }

    fn score(&self, name: String, rows: usize) -> VariableScore {
        let count = rows.max(1) as f64 * self.elements.max(1.0);
        let square = self.squares / count;
        VariableScore {
            name,
            error: square.sqrt(),
            change_error: self.change_squares.map(|squares| (squares / count).sqrt()),
            explained: 1.0 - square,
            log_likelihood: self.log_likelihood / rows.max(1) as f64,
            coverage: (self.noisy > 0.5 * self.numbers).then(|| self.covered / self.numbers),
            chance: (self.labels > 0.0).then(|| self.other_labels / self.labels),
        }
    }
}

/// The squared error of the members' mean on the target's scale; for a category, 1 if it is wrong.
fn squared_error<'a>(
    target: &Target,
    each: &(impl Iterator<Item = &'a [f32]> + Clone),
    value: f64,
) -> f64 {
    if let Distribution::Categorical(labels) = target.head.distribution {
        let votes: Vec<f64> = each.clone().map(|p| target.head.distribution.mean(p)).collect();
        return f64::from(u8::from(most_frequent(&votes, labels) != value));
    }
    let expected = each.clone().map(|p| target.expected(p));
    let expected = side_by_side(target, expected);
    target.error(value, expected.iter().sum::<f64>() / expected.len() as f64).powi(2)
}

/// What the members expect, on a circle moved by whole periods to the first of them.
fn side_by_side(target: &Target, mut expected: impl Iterator<Item = f64>) -> Vec<f64> {
    let Some(first) = expected.next() else { return Vec::new() };
    std::iter::once(first).chain(expected.map(|other| target.near(other, first))).collect()
}

/// The target's scale in standard deviations of the variable; 1 for a category.
fn in_deviations(target: &Target) -> f64 {
    match target.head.distribution {
        Distribution::Categorical(_) => 1.0,
        _ => target.scale.scale / target.spread,
    }
}

/// The probability of the likeliest label under the mixture of the members' distributions; `None` for
/// numbers.
fn likeliest<'a>(
    distribution: &Distribution,
    each: &(impl Iterator<Item = &'a [f32]> + Clone),
) -> Option<f64> {
    let labels = match distribution {
        Distribution::Bernoulli => 2,
        Distribution::Categorical(labels) => *labels,
        _ => return None,
    };
    let members = each.clone().count().max(1) as f64;
    let of_label = |label: usize| {
        let chances = each.clone().filter_map(|p| distribution.chance(p, label as f64));
        chances.sum::<f64>() / members
    };
    Some((0..labels).map(of_label).fold(0.0, f64::max))
}

/// The standard deviation of the mixture of the members' distributions.
fn deviation_of_mixture<'a>(
    distribution: &Distribution,
    each: impl Iterator<Item = &'a [f32]>,
    means: &[f64],
    mean: f64,
) -> Option<f64> {
    let mut square = 0.0;
    for (parameters, own) in each.zip(means) {
        let deviation = distribution.deviation(parameters)?;
        square += deviation * deviation + (own - mean) * (own - mean);
    }
    Some((square / means.len() as f64).sqrt())
}

fn most_frequent(votes: &[f64], labels: usize) -> f64 {
    let count = |label: &usize| votes.iter().filter(|&&vote| vote == *label as f64).count();
    // The first one if several are equal.
    (0..labels).rev().max_by_key(count).unwrap_or(0) as f64
}

/// The logarithm of the mean of numbers, given their logarithms.
pub(super) fn log_mean(logs: &[f64]) -> f64 {
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return top;
    }
    top + (logs.iter().map(|log| (log - top).exp()).sum::<f64>() / logs.len() as f64).ln()
}

//! Measures which inputs a network uses, by the loss of likelihood without them.

use std::sync::Arc;

use becausal_core::Stream;
use becausal_nn::{Block, Distribution, Head};

use super::encoding::Encoding;
use super::inputs::{Encoded, Inputs};
use super::member::Member;
use super::structure::Structure;

/// Differences below this share of a variable's usual change do not count as an effect.
pub(super) const TOLERANCE: f64 = 0.02;

/// A mean loss below this, in nats per row, is negligible: an influence by effect of 0.1, which is
/// 1 - exp(-2 * 0.0527).
const NEGLIGIBLE_NATS: f64 = 0.0527;

/// A loss of a row above this, in nats, is large.
const LARGE_NATS: f64 = 1.0;

/// A parent matters in few rows if more rows have a large loss than a large gain, by at least this
/// many standard errors.
const MIN_STANDARD_ERRORS: f64 = 2.5;

/// Rows, and for each effect and each of its parents the same rows with that parent replaced.
///
/// A parent takes its value from another row with the same action. Its linear dependence on the
/// other parents is kept: only the residual of a regression on them is exchanged. So the network is
/// not evaluated in states far from its training data.
pub(super) struct Probe {
    encoding: Arc<Encoding>,
    rows: Encoded,
    replacements: Vec<Replacement>,
}

/// Other values of a parent of an effect.
struct Replacement {
    effect: usize,
    state: usize,
    /// Encoded as inputs: `[rows, features]`.
    values: Vec<f32>,
}

impl Probe {
    pub fn new(encoding: &Arc<Encoding>, structure: &Structure, rows: Encoded, seed: u64) -> Self {
        let order = within_actions(&rows.inputs, seed);
        let mut replacements = Vec::new();
        for effect in 0..structure.effects() {
            let parents = structure.state_parents(effect);
            for &state in parents {
                let values = exchange(encoding, &rows.inputs, state, parents, &order);
                replacements.push(Replacement { effect, state, values });
            }
        }
        Self { encoding: Arc::clone(encoding), rows, replacements }
    }

    /// The parents that do not matter to a network under an action: `[effects, distinct actions,
    /// states]`. `None` without a table of actions.
    ///
    /// A parent does not matter if its mean loss plus a standard error is below
    /// [`NEGLIGIBLE_NATS`], unless a few rows have a large loss. A discovered parent that matters
    /// under no action is kept under all actions: its influence is weak, but it exists.
    ///
    /// Parents that are tried in addition to discovered ones matter in few rows, otherwise
    /// discovery would have found them. The networks take time to learn them, so they are pruned
    /// only if `late`, and never if the effect is in doubt.
    pub fn prune(
        &self,
        member: &Member,
        structure: &Arc<Structure>,
        late: bool,
    ) -> Option<Arc<[bool]>> {
        let inputs = &self.rows.inputs;
        if !inputs.table {
            return None;
        }
        let (actions, states) = (inputs.actions.shape.rows, structure.states());
        let mut pruned = vec![false; structure.effects() * actions * states];
        for (at, losses) in self.losses(member, structure).iter().enumerate() {
            let (effect, state) = (at / states, at % states);
            let found = !structure.is_tried(effect, state);
            if !found && structure.is_widened(effect) && (!late || structure.is_in_doubt(effect)) {
                continue;
            }
            let negligible: Vec<bool> = (0..actions)
                .map(|action| {
                    let rows = losses.iter().zip(inputs.action_of.iter());
                    let losses = rows.filter(|(_, of)| **of as usize == action);
                    let losses: Vec<f64> = losses.map(|(loss, _)| *loss).collect();
                    upper_mean(&losses) < NEGLIGIBLE_NATS && !is_rare_but_strong(&losses)
                })
                .collect();
            if found && negligible.iter().all(|&negligible| negligible) {
                continue;
            }
            for (action, negligible) in negligible.into_iter().enumerate() {
                pruned[(effect * actions + action) * states + state] = negligible;
            }
        }
        Some(pruned.into())
    }

    /// The loss of log-likelihood of each row when a state is replaced: `[effects * states][rows]`,
    /// empty if the state is not a parent.
    pub fn losses(&self, member: &Member, structure: &Arc<Structure>) -> Vec<Vec<f64>> {
        let states = structure.states();
        let mut losses = vec![Vec::new(); structure.effects() * states];
        let complete = member.predict(&self.rows.inputs, structure);
        let mut inputs = self.rows.inputs.clone();
        for &Replacement { effect, state, ref values } in &self.replacements {
            self.set(&mut inputs, state, values);
            let without = member.predict(&inputs, structure);
            self.set(&mut inputs, state, self.rows.inputs.states.group(state));
            let of = |outputs: &Block| likelihoods(&self.encoding, &self.rows, effect, outputs);
            let each = of(&complete).into_iter().zip(of(&without));
            losses[effect * states + state] = each.map(|(with, without)| with - without).collect();
        }
        losses
    }

    /// Sets the values of a state variable.
    fn set(&self, inputs: &mut Inputs, state: usize, values: &[f32]) {
        inputs.states.group_mut(state).copy_from_slice(values);
        self.encoding.update_before(state, inputs);
    }
}

/// The log-likelihood of each row for an effect, given the outputs of a network. Differences below
/// [`TOLERANCE`] do not count.
pub(super) fn likelihoods(
    encoding: &Encoding,
    rows: &Encoded,
    effect: usize,
    outputs: &Block,
) -> Vec<f64> {
    let mut sums = vec![0.0; rows.inputs.rows()];
    let targets = encoding.targets().iter().enumerate();
    for (at, target) in targets.filter(|(_, target)| target.effect == effect) {
        for (row, (into, &value)) in sums.iter_mut().zip(rows.targets.group(at)).enumerate() {
            let parameters = target.head.parameters(outputs, row);
            *into += tolerant(&target.head, parameters, f64::from(value));
        }
    }
    sums
}

/// The mean plus a standard error; infinite for fewer than ten numbers.
fn upper_mean(numbers: &[f64]) -> f64 {
    let count = numbers.len() as f64;
    if numbers.len() < 10 {
        return f64::INFINITY;
    }
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean) * (number - mean)).sum();
    mean + (squares / (count * (count - 1.0))).sqrt()
}

/// Whether significantly more rows have a large loss than a large gain: a rule that applies in few
/// rows.
fn is_rare_but_strong(losses: &[f64]) -> bool {
    let worse = losses.iter().filter(|&&loss| loss > LARGE_NATS).count() as f64;
    let better = losses.iter().filter(|&&loss| loss < -LARGE_NATS).count() as f64;
    worse > 0.0 && worse - better > MIN_STANDARD_ERRORS * (worse + better).sqrt()
}

/// For each row, a random row with the same action.
fn within_actions(inputs: &Inputs, seed: u64) -> Vec<usize> {
    let mut stream = Stream::keyed(seed, &[2]);
    let mut order: Vec<usize> = (0..inputs.rows()).collect();
    let actions = if inputs.table { inputs.actions.shape.rows } else { 1 };
    for action in 0..actions {
        let rows: Vec<usize> = (0..inputs.rows())
            .filter(|&row| !inputs.table || inputs.action_of[row] as usize == action)
            .collect();
        for (at, other) in stream.permutation(rows.len()).into_iter().enumerate() {
            order[rows[at]] = rows[other];
        }
    }
    order
}

/// The values of a parent `[rows, features]`, with the residual of a regression on the other
/// parents taken from the rows of `order`.
fn exchange(
    encoding: &Encoding,
    inputs: &Inputs,
    state: usize,
    parents: &[usize],
    order: &[usize],
) -> Vec<f32> {
    let mut exchanged = inputs.states.group(state).to_vec();
    let rows = inputs.rows();
    let columns = inputs.states.shape.columns;
    // The features of the regression.
    let mut others = vec![vec![1.0; rows]];
    for &parent in parents.iter().filter(|&&parent| parent != state) {
        for column in 0..encoding.features_of(parent) {
            let feature: Vec<f64> =
                (0..rows).map(|row| f64::from(inputs.states.row(parent, row)[column])).collect();
            if feature.iter().any(|&value| value != feature[0]) {
                others.push(feature);
            }
        }
    }
    let numeric = encoding.is_number(state);
    for column in 0..encoding.features_of(state) {
        let own: Vec<f64> =
            (0..rows).map(|row| f64::from(inputs.states.row(state, row)[column])).collect();
        let predicted: Vec<f64> = if numeric && rows > 4 * others.len() {
            let coefficients = becausal_discovery::regress(&others, &own);
            (0..rows)
                .map(|row| others.iter().zip(&coefficients).map(|(f, c)| f[row] * c).sum())
                .collect()
        } else {
            vec![0.0; rows]
        };
        for row in 0..rows {
            let other = order[row];
            #[expect(clippy::cast_possible_truncation, reason = "networks are single precision")]
            let value = (predicted[row] + own[other] - predicted[other]) as f32;
            exchanged[row * columns + column] = value;
        }
    }
    exchanged
}

/// The log-likelihood of a value, with the standard deviation widened by [`TOLERANCE`].
fn tolerant(head: &Head, parameters: &[f32], value: f64) -> f64 {
    match head.distribution {
        Distribution::Normal { .. } => {
            let deviation = head.distribution.deviation(parameters).unwrap_or(1.0);
            let deviation = deviation.hypot(TOLERANCE);
            let z = (value - f64::from(parameters[0])) / deviation;
            -0.5 * z * z - deviation.ln()
        }
        distribution => {
            let mut slopes = vec![0.0; distribution.parameters()];
            distribution.log_likelihood(parameters, value, &mut slopes)
        }
    }
}

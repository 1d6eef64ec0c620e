//! What a network really uses: the likelihood that is lost without an input.

use std::sync::Arc;

use crate::nn::{Block, Distribution, Head};
use crate::random::Stream;

use super::encoding::Encoding;
use super::inputs::{Encoded, Inputs};
use super::member::Member;
use super::structure::Structure;

/// Differences below this share of a variable's usual change do not count as an effect.
pub(super) const TOLERANCE: f64 = 0.02;

/// Nats a row that are not worth a mention: an influence of 0.1 by effect, 1 - exp(-2 * 0.0527).
const NEGLIGIBLE: f64 = 0.0527;

/// Rows with, for each effect and each of its parents, the same rows with that parent replaced.
///
/// A parent takes the value it has in another row with the same action. If it went with the other
/// parents, it still does: what they say of it by a linear regression is kept and only the rest is
/// exchanged. A network is not asked about states far from all it has seen.
pub(super) struct Probe {
    rows: Encoded,
    heads: Vec<Head>,
    /// Effect, state, and the inputs with the state replaced.
    replaced: Vec<(usize, usize, Inputs)>,
}

impl Probe {
    pub fn new(encoding: &Encoding, structure: &Structure, rows: Encoded, seed: u64) -> Self {
        let order = within_actions(&rows.inputs, seed);
        let mut replaced = Vec::new();
        for effect in 0..structure.effects() {
            let parents = structure.state_parents(effect);
            for &state in parents {
                let inputs = replace(encoding, &rows.inputs, state, parents, &order);
                replaced.push((effect, state, inputs));
            }
        }
        let heads = encoding.targets().iter().map(|target| target.head).collect();
        Self { rows, heads, replaced }
    }

    /// The parents that do not matter to a network under an action: `[effects, distinct actions,
    /// states]`. `None` without a table of actions.
    ///
    /// The likelihood lost is below [`NEGLIGIBLE`], a standard error included. If the parents were
    /// `found` in the data, one that matters under no action is kept under all: it is weak, but there.
    pub fn prune(
        &self,
        member: &Member,
        structure: &Arc<Structure>,
        found: bool,
    ) -> Option<Arc<[bool]>> {
        let inputs = &self.rows.inputs;
        if !inputs.table {
            return None;
        }
        let (actions, states) = (inputs.actions.shape.rows, structure.states());
        let mut pruned = vec![false; structure.effects() * actions * states];
        for (at, lost) in self.lost(member, structure).iter().enumerate() {
            let (effect, state) = (at / states, at % states);
            let negligible: Vec<bool> = (0..actions)
                .map(|action| {
                    let rows = lost.iter().zip(inputs.action_of.iter());
                    let lost = rows.filter(|(_, of)| **of as usize == action);
                    largest_plausible_mean(lost.map(|(lost, _)| *lost)) < NEGLIGIBLE
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

    /// The log-likelihood that each row loses without a state: `[effects * states][rows]`, empty
    /// where the state is not a parent.
    pub fn lost(&self, member: &Member, structure: &Arc<Structure>) -> Vec<Vec<f64>> {
        let states = structure.states();
        let mut lost = vec![Vec::new(); structure.effects() * states];
        let complete = member.predict(&self.rows.inputs, structure);
        for (effect, state, inputs) in &self.replaced {
            let without = member.predict(inputs, structure);
            let with = self.likelihoods(*effect, &complete).into_iter();
            let each = with.zip(self.likelihoods(*effect, &without));
            lost[effect * states + state] = each.map(|(with, without)| with - without).collect();
        }
        lost
    }

    /// The log-likelihood of each row for an effect.
    fn likelihoods(&self, effect: usize, said: &Block) -> Vec<f64> {
        let mut rows = vec![0.0; self.rows.inputs.rows()];
        for (at, head) in self.heads.iter().enumerate().filter(|(_, head)| head.group == effect) {
            let seen = self.rows.targets.group(at);
            for (row, (into, &value)) in rows.iter_mut().zip(seen).enumerate() {
                *into += tolerant(head, head.parameters(said, row), f64::from(value));
            }
        }
        rows
    }
}

/// The mean and a standard error; infinite for fewer than ten numbers.
fn largest_plausible_mean(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = numbers.clone().count();
    if count < 10 {
        return f64::INFINITY;
    }
    let mean = numbers.clone().sum::<f64>() / count as f64;
    let squares: f64 = numbers.map(|number| (number - mean) * (number - mean)).sum();
    mean + (squares / (count as f64 * (count - 1) as f64)).sqrt()
}

/// For each row another one with the same action.
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

fn replace(
    encoding: &Encoding,
    inputs: &Inputs,
    state: usize,
    parents: &[usize],
    order: &[usize],
) -> Inputs {
    let mut replaced = inputs.clone();
    let rows = inputs.rows();
    let columns = inputs.states.shape.columns;
    // What the other parents say, to first order.
    let mut others = vec![vec![1.0; rows]];
    for &parent in parents.iter().filter(|&&parent| parent != state) {
        for column in 0..columns {
            let feature: Vec<f64> =
                (0..rows).map(|row| f64::from(inputs.states.row(parent, row)[column])).collect();
            if feature.iter().any(|&value| value != feature[0]) {
                others.push(feature);
            }
        }
    }
    let numeric = encoding.is_number(state);
    for column in 0..columns {
        let own: Vec<f64> =
            (0..rows).map(|row| f64::from(inputs.states.row(state, row)[column])).collect();
        let said: Vec<f64> = if numeric && rows > 4 * others.len() {
            let coefficients = super::regression::regress(&others, &own);
            (0..rows)
                .map(|row| others.iter().zip(&coefficients).map(|(f, c)| f[row] * c).sum())
                .collect()
        } else {
            vec![0.0; rows]
        };
        let group = replaced.states.group_mut(state);
        for row in 0..rows {
            let other = order[row];
            #[expect(clippy::cast_possible_truncation, reason = "networks are single precision")]
            let value = (said[row] + own[other] - said[other]) as f32;
            group[row * columns + column] = value;
        }
    }
    encoding.set_before(state, &mut replaced);
    replaced
}

/// The log-likelihood of a value with at least the tolerated deviation.
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

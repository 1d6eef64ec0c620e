//! Measures which inputs a network uses, by the loss of likelihood without them.

use std::collections::BTreeMap;
use std::f64::consts::LN_2;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use becausal_core::Stream;
use becausal_core::progress::{Listener, Tracker};
use becausal_nn::{Block, Distribution, Head, Pool, Tape};
use rayon::prelude::*;

use super::encoding::Encoding;
use super::inputs::{Encoded, Inputs};
use super::label_entropy::label_entropy;
use super::member::{Member, ModelKind};
use super::network::{self, CausalNetwork};
use super::structure::Structure;
use super::target::Target;

/// Differences below this share of a variable's usual change do not count as an effect.
pub(super) const TOLERANCE: f64 = 0.02;

/// A mean loss below this, in nats per row, is negligible: an influence by effect of 0.1, which is
/// 1 - exp(-2 * 0.0527). Of labels with less to know than a fair coin it is the same share.
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
///
/// A parent that is only tried keeps its dependence on the discovered parents alone. Otherwise of several
/// that carry the same information none would seem to matter, and all would be pruned.
pub(super) struct Probe {
    encoding: Arc<Encoding>,
    rows: Encoded,
    /// The number of pairs of an effect and a parent.
    pairs: usize,
    replacements: Vec<Replacement>,
    /// The mean loss, in nats per row, below which a parent does not matter: `[effects * distinct actions]`.
    negligible: Vec<f64>,
}

/// Other values of a parent, the same for all effects beside whose other parents it is replaced.
struct Replacement {
    state: usize,
    effects: Vec<usize>,
    /// Encoded as inputs: `[rows, features]`.
    values: Vec<f32>,
}

impl Probe {
    pub fn new(
        encoding: &Arc<Encoding>,
        structure: &Structure,
        rows: Encoded,
        seed: u64,
        kind: ModelKind,
        listener: &Listener,
    ) -> Self {
        let found_only = kind == ModelKind::Causal;
        let order = within_actions(&rows.inputs, seed);
        // Effects by the state that is replaced and the parents beside which it is.
        let mut alike: BTreeMap<(usize, Vec<usize>), Vec<usize>> = BTreeMap::new();
        for effect in 0..structure.effects() {
            for &state in structure.state_parents(effect) {
                let found_only = found_only && structure.is_tried(effect, state);
                let is_beside = |&parent: &usize| {
                    parent == state || !found_only || !structure.is_tried(effect, parent)
                };
                let parents = structure.state_parents(effect).iter().copied().filter(is_beside);
                alike.entry((state, parents.collect())).or_default().push(effect);
            }
        }
        let pairs = alike.values().map(Vec::len).sum();
        // One for effects alike: what is exchanged is computed once for all of them.
        let watch = Tracker::begin(listener, "prepare", "pairs", alike.len());
        let replacement = |((state, parents), effects): ((usize, Vec<usize>), Vec<usize>)| {
            let values = exchange(encoding, &rows.inputs, state, &parents, &order);
            watch.advance(1.0, "");
            Replacement { state, effects, values }
        };
        let alike: Vec<_> = alike.into_iter().collect();
        let replacements = alike.into_par_iter().map(replacement).collect();
        let actions = if rows.inputs.table { rows.inputs.actions.shape.rows } else { 1 };
        let negligible = (0..structure.effects() * actions).map(|at| {
            #[expect(clippy::cast_possible_truncation, reason = "few actions")]
            negligible(label_entropy(encoding, &rows, at / actions, (at % actions) as u32))
        });
        let negligible = negligible.collect();
        Self { encoding: Arc::clone(encoding), rows, pairs, replacements, negligible }
    }

    /// The parents that do not matter to a network under an action: `[effects, distinct actions,
    /// states]`. `None` without a table of actions.
    ///
    /// A parent does not matter if its mean loss plus a standard error is negligible, unless a few rows have a
    /// large loss. A discovered parent that matters
    /// under no action is kept under all actions: its influence is weak, but it exists.
    ///
    /// Parents that are tried in addition to discovered ones matter in few rows, otherwise
    /// discovery would have found them. The networks take time to learn them, so they are pruned
    /// only if `late`, and never if the effect is in doubt. `each` hears how many parents of how many
    /// were looked at.
    pub fn prune(
        &self,
        member: &Member,
        structure: &Arc<Structure>,
        late: bool,
        each: &(impl Fn(usize, usize) + Sync),
    ) -> Option<Arc<[bool]>> {
        let inputs = &self.rows.inputs;
        if !inputs.table {
            return None;
        }
        let (actions, states) = (inputs.actions.shape.rows, structure.states());
        let mut pruned = vec![false; structure.effects() * actions * states];
        for (at, losses) in self.losses(member, structure, each).iter().enumerate() {
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
                    let negligible = self.negligible[effect * actions + action];
                    upper_mean(&losses) < negligible && !is_rare_but_strong(&losses)
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
    pub fn losses(
        &self,
        member: &Member,
        structure: &Arc<Structure>,
        each: &(impl Fn(usize, usize) + Sync),
    ) -> Vec<Vec<f64>> {
        let states = structure.states();
        let mut losses = vec![Vec::new(); structure.effects() * states];
        let Some(network) = member.causal() else { return losses };
        let inputs = &self.rows.inputs;
        let complete = member.predict(inputs, structure);
        let mut tape = Tape::computing(&member.parameters, Pool::default());
        let common = network.common(&mut tape, inputs, structure, member.pruned.as_deref());
        let of_effect =
            |effect| likelihoods(&self.encoding, &self.rows, effect, (&complete, effect));
        let with: Vec<Vec<f64>> = (0..structure.effects()).map(of_effect).collect();
        let done = AtomicUsize::new(0);
        let rows = inputs.rows();
        let losses_of = |Replacement { state, effects, values }: &Replacement| {
            let parameters = &member.parameters;
            let encodings = network.encode(parameters, *state, values, rows);
            let loss_of = |&effect: &usize| -> (usize, Vec<f64>) {
                each(1 + done.fetch_add(1, Ordering::Relaxed), self.pairs);
                let at = effect * states + state;
                let reads =
                    |action: &u32| network.reads_under(&common.alpha, *action, (effect, *state));
                if !inputs.action_of.iter().any(reads) {
                    return (at, vec![0.0; rows]);
                }
                let place = |row| (row, row);
                let other =
                    network::Replacement { state: *state, encodings: &encodings, rows, place };
                let action_of = &inputs.action_of;
                let mut without =
                    network.with_other_state(parameters, &common, action_of, effect, &other);
                self.persist(network, &mut without, effect, (*state, values));
                let without = likelihoods(&self.encoding, &self.rows, effect, (&without, 0));
                let with = with[effect].iter();
                (at, with.zip(without).map(|(with, without)| with - without).collect())
            };
            effects.par_iter().map(loss_of).collect::<Vec<_>>()
        };
        let found: Vec<_> = self.replacements.par_iter().map(losses_of).collect();
        for (at, loss) in found.into_iter().flatten() {
            losses[at] = loss;
        }
        losses
    }

    /// Adds what the decoder starts from to the outputs `[1, rows, columns]` of an effect; the values of the replaced state
    /// are replaced there too.
    fn persist(
        &self,
        network: &CausalNetwork,
        outputs: &mut Block,
        effect: usize,
        (state, values): (usize, &[f32]),
    ) {
        let inputs = &self.rows.inputs;
        let columns = outputs.shape.columns;
        let features = inputs.states.shape.columns;
        let other =
            if state == effect { self.encoding.before_of(state, values) } else { Vec::new() };
        let targets = self.encoding.targets().iter().enumerate();
        for (at, target) in targets.filter(|(_, t)| t.effect == effect && t.before.is_some()) {
            let replaced = other.iter().find(|(target, _)| *target == at);
            let before = replaced.map_or(inputs.before.group(at), |(_, before)| &before[..]);
            for (row, before) in before.iter().enumerate() {
                let action = inputs.action_of[row] as usize;
                let standard = |other: usize| {
                    if other == state {
                        values[row * features]
                    } else {
                        inputs.states.row(other, row)[0]
                    }
                };
                let start = network.persistence().start(effect, action, *before, standard);
                outputs.values[row * columns + target.head.column] += start;
            }
        }
    }
}

/// The log-likelihood of each row for an effect, given the outputs of a network and the group of the
/// effect in them. Differences below [`TOLERANCE`] do not count.
pub(super) fn likelihoods(
    encoding: &Encoding,
    rows: &Encoded,
    effect: usize,
    (outputs, group): (&Block, usize),
) -> Vec<f64> {
    let mut sums = vec![0.0; rows.inputs.rows()];
    let targets = encoding.targets().iter().enumerate();
    for (at, target) in targets.filter(|(_, target)| target.effect == effect) {
        for (row, (into, &value)) in sums.iter_mut().zip(rows.targets.group(at)).enumerate() {
            let parameters = Head { group, ..target.head }.parameters(outputs, row);
            *into += tolerant(target, parameters, f64::from(value));
        }
    }
    sums
}

/// The mean loss below which a parent does not matter, given the entropy of an effect that is a label. Labels that do not
/// vary teach nothing either way.
fn negligible(entropy: Option<f64>) -> f64 {
    let share = entropy.filter(|&entropy| entropy > 0.0).map_or(1.0, |entropy| entropy / LN_2);
    NEGLIGIBLE_NATS * share.min(1.0)
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
    encoding.update_magnitudes(state, &mut exchanged);
    exchanged
}

/// The log-likelihood of a value, with the standard deviation widened by [`TOLERANCE`]; 0 for a value that is not to be
/// learned from (NaN).
fn tolerant(target: &Target, parameters: &[f32], value: f64) -> f64 {
    match target.head.distribution {
        _ if value.is_nan() => 0.0,
        distribution @ (Distribution::Normal { .. }
        | Distribution::Tailed { .. }
        | Distribution::Cut { .. }) => {
            let deviation = distribution.deviation(parameters).unwrap_or(1.0);
            let deviation = deviation.hypot(TOLERANCE);
            let z = target.error(value, distribution.mean(parameters)) / deviation;
            -0.5 * z * z - deviation.ln()
        }
        distribution => {
            let mut slopes = vec![0.0; distribution.parameters()];
            distribution.log_likelihood(parameters, value, &mut slopes)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use becausal_core::data::{Row, Transitions};
    use becausal_core::schema::Schema;

    use super::*;
    use crate::network::Sizes;
    use crate::persistence::Persistence;
    use crate::target::{Scale, layout};

    #[test]
    fn a_value_across_the_end_of_a_circle_is_as_likely_as_by_any_other_way_of_writing() {
        let text = "name = \"Dial\"\n[state]\nx = { kind = \"circular\", period = 36 }\n[action]\na = { kind = \"boolean\" }\n";
        let schema = Schema::parse(text).expect("a schema");
        let targets = layout(&schema, false, |_, _, _| (Scale { mean: 0.0, scale: 2.0 }, 1.0));
        let likely = |value: f64| tolerant(&targets[0], &[8.5, 0.0], value);
        assert!((likely(-8.5) - likely(9.5)).abs() < 1e-9);
        assert!(likely(-8.5) > likely(7.0));
    }

    /// A network computed effect by effect says what it says as a whole.
    #[test]
    fn replacing_a_state_by_itself_loses_nothing() {
        let text = "name = \"Kinds\"\n[state]\nx = { kind = \"continuous\" }\nn = { kind = \"integer\" }\n\
                    c = { kind = \"categorical\", labels = [\"r\", \"g\", \"b\"] }\n\
                    v = { kind = \"continuous\", size = 2 }\n[action]\na = { kind = \"boolean\" }\n\
                    [reward]\nr = \"x'\"\n";
        let mut data = Transitions::new(Arc::new(Schema::parse(text).expect("a schema")));
        let mut stream = Stream::new(3);
        for _ in 0..50 {
            let mut state = || {
                let (n, c) = (stream.below(5) as f64, stream.below(3) as f64);
                vec![stream.normal(), n, c, stream.normal(), stream.normal()]
            };
            let (before, after) = (state(), state());
            let action = [stream.below(2) as f64];
            let (outcomes, reward, terminated, truncated) = (&[][..], 0.0, false, false);
            let (state, action, next) = (&before[..], &action[..], &after[..]);
            data.push(&Row { state, action, outcomes, next, reward, terminated, truncated });
        }
        let (nobody, watch) = (Listener::NOBODY, Tracker::unheard());
        let encoding = Arc::new(Encoding::of(&data, false, &watch));
        let structure = Arc::new(Structure::full(data.schema()));
        let persistence = Persistence::of_all(4);
        let (kind, sizes) = (ModelKind::Causal, Sizes::default());
        let member = Member::new(kind, &encoding, &structure, &persistence, sizes, &mut stream);
        let rows = encoding.encode_all(&data, &watch);
        let mut probe = Probe::new(&encoding, &structure, rows, 1, kind, &nobody);
        let changed = probe.losses(&member, &structure, &|_, _| ());
        assert!(changed.iter().all(|losses| losses.iter().any(|loss| loss.abs() > 1e-4)));
        for Replacement { state, values, .. } in &mut probe.replacements {
            *values = probe.rows.inputs.states.group(*state).to_vec();
        }
        for losses in probe.losses(&member, &structure, &|_, _| ()) {
            assert!(
                losses.len() == 50 && losses.iter().all(|loss| loss.abs() < 1e-4),
                "{losses:?}"
            );
        }
    }
}

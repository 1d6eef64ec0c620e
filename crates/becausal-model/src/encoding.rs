//! Encodes values as inputs and targets of the networks: scaling, one-hot categories, changes.

use std::sync::Arc;

use becausal_core::data::Transitions;
use becausal_core::env::every_action;
use becausal_core::progress::Tracker;
use becausal_core::schema::{Circle, Kind, Role, Schema, Variable};
use becausal_nn::{Block, Head, Shape};

use super::cut::{Stop, bounds, is_cut, stops, stored_bounds, with_bounds, with_stored_bounds};
use super::inputs::{Encoded, Inputs};
use super::magnitude::Magnitude;
use super::staircase::Staircase;
use super::target::{Scale, Target, layout};
use super::turn::Turn;

/// Maximum number of distinct actions in the table. With more, the action is computed for each row.
const MAX_TABLE_ACTIONS: usize = 64;

/// The conversion between transitions and the blocks of numbers of the networks.
///
/// A *plain* one reads numbers as they are and predicts them as normal distributions, as the paper does; otherwise they
/// have [magnitudes](Magnitude) and [steps](Staircase) too, and distributions have tails.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoding {
    schema: Arc<Schema>,
    plain: bool,
    /// The scale of each state and action slot.
    inputs: Vec<Scale>,
    /// The magnitude of each state slot that is often at rest.
    magnitudes: Vec<Option<Magnitude>>,
    /// Evenly spaced quantiles of each state slot, ascending.
    seen: Vec<Vec<f64>>,
    targets: Vec<Target>,
    /// What is set where a number is cut.
    stops: Vec<Stop>,
}

/// The numbers of an encoding in a file.
pub struct Numbers {
    /// Whether it is plain.
    pub plain: bool,
    /// Mean and scale of each state and action slot.
    pub inputs: Vec<[f64; 2]>,
    /// The [magnitude](Magnitude) of each state slot, or nothing.
    pub magnitudes: Vec<Vec<f64>>,
    /// Quantiles of each state slot.
    pub seen: Vec<Vec<f64>>,
    /// Mean, scale and standard deviation of each target.
    pub targets: Vec<[f64; 3]>,
    /// The bounds at which each target is cut, on its scale: none or one below, none or one above. Empty if none is cut.
    pub cuts: Vec<[Vec<f64>; 2]>,
    /// What is [set](Stop) where a number is cut: the target that is cut, 1 for its upper bound, the target that is set, and its
    /// value.
    pub stops: Vec<[f64; 4]>,
}

impl Encoding {
    /// An encoding with the scales of these data.
    #[must_use]
    pub fn of(data: &Transitions, plain: bool, watch: &Tracker<'_>) -> Self {
        let schema = Arc::clone(data.schema());
        let (states, actions) = (schema.state_slots(), schema.action_slots());
        let column = |slot| data.column(slot).to_numbers();
        let mut inputs = Vec::new();
        let mut magnitudes = Vec::new();
        let mut seen = Vec::new();
        for slot in states.start..actions.end {
            let mut values = column(slot);
            inputs.push(match schema.variable_of(slot).kind {
                Kind::Continuous(_) | Kind::Integer(_) => spread(&values),
                Kind::Circular(circle) => {
                    let scale = spread_on(circle, &values);
                    for value in &mut values {
                        *value = circle.near(*value, scale.mean);
                    }
                    scale
                }
                Kind::Boolean | Kind::Categorical(_) => Scale { mean: 0.0, scale: 1.0 },
            });
            if states.contains(&slot) {
                let scale = inputs.last().map_or(1.0, |scale: &Scale| scale.scale);
                let is_continuous = matches!(schema.variable_of(slot).kind, Kind::Continuous(_));
                let magnitude = (is_continuous && !plain).then(|| Magnitude::of(&values, scale));
                magnitudes.push(magnitude.flatten());
                seen.push(quantiles(values));
            }
            watch.advance(data.len() as f64, "");
        }
        let scales = |slot: usize, before: Option<usize>, numeric: bool| {
            let values = column(slot);
            let kind = &schema.variable_of(slot).kind;
            let of_values = match kind.circle() {
                Some(circle) => spread_on(circle, &values),
                None => spread(&values),
            };
            watch.advance(data.len() as f64, "");
            let scale = match before {
                _ if !numeric => Scale { mean: 0.0, scale: 1.0 },
                Some(before) => {
                    let pairs = values.iter().zip(column(before));
                    let squares = pairs.map(|(now, before)| kind.difference(*now, before).powi(2));
                    let size = (squares.sum::<f64>() / values.len().max(1) as f64).sqrt();
                    let scale = if size > 0.0 { size } else { of_values.scale };
                    Scale { mean: inputs[before].mean, scale }
                }
                None => of_values,
            };
            (scale, of_values.scale)
        };
        let targets = layout(&schema, plain, scales);
        Self { schema, plain, inputs, magnitudes, seen, targets, stops: Vec::new() }
    }

    /// The same, with the bounds at which numbers are cut in these data.
    #[must_use]
    pub fn with_cuts(mut self, data: &Transitions) -> Self {
        let each: Vec<_> = self.targets.iter().map(|target| bounds(data, target)).collect();
        for (target, &bounds) in self.targets.iter_mut().zip(&each) {
            with_bounds(target, bounds);
        }
        self.stops = stops(data, &self.targets, &each);
        self
    }

    /// Sets what stops in the outputs `[effects, rows, columns]` of a network, where the number that it stops with is
    /// predicted beyond its bound.
    pub(super) fn apply_stops(&self, outputs: &mut Block) {
        self.stops.iter().for_each(|stop| stop.apply(&self.targets, outputs));
    }

    /// Makes the encoded values of what stops NaN, where it did: networks do not learn from them.
    pub(super) fn leave_out_stops(&self, values: &mut Block) {
        self.stops.iter().for_each(|stop| stop.leave_out(&self.targets, values));
    }

    /// Takes from these rows which values there are and how far they are spread. What networks read and predict stays as it
    /// is.
    pub fn describe(&mut self, data: &Transitions) {
        let other = Self::of(data, self.plain, &Tracker::unheard());
        let first = self.schema.state_slots().start;
        for (slot, seen) in other.seen.into_iter().enumerate() {
            // Values on a circle are put near the mean of the rows that were learned from.
            if self.schema.variable_of(first + slot).kind.circle().is_none() {
                self.seen[slot] = seen;
            }
        }
        for (target, other) in self.targets.iter_mut().zip(other.targets) {
            target.spread = other.spread;
        }
    }

    /// An encoding from the numbers in a file; `None` if their number does not match the schema, or they are
    /// invalid.
    #[must_use]
    pub fn from_numbers(schema: &Arc<Schema>, numbers: &Numbers) -> Option<Self> {
        let Numbers { plain, inputs, magnitudes, seen, targets, cuts, stops } = numbers;
        let (states, actions) = (schema.state_slots(), schema.action_slots());
        let outputs = schema.outcome_slots().len() + schema.next_slots().len();
        let complete = inputs.len() == actions.end
            && seen.len() == states.len()
            && magnitudes.len() == states.len();
        let sorted = |values: &Vec<f64>| !values.is_empty() && values.is_sorted();
        let scales = inputs.iter().map(|s| s[1]).chain(targets.iter().flat_map(|t| [t[1], t[2]]));
        let positive = scales.into_iter().all(|scale| scale.is_finite() && scale > 0.0);
        let means = inputs.iter().map(|s| s[0]).chain(targets.iter().map(|t| t[0]));
        let finite = means.chain(seen.iter().flatten().copied()).all(f64::is_finite);
        let sound = positive && finite && seen.iter().all(sorted);
        if !complete || targets.len() != outputs || !sound {
            return None;
        }
        let mut each = targets.iter();
        let mut targets = layout(schema, *plain, |_, _, _| {
            let [mean, scale, spread] = *each.next().expect("one entry per output");
            (Scale { mean, scale }, spread)
        });
        if !cuts.is_empty() && cuts.len() != targets.len() {
            return None;
        }
        for (target, cuts) in targets.iter_mut().zip(cuts) {
            with_stored_bounds(target, cuts)?;
        }
        let stop = |numbers: &[f64; 4]| Stop::from_numbers(*numbers, &targets);
        let stops = stops.iter().map(stop).collect::<Option<_>>()?;
        let inputs = inputs.iter().map(|&[mean, scale]| Scale { mean, scale }).collect();
        let magnitude = |(slot, numbers): (usize, &Vec<f64>)| {
            if numbers.is_empty() {
                return Some(None);
            }
            let is_continuous = matches!(schema.variable_of(slot).kind, Kind::Continuous(_));
            let found = Magnitude::from_numbers(numbers[..].try_into().ok()?)?;
            (is_continuous && !plain).then_some(Some(found))
        };
        let magnitudes = magnitudes.iter().enumerate().map(magnitude).collect::<Option<_>>()?;
        let (schema, seen) = (Arc::clone(schema), seen.clone());
        Some(Self { schema, plain: *plain, inputs, magnitudes, seen, targets, stops })
    }

    /// The numbers to store in a file; see [`from_numbers`](Self::from_numbers).
    #[must_use]
    pub fn to_numbers(&self) -> Numbers {
        let magnitude = |magnitude: &Option<Magnitude>| {
            magnitude.map_or_else(Vec::new, |magnitude| magnitude.to_numbers().to_vec())
        };
        Numbers {
            plain: self.plain,
            inputs: self.inputs.iter().map(|s| [s.mean, s.scale]).collect(),
            magnitudes: self.magnitudes.iter().map(magnitude).collect(),
            seen: self.seen.clone(),
            targets: (self.targets.iter())
                .map(|t| [t.scale.mean, t.scale.scale, t.spread])
                .collect(),
            cuts: if self.targets.iter().any(is_cut) {
                self.targets.iter().map(stored_bounds).collect()
            } else {
                Vec::new()
            },
            stops: self.stops.iter().map(|stop| stop.to_numbers()).collect(),
        }
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The elements of the output variables, effect by effect.
    #[must_use]
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The position of each target's distribution in the outputs.
    #[must_use]
    pub fn heads(&self) -> Arc<[Head]> {
        self.targets.iter().map(|target| target.head).collect()
    }

    /// The maximum number of network outputs per effect.
    #[must_use]
    pub fn output_columns(&self) -> usize {
        let end = |t: &Target| t.head.column + t.head.distribution.parameters();
        self.targets.iter().map(end).max().unwrap_or(1)
    }

    /// The number of features of the widest variable of a role.
    #[must_use]
    pub fn features(&self, role: Role) -> usize {
        let width = |(variable, first): (&Variable, usize)| {
            features(variable, self.plain) + self.magnitudes_of(variable, first).count()
        };
        self.variables(role).map(width).max().unwrap_or(1)
    }

    /// The number of features of a state variable that can be exchanged: its elements, two for each on a circle, or its
    /// labels. [Magnitudes](Self::update_magnitudes) come after them and follow from them.
    #[must_use]
    pub fn features_of(&self, state: usize) -> usize {
        let variable = self.schema.of_role(Role::State).nth(state);
        variable.map_or(0, |variable| features(variable, self.plain))
    }

    /// Computes the magnitudes among the features `[rows, features]` of a state variable from the others.
    pub fn update_magnitudes(&self, state: usize, features: &mut [f32]) {
        let columns = self.features(Role::State);
        let Some((variable, first)) = self.variables(Role::State).nth(state) else { return };
        for row in features.chunks_exact_mut(columns) {
            let (values, magnitudes) = row.split_at_mut(variable.elements());
            let of_elements = self.magnitudes_of(variable, first).zip(magnitudes);
            for ((element, magnitude), into) in of_elements {
                let scale = self.inputs[first + element];
                *into = magnitude.feature(scale.mean + scale.scale * f64::from(values[element]));
            }
        }
    }

    /// The elements of a variable that have a magnitude.
    fn magnitudes_of(
        &self,
        variable: &Variable,
        first: usize,
    ) -> impl Iterator<Item = (usize, Magnitude)> {
        let slots = first..first + variable.elements();
        let of_slot = |slot| self.magnitudes.get(slot).copied().flatten();
        slots.map(of_slot).enumerate().filter_map(|(at, magnitude)| Some((at, magnitude?)))
    }

    /// The variables of a role, each with its first slot.
    fn variables(&self, role: Role) -> impl Iterator<Item = (&Variable, usize)> {
        let first = match role {
            Role::State => self.schema.state_slots().start,
            _ => self.schema.action_slots().start,
        };
        self.schema.of_role(role).scan(first, |slot, variable| {
            *slot += variable.elements();
            Some((variable, *slot - variable.elements()))
        })
    }

    /// The scale of an input slot.
    #[must_use]
    pub fn input_scale(&self, slot: usize) -> Scale {
        self.inputs[slot]
    }

    /// A value of an input slot on a line: on a circle it is moved by whole periods to the data's mean.
    #[must_use]
    pub fn placed(&self, slot: usize, value: f64) -> f64 {
        let circle = self.schema.variable_of(slot).kind.circle();
        circle.map_or(value, |circle| circle.near(value, self.inputs[slot].mean))
    }

    /// The minimum and maximum of a state slot in the data, [placed](Self::placed) on a line.
    #[must_use]
    pub fn range(&self, slot: usize) -> (f64, f64) {
        let seen = &self.seen[slot];
        (seen[0], seen[seen.len() - 1])
    }

    /// One of `count` evenly spaced quantiles of a state slot.
    #[must_use]
    pub fn substitute(&self, slot: usize, at: usize, count: usize) -> f64 {
        let seen = &self.seen[slot];
        seen[(2 * at + 1) * seen.len() / (2 * count)]
    }

    /// Encodes rows. `value(row, slot)` returns the value of a state or action slot.
    #[must_use]
    pub fn inputs(&self, rows: usize, value: impl Fn(usize, usize) -> f64) -> Inputs {
        let states = self.encode(Role::State, rows, &value);
        let table = self.table_inputs();
        let is_table = table.is_some();
        let (actions, action_of): (Block, Arc<[u32]>) = if let Some(actions) = table {
            let of = |row| self.action_index(|slot| value(row, slot));
            (actions, (0..rows).map(of).collect())
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "batches are small")]
            let each = (0..rows).map(|row| row as u32).collect();
            (self.encode(Role::Action, rows, &value), each)
        };
        let mut before = Block::zeros(Shape::new(self.targets.len(), rows, 1));
        for (at, target) in self.targets.iter().enumerate() {
            let Some(slot) = target.before else { continue };
            for (row, into) in before.group_mut(at).iter_mut().enumerate() {
                *into = single(target.scale.apply(self.placed(slot, value(row, slot))));
            }
        }
        Inputs { states, actions, action_of, table: is_table, before }
    }

    /// Whether a state variable is a number on a line.
    #[must_use]
    pub fn is_number(&self, state: usize) -> bool {
        let variable = self.schema.of_role(Role::State).nth(state);
        variable.is_some_and(|v| matches!(v.kind, Kind::Continuous(_) | Kind::Integer(_)))
    }

    /// The values before the step, on the scale of the targets, from the features `[rows, features]` of a
    /// state variable: the target and its values, for each number among them.
    #[must_use]
    pub fn before_of(&self, state: usize, features: &[f32]) -> Vec<(usize, Vec<f32>)> {
        let columns = self.features(Role::State);
        let of_state = self.targets.iter().enumerate().filter(|(_, t)| t.effect == state);
        let before = |(element, (at, target)): (usize, (usize, &Target))| {
            let (from, to) = (self.inputs[target.before?], target.scale);
            let value = |row: &[f32]| match target.circle {
                Some(circle) => {
                    Turn { circle, scale: from }.value([row[2 * element], row[2 * element + 1]])
                }
                None => from.mean + from.scale * f64::from(row[element]),
            };
            let rows = features.chunks_exact(columns);
            Some((at, rows.map(|row| single(to.apply(value(row)))).collect()))
        };
        of_state.enumerate().filter_map(before).collect()
    }

    /// Encodes all rows of some transitions; `watch` hears of every value.
    #[must_use]
    pub fn encode_all(&self, data: &Transitions, watch: &Tracker<'_>) -> Encoded {
        let columns: Vec<Vec<f64>> =
            (0..self.schema.slots().len()).map(|slot| data.column(slot).to_numbers()).collect();
        let inputs = self.inputs(data.len(), |row, slot| columns[slot][row]);
        watch.advance((data.len() * self.schema.action_slots().end) as f64, "");
        let mut targets = Block::zeros(Shape::new(self.targets.len(), data.len(), 1));
        for (at, target) in self.targets.iter().enumerate() {
            let group = targets.group_mut(at);
            for (into, &value) in group.iter_mut().zip(&columns[target.slot]) {
                *into = single(target.scale.apply(value));
            }
            watch.advance(data.len() as f64, "");
        }
        Encoded { inputs, targets }
    }

    /// The value of a target from a number on its scale, without rounding or bounds.
    #[must_use]
    pub fn raw(&self, target: usize, number: f64) -> f64 {
        let scale = self.targets[target].scale;
        scale.mean + scale.scale * number
    }

    /// The value of a target from a number on its scale. Whole numbers are rounded, and the value
    /// is clamped to the bounds of the schema, or moved onto its circle.
    #[must_use]
    pub fn decode(&self, target: usize, number: f64) -> f64 {
        let value = self.raw(target, number);
        let (value, bounds) = match &self.schema.variable_of(self.targets[target].slot).kind {
            Kind::Integer(bounds) => (value.round(), bounds),
            Kind::Continuous(bounds) => (value, bounds),
            Kind::Circular(circle) => return circle.wrap(value),
            Kind::Boolean | Kind::Categorical(_) => return value,
        };
        let value = bounds.low.map_or(value, |low| value.max(low));
        bounds.high.map_or(value, |high| value.min(high))
    }

    /// A value of a target on the target's scale. On a circle it is moved by whole periods to what the
    /// parameters of its distribution expect.
    #[must_use]
    pub fn encode_target(&self, target: usize, value: f64, parameters: &[f32]) -> f64 {
        let target = &self.targets[target];
        target.near(target.scale.apply(value), target.head.distribution.mean(parameters))
    }

    /// All possible actions, if they are discrete and few.
    #[must_use]
    pub fn action_table(&self) -> Option<Vec<Vec<f64>>> {
        every_action(&self.schema, MAX_TABLE_ACTIONS)
    }

    /// The [table](Self::action_table) as inputs: `[actions, distinct actions, features]`.
    pub(super) fn table_inputs(&self) -> Option<Block> {
        let table = self.action_table()?;
        let first = self.schema.action_slots().start;
        Some(self.encode(Role::Action, table.len(), |row, slot| table[row][slot - first]))
    }

    /// For every row the index of its action in the [table](Self::action_table), if there is one.
    pub(super) fn actions_of(&self, data: &Transitions) -> Option<Vec<u32>> {
        self.action_table()?;
        let index = |row: usize| self.action_index(|slot| data.column(slot).get(row));
        Some((0..data.len()).map(index).collect())
    }

    /// The index of an action in the [table](Self::action_table).
    fn action_index(&self, value: impl Fn(usize) -> f64) -> u32 {
        self.schema.action_slots().fold(0, |index, slot| {
            let labels = match &self.schema.variable_of(slot).kind {
                Kind::Categorical(labels) => labels.len(),
                _ => 2,
            };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a label")]
            let (labels, label) = (labels as u32, value(slot).max(0.0) as u32);
            index * labels + label.min(labels - 1)
        })
    }

    /// `[variables of the role, rows, features]`
    fn encode(&self, role: Role, rows: usize, value: impl Fn(usize, usize) -> f64) -> Block {
        let columns = self.features(role);
        let variables = self.schema.of_role(role).count();
        let mut block = Block::zeros(Shape::new(variables, rows, columns));
        for (at, (variable, first)) in self.variables(role).enumerate() {
            for (row, into) in block.group_mut(at).chunks_exact_mut(columns).enumerate() {
                self.encode_variable(variable, first, |slot| value(row, slot), into);
            }
        }
        block
    }

    /// Encodes a variable of one row. `first` is its first slot; `into` must be all zero.
    fn encode_variable(
        &self,
        variable: &Variable,
        first: usize,
        value: impl Fn(usize) -> f64,
        into: &mut [f32],
    ) {
        for (element, slot) in (first..first + variable.elements()).enumerate() {
            let value = value(slot);
            if let Kind::Categorical(labels) = &variable.kind {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a label"
                )]
                let label = (value.max(0.0) as usize).min(labels.len() - 1);
                into[element * labels.len() + label] = 1.0;
                continue;
            }
            let scale = self.inputs[slot];
            if let Kind::Circular(circle) = variable.kind {
                let turn = Turn { circle, scale };
                into[2 * element..][..2].copy_from_slice(&turn.features(value));
                continue;
            }
            if let Some(staircase) = Staircase::of(variable).filter(|_| !self.plain) {
                let into = &mut into[element * (1 + Staircase::FEATURES)..];
                into[0] = single(scale.apply(value));
                staircase.features(value, &mut into[1..]);
                continue;
            }
            into[element] = single(scale.apply(value));
        }
        for (at, (element, magnitude)) in self.magnitudes_of(variable, first).enumerate() {
            into[variable.elements() + at] = magnitude.feature(value(first + element));
        }
    }
}

/// The number of features of a variable, without its magnitudes.
pub(super) fn features(variable: &Variable, plain: bool) -> usize {
    let each = match &variable.kind {
        Kind::Categorical(labels) => labels.len(),
        Kind::Circular(_) => 2,
        _ if !plain && Staircase::of(variable).is_some() => 1 + Staircase::FEATURES,
        _ => 1,
    };
    each * variable.elements()
}

pub(super) fn single(value: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "networks are single precision")]
    let value = value as f32;
    value
}

/// 33 evenly spaced quantiles of the values, ascending; empty without values.
fn quantiles(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    (0..=32).filter_map(|at| values.get(at * last / 32).copied()).collect()
}

/// The mean and the standard deviation of some values; 1 in place of a deviation of 0.
fn spread(values: &[f64]) -> Scale {
    let count = values.len().max(1) as f64;
    let origin = values.first().copied().unwrap_or(0.0);
    let mean = origin + values.iter().map(|value| value - origin).sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let deviation = (squares / count).sqrt();
    Scale { mean, scale: if deviation > 0.0 { deviation } else { 1.0 } }
}

/// The same on a circle.
fn spread_on(circle: Circle, values: &[f64]) -> Scale {
    let (mean, deviation) = circle.spread(values.iter().copied());
    Scale { mean, scale: if deviation > 0.0 { deviation } else { 1.0 } }
}

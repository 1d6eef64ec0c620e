//! The targets of the networks, and their scales.

use becausal_core::schema::{Circle, Kind, Role, Schema};
use becausal_nn::{Block, Distribution, Head};

use super::encoding::single;

/// The minimum standard deviation that a network can predict, in units of the target's scale.
const MIN_DEVIATION: f64 = 1e-3;

/// A standard deviation in whole numbers above which rounding does not change the mean.
const BROAD_DEVIATION: f64 = 2.0;

/// Standardises a number: (value - mean) / scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Subtracted first.
    pub mean: f64,
    /// The divisor; never 0.
    pub scale: f64,
}

impl Scale {
    pub(super) fn apply(self, value: f64) -> f64 {
        (value - self.mean) / self.scale
    }
}

/// An element of an output variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Its effect, which is also the group of the network's outputs.
    pub effect: usize,
    /// Its slot in a transition.
    pub slot: usize,
    /// For the next value of a number, the slot of the value before the step.
    pub before: Option<usize>,
    /// The circle of a circular variable. It is predicted on a line: what is predicted is moved onto the circle
    /// afterwards, and what is seen is moved to where it is nearest to what is predicted.
    pub circle: Option<Circle>,
    /// The scale: for a next state the root mean square of its *change*, for an outcome its
    /// standard deviation.
    pub scale: Scale,
    /// The standard deviation of the values themselves, for scores.
    pub spread: f64,
    /// The position of its distribution in the outputs.
    pub head: Head,
}

impl Target {
    /// How far a value is from another one, both on the target's scale; on a circle by the shortest way.
    pub(super) fn error(&self, value: f64, expected: f64) -> f64 {
        let difference = value - expected;
        self.circle.map_or(difference, |circle| {
            circle.difference(self.scale.scale * difference, 0.0) / self.scale.scale
        })
    }

    /// A value moved by whole periods to where it is nearest to what is expected, both on the target's scale.
    pub(super) fn near(&self, value: f64, expected: f64) -> f64 {
        let Some(circle) = self.circle else { return value };
        let period = circle.period / self.scale.scale;
        let turns = (value - expected) / period;
        // Most values are there already, and keep all their digits.
        if turns.abs() <= 0.5 { value } else { value - period * turns.round() }
    }

    /// The expected value on the target's scale; for a whole number, the expected value after
    /// rounding.
    ///
    /// With a small deviation, any mean near a whole number means that number with certainty.
    pub(super) fn expected(&self, parameters: &[f32]) -> f64 {
        let distribution = self.head.distribution;
        let mean = distribution.mean(parameters);
        let deviation = distribution.deviation(parameters).unwrap_or(0.0) * self.scale.scale;
        if !matches!(distribution, Distribution::Rounded { .. }) || deviation > BROAD_DEVIATION {
            return mean;
        }
        let middle = self.scale.mean + self.scale.scale * mean;
        let (mut sum, mut total) = (0.0, 0.0);
        let mut slopes = vec![0.0; distribution.parameters()];
        let mut whole = (middle - 5.0 * deviation).floor();
        while whole <= middle + 5.0 * deviation + 1.0 {
            let value = self.scale.apply(whole);
            let share = distribution.log_likelihood(parameters, value, &mut slopes).exp();
            sum += share * value;
            total += share;
            whole += 1.0;
        }
        if total > 0.0 { sum / total } else { mean }
    }
}

/// Moves the values `[targets, rows, 1]` of circular targets by whole periods to where they are nearest to
/// the outputs that predict them.
///
/// So the likelihood does not depend on how a value is written, whether or not the prediction begins at the
/// value before the step.
pub(super) fn place(targets: &[Target], outputs: &Block, values: &mut Block) {
    for (at, target) in targets.iter().enumerate().filter(|(_, target)| target.circle.is_some()) {
        for (row, value) in values.group_mut(at).iter_mut().enumerate() {
            let expected = target.head.distribution.mean(target.head.parameters(outputs, row));
            *value = single(target.near(f64::from(*value), expected));
        }
    }
}

/// The targets, effect by effect. `scale` returns the scale and the standard deviation of a slot,
/// given the slot of the value before and whether it is a number. See [`Encoding`](super::encoding::Encoding) for `plain`.
pub(super) fn layout(
    schema: &Schema,
    plain: bool,
    mut scale: impl FnMut(usize, Option<usize>, bool) -> (Scale, f64),
) -> Vec<Target> {
    let mut targets = Vec::new();
    let (mut next, mut outcome) = (schema.next_slots().start, schema.outcome_slots().start);
    let effects = schema.of_role(Role::State).chain(schema.of_role(Role::Outcome));
    for (effect, variable) in effects.enumerate() {
        let mut column = 0;
        for _ in 0..variable.elements() {
            let numeric = !variable.kind.is_label();
            let (slot, before) = if variable.role == Role::State {
                next += 1;
                let before = next - 1 - schema.next_slots().start + schema.state_slots().start;
                (next - 1, numeric.then_some(before))
            } else {
                outcome += 1;
                (outcome - 1, None)
            };
            let (scale, spread) = scale(slot, before, numeric);
            let distribution = match &variable.kind {
                Kind::Continuous(_) | Kind::Circular(_) if plain => {
                    Distribution::Normal { floor: MIN_DEVIATION }
                }
                Kind::Continuous(_) | Kind::Circular(_) => {
                    Distribution::Tailed { floor: MIN_DEVIATION }
                }
                Kind::Integer(_) => {
                    Distribution::Rounded { half: 0.5 / scale.scale, floor: MIN_DEVIATION }
                }
                Kind::Boolean => Distribution::Bernoulli,
                Kind::Categorical(labels) => Distribution::Categorical(labels.len()),
            };
            let head = Head { group: effect, column, distribution };
            column += distribution.parameters();
            let circle = variable.kind.circle();
            targets.push(Target { effect, slot, before, circle, scale, spread, head });
        }
    }
    targets
}

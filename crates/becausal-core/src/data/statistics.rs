//! How values are spread, and bringing them to one scale.

use super::column::Column;
use super::transitions::Transitions;
use crate::schema::Kind;

/// The spread of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Smallest value.
    pub minimum: f64,
    /// Largest value.
    pub maximum: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation (of the values themselves, divided by their number).
    pub deviation: f64,
}

impl Spread {
    /// The spread of a column, `None` when it has no rows.
    ///
    /// Two passes, so that a small spread around a large mean is not lost in rounding.
    #[must_use]
    pub fn of(column: &Column) -> Option<Self> {
        if column.is_empty() {
            return None;
        }
        let count = column.len() as f64;
        let mut spread =
            Self { minimum: f64::INFINITY, maximum: f64::NEG_INFINITY, mean: 0.0, deviation: 0.0 };
        // The first value is taken off before summing: a column of equal values has exactly
        // that value as its mean and no spread at all.
        let origin = column.get(0);
        for_each(column, |value| {
            spread.minimum = spread.minimum.min(value);
            spread.maximum = spread.maximum.max(value);
            spread.mean += value - origin;
        });
        spread.mean = origin + spread.mean / count;
        let mut squares = 0.0;
        for_each(column, |value| squares += (value - spread.mean) * (value - spread.mean));
        spread.deviation = (squares / count).sqrt();
        Some(spread)
    }

    /// Whether all values are the same.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.minimum == self.maximum
    }
}

fn for_each(column: &Column, mut work: impl FnMut(f64)) {
    let mut block = [0.0; 1024];
    let mut from = 0;
    while from < column.len() {
        let rows = block.len().min(column.len() - from);
        column.load(from, &mut block[..rows]);
        for &value in &block[..rows] {
            work(value);
        }
        from += rows;
    }
}

/// What brings each slot to mean 0 and deviation 1.
///
/// Booleans and categories are left as they are; so is a constant, but for its mean. A state and
/// its next value share one scale, that of the state before the step: differences keep their
/// meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct Standardisation {
    /// Taken off the values of each slot.
    pub mean: Vec<f64>,
    /// What they are divided by then; never 0.
    pub scale: Vec<f64>,
}

impl Standardisation {
    /// The standardisation of some transitions.
    #[must_use]
    pub fn of(transitions: &Transitions) -> Self {
        let schema = transitions.schema();
        let next = schema.next_slots();
        let mut mean = Vec::with_capacity(next.end);
        let mut scale = Vec::with_capacity(next.end);
        for slot in 0..next.start {
            let numeric =
                matches!(schema.variable_of(slot).kind, Kind::Continuous(_) | Kind::Integer(_));
            let spread = numeric.then(|| Spread::of(transitions.column(slot))).flatten();
            mean.push(spread.map_or(0.0, |spread| spread.mean));
            let deviation = spread.map_or(1.0, |spread| spread.deviation);
            scale.push(if deviation > 0.0 && deviation.is_finite() { deviation } else { 1.0 });
        }
        for state in schema.state_slots() {
            mean.push(mean[state]);
            scale.push(scale[state]);
        }
        Self { mean, scale }
    }

    /// The standardised form of a slot's value.
    #[must_use]
    pub fn apply(&self, slot: usize, value: f64) -> f64 {
        (value - self.mean[slot]) / self.scale[slot]
    }

    /// The value whose standardised form this is.
    #[must_use]
    pub fn undo(&self, slot: usize, standardised: f64) -> f64 {
        standardised * self.scale[slot] + self.mean[slot]
    }
}

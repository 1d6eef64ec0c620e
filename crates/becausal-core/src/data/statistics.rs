//! Summary statistics of a column.

use super::column::Column;
use crate::schema::Circle;

/// Range, mean and standard deviation of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Smallest value.
    pub minimum: f64,
    /// Largest value.
    pub maximum: f64,
    /// Mean.
    pub mean: f64,
    /// Population standard deviation (divided by n, not n - 1).
    pub deviation: f64,
}

impl Spread {
    /// The statistics of a column; `None` if it has no rows.
    ///
    /// It takes two passes, so that rounding does not hide a small deviation around a large mean.
    #[must_use]
    pub fn of(column: &Column) -> Option<Self> {
        if column.is_empty() {
            return None;
        }
        let count = column.len() as f64;
        let mut spread =
            Self { minimum: f64::INFINITY, maximum: f64::NEG_INFINITY, mean: 0.0, deviation: 0.0 };
        // The first value is subtracted before summing, so that the mean of equal values is exactly
        // that value and their deviation is 0.
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

    /// The same for values on a circle, as they are written: the mean is their direction, and the deviation is
    /// measured along the circle.
    #[must_use]
    pub fn on_circle(column: &Column, circle: Circle) -> Option<Self> {
        let values: Vec<f64> =
            column.to_numbers().into_iter().map(|value| circle.wrap(value)).collect();
        let (mean, deviation) = circle.spread(values.iter().copied());
        Some(Self { mean, deviation, ..Self::of(&Column::Numbers(values))? })
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

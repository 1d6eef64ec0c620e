//! A function of one column. Features are products of these.

use super::frame::Series;

/// Values are clipped to this many standard deviations from the mean before they are squared or
/// multiplied.
const CLIP_DEVIATIONS: f64 = 6.0;

/// A function of one column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Linear,
    /// Linear, with clipped values.
    Clipped,
    Square,
    Cube,
    Absolute,
    Indicator(f64),
    /// Whether the value exceeds a threshold.
    Above(f64),
    /// Waves with this many half periods between the mean and three standard deviations from it.
    Sine(u8),
    Cosine(u8),
}

/// A column and a function of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Atom {
    /// The input that the column belongs to.
    pub input: usize,
    pub column: usize,
    pub shape: Shape,
}

/// The role of an atom in products.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    Gate,
    Number,
    Square,
    Cube,
    Step,
    Other,
}

impl Atom {
    /// Writes its values for some rows of its column.
    pub(super) fn write(&self, series: &Series, rows: &[u32], into: &mut [f64]) {
        let (mean, factor) = (series.mean, 1.0 / series.scale);
        let plain = |value: f64| (value - mean) * factor;
        let clipped = |value: f64| plain(value).clamp(-CLIP_DEVIATIONS, CLIP_DEVIATIONS);
        match self.shape {
            Shape::Linear => sweep(series, rows, into, plain),
            Shape::Clipped => sweep(series, rows, into, clipped),
            Shape::Square => sweep(series, rows, into, |value| {
                let value = clipped(value);
                value * value
            }),
            Shape::Cube => sweep(series, rows, into, |value| {
                let value = clipped(value);
                value * value * value
            }),
            // Around zero, where dynamics have their kinks, not around the mean.
            Shape::Absolute => {
                sweep(series, rows, into, |value| (value * factor).abs());
            }
            Shape::Indicator(code) => {
                sweep(series, rows, into, |value| f64::from(u8::from(value == code)));
            }
            Shape::Above(threshold) => {
                sweep(series, rows, into, |value| f64::from(u8::from(value > threshold)));
            }
            Shape::Sine(half) => {
                sweep(series, rows, into, |value| (clipped(value) * angle(half)).sin());
            }
            Shape::Cosine(half) => {
                sweep(series, rows, into, |value| (clipped(value) * angle(half)).cos());
            }
        }
    }
}

/// The thresholds tried for a column: zero and the 1, 10, 50, 90 and 99 % quantiles.
pub(super) fn thresholds(values: &[f64]) -> Vec<f64> {
    let step = values.len().div_ceil(50_000).max(1);
    let mut sorted: Vec<f64> = values.iter().copied().step_by(step).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let quantile = |percent: usize| sorted[(sorted.len() - 1) * percent / 100];
    let mut thresholds: Vec<f64> = [1, 10, 50, 90, 99].map(quantile).into();
    thresholds.push(0.0);
    let (low, high) = (quantile(0), quantile(100));
    thresholds.retain(|&threshold| threshold >= low && threshold < high);
    thresholds.sort_unstable_by(f64::total_cmp);
    thresholds.dedup();
    thresholds
}

/// The angle in a wave for each standard deviation from the mean.
fn angle(half: u8) -> f64 {
    f64::from(half) * std::f64::consts::PI / 3.0
}

/// Writes a function of a column's values for some rows.
fn sweep(series: &Series, rows: &[u32], into: &mut [f64], value: impl Fn(f64) -> f64) {
    for (into, &row) in into.iter_mut().zip(rows) {
        *into = value(series.values[row as usize]);
    }
}

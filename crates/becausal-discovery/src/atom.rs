//! A function of one column, of whose products features are made.

use super::frame::Series;

/// Standardised values beyond this are cut off before they are squared or multiplied.
const CUT: f64 = 6.0;

/// A function of one column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Linear,
    Cut,
    Square,
    Cube,
    Absolute,
    Indicator(f64),
    /// Whether the value exceeds a threshold.
    Above(f64),
    /// Waves that fit so many half times between three deviations on either side of the mean.
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

/// How an atom takes part in products.
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
    /// Writes its values in some rows of its column.
    pub(super) fn write(&self, series: &Series, rows: &[u32], into: &mut [f64]) {
        let (mean, factor) = (series.mean, 1.0 / series.scale);
        let plain = |value: f64| (value - mean) * factor;
        let cut = |value: f64| plain(value).clamp(-CUT, CUT);
        match self.shape {
            Shape::Linear => sweep(series, rows, into, plain),
            Shape::Cut => sweep(series, rows, into, cut),
            Shape::Square => sweep(series, rows, into, |value| {
                let value = cut(value);
                value * value
            }),
            Shape::Cube => sweep(series, rows, into, |value| {
                let value = cut(value);
                value * value * value
            }),
            // Around zero itself, where dynamics have their kinks, not around the mean.
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
                sweep(series, rows, into, |value| (cut(value) * angle(half)).sin());
            }
            Shape::Cosine(half) => {
                sweep(series, rows, into, |value| (cut(value) * angle(half)).cos());
            }
        }
    }
}

/// Where steps of a column are tried: zero, the median, and towards both ends.
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

/// The angle that a deviation from the mean is, in a wave.
fn angle(half: u8) -> f64 {
    f64::from(half) * std::f64::consts::PI / 3.0
}

/// Writes a function of a column's values in some rows.
fn sweep(series: &Series, rows: &[u32], into: &mut [f64], value: impl Fn(f64) -> f64) {
    for (into, &row) in into.iter_mut().zip(rows) {
        *into = value(series.values[row as usize]);
    }
}

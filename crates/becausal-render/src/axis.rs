//! Axes: evenly spaced round numbers, with just enough digits.

/// A linear scale from values to positions, with its ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The values at both ends.
    pub range: (f64, f64),
    /// The positions of both ends.
    pub places: (f64, f64),
    /// The values of the ticks and their labels.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis for values from `low` to `high` with about `count` ticks. With `round_ends` the axis
    /// extends to the next tick at both ends; otherwise it ends at the values.
    #[must_use]
    pub fn new(low: f64, high: f64, count: usize, places: (f64, f64), round_ends: bool) -> Self {
        let (low, high) = if low == high {
            let around = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
            (low - around, high + around)
        } else {
            (low, high)
        };
        let step = round_step((high - low) / count.max(1) as f64);
        let range = if round_ends {
            ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step)
        } else {
            (low, high)
        };
        let (first, last) = ((range.0 / step - 1e-9).ceil(), (range.1 / step + 1e-9).floor());
        let mut ticks = Vec::new();
        let mut index = first;
        while index <= last && ticks.len() < 100 {
            let value = index * step;
            ticks.push((value, tick_label(value, step)));
            index += 1.0;
        }
        Self { range, places, ticks }
    }

    /// The position of a value.
    #[must_use]
    pub fn place(&self, value: f64) -> f64 {
        let share = (value - self.range.0) / (self.range.1 - self.range.0);
        self.places.0 + (self.places.1 - self.places.0) * share
    }
}

/// The smallest of 1, 2, 5, 10, … that is not below `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let rounded = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough * 0.999_999);
    rounded.unwrap_or(10.0) * power
}

/// The label of a tick, with the digits that the step needs; thousands as `k`, millions as `M`.
fn tick_label(value: f64, step: f64) -> String {
    let value = if value.abs() < step * 1e-6 { 0.0 } else { value };
    if !(1e-4..1e9).contains(&step) {
        return if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") };
    }
    let (value, step, unit) = match step {
        large if large >= 1e6 || (large >= 5e5 && value != 0.0) => (value / 1e6, step / 1e6, "M"),
        large if large >= 1e3 => (value / 1e3, step / 1e3, "k"),
        _ => (value, step, ""),
    };
    let unit = if value == 0.0 { "" } else { unit };
    let decimals = (0..6).find(|&digits| {
        let scaled = step * 10_f64.powi(digits);
        (scaled - scaled.round()).abs() < 1e-6
    });
    let decimals = usize::try_from(decimals.unwrap_or(6)).unwrap_or(0);
    let text = format!("{value:.decimals$}{unit}");
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        Axis::new(low, high, 5, (0.0, 1.0), true).ticks.into_iter().map(|tick| tick.1).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-180.0, 260.0), ["−200", "−100", "0", "100", "200", "300"]);
        assert_eq!(labels(0.0, 240_000.0), ["0", "50k", "100k", "150k", "200k", "250k"]);
        assert_eq!(labels(3.0, 3.0).len(), 5);
    }

    #[test]
    fn places_follow_values() {
        let axis = Axis::new(0.0, 10.0, 5, (100.0, 0.0), true);
        assert_eq!((axis.place(0.0), axis.place(10.0)), (100.0, 0.0));
    }
}

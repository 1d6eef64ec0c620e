//! The circle on which the values of a circular variable lie.

use std::f64::consts::TAU;

/// A circle: values that are a whole number of periods apart are the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circle {
    /// A full turn, positive: 2 pi for an angle in radians, 24 for an hour of the day.
    pub period: f64,
    /// The smallest number that a value is written as; the largest is just below `low + period`.
    pub low: f64,
}

impl Default for Circle {
    /// An angle in radians, from -pi to pi.
    fn default() -> Self {
        Self::centred(TAU)
    }
}

impl Circle {
    /// A circle whose values are written around 0.
    #[must_use]
    pub fn centred(period: f64) -> Self {
        Self { period, low: -period / 2.0 }
    }

    /// The number that a value is written as: from `low` to just below `low + period`; NaN for what is not finite.
    #[must_use]
    pub fn wrap(&self, value: f64) -> f64 {
        let end = self.low + self.period;
        // Most values are there already, and keep all their digits.
        if (self.low..end).contains(&value) {
            return value;
        }
        let wrapped = self.low + (value - self.low).rem_euclid(self.period);
        // Rounding may end a period too far. What is not finite stays so: it lies nowhere on the circle.
        if wrapped >= end { self.low } else { wrapped }
    }

    /// The shortest way from `right` to `left`, between minus and plus half a period.
    #[must_use]
    pub fn difference(&self, left: f64, right: f64) -> f64 {
        let difference = left - right;
        if difference.abs() <= self.period / 2.0 {
            return difference;
        }
        difference - self.period * (difference / self.period).round()
    }

    /// The value, moved by whole periods to where it is nearest to another one.
    #[must_use]
    pub fn near(&self, value: f64, other: f64) -> f64 {
        other + self.difference(value, other)
    }

    /// The angle of a value in radians, counted from `origin`.
    #[must_use]
    pub fn angle(&self, value: f64, origin: f64) -> f64 {
        TAU / self.period * self.difference(value, origin)
    }

    /// The direction in which values lie on average, and the root mean square of their shortest ways from
    /// there. Values on a part of the circle have the mean and the standard deviation that numbers have.
    #[must_use]
    pub fn spread(&self, values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
        let (mut sine, mut cosine, mut count) = (0.0, 0.0, 0.0_f64);
        for value in values.clone() {
            let angle = self.angle(value, 0.0);
            sine += angle.sin();
            cosine += angle.cos();
            count += 1.0;
        }
        let count = count.max(1.0);
        let direction = sine.atan2(cosine) / TAU * self.period;
        // The direction minimises no squares: what is left of the mean is added to it.
        let ways = values.map(|value| self.difference(value, direction));
        let rest = ways.clone().sum::<f64>() / count;
        let squares: f64 = ways.map(|way| (way - rest) * (way - rest)).sum();
        (self.wrap(direction + rest), (squares / count).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn the_two_ends_are_the_same_value() {
        let circle = Circle::default();
        assert_eq!(circle.wrap(PI), -PI);
        assert_eq!(circle.wrap(3.0 * PI), -PI);
        assert_eq!(circle.wrap(0.3), 0.3);
        assert_eq!(circle.difference(PI, -PI), 0.0);
        let hours = Circle { period: 24.0, low: 0.0 };
        assert_eq!(hours.wrap(24.0), 0.0);
        assert_eq!(hours.wrap(-1.0), 23.0);
        assert_eq!(hours.wrap(-1e-20), 0.0, "not 24");
        assert_eq!(hours.difference(1.0, 23.0), 2.0);
        assert_eq!(hours.difference(23.0, 1.0), -2.0);
        assert_eq!(hours.near(23.5, 1.0), -0.5);
    }

    #[test]
    fn what_is_not_finite_is_nowhere_on_the_circle() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!Circle::default().wrap(value).is_finite(), "{value}");
        }
    }

    #[test]
    fn the_spread_of_a_part_of_the_circle_is_that_of_numbers() {
        let hours = Circle { period: 24.0, low: 0.0 };
        let (mean, deviation) = hours.spread([22.0, 23.0, 1.0, 2.0].into_iter());
        assert!((mean < 1e-9 || 24.0 - mean < 1e-9) && (deviation - 2.5_f64.sqrt()).abs() < 1e-9);
        let (mean, deviation) = hours.spread([7.0, 7.0].into_iter());
        assert!((mean - 7.0).abs() < 1e-12 && deviation < 1e-12, "{mean} {deviation}");
        let (_, deviation) = hours.spread((0..24).map(f64::from));
        assert!((deviation - 24.0 / 12.0_f64.sqrt()).abs() < 0.1, "{deviation}");
    }
}

//! The order of magnitude of a number that is often at rest.
//!
//! A lander that stands still has velocities of 1e-8, one that was pushed a moment ago of 1e-3: the first is about to be
//! switched off, the second is not. Divided by their standard deviation both are 0 to a network. So the logarithm of a
//! number's size is a feature of its own where the number is at rest, near 0, unusually often.

use super::encoding::single;
use super::target::Scale;

/// What is at rest: a size below this share of the standard deviation.
const REST: f64 = 1e-3;

/// The share of the rows at rest from which on the magnitude is a feature. Of a normal distribution 0.08 % are there.
const MIN_RESTING: f64 = 0.02;

/// The smallest size that is told from 0, as a share of the standard deviation: near the precision of 32-bit numbers.
const SMALLEST: f64 = 1e-6;

/// The feature log(1 + |value| / smallest), standardised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Magnitude {
    /// The smallest size, in the variable's unit.
    smallest: f64,
    /// Mean and standard deviation of the logarithm.
    scale: Scale,
}

impl Magnitude {
    /// The magnitude of a number with these values and this standard deviation, if it is often at rest.
    pub fn of(values: &[f64], deviation: f64) -> Option<Self> {
        let resting = values.iter().filter(|value| value.abs() < REST * deviation).count() as f64;
        let moves = values.iter().any(|value| value.abs() >= REST * deviation);
        if !moves || resting < MIN_RESTING * values.len() as f64 {
            return None;
        }
        let smallest = SMALLEST * deviation;
        let count = values.len() as f64;
        let raw = |value: &f64| logarithm(*value, smallest);
        let mean = values.iter().map(raw).sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (raw(value) - mean).powi(2)).sum();
        Self::from_numbers([smallest, mean, (squares / count).sqrt()])
    }

    /// The same from the numbers in a file; `None` if they are none.
    pub fn from_numbers([smallest, mean, scale]: [f64; 3]) -> Option<Self> {
        let positive = |number: f64| number.is_finite() && number > 0.0;
        (positive(smallest) && positive(scale) && mean.is_finite())
            .then_some(Self { smallest, scale: Scale { mean, scale } })
    }

    /// The numbers to store in a file.
    pub fn to_numbers(self) -> [f64; 3] {
        [self.smallest, self.scale.mean, self.scale.scale]
    }

    pub fn feature(self, value: f64) -> f32 {
        single(self.scale.apply(logarithm(value, self.smallest)))
    }
}

fn logarithm(value: f64, smallest: f64) -> f64 {
    (value.abs() / smallest).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_that_is_often_at_rest_has_a_magnitude() {
        let moving: Vec<f64> = (0..1000).map(|at| f64::from(at) / 500.0 - 1.0).collect();
        assert_eq!(Magnitude::of(&moving, 0.58), None);
        assert_eq!(Magnitude::of(&[0.0; 100], 1.0), None, "a constant");
        let landed: Vec<f64> = moving.iter().chain(&[1e-8; 100]).copied().collect();
        let magnitude = Magnitude::of(&landed, 0.55).expect("one in eleven is at rest");
        // A push of a hundredth of a percent is far from rest, in either direction.
        let [rest, pushed, back] = [1e-8, 1e-4, -1e-4].map(|value| magnitude.feature(value));
        assert!(pushed > rest + 1.0 && pushed == back, "{rest} {pushed} {back}");
        assert_eq!(Magnitude::from_numbers(magnitude.to_numbers()), Some(magnitude));
        assert_eq!(Magnitude::from_numbers([0.0, 1.0, 1.0]), None);
    }
}

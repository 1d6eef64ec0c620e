//! The features of a value on a circle: its sine and its cosine.

use std::f64::consts::{SQRT_2, TAU};

use becausal_core::schema::Circle;

use super::encoding::single;
use super::target::Scale;

/// Encodes the values of a circular variable, counted from the data's mean direction.
///
/// Sine and cosine are standardised by the moments of a normal distribution wrapped around the circle, so an angle that
/// stays within a few degrees is seen as finely as a number would be.
pub(super) struct Turn {
    pub circle: Circle,
    /// Mean direction and deviation along the circle, in the variable's unit.
    pub scale: Scale,
}

impl Turn {
    /// Sine and cosine, standardised.
    pub(super) fn features(&self, value: f64) -> [f32; 2] {
        let angle = self.circle.angle(value, self.scale.mean);
        let [sine, cosine] = self.deviations();
        // cos(angle) - exp(-variance / 2), without losing the digits of small angles.
        let half = (angle / 2.0).sin();
        let raised = -2.0 * half * half - (-self.variance() / 2.0).exp_m1();
        [single(angle.sin() / sine), single(raised / cosine)]
    }

    /// The value that has these features, or the nearest direction to them.
    pub(super) fn value(&self, [sine, cosine]: [f32; 2]) -> f64 {
        let [by_sine, by_cosine] = self.deviations();
        let middle = (-self.variance() / 2.0).exp();
        let sine = f64::from(sine) * by_sine;
        let cosine = f64::from(cosine) * by_cosine + middle;
        self.scale.mean + sine.atan2(cosine) / TAU * self.circle.period
    }

    /// In radians, squared.
    fn variance(&self) -> f64 {
        (TAU / self.circle.period * self.scale.scale).powi(2)
    }

    /// The standard deviations of sine and cosine.
    fn deviations(&self) -> [f64; 2] {
        let variance = self.variance();
        [(-(-2.0 * variance).exp_m1() / 2.0).sqrt(), -(-variance).exp_m1() / SQRT_2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_standardised_and_lead_back_to_the_value() {
        let circle = Circle { period: 24.0, low: 0.0 };
        for deviation in [0.01, 1.0, 7.0] {
            let turn = Turn { circle, scale: Scale { mean: 23.0, scale: deviation } };
            for steps in -4..=4 {
                let value = 23.0 + f64::from(steps) * deviation / 3.0;
                let features = turn.features(value);
                assert!(features.iter().all(|feature| feature.abs() < 3.0), "{features:?}");
                let error = circle.difference(turn.value(features), value);
                assert!(error.abs() < 1e-3 * deviation, "{value}: {error}");
            }
            assert_eq!(turn.features(1.0), turn.features(25.0));
        }
    }
}

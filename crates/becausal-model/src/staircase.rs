//! The steps of a throttle.
//!
//! Many devices have a threshold: a lander's main engine runs when its throttle is above 0, a side engine beyond one half. A
//! smooth network makes a slope of such a jump, and is wrong exactly where people ask: at 0, "engine off". So an
//! action that is a number with bounds is also given as the steps of its range that it is above.

use becausal_core::schema::{Kind, Role, Variable};

use super::encoding::single;

/// Steps of a range. Eighths hold the thresholds that people choose most: the middle, quarters of the range, and eighths.
const STEPS: usize = 8;

/// The bounds of an action that is a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Staircase {
    low: f64,
    high: f64,
}

impl Staircase {
    /// The features of each value: one for every step but the lowest.
    pub const FEATURES: usize = STEPS - 1;

    /// The staircase of a variable; `None` if it is no action, or no continuous number with bounds.
    pub fn of(variable: &Variable) -> Option<Self> {
        match &variable.kind {
            Kind::Continuous(bounds) if variable.role == Role::Action => {
                Some(Self { low: bounds.low?, high: bounds.high? })
            }
            _ => None,
        }
    }

    /// 1 for every step that the value is above, 0 for the others.
    pub fn features(self, value: f64, into: &mut [f32]) {
        for (at, into) in into.iter_mut().take(Self::FEATURES).enumerate() {
            let share = (at + 1) as f64 / STEPS as f64;
            *into = single(f64::from(u8::from(value > self.low + (self.high - self.low) * share)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_lies_above_its_own_value() {
        let throttle = Staircase { low: -1.0, high: 1.0 };
        let above = |value: f64| {
            let mut features = [0.0; Staircase::FEATURES];
            throttle.features(value, &mut features);
            features.iter().filter(|&&feature| feature == 1.0).count()
        };
        assert_eq!(
            [-1.0, -0.75, -0.7, 0.0, 1e-9, 0.5, 0.51, 1.0].map(above),
            [0, 0, 1, 3, 4, 5, 6, 7]
        );
    }
}

//! What the model alone says of a contrast whose other course was tried in the environment, and what is wrong about it.

use super::contrast::Contrast;

/// What the model alone says, where the other course was tried in the environment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// How much more reward the action taken earns.
    pub difference: f64,
    /// The interval that holds it in nine of ten cases.
    pub interval: Option<[f64; 2]>,
    /// Over how many steps.
    pub steps: usize,
    /// How much more reward it earns over the steps of the chain.
    pub of_chain: f64,
}

/// What is wrong about a reward difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// The other course earns more.
    Sign,
    /// It is not within the interval.
    Size,
}

impl Contrast {
    /// Whether the other course was tried in the environment, not predicted.
    #[must_use]
    pub fn is_tried(&self) -> bool {
        self.predicted.is_some()
    }

    /// What is wrong about the reward difference that the model alone predicts, where the other course was tried; `None`
    /// where nothing is, beyond what is negligible.
    #[must_use]
    pub fn wrong(&self) -> Option<Wrong> {
        let Predicted { difference, interval, .. } = self.predicted?;
        let (tried, negligible) = (self.credit.difference(), self.negligible());
        let outside = |[low, high]: [f64; 2]| (low - tried).max(tried - high) > negligible;
        if self.are_opposite(tried, difference) {
            Some(Wrong::Sign)
        } else {
            interval.is_some_and(outside).then_some(Wrong::Size)
        }
    }

    /// Whether the model alone names the wrong course as the one that earns more over the steps of the chain.
    #[must_use]
    pub fn is_wrong_about_chain(&self) -> bool {
        let tried = self.shortened(self.chain_steps()).credit.difference();
        self.predicted.is_some_and(|predicted| self.are_opposite(tried, predicted.of_chain))
    }

    /// Whether two reward differences have opposite signs, and neither is negligible.
    fn are_opposite(&self, a: f64, b: f64) -> bool {
        a * b < 0.0 && a.abs().min(b.abs()) > self.negligible()
    }

    /// A difference in reward that does not count.
    fn negligible(&self) -> f64 {
        self.scale.as_ref().map_or(0.0, |(scale, share)| scale.reward(*share))
    }

    /// Whether one action earns more than the other by so much that it counts.
    #[must_use]
    pub fn is_noticeable(&self) -> bool {
        self.credit.difference().abs() > self.negligible()
    }
}

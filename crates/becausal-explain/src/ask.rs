//! The parameters of a question.

use super::chain::{Horizon, check_tau};
use super::error::ExplainError;

/// The parameters of a question.
///
/// ```
/// use becausal_explain::Ask;
/// let ask = Ask::default().horizon(8).reward("landing");
/// assert!(ask.check().is_ok());
/// assert!(Ask::default().horizon(0).check().is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// How many steps to look ahead.
    pub horizon: Horizon,
    /// The threshold of influences, from 0 to 1: only those above it count.
    pub tau: f64,
    /// The names of the reward terms to ask about; empty for all.
    pub rewards: Vec<String>,
    /// The discount factor per step, above 0 and at most 1.
    pub discount: f64,
}

impl Default for Ask {
    fn default() -> Self {
        Self { horizon: Horizon::Auto, tau: 0.1, rewards: Vec::new(), discount: 1.0 }
    }
}

impl Ask {
    /// Sets how many steps to look ahead.
    #[must_use]
    pub fn horizon(self, horizon: impl Into<Horizon>) -> Self {
        Self { horizon: horizon.into(), ..self }
    }

    /// Sets the threshold of influences.
    #[must_use]
    pub fn tau(self, tau: f64) -> Self {
        Self { tau, ..self }
    }

    /// Adds a reward term to ask about.
    #[must_use]
    pub fn reward(mut self, name: impl Into<String>) -> Self {
        self.rewards.push(name.into());
        self
    }

    /// Sets the discount factor.
    #[must_use]
    pub fn discount(self, discount: f64) -> Self {
        Self { discount, ..self }
    }

    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// When one is not. The error names the parameter, its value and what was expected.
    pub fn check(&self) -> Result<(), ExplainError> {
        self.horizon.check()?;
        check_tau(self.tau)?;
        if self.discount > 0.0 && self.discount <= 1.0 {
            Ok(())
        } else {
            Err(ExplainError::Discount(self.discount))
        }
    }
}

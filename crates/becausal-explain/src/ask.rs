//! How a question is to be answered.

use super::chain::{check_horizon, check_tau};
use super::error::ExplainError;

/// How a question is to be answered.
///
/// ```
/// use becausal_explain::Ask;
/// let ask = Ask::default().horizon(8).reward("landing");
/// assert!(ask.check().is_ok());
/// assert!(Ask::default().horizon(0).check().is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// How many steps an answer looks ahead, at most: 1 to 1000.
    pub horizon: usize,
    /// Influences above this count, from 0 to 1.
    pub tau: f64,
    /// The reward terms asked about; all when empty.
    pub rewards: Vec<String>,
    /// The factor by which a reward counts less for every step that it comes later, above 0 and up to 1.
    pub discount: f64,
}

impl Default for Ask {
    fn default() -> Self {
        Self { horizon: 5, tau: 0.1, rewards: Vec::new(), discount: 1.0 }
    }
}

impl Ask {
    /// Looks so many steps ahead.
    #[must_use]
    pub fn horizon(self, horizon: usize) -> Self {
        Self { horizon, ..self }
    }

    /// Counts influences above this.
    #[must_use]
    pub fn tau(self, tau: f64) -> Self {
        Self { tau, ..self }
    }

    /// Asks about this reward term, and about others that were named before.
    #[must_use]
    pub fn reward(mut self, name: impl Into<String>) -> Self {
        self.rewards.push(name.into());
        self
    }

    /// Discounts later rewards.
    #[must_use]
    pub fn discount(self, discount: f64) -> Self {
        Self { discount, ..self }
    }

    /// Refuses a parameter that is out of its range.
    ///
    /// # Errors
    /// With the name of the parameter, what was expected and what it is.
    pub fn check(&self) -> Result<(), ExplainError> {
        check_horizon(self.horizon)?;
        check_tau(self.tau)?;
        if self.discount > 0.0 && self.discount <= 1.0 {
            Ok(())
        } else {
            Err(ExplainError::Discount(self.discount))
        }
    }
}

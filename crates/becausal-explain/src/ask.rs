//! The parameters of a question.

use super::chain::{Horizon, check_tau};
use super::error::ExplainError;
use super::influence_by::InfluenceBy;
use becausal_core::Preset;

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
    /// Whose chains: ours, or the paper's, by attention, without the agent's later choices and without another
    /// action to compare with. `None` for those of the preset that the run was made with.
    pub preset: Option<Preset>,
    /// How influences are measured; `None` for the measure of the preset.
    pub influence: Option<InfluenceBy>,
    /// Whether the model alone answers, even where the other course can be tried in the environment.
    pub model_only: bool,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            horizon: Horizon::Auto,
            tau: 0.1,
            rewards: Vec::new(),
            discount: 1.0,
            preset: None,
            influence: None,
            model_only: false,
        }
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

    /// Sets whose chains are shown.
    #[must_use]
    pub fn preset(self, preset: Preset) -> Self {
        Self { preset: Some(preset), ..self }
    }

    /// Sets how influences are measured.
    #[must_use]
    pub fn influence(self, influence: InfluenceBy) -> Self {
        Self { influence: Some(influence), ..self }
    }

    /// Sets whether the model alone answers, even where the other course can be tried in the environment.
    #[must_use]
    pub fn model_only(self, model_only: bool) -> Self {
        Self { model_only, ..self }
    }

    /// Whether the chains are the paper's.
    #[must_use]
    pub fn is_paper(&self) -> bool {
        self.preset == Some(Preset::Paper)
    }

    /// How influences are measured.
    #[must_use]
    pub fn influence_by(&self) -> InfluenceBy {
        let usual = if self.is_paper() { InfluenceBy::Attention } else { InfluenceBy::State };
        self.influence.unwrap_or(usual)
    }

    /// What is not as usual, by name and value: options of `becausal explain` and keywords in Python have these names.
    /// Reward terms are not among them, because there may be several, nor is `model_only`, which has no value.
    #[must_use]
    pub fn changed(&self) -> Vec<(&'static str, String)> {
        let usual = Self::default();
        let mut changed = Vec::new();
        if let Horizon::Steps(steps) = self.horizon {
            changed.push(("horizon", steps.to_string()));
        }
        if self.tau != usual.tau {
            changed.push(("tau", self.tau.to_string()));
        }
        if self.discount != usual.discount {
            changed.push(("discount", self.discount.to_string()));
        }
        changed.extend(self.influence.map(|by| ("influence", by.to_string())));
        changed.extend(self.preset.map(|preset| ("preset", preset.to_string())));
        changed
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_as_usual_is_told() {
        assert_eq!(Ask::default().changed(), []);
        let ask = Ask::default().tau(0.2).horizon(5).influence(InfluenceBy::Attention);
        let changed = ask.changed();
        let changed: Vec<(&str, &str)> = changed.iter().map(|(n, v)| (*n, v.as_str())).collect();
        assert_eq!(changed, [("horizon", "5"), ("tau", "0.2"), ("influence", "attention")]);
    }
}

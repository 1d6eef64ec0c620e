//! What an action is worth against another: reward differences by term and step.

use super::explanan::differ;
use crate::chain::Trajectory;

/// The discounted value of a reward term in a step, in three worlds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CreditPart {
    /// The reward term, by index.
    pub reward: usize,
    /// The step, counted from the action explained.
    pub step: usize,
    /// As it was.
    pub factual: f64,
    /// As it would have been.
    pub counterfactual: f64,
    /// As it would have been had all later actions stayed as they were.
    pub held: f64,
}

impl CreditPart {
    /// How much more the factual world pays.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.factual - self.counterfactual
    }
}

/// The reward difference between two worlds, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Credit {
    /// The factor per step.
    pub discount: f64,
    /// Every reward term asked about in every step.
    pub parts: Vec<CreditPart>,
}

impl Credit {
    /// Compares worlds in these reward terms. A world that has ended pays nothing.
    #[must_use]
    pub fn new(
        factual: &Trajectory,
        counterfactual: &Trajectory,
        held: &Trajectory,
        targets: &[usize],
        discount: f64,
    ) -> Self {
        let mut parts = Vec::new();
        let mut factor = 1.0;
        for step in 0..factual.len().max(counterfactual.len()).max(held.len()) {
            for &reward in targets {
                let paid = |world: &Trajectory| {
                    let step = world.steps().get(step);
                    factor * step.and_then(|step| step.rewards.get(reward)).copied().unwrap_or(0.0)
                };
                let factual = paid(factual);
                // Rounding is no difference.
                let other = |paid: f64| if differ(&[factual], &[paid]) { paid } else { factual };
                let (counterfactual, held) = (other(paid(counterfactual)), other(paid(held)));
                parts.push(CreditPart { reward, step, factual, counterfactual, held });
            }
            factor *= discount;
        }
        Self { discount, parts }
    }

    /// How much more the factual world pays.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.parts.iter().map(CreditPart::difference).sum()
    }

    /// The part of the difference that comes through the state, with all later actions as they were.
    #[must_use]
    pub fn through_state(&self) -> f64 {
        self.parts.iter().map(|part| part.factual - part.held).sum()
    }

    /// The part of the difference that comes through later actions that would be others.
    #[must_use]
    pub fn through_actions(&self) -> f64 {
        self.parts.iter().map(|part| part.held - part.counterfactual).sum()
    }

    /// The difference of each reward term, over all steps.
    #[must_use]
    pub fn by_term(&self) -> Vec<(usize, f64)> {
        let mut sums: Vec<(usize, f64)> = Vec::new();
        for part in &self.parts {
            match sums.iter_mut().find(|(reward, _)| *reward == part.reward) {
                Some((_, sum)) => *sum += part.difference(),
                None => sums.push((part.reward, part.difference())),
            }
        }
        sums
    }
}

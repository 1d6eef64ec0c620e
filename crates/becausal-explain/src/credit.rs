//! Reward differences between two actions, by term and step.

use super::explanan::differ;
use crate::chain::Trajectory;

/// The discounted value of a reward term in a step, in three trajectories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CreditPart {
    /// The reward term, by index.
    pub reward: usize,
    /// The step, counted from the action explained.
    pub step: usize,
    /// Under the action taken.
    pub factual: f64,
    /// Under the other action.
    pub counterfactual: f64,
    /// Under the other action, with all later actions unchanged.
    pub held: f64,
}

impl CreditPart {
    /// How much more reward the factual trajectory earns.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.factual - self.counterfactual
    }
}

/// The reward difference between two trajectories, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Credit {
    /// The discount factor per step.
    pub discount: f64,
    /// Every reward term asked about, in every step.
    pub parts: Vec<CreditPart>,
}

impl Credit {
    /// Compares trajectories in these reward terms. After its end a trajectory earns nothing.
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
                let earned = |trajectory: &Trajectory| {
                    let step = trajectory.steps().get(step);
                    factor * step.and_then(|step| step.rewards.get(reward)).copied().unwrap_or(0.0)
                };
                let factual = earned(factual);
                // Ignore differences due to rounding.
                let other = |value: f64| if differ(&[factual], &[value]) { value } else { factual };
                let (counterfactual, held) = (other(earned(counterfactual)), other(earned(held)));
                parts.push(CreditPart { reward, step, factual, counterfactual, held });
            }
            factor *= discount;
        }
        Self { discount, parts }
    }

    /// How much more reward the factual trajectory earns.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.parts.iter().map(CreditPart::difference).sum()
    }

    /// How much more reward one course earns than another, of the terms asked about or of one of them.
    #[must_use]
    pub fn difference_of(&self, this: &Trajectory, other: &Trajectory, term: Option<usize>) -> f64 {
        self.difference_within(this, other, term, usize::MAX)
    }

    /// The same within the first steps.
    #[must_use]
    pub fn difference_within(
        &self,
        this: &Trajectory,
        other: &Trajectory,
        term: Option<usize>,
        steps: usize,
    ) -> f64 {
        let asked = |reward: &usize| {
            term.is_none_or(|term| term == *reward)
                && self.parts.iter().any(|part| part.reward == *reward)
        };
        let rewards: Vec<usize> = (0..this.shape().rewards).filter(asked).collect();
        let (mut factor, mut sum) = (1.0, 0.0);
        for step in 0..this.len().max(other.len()).min(steps) {
            for &reward in &rewards {
                let earned = |course: &Trajectory| {
                    course.steps().get(step).map_or(0.0, |step| step.rewards[reward])
                };
                let (this, other) = (earned(this), earned(other));
                // Differences due to rounding are none, as in `new`.
                if differ(&[this], &[other]) {
                    sum += factor * (this - other);
                }
            }
            factor *= self.discount;
        }
        sum
    }

    /// The part of the difference due to the state alone, with all later actions unchanged.
    #[must_use]
    pub fn through_state(&self) -> f64 {
        self.parts.iter().map(|part| part.factual - part.held).sum()
    }

    /// The part of the difference due to different later actions.
    #[must_use]
    pub fn through_actions(&self) -> f64 {
        self.parts.iter().map(|part| part.held - part.counterfactual).sum()
    }

    /// The difference of each reward term, summed over all steps.
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

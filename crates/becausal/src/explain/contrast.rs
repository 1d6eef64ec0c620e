//! Two worlds side by side: what happened and what would have happened instead.

use super::change::Change;
use super::credit::Credit;
use super::evidence::Doubt;
use super::explainer::Why;
use super::explanan::{Explanan, Fact, differ};

/// The minimally complete contrastive explanation (`x_diff`, `y_diff`, `x_r`) of the paper's appendix.
#[derive(Debug, Clone, PartialEq)]
pub struct ContrastiveExplanan {
    /// `x_diff`: what the factual explanan has and the other has not, or with another value.
    pub factual: Vec<Fact>,
    /// `y_diff`: what the counterfactual explanan has and the other has not, or with another value.
    pub counterfactual: Vec<Fact>,
    /// `x_r`: the rewards in the factual chain.
    pub rewards: Vec<Fact>,
}

impl ContrastiveExplanan {
    /// The differences of two explanans.
    #[must_use]
    pub fn of(factual: &Explanan, counterfactual: &Explanan) -> Self {
        Self {
            factual: without(factual, counterfactual),
            counterfactual: without(counterfactual, factual),
            rewards: factual.rewards.clone(),
        }
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.factual.is_empty() && self.counterfactual.is_empty()
    }
}

/// What is in `this` and not, or with another value, in `other`.
fn without(this: &Explanan, other: &Explanan) -> Vec<Fact> {
    let mut others: Vec<&Fact> = other.facts().collect();
    others.sort_by_key(|fact| fact.node);
    let differs = |fact: &&Fact| match others.binary_search_by_key(&fact.node, |o| o.node) {
        Ok(found) => differ(&others[found].value, &fact.value),
        Err(_) => true,
    };
    this.facts().filter(differs).cloned().collect()
}

/// Why this and not that: two explanations, what differs between them, and what it is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// What is thought to be different.
    pub change: Change,
    /// What happened, or would most likely happen.
    pub factual: Why,
    /// What would have happened instead, under the same noise.
    pub counterfactual: Why,
    /// What differs between the two minimal explanans.
    pub minimal: ContrastiveExplanan,
    /// The reward difference and where it comes from.
    pub credit: Credit,
    /// What speaks against the contrast as a whole.
    pub doubts: Vec<Doubt>,
}

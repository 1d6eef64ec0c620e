//! Two worlds side by side: what happened and what would have happened instead.

use super::change::Change;
use super::credit::Credit;
use super::evidence::Doubt;
use super::explainer::Why;
use super::explanan::{Explanan, Fact, differ};
use super::scale::Scale;
use crate::chain::Node;

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
    /// The differences of two explanans; `differs` says of two values whether they differ.
    #[must_use]
    pub fn of(
        factual: &Explanan,
        counterfactual: &Explanan,
        differs: impl Fn(Node, &[f64], &[f64]) -> bool,
    ) -> Self {
        Self {
            factual: without(factual, counterfactual, &differs),
            counterfactual: without(counterfactual, factual, &differs),
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
fn without(
    this: &Explanan,
    other: &Explanan,
    differs: &impl Fn(Node, &[f64], &[f64]) -> bool,
) -> Vec<Fact> {
    let mut others: Vec<&Fact> = other.facts().collect();
    others.sort_by_key(|fact| fact.node);
    let apart = |fact: &&Fact| match others.binary_search_by_key(&fact.node, |o| o.node) {
        Ok(found) => differs(fact.node, &fact.value, &others[found].value),
        Err(_) => true,
    };
    this.facts().filter(apart).cloned().collect()
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
    /// How far variables are spread, where that is known, and the share of it that is negligible.
    pub scale: Option<(Scale, f64)>,
}

impl Contrast {
    /// Whether a node has another value in the other world, by more than is negligible; `None` when
    /// not both worlds have it.
    #[must_use]
    pub fn differs(&self, node: Node) -> Option<bool> {
        let this = self.factual.chain.trajectory().value(node)?;
        let other = self.counterfactual.chain.trajectory().value(node)?;
        Some(differ_by(self.scale.as_ref(), node, this, other))
    }
}

/// Whether two values of a node differ by more than is negligible.
pub(super) fn differ_by(
    scale: Option<&(Scale, f64)>,
    node: Node,
    this: &[f64],
    other: &[f64],
) -> bool {
    match scale {
        Some((scale, share)) => scale.differs_at(node, this, other, *share),
        None => differ(this, other),
    }
}

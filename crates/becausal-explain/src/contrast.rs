//! Contrasts: what happened, and what would have happened instead.

use super::change::Change;
use super::credit::Credit;
use super::evidence::Doubt;
use super::explainer::Why;
use super::explanan::{Explanan, Fact, differ};
use super::scale::Scale;
use crate::chain::Node;
use becausal_core::trajectory::Trajectory;

/// The minimally complete contrastive explanation (`x_diff`, `y_diff`, `x_r`) of the paper's appendix.
#[derive(Debug, Clone, PartialEq)]
pub struct ContrastiveExplanan {
    /// `x_diff`: facts of the factual explanan that the other lacks or has with another value.
    pub factual: Vec<Fact>,
    /// `y_diff`: facts of the counterfactual explanan that the other lacks or has with another value.
    pub counterfactual: Vec<Fact>,
    /// `x_r`: the rewards in the factual chain.
    pub rewards: Vec<Fact>,
}

impl ContrastiveExplanan {
    /// The differences between two explanans; `differs` compares two values of a node.
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

/// The facts of `this` that `other` lacks or has with another value.
fn without(
    this: &Explanan,
    other: &Explanan,
    differs: &impl Fn(Node, &[f64], &[f64]) -> bool,
) -> Vec<Fact> {
    let mut others: Vec<&Fact> = other.facts().collect();
    others.sort_by_key(|fact| fact.node);
    let is_different = |fact: &&Fact| match others.binary_search_by_key(&fact.node, |o| o.node) {
        Ok(found) => differs(fact.node, &fact.value, &others[found].value),
        Err(_) => true,
    };
    this.facts().filter(is_different).cloned().collect()
}

/// The two courses of a contrast and their reward difference, before they are explained.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The recorded course, continued by the most likely one.
    pub factual: Trajectory,
    /// What would have happened instead, under the same noise.
    pub counterfactual: Trajectory,
    /// The reward difference and where it comes from.
    pub credit: Credit,
}

/// Why this and not that: two explanations, their differences, and the reward difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// The change asked about.
    pub change: Change,
    /// What happened, or would most likely happen.
    pub factual: Why,
    /// What would have happened instead, under the same noise.
    pub counterfactual: Why,
    /// What differs between the two minimal explanans.
    pub minimal: ContrastiveExplanan,
    /// The reward difference and where it comes from.
    pub credit: Credit,
    /// Caveats about the contrast as a whole.
    pub doubts: Vec<Doubt>,
    /// The standard deviations of the variables, if known, and the share of them that is negligible.
    pub scale: Option<(Scale, f64)>,
    /// Flags and categories of the other course that are up to chance: how probable their values are
    /// there, by the model.
    pub chances: Vec<(Node, f64)>,
}

impl Contrast {
    /// How probable the value of a node is in the other course, if it is up to chance.
    #[must_use]
    pub fn chance(&self, node: Node) -> Option<f64> {
        self.chances.iter().find(|(other, _)| *other == node).map(|(_, chance)| *chance)
    }

    /// Whether the two values of a node differ by more than a negligible amount; `None` unless both
    /// trajectories have the node.
    #[must_use]
    pub fn differs(&self, node: Node) -> Option<bool> {
        let this = self.factual.chain.trajectory().value(node)?;
        let other = self.counterfactual.chain.trajectory().value(node)?;
        Some(differ_by(self.scale.as_ref(), node, this, other))
    }
}

/// Whether two values of a node differ by more than a negligible amount.
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

//! The paper's measure of influence instead of ours.

use std::sync::Arc;

use becausal::Schema;
use becausal::model::{Dynamics, Influence, Noise, Prediction, Situation, WorldModel};

/// A model with the paper's influences: the attention weights under the action, the same in every
/// state.
pub struct ByWeight<'a>(pub &'a WorldModel);

impl Dynamics for ByWeight<'_> {
    fn schema(&self) -> &Arc<Schema> {
        self.0.schema()
    }

    fn parents(&self, effect: usize) -> &[usize] {
        self.0.parents(effect)
    }

    fn step(&self, state: &[f64], action: &[f64], noise: &Noise) -> Prediction {
        self.0.step(state, action, noise)
    }

    fn noise(&self, state: &[f64], action: &[f64], outcomes: &[f64], next: &[f64]) -> Noise {
        self.0.noise(state, action, outcomes, next)
    }

    fn influence(&self, state: &[f64], action: &[f64]) -> Influence {
        self.0.influence_by_weight(action).unwrap_or_else(|| self.0.influence(state, action))
    }

    fn disagreement(&self, situations: &[Situation<'_>]) -> Vec<Vec<f64>> {
        self.0.disagreement(situations)
    }

    fn chances(
        &self,
        state: &[f64],
        action: &[f64],
        outcomes: &[f64],
        next: &[f64],
    ) -> Vec<Option<f64>> {
        self.0.chances(state, action, outcomes, next)
    }

    fn distance(&self, state: &[f64]) -> Vec<f64> {
        self.0.distance(state)
    }
}

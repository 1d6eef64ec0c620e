//! The other course of a contrast, tried in copies of the environment.

use std::sync::Arc;

use becausal_core::env::{EnvironmentError, World, rollout};
use becausal_core::trajectory::{Step, Trajectory};

use super::Explainer;
use crate::change::Change;
use crate::contrast::Comparison;
use crate::draws::Draws;
use crate::error::ExplainError;
use crate::moment::Moment;

/// Gives copies of the environment as it stood at a moment, put into a state; they meet the noise that was met then.
/// `None` where it cannot be found there.
pub type Copies<'a> =
    dyn Fn(&Moment, &[f64]) -> Result<Option<Box<dyn World>>, EnvironmentError> + Sync + 'a;

impl Explainer<'_> {
    /// What really follows from a change, in copies of the environment: what happened, continued where the record is shorter,
    /// and the other course. `None` where there is no environment, or it cannot be found at the moment.
    pub(super) fn tried(
        &self,
        moment: &Moment,
        change: &Change,
    ) -> Result<Option<Comparison>, ExplainError> {
        let Some(copies) = &self.copies else { return Ok(None) };
        let schema = self.schema();
        let state = change.state(schema, moment.state())?;
        let action = change.action.as_deref().unwrap_or(moment.action());
        let (record, limit) = (moment.record().steps(), self.limit(moment));
        let begun = || Trajectory::new(Arc::clone(schema), moment.record().first(), Vec::new());
        let Some(mut world) = copies(moment, moment.state())? else { return Ok(None) };
        let mut actor = |step: usize, state: &[f64]| match record.get(step) {
            Some(step) => Some(step.action.clone()),
            None if step == 0 => Some(moment.action().to_vec()),
            None => self.agent.mode(state),
        };
        let factual = rollout(&mut *world, begun()?, limit, &mut actor)?;
        // Other options of the environment, or randomness that no seed sets, show in what follows.
        let same = |(played, recorded): (&Step, &Step)| played.next == recorded.next;
        let recorded = record.len().min(limit);
        if factual.len() < recorded || !factual.steps().iter().zip(record).all(same) {
            return Ok(None);
        }
        let Some(mut world) = copies(moment, &state)? else { return Ok(None) };
        let other = {
            let mut actor = self.agent.instead(schema, action, factual.steps());
            rollout(&mut *world, begun()?, limit, &mut actor)?
        };
        let acts = |(this, other): (&Step, &Step)| this.action == other.action;
        let acts_alike = factual.steps().iter().zip(other.steps()).skip(1).all(acts);
        let held = if acts_alike && other.len() <= factual.len() {
            other.clone()
        } else {
            let Some(mut world) = copies(moment, &state)? else { return Ok(None) };
            let mut keep = |step: usize, state: &[f64]| match factual.steps().get(step) {
                _ if step == 0 => Some(action.to_vec()),
                Some(step) => Some(step.action.clone()),
                None => self.agent.mode(state),
            };
            rollout(&mut *world, begun()?, limit, &mut keep)?
        };
        let draws = Draws::tried(&factual, &other);
        Ok(Some(self.comparison([factual, other, held], draws)?))
    }
}

//! Recorded decisions that are worth explaining.

use rayon::prelude::*;

use super::error::ExplainError;
use super::explainer::Explainer;
use super::moment::Moment;
use becausal_core::Transitions;

/// A recorded step in which the choice mattered.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The episode.
    pub episode: usize,
    /// The step in it.
    pub step: usize,
    /// The best of the other actions, by the model.
    pub rival: Vec<f64>,
    /// How much more the action taken is paid than the best other one; below 0 where it is paid less.
    pub lead: f64,
}

/// The recorded steps at `places` (episode and step), ordered by how far the action taken leads before the best
/// other one: the clearest decision first. Steps that cannot be compared are left out.
///
/// # Errors
/// When the explainer's model is of something else.
pub fn decisions(
    explainer: &Explainer<'_>,
    data: &Transitions,
    actions: &[Vec<f64>],
    places: &[(usize, usize)],
) -> Result<Vec<Decision>, ExplainError> {
    let decide = |&(episode, step): &(usize, usize)| -> Result<Option<Decision>, ExplainError> {
        let moment = Moment::recorded(data, episode, step)?;
        let others: Vec<Vec<f64>> =
            actions.iter().filter(|action| *action != moment.action()).cloned().collect();
        let taken = explainer.returns(&moment, &[moment.action().to_vec()])?;
        let paid = explainer.returns(&moment, &others)?;
        let best = paid.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        Ok(best.zip(taken.first()).map(|((place, paid), taken)| Decision {
            episode,
            step,
            rival: others[place].clone(),
            lead: taken - paid,
        }))
    };
    let found: Result<Vec<Option<Decision>>, ExplainError> =
        places.par_iter().map(decide).collect();
    let mut found: Vec<Decision> = found?.into_iter().flatten().collect();
    // Among equals the earliest.
    found.sort_by(|a, b| {
        b.lead.total_cmp(&a.lead).then((a.episode, a.step).cmp(&(b.episode, b.step)))
    });
    Ok(found)
}

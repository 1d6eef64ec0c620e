//! Recorded decisions worth explaining.

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
    /// How much more reward the action taken earns than the best other one; negative if it earns less.
    pub lead: f64,
}

/// The recorded steps at `places` (episode and step), sorted by the lead of the action taken over the
/// best other one: the clearest decision first. Steps with nothing to compare are left out.
///
/// # Errors
/// When the model has another schema than the data, or a place or an action is invalid.
pub fn decisions(
    explainer: &Explainer<'_>,
    data: &Transitions,
    actions: &[Vec<f64>],
    places: &[(usize, usize)],
) -> Result<Vec<Decision>, ExplainError> {
    let decide = |&(episode, step): &(usize, usize)| -> Result<Option<Decision>, ExplainError> {
        let moment = Moment::recorded_for(data, (episode, step), explainer.asked().horizon.most())?;
        let lead = explainer.lead(&moment, actions)?;
        Ok(lead.map(|(rival, lead)| Decision { episode, step, rival, lead }))
    };
    let decisions: Result<Vec<Option<Decision>>, ExplainError> =
        places.par_iter().map(decide).collect();
    let mut decisions: Vec<Decision> = decisions?.into_iter().flatten().collect();
    // On a tie the earlier step comes first.
    decisions.sort_by(|a, b| {
        b.lead.total_cmp(&a.lead).then((a.episode, a.step).cmp(&(b.episode, b.step)))
    });
    Ok(decisions)
}

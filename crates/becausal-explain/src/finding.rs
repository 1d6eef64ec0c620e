//! Which decisions to look at.

use rayon::prelude::*;

use super::choice::odds;
use super::error::ExplainError;
use super::explainer::Explainer;
use super::moment::Moment;
use becausal_core::Transitions;

/// What makes a decision worth a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worth {
    /// What followed was least expected, by the model.
    Surprising,
    /// Most was at stake: the action taken earns most more than the best other one, by the model.
    Costly,
    /// The agent was least sure: its two most likely actions are nearly as likely.
    Close,
    /// Another action would have earned most more, by the model.
    Mistakes,
}

impl Worth {
    /// All of them, what matters most first.
    pub const ALL: [Self; 4] = [Self::Costly, Self::Mistakes, Self::Close, Self::Surprising];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Surprising => "surprising",
            Self::Costly => "costly",
            Self::Close => "close",
            Self::Mistakes => "mistakes",
        }
    }

    /// The heading of a list of such decisions.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Surprising => "Surprises",
            Self::Costly => "Most at stake",
            Self::Close => "Close calls",
            Self::Mistakes => "Perhaps mistakes",
        }
    }

    /// What such a list shows, in a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Surprising => "What followed was not what the model expected.",
            Self::Costly => "Here the next best action would have cost most.",
            Self::Close => "Here the agent was least sure: two actions were nearly as likely.",
            Self::Mistakes => "Here another action would have earned more.",
        }
    }

    /// What its number is.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Surprising => "nats less likely than the usual step",
            Self::Costly => "more reward than the best other action",
            Self::Close => "between the probabilities of its first and its second choice",
            Self::Mistakes => "less reward than the best other action",
        }
    }
}

/// A recorded step that is worth a look.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The episode.
    pub episode: usize,
    /// The step in it.
    pub step: usize,
    /// How much, as [`Worth::meaning`] says.
    pub amount: f64,
    /// The other action that it is about: the best other one, or the agent's other choice. `None` for a surprise.
    pub rival: Option<Vec<f64>>,
}

/// The recorded steps at `places` (episode and step) that are most worth a look, the first first; of neighbours in an
/// episode only the first, so that the list is not one moment told many times. Steps to which it does not apply are
/// left out: close ones without probabilities, mistakes where the action taken is the best.
///
/// # Errors
/// When the model has another schema than the data, or a place or an action is invalid.
pub fn find(
    explainer: &Explainer<'_>,
    data: &Transitions,
    actions: &[Vec<f64>],
    places: &[(usize, usize)],
    worth: Worth,
) -> Result<Vec<Found>, ExplainError> {
    let look = |&(episode, step): &(usize, usize)| -> Result<Option<Found>, ExplainError> {
        let moment = Moment::recorded_for(data, (episode, step), explainer.asked().horizon.most())?;
        let found = |amount: f64, rival| Found { episode, step, amount, rival };
        Ok(match worth {
            Worth::Surprising => explainer.surprise(&moment).map(|amount| found(amount, None)),
            Worth::Close => explainer.policy().and_then(|policy| {
                let odds = odds(policy, moment.state())?;
                let [(first, likely), (second, less_likely), ..] = &odds[..] else { return None };
                let rival = if first == moment.action() { second } else { first };
                Some(found(likely - less_likely, Some(rival.clone())))
            }),
            Worth::Costly | Worth::Mistakes => explainer
                .lead(&moment, actions)?
                .map(|(rival, lead)| {
                    let amount = if worth == Worth::Costly { lead } else { -lead };
                    found(amount, Some(rival))
                })
                .filter(|found| found.amount > 0.0),
        })
    };
    let found: Result<Vec<Option<Found>>, ExplainError> = places.par_iter().map(look).collect();
    let mut found: Vec<Found> = found?.into_iter().flatten().collect();
    if worth == Worth::Surprising {
        below_usual(&mut found);
    }
    found.sort_by(|a, b| {
        let order = match worth {
            Worth::Close => a.amount.total_cmp(&b.amount),
            _ => b.amount.total_cmp(&a.amount),
        };
        // On a tie the earlier step comes first.
        order.then((a.episode, a.step).cmp(&(b.episode, b.step)))
    });
    let mut apart: Vec<Found> = Vec::new();
    for found in found {
        let near = |other: &Found| {
            other.episode == found.episode && other.step.abs_diff(found.step) < NEIGHBOURS
        };
        if !apart.iter().any(near) {
            apart.push(found);
        }
    }
    Ok(apart)
}

/// Steps that are nearer than this are one moment: as many as a chain shows.
const NEIGHBOURS: usize = 5;

/// Surprises are counted from the median one.
fn below_usual(found: &mut [Found]) {
    let mut amounts: Vec<f64> = found.iter().map(|found| found.amount).collect();
    amounts.sort_by(f64::total_cmp);
    if let Some(&usual) = amounts.get(amounts.len() / 2) {
        for found in found {
            found.amount -= usual;
        }
    }
}

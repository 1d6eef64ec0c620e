//! The episodes that are asked about, the last few of which are kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use becausal::env::parse_action;
use becausal::trajectory::Trajectory;
use becausal::{Episode, Run, Source};

use crate::question::EpisodeQuery;
use crate::refusal::Refusal;

/// Played episodes that are kept. One of a lander takes 0.3 MB.
const MAX_KEPT: usize = 16;

/// The most actions of an episode by hand: each question plays them again.
const MAX_BY_HAND: usize = 5000;

/// An episode that was chosen.
#[derive(Debug, Clone)]
pub enum Chosen {
    /// A recorded one.
    Recorded(usize),
    /// One that was played.
    Played(Arc<Episode>),
}

impl Chosen {
    /// For the front door.
    pub fn source(&self) -> Source<'_> {
        match self {
            Self::Recorded(episode) => Source::Recorded(*episode),
            Self::Played(episode) => Source::Played(episode),
        }
    }

    /// All its steps.
    ///
    /// # Errors
    /// When it was not recorded.
    pub fn trajectory(&self, run: &Run) -> Result<Trajectory, Refusal> {
        match self {
            Self::Recorded(episode) => Trajectory::recorded(run.data(), *episode, 0, usize::MAX)
                .map_err(Refusal::unanswered),
            Self::Played(episode) => Ok(episode.trajectory().clone()),
        }
    }
}

/// Episodes that were played lately.
#[derive(Debug, Default)]
pub struct Episodes {
    kept: Mutex<VecDeque<(EpisodeQuery, Arc<Episode>)>>,
}

impl Episodes {
    /// The episode that was asked for.
    ///
    /// # Errors
    /// When it is not clear which one, or it cannot be played.
    pub fn find(&self, run: &Run, query: &EpisodeQuery) -> Result<Chosen, Refusal> {
        let seed = match (query.episode, query.seed) {
            (Some(episode), None) if query.actions.is_none() => {
                return Ok(Chosen::Recorded(episode));
            }
            (None, Some(seed)) => seed,
            _ => {
                return Err(Refusal::unread(
                    "which episode? expected either `episode`, or `seed` with or without `actions`",
                ));
            }
        };
        if let Some(episode) = self.kept(query) {
            return Ok(Chosen::Played(episode));
        }
        let episode = match &query.actions {
            None => run.play(seed)?,
            Some(actions) => by_hand(run, seed, actions)?,
        };
        let episode = Arc::new(episode);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // An episode by hand grows by one action at a time: only the longest is kept.
        kept.retain(|(known, _)| !known.begins(query));
        kept.push_front((query.clone(), Arc::clone(&episode)));
        kept.truncate(MAX_KEPT);
        Ok(Chosen::Played(episode))
    }

    /// Keeps none any more.
    pub fn forget(&self) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn kept(&self, query: &EpisodeQuery) -> Option<Arc<Episode>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, _)| known == query)?;
        let found = kept.remove(at)?;
        let episode = Arc::clone(&found.1);
        kept.push_front(found);
        Some(episode)
    }
}

fn by_hand(run: &Run, seed: u64, actions: &[String]) -> Result<Episode, Refusal> {
    if actions.len() > MAX_BY_HAND {
        return Err(Refusal::unanswered(format!(
            "{} actions, expected at most {MAX_BY_HAND} in an episode by hand",
            actions.len()
        )));
    }
    let parsed: Result<Vec<Vec<f64>>, _> =
        actions.iter().map(|action| parse_action(run.schema(), action)).collect();
    Ok(run.play_by_hand(seed, &parsed?)?)
}

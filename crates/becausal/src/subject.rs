//! The episodes in which a run is looked at.

use std::borrow::Cow;

use becausal_core::Transitions;
use becausal_explain::Moment;

use crate::episode::Episode;
use crate::error::Error;
use crate::run::Run;

/// Episodes that the policy plays anew, where there is one.
const NEW_EPISODES: u64 = 10;

/// Recorded episodes, or ones that the policy played anew.
pub(crate) struct Subject<'a> {
    /// Their steps.
    pub data: Cow<'a, Transitions>,
    /// Those that the policy played, with their seeds; none if they are recorded.
    pub played: Vec<Episode>,
}

impl<'a> Subject<'a> {
    /// The recorded episodes of a run.
    pub fn recorded(run: &'a Run) -> Self {
        Self { data: Cow::Borrowed(run.data()), played: Vec::new() }
    }

    /// Episodes that the policy plays from these seeds.
    ///
    /// # Errors
    /// When the run has no policy or no environment.
    pub fn played(run: &'a Run, seeds: impl Iterator<Item = u64>) -> Result<Self, Error> {
        let played = seeds.map(|seed| run.play(seed)).collect::<Result<Vec<_>, _>>()?;
        let mut data = Transitions::new(run.schema().clone());
        for episode in &played {
            episode.trajectory().append_to(&mut data);
        }
        Ok(Self { data: Cow::Owned(data), played })
    }

    /// What the agent does today: ten new episodes, or the recorded ones where it cannot play.
    ///
    /// # Errors
    /// When an episode cannot be played.
    pub fn of(run: &'a Run) -> Result<Self, Error> {
        if run.policy().is_some() && run.environment().is_some() {
            Self::played(run, 0..NEW_EPISODES)
        } else {
            Ok(Self::recorded(run))
        }
    }

    /// One of the steps, to ask about.
    ///
    /// # Errors
    /// When there is no such episode or step.
    pub fn moment(&self, run: &Run, episode: usize, step: usize) -> Result<Moment, Error> {
        match self.played.get(episode) {
            Some(played) => played.at(step),
            None => run.recorded(episode, step),
        }
    }

    /// How a command names one of the episodes.
    pub fn option(&self, episode: usize) -> String {
        match self.played.get(episode) {
            Some(played) => format!("--episode-seed {}", played.seed()),
            None => format!("--episode {episode}"),
        }
    }
}

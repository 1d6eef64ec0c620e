//! The steps that questions are about: recorded, played anew, or tried again.

use becausal_core::Environment;
use becausal_core::data::Origin;
use becausal_core::env::{AnyEnvironment, MAX_EPISODE_STEPS, episode_seed, play_episode, rollout};
use becausal_core::trajectory::Trajectory;
use becausal_explain::{Agent, Anchor, Moment};

use super::Run;
use crate::episode::{Episode, replay_steps};
use crate::error::Error;
use crate::record::Record;

impl Run {
    /// A recorded step, both counted from 0.
    ///
    /// # Errors
    /// When there is no such episode or step.
    pub fn recorded(&self, episode: usize, step: usize) -> Result<Moment, Error> {
        Ok(Moment::recorded(&self.data, episode, step)?
            .anchored(Anchor::Recorded { episode, step }))
    }

    /// An episode that the policy plays from a seed, always with its most likely action.
    ///
    /// # Errors
    /// When the run has no policy or no environment.
    pub fn play(&self, seed: u64) -> Result<Episode, Error> {
        let policy = self.policy().ok_or_else(|| Error::Missing {
            part: "policy",
            why: "nobody can play a new episode; ask about a recorded step".to_owned(),
        })?;
        let mut environment = self.needed_environment("a new episode is played in it")?.clone();
        let mut actor = |_: usize, state: &[f64]| Some(policy.mode(state));
        let played = play_episode(&mut environment, seed, MAX_EPISODE_STEPS, &mut actor);
        Ok(Episode::new(seed, self.checked(played)??))
    }

    /// What would really have happened with another action at a recorded step, with the same noise:
    /// the environment is replayed from the seed of the recording.
    ///
    /// # Errors
    /// When the run has no environment, its recording's seed is not known, or the replay is not what
    /// was recorded.
    pub fn replay(
        &self,
        (episode, step): (usize, usize),
        action: &[f64],
        horizon: usize,
    ) -> Result<Trajectory, Error> {
        let record = Trajectory::recorded(&self.data, episode, step, horizon)?;
        let mut here = self.environment_at(episode, step)?;
        let mut actor = Agent::new(self.policy()).instead(&self.schema, action, record.steps());
        Ok(self.checked(rollout(
            &mut here,
            Trajectory::begin(&self.schema),
            horizon,
            &mut actor,
        ))??)
    }

    /// The environment's drawing of the state before a recorded step, where it can be replayed and drawn.
    #[must_use]
    pub fn scene(&self, episode: usize, step: usize) -> Option<String> {
        self.environment_at(episode, step).ok()?.scene()
    }

    /// The environment as it was before a recorded step.
    pub(super) fn environment_at(
        &self,
        episode: usize,
        step: usize,
    ) -> Result<AnyEnvironment, Error> {
        let mut environment = self.needed_environment("the recording is replayed in it")?.clone();
        let recorded_from = self.origin().and_then(|origin| origin.seed);
        let recorded_from = recorded_from.ok_or_else(|| Error::Missing {
            part: "seed",
            why: "its recorded episodes cannot be replayed without one".to_owned(),
        })?;
        let state = Moment::recorded(&self.data, episode, step)?.state().to_vec();
        let record = Trajectory::recorded(&self.data, episode, 0, step)?;
        let number = u32::try_from(episode).unwrap_or(u32::MAX);
        let seed = episode_seed(recorded_from, number);
        replay_steps(&mut environment, seed, record.steps())?;
        if Environment::state(&environment) == state {
            Ok(environment)
        } else {
            Err(Error::Missing {
                part: "replay",
                why: "the recording is not what the environment does from its seed".to_owned(),
            })
        }
    }

    pub(super) fn needed_environment(&self, why: &str) -> Result<&AnyEnvironment, Error> {
        self.environment.as_ref().ok_or_else(|| Error::Missing {
            part: "environment",
            why: format!("its transitions come from a file, and {why}"),
        })
    }

    pub(super) fn origin(&self) -> Option<&Origin> {
        match &self.record {
            Record::Fit(fit) => fit.origin.as_ref(),
            Record::Train(_) => None,
        }
    }
}

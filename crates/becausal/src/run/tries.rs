//! What copies of the environment show that no log can show.

use becausal_core::Stream;
use becausal_core::env::{ForkParams, forks};
use becausal_core::progress::{Listener, Progress};
use becausal_learn::{FORK_ACTIONS, FORK_STEPS};
use becausal_model::{FitError, NoiseLessonParams};

use super::Run;
use crate::error::Error;
use crate::record::Record;

/// How other actions are tried.
#[derive(Debug, Clone)]
pub struct TryParams {
    states: usize,
    seed: u64,
    progress: Listener,
}

impl Default for TryParams {
    fn default() -> Self {
        // With 2,000 states the answers about lander 401 gained at least three fifths of what they gained with 10,000.
        Self { states: 2000, seed: 0, progress: Listener::default() }
    }
}

impl TryParams {
    /// States in which other actions are tried.
    #[must_use]
    pub fn states(self, states: usize) -> Self {
        Self { states, ..self }
    }

    /// The seed of all that is random.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Who hears how far the work is, and may stop it.
    #[must_use]
    pub fn progress(self, progress: impl Progress + 'static) -> Self {
        Self { progress: Listener::new(progress), ..self }
    }
}

/// The fewest states: eight of an episode, and three episodes.
const MIN_STATES: usize = 24;

/// The longest episode, in steps: as in an audit.
const LONGEST_EPISODE: usize = 1000;

/// What a stream is for, beside the others that a run's seed makes.
const TRIES: u32 = 10;

impl Run {
    /// The same run, whose model has seen other actions tried in copies of the environment, which meet the same noise. No log
    /// shows what noise under one action says about noise under another; with this, answers know. A training does
    /// so by itself where its settings say so (`final_forks`).
    ///
    /// The graph and the world model stay as they are; what a training learned this way is replaced. The run has no folder
    /// until it is [saved](Self::save), and forgets an audit that was kept. A foreign environment is copied by replaying its
    /// episode, so this may take minutes. Where nothing could be learned, answers stay as they were.
    ///
    /// # Errors
    /// When the run has no environment or no policy, the policy fails, the environment refuses an action, or the listener
    /// stops the work.
    pub fn try_others(mut self, params: &TryParams) -> Result<Self, Error> {
        let environment = self.needed_environment("other actions cannot be tried in a file")?;
        let policy = self.policy().ok_or_else(|| Error::Missing {
            part: "policy",
            why: "nobody knows what the agent would do after another action; fit it with the policy of an agent"
                .to_owned(),
        })?;
        if params.states < MIN_STATES {
            return Err(Error::Parameter {
                parameter: "states",
                expected: "at least 24: some to learn from, some to choose and some to judge by",
                got: params.states.to_string(),
            });
        }
        let stream = |purpose| Stream::keyed(params.seed, &[TRIES, purpose]).next_u64();
        let tried = ForkParams {
            states: params.states,
            actions: FORK_ACTIONS,
            changes: 0,
            values: None,
            horizon: FORK_STEPS,
            longest_episode: LONGEST_EPISODE,
            seed: stream(0),
            progress: params.progress.clone(),
        };
        let found = forks(environment, policy, &tried)?;
        policy.check()?;
        let found = found.ok_or(Error::Fit(FitError::Stopped))?;
        let lesson = NoiseLessonParams {
            seed: stream(1),
            progress: params.progress.clone(),
            ..NoiseLessonParams::default()
        };
        self.model.learn_shared_noise(&found.forks, &lesson)?;
        if let Record::Fit(fit) = &mut self.record {
            fit.tried = params.states;
        }
        Ok(Self { path: None, audited: None, ..self })
    }
}

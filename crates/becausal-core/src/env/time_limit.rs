//! Truncates episodes after a number of steps.

use std::sync::Arc;

use super::environment::{Environment, EnvironmentError, Onlooker, StepResult};
use crate::schema::Schema;

/// An environment whose episodes are truncated after a number of steps.
///
/// It only sets `truncated`; `terminated` still says whether the environment itself ended the
/// episode.
#[derive(Debug, Clone)]
pub struct TimeLimit<E> {
    environment: E,
    limit: usize,
    steps: usize,
    over: bool,
}

impl<E: Environment> TimeLimit<E> {
    /// Truncates the episodes of `environment` after `limit` steps.
    pub fn new(environment: E, limit: usize) -> Self {
        Self { environment, limit, steps: 0, over: false }
    }
}

impl<E: Environment> Environment for TimeLimit<E> {
    fn schema(&self) -> &Arc<Schema> {
        self.environment.schema()
    }

    fn reset(&mut self, seed: u64) {
        self.environment.reset(seed);
        self.steps = 0;
        self.over = false;
    }

    fn state(&self) -> &[f64] {
        self.environment.state()
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        if self.over {
            let environment = self.environment.schema().name().to_owned();
            return Err(EnvironmentError::Over { environment });
        }
        let step = self.environment.step(action)?;
        self.steps += 1;
        self.over = self.steps >= self.limit;
        Ok(StepResult { truncated: step.truncated || self.over, ..step })
    }

    fn scene(&self) -> Option<String> {
        self.environment.scene()
    }

    fn renew_noise(&mut self, seed: u64) -> bool {
        self.environment.renew_noise(seed)
    }

    fn hide_noise(&mut self, recorded: Option<&[f64]>, onlooker: Onlooker) -> bool {
        self.environment.hide_noise(recorded, onlooker)
    }

    fn repeats(&self) -> bool {
        self.environment.repeats()
    }

    fn set_state(&mut self, state: &[f64]) -> bool {
        !self.over && self.environment.set_state(state)
    }
}

//! Somebody who knows all rules, and of the noise only what a record shows.

use std::sync::Arc;

use becausal_core::World;
use becausal_core::env::{Environment, EnvironmentError, StepResult};
use becausal_core::schema::Schema;
use becausal_core::trajectory::Step;

/// An environment without the noise that the recorded steps do not show.
pub(super) struct Onlooker<'a, E> {
    environment: E,
    record: std::slice::Iter<'a, Step>,
    knows: Knows,
}

/// What is known of the noise of a recorded step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Knows {
    /// What a step under the same action shows: no data tell how the noise of one action goes together
    /// with that of another. Of actions that are numbers nobody can say which are the same.
    OfSameAction,
    /// What the step shows to somebody who also knows that.
    OfAnyAction,
}

impl<'a, E: Environment> Onlooker<'a, E> {
    /// `environment` is where `record` began. `None` if it cannot say which noise a step shows.
    pub fn new(mut environment: E, record: &'a [Step], knows: Knows) -> Option<Self> {
        let schema = environment.schema();
        let labels = schema.action_slots().all(|slot| schema.variable_of(slot).kind.is_label());
        if knows == Knows::OfSameAction && !labels {
            return None;
        }
        environment.hide_noise(None).then(|| Self { environment, record: record.iter(), knows })
    }
}

impl<E: Environment> World for Onlooker<'_, E> {
    fn schema(&self) -> &Arc<Schema> {
        self.environment.schema()
    }

    fn state(&self) -> &[f64] {
        self.environment.state()
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        let recorded = self.record.next().map(|step| &step.action[..]);
        let any_action = self.knows == Knows::OfAnyAction || self.environment.shares_noise();
        let shows = |recorded: &&[f64]| any_action || *recorded == action;
        self.environment.hide_noise(recorded.filter(shows));
        self.environment.step(action)
    }

    fn is_real(&self) -> bool {
        false
    }
}

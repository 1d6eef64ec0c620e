//! An environment as an onlooker sees it, who knows all rules, and of the noise only what a record shows.

use std::sync::Arc;

use becausal_core::World;
use becausal_core::env::{Environment, EnvironmentError, Onlooker, StepResult};
use becausal_core::schema::Schema;
use becausal_core::trajectory::Step;

/// An environment without the noise that the recorded steps do not show.
pub(super) struct SeenWorld<'a, E> {
    environment: E,
    record: std::slice::Iter<'a, Step>,
    onlooker: Onlooker,
}

impl<'a, E: Environment> SeenWorld<'a, E> {
    /// `environment` is where `record` began. `None` if it cannot say which noise a step shows.
    pub fn new(mut environment: E, record: &'a [Step], onlooker: Onlooker) -> Option<Self> {
        let knows = environment.hide_noise(None, onlooker);
        knows.then(|| Self { environment, record: record.iter(), onlooker })
    }
}

impl<E: Environment> World for SeenWorld<'_, E> {
    fn schema(&self) -> &Arc<Schema> {
        self.environment.schema()
    }

    fn state(&self) -> &[f64] {
        self.environment.state()
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        let recorded = self.record.next().map(|step| &step.action[..]);
        self.environment.hide_noise(recorded, self.onlooker);
        self.environment.step(action)
    }

    fn is_real(&self) -> bool {
        false
    }
}

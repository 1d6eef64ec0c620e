//! An environment whose type is known only at run time.

use std::sync::Arc;

use super::environment::{Environment, EnvironmentError, Onlooker, StepResult};
use crate::schema::Schema;

/// Any environment, as the registry creates it.
pub struct AnyEnvironment(Box<dyn Erased>);

impl AnyEnvironment {
    /// Erases the type of an environment.
    pub fn new(environment: impl Environment + 'static) -> Self {
        Self(Box::new(environment))
    }
}

impl Clone for AnyEnvironment {
    fn clone(&self) -> Self {
        Self(self.0.boxed_clone())
    }
}

impl Environment for AnyEnvironment {
    fn schema(&self) -> &Arc<Schema> {
        self.0.schema()
    }

    fn reset(&mut self, seed: u64) {
        self.0.reset(seed);
    }

    fn state(&self) -> &[f64] {
        self.0.state()
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        self.0.step(action)
    }

    fn scene(&self) -> Option<String> {
        self.0.scene()
    }

    fn renew_noise(&mut self, seed: u64) -> bool {
        self.0.renew_noise(seed)
    }

    fn hide_noise(&mut self, recorded: Option<&[f64]>, onlooker: Onlooker) -> bool {
        self.0.hide_noise(recorded, onlooker)
    }

    fn repeats(&self) -> bool {
        self.0.repeats()
    }

    fn set_state(&mut self, state: &[f64]) -> bool {
        self.0.set_state(state)
    }
}

/// [`Environment`] without `Clone`, which a trait object cannot have.
trait Erased: Send + Sync {
    fn schema(&self) -> &Arc<Schema>;
    fn reset(&mut self, seed: u64);
    fn state(&self) -> &[f64];
    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError>;
    fn scene(&self) -> Option<String>;
    fn renew_noise(&mut self, seed: u64) -> bool;
    fn hide_noise(&mut self, recorded: Option<&[f64]>, onlooker: Onlooker) -> bool;
    fn repeats(&self) -> bool;
    fn set_state(&mut self, state: &[f64]) -> bool;
    fn boxed_clone(&self) -> Box<dyn Erased>;
}

impl<E: Environment + 'static> Erased for E {
    fn schema(&self) -> &Arc<Schema> {
        Environment::schema(self)
    }

    fn reset(&mut self, seed: u64) {
        Environment::reset(self, seed);
    }

    fn state(&self) -> &[f64] {
        Environment::state(self)
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        Environment::step(self, action)
    }

    fn scene(&self) -> Option<String> {
        Environment::scene(self)
    }

    fn renew_noise(&mut self, seed: u64) -> bool {
        Environment::renew_noise(self, seed)
    }

    fn hide_noise(&mut self, recorded: Option<&[f64]>, onlooker: Onlooker) -> bool {
        Environment::hide_noise(self, recorded, onlooker)
    }

    fn repeats(&self) -> bool {
        Environment::repeats(self)
    }

    fn set_state(&mut self, state: &[f64]) -> bool {
        Environment::set_state(self, state)
    }

    fn boxed_clone(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }
}

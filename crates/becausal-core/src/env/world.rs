//! Playing a policy in a world.

use std::sync::Arc;

use super::environment::{Environment, EnvironmentError, StepResult};
use crate::schema::Schema;
use crate::trajectory::{Step, Trajectory};

/// An episode that is longer than this many steps counts as one that never ends.
pub const MAX_EPISODE_STEPS: usize = 100_000;

/// Where an agent acts: a real environment, or a model of one.
pub trait World {
    /// What its variables are.
    fn schema(&self) -> &Arc<Schema>;

    /// The current state, in the order of the schema's state slots.
    fn state(&self) -> &[f64];

    /// Takes an action, in the order of the schema's action slots.
    ///
    /// # Errors
    /// When the action is not one of the schema, or the episode is over.
    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError>;

    /// Whether its steps really happen; a model predicts them.
    fn is_real(&self) -> bool;
}

impl<E: Environment> World for E {
    fn schema(&self) -> &Arc<Schema> {
        Environment::schema(self)
    }

    fn state(&self) -> &[f64] {
        Environment::state(self)
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        Environment::step(self, action)
    }

    fn is_real(&self) -> bool {
        true
    }
}

/// Who acts in a [`rollout`]: the action of a step, counted from the beginning of the trajectory, in
/// its state; `None` where nobody knows.
pub type Actor<'a> = dyn FnMut(usize, &[f64]) -> Option<Vec<f64>> + 'a;

/// Continues a trajectory in a world until it has `limit` steps, its episode ends, or no action is known.
///
/// Everything that is played goes through here: what would have happened (in the model, and for an
/// audit in the environment), episodes of a report, evaluations of a policy.
///
/// # Errors
/// When an action is impossible.
pub fn rollout(
    world: &mut dyn World,
    begun: Trajectory,
    limit: usize,
    actor: &mut Actor<'_>,
) -> Result<Trajectory, EnvironmentError> {
    let mut trajectory = begun;
    let schema = Arc::clone(trajectory.schema());
    let recorded = world.is_real();
    while trajectory.len() < limit && !trajectory.is_over() {
        let state = world.state().to_vec();
        let Some(action) = actor(trajectory.len(), &state) else { break };
        let result = world.step(&action)?;
        let parts = [&state[..], &action, result.outcomes, result.state];
        let mut step = Step::new(&schema, parts, Some(result.terminated));
        step.recorded = recorded;
        step.paid = recorded.then_some(result.reward);
        trajectory.push(step, result.truncated);
    }
    Ok(trajectory)
}

/// Plays an episode from a seed, for at most `limit` steps.
///
/// # Errors
/// When an action is impossible.
pub fn play_episode<E: Environment>(
    environment: &mut E,
    seed: u64,
    limit: usize,
    actor: &mut Actor<'_>,
) -> Result<Trajectory, EnvironmentError> {
    environment.reset(seed);
    let begun = Trajectory::begin(Environment::schema(environment));
    rollout(environment, begun, limit, actor)
}

//! Letting a model go on: the most likely course, or the course under given noise.

use std::sync::Arc;

use super::error::ChainError;
use super::trajectory::{Step, Trajectory};
use becausal_model::{Dynamics, Noise};

/// The most steps of a trajectory.
pub const MOST_STEPS: usize = 1000;

/// Refuses horizons of no step and of too many.
///
/// # Errors
/// When the horizon is 0 or above [`MOST_STEPS`].
pub fn check_horizon(horizon: usize) -> Result<(), ChainError> {
    match horizon {
        1..=MOST_STEPS => Ok(()),
        given => Err(ChainError::Horizon { given, most: MOST_STEPS }),
    }
}

/// The action of a step, counted from the beginning of the trajectory, in its state; `None` where
/// nobody knows.
pub type Choose<'a> = dyn Fn(usize, &[f64]) -> Option<Vec<f64>> + 'a;

/// What decides a simulated course beside its beginning.
pub struct Course<'a> {
    /// The noise of each step, counted from the beginning of the trajectory.
    pub noise: &'a dyn Fn(usize) -> Noise,
    /// The actions; where none is known the course ends.
    pub action: &'a Choose<'a>,
}

/// Goes on from a trajectory until it has `horizon` steps, its episode ends, or no action is known.
///
/// A trajectory without steps begins in `start`.
///
/// # Errors
/// When the horizon or the size of a state or an action is impossible.
pub fn simulate(
    dynamics: &dyn Dynamics,
    begun: Trajectory,
    start: &[f64],
    horizon: usize,
    course: &Course<'_>,
) -> Result<Trajectory, ChainError> {
    check_horizon(horizon)?;
    let mut trajectory = begun;
    let schema = Arc::clone(trajectory.schema());
    let mut state = trajectory.state(trajectory.len()).unwrap_or(start).to_vec();
    check("numbers in a state", state.len(), schema.state_slots().len())?;
    let mut steps = Vec::new();
    let mut over = trajectory.terminated();
    for number in trajectory.len()..horizon {
        if over {
            break;
        }
        let Some(action) = (course.action)(number, &state) else {
            break;
        };
        check("numbers in an action", action.len(), schema.action_slots().len())?;
        let predicted = dynamics.step(&state, &action, &(course.noise)(number));
        check("outcomes of the model", predicted.outcomes.len(), schema.outcome_slots().len())?;
        check("next states of the model", predicted.next.len(), schema.next_slots().len())?;
        let parts = [&state[..], &action, &predicted.outcomes, &predicted.next];
        let step = Step::new(&schema, parts, None);
        over = step.terminated;
        steps.push(step);
        state = predicted.next;
    }
    trajectory.extend(steps);
    Ok(trajectory)
}

fn check(what: &'static str, given: usize, expected: usize) -> Result<(), ChainError> {
    if given == expected { Ok(()) } else { Err(ChainError::Size { what, given, expected }) }
}

//! Numbers that no answer may have: NaN, infinities, and values that no model knows.

use super::error::ExplainError;
use becausal_core::trajectory::Trajectory;
use becausal_model::Dynamics;

/// The farthest that a changed state variable may be outside the data, in its standard deviations.
/// Nearer ones get a caveat; at this distance single precision has no digits left for the rest.
const MAX_DISTANCE: f64 = 1e6;

const REWARD_HINT: &str =
    "look for an overflow, a division by zero or the logarithm of 0 in the reward term";
const PREDICTED_HINT: &str = "the model predicts it; the state may lie far outside the data";
const RECORDED_HINT: &str = "this is the recorded value";

/// Passes a trajectory on in which every number is finite.
pub(super) fn check_finite(trajectory: Trajectory) -> Result<Trajectory, ExplainError> {
    let schema = trajectory.schema();
    let slots = [schema.state_slots(), schema.outcome_slots(), schema.next_slots()];
    for (number, step) in trajectory.steps().iter().enumerate() {
        let wrong = |what: String, value: f64, hint| ExplainError::NotFinite {
            what,
            value: value.to_string(),
            step: trajectory.first() + number,
            hint,
        };
        for (slots, values) in slots.iter().zip([&step.state, &step.outcomes, &step.next]) {
            if let Some((slot, &value)) = slots.clone().zip(values).find(|(_, v)| !v.is_finite()) {
                let what = format!("`{}`", schema.slots()[slot].name);
                let hint = if step.recorded { RECORDED_HINT } else { PREDICTED_HINT };
                return Err(wrong(what, value, hint));
            }
        }
        let mut rewards = schema.rewards().iter().zip(&step.rewards);
        if let Some((term, &value)) = rewards.find(|(_, value)| !value.is_finite()) {
            let what = format!("the reward \"{}\" ({})", term.name, term.expression.source());
            return Err(wrong(what, value, REWARD_HINT));
        }
    }
    Ok(trajectory)
}

/// Passes a sum of rewards on that is finite.
pub(super) fn check_sum(sum: f64, step: usize) -> Result<f64, ExplainError> {
    if sum.is_finite() {
        return Ok(sum);
    }
    let what = "the sum of the rewards".to_owned();
    Err(ExplainError::NotFinite { what, value: sum.to_string(), step, hint: REWARD_HINT })
}

/// Refuses a state that a model cannot say anything about.
pub(super) fn check_distance(dynamics: &dyn Dynamics, state: &[f64]) -> Result<(), ExplainError> {
    let shape = becausal_core::Shape::of(dynamics.schema());
    for (index, distance) in dynamics.distance(state).into_iter().enumerate() {
        if distance > MAX_DISTANCE || distance.is_nan() {
            let values = shape.states.get(index).and_then(|range| state.get(range.clone()));
            let values = values.unwrap_or_default().iter().copied();
            let value = values.max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(f64::NAN);
            let name = dynamics.schema().causes().get(index).cloned().unwrap_or_default();
            return Err(ExplainError::FarOutside { name, value, distance, most: MAX_DISTANCE });
        }
    }
    Ok(())
}

//! How the agent's later actions depend on the changes that the explained action caused.

use becausal_core::Policy;
use becausal_core::schema::{Kind, Schema};
use becausal_core::trajectory::Trajectory;

/// For every step, `[actions][states]`: how much each action variable would differ if a state variable
/// still had its value before the explained action, from 0 to 1.
///
/// For a category or a boolean the difference is 0 or 1; for a number it is a share of its range. State
/// variables that have not changed have weight 0: no effect can pass through them.
#[must_use]
pub fn choices(policy: &dyn Policy, trajectory: &Trajectory) -> Vec<Vec<f64>> {
    let shape = trajectory.shape();
    let (states, actions) = (shape.states.len(), shape.actions.len());
    let mut weights = vec![vec![0.0; states * actions]; trajectory.len()];
    let Some(start) = trajectory.steps().first().map(|step| &step.state) else {
        return weights;
    };
    for (step, row) in trajectory.steps().iter().zip(&mut weights).skip(1) {
        let changed: Vec<usize> = (0..states)
            .filter(|&index| {
                let range = shape.states[index].clone();
                step.state[range.clone()] != start[range]
            })
            .collect();
        let kept = changed.iter().map(|&index| {
            let range = shape.states[index].clone();
            let mut kept = step.state.clone();
            kept[range.clone()].copy_from_slice(&start[range]);
            kept
        });
        let asked: Vec<Vec<f64>> = std::iter::once(step.state.clone()).chain(kept).collect();
        let answers = policy.modes(&asked);
        let Some((chosen, instead)) = answers.split_first() else { continue };
        for (index, instead) in changed.into_iter().zip(instead) {
            for action in 0..actions {
                row[action * states + index] =
                    action_difference(trajectory.schema(), action, chosen, instead);
            }
        }
    }
    weights
}

/// How far two actions differ in one of their variables, from 0 to 1.
#[must_use]
pub fn action_difference(schema: &Schema, action: usize, left: &[f64], right: &[f64]) -> f64 {
    let slots = schema.action_slots();
    let mut largest = 0.0_f64;
    let first = schema.of_role(becausal_core::schema::Role::State).count();
    for slot in slots.clone().filter(|&slot| schema.slots()[slot].variable == first + action) {
        let at = slot - slots.start;
        let (Some(left), Some(right)) = (left.get(at), right.get(at)) else {
            continue;
        };
        let difference = (left - right).abs();
        largest = largest.max(match &schema.variable_of(slot).kind {
            _ if difference == 0.0 => 0.0,
            Kind::Boolean | Kind::Categorical(_) => 1.0,
            Kind::Circular(circle) => {
                circle.difference(*left, *right).abs() / (circle.period / 2.0)
            }
            Kind::Continuous(bounds) | Kind::Integer(bounds) => match (bounds.low, bounds.high) {
                (Some(low), Some(high)) if high > low => (difference / (high - low)).min(1.0),
                // Without bounds there is no range to compare with.
                _ => difference / (1.0 + difference),
            },
        });
    }
    largest
}

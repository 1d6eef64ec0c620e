//! All actions that could be taken, or some where there are too many.

use becausal_core::Stream;
use becausal_core::env::{EnvironmentError, random_action};
use becausal_core::schema::{Bounds, Kind, Schema};

/// Every action when there are at most `most`; otherwise `most` drawn at random.
///
/// # Errors
/// When an action has no bounds to draw between.
pub fn alternatives(
    schema: &Schema,
    most: usize,
    stream: &mut Stream,
) -> Result<Vec<Vec<f64>>, EnvironmentError> {
    let mut all: Vec<Vec<f64>> = vec![Vec::new()];
    for slot in schema.action_slots() {
        let values: Option<Vec<f64>> = match &schema.variable_of(slot).kind {
            Kind::Boolean => Some(vec![0.0, 1.0]),
            Kind::Categorical(labels) => Some((0..labels.len()).map(|i| i as f64).collect()),
            Kind::Integer(_) | Kind::Continuous(_) => None,
        };
        let Some(values) = values.filter(|values| all.len() * values.len() <= most) else {
            return draw(schema, most, stream);
        };
        let longer = |action: &Vec<f64>, value: f64| [action.as_slice(), &[value]].concat();
        all = all.iter().flat_map(|a| values.iter().map(move |&v| longer(a, v))).collect();
    }
    Ok(all)
}

/// Actions to ask about: every category; of a number its bounds and the middle. None where there are
/// more than `most`, or a number without bounds.
#[must_use]
pub fn typical_actions(schema: &Schema, most: usize) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = vec![Vec::new()];
    for slot in schema.action_slots() {
        let values: Vec<f64> = match &schema.variable_of(slot).kind {
            Kind::Boolean => vec![0.0, 1.0],
            Kind::Categorical(labels) => (0..labels.len()).map(|label| label as f64).collect(),
            Kind::Integer(bounds) => between(bounds).iter().map(|value| value.round()).collect(),
            Kind::Continuous(bounds) => between(bounds),
        };
        if all.len() * values.len() > most {
            return Vec::new();
        }
        let longer = |action: &Vec<f64>, value: f64| [action.as_slice(), &[value]].concat();
        all = all.iter().flat_map(|a| values.iter().map(move |&v| longer(a, v))).collect();
    }
    all
}

/// The bounds and the middle; nothing where there are none.
fn between(bounds: &Bounds) -> Vec<f64> {
    match (bounds.low, bounds.high) {
        (Some(low), Some(high)) => vec![low, f64::midpoint(low, high), high],
        _ => Vec::new(),
    }
}

fn draw(
    schema: &Schema,
    most: usize,
    stream: &mut Stream,
) -> Result<Vec<Vec<f64>>, EnvironmentError> {
    (0..most)
        .map(|_| {
            let mut action = vec![0.0; schema.action_slots().len()];
            random_action(schema, stream, &mut action).map(|()| action)
        })
        .collect()
}

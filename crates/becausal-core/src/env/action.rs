//! Actions: drawn at random, read from a text, read from a file.

use std::path::Path;

use super::environment::EnvironmentError;
use crate::Stream;
use crate::data::{self, DataError};
use crate::schema::{Kind, Schema, suggestion};

/// Draws each action variable evenly from its values, and writes the action into `action`.
///
/// # Errors
/// When a number has no bounds to draw from.
pub fn random_action(
    schema: &Schema,
    stream: &mut Stream,
    action: &mut [f64],
) -> Result<(), EnvironmentError> {
    for (slot, value) in schema.action_slots().zip(action) {
        let kind = &schema.variable_of(slot).kind;
        *value = match kind {
            Kind::Boolean => stream.below(2) as f64,
            Kind::Categorical(labels) => stream.below(labels.len()) as f64,
            Kind::Continuous(bounds) | Kind::Integer(bounds) => {
                let (Some(low), Some(high)) = (bounds.low, bounds.high) else {
                    return Err(EnvironmentError::Action {
                        environment: schema.name().to_owned(),
                        message: format!(
                            "action `{}` has no bounds to draw a random value from \
                             (give it low and high in the schema)",
                            schema.slots()[slot].name
                        ),
                    });
                };
                if matches!(kind, Kind::Integer(_)) {
                    let (low, high) = (low.ceil(), high.floor());
                    (low + (stream.unit() * (high - low + 1.0)).floor()).min(high)
                } else {
                    stream.uniform(low, high)
                }
            }
        };
    }
    Ok(())
}

/// Reads an action as a person writes it: `depot`, `2`, or `main=0.5,lateral=-1`.
///
/// # Errors
/// When it is none, with what was expected.
pub fn parse_action(schema: &Schema, text: &str) -> Result<Vec<f64>, EnvironmentError> {
    let slots = schema.action_slots();
    let wrong = |message: String| EnvironmentError::Action {
        environment: schema.name().to_owned(),
        message: format!("\"{text}\" is not an action: {message}"),
    };
    let names = || slots.clone().map(|slot| schema.slots()[slot].name.as_str());
    let mut values = vec![None; slots.len()];
    for (position, part) in text.split(',').map(str::trim).enumerate() {
        let (index, value) = match part.split_once('=') {
            Some((name, value)) => {
                let name = name.trim();
                let known = names().position(|known| known == name).ok_or_else(|| {
                    let hint = suggestion(name, names().collect::<Vec<_>>());
                    wrong(format!("there is no action variable `{name}` ({hint})"))
                })?;
                (known, value.trim())
            }
            None => (position, part),
        };
        let place = values.get_mut(index).ok_or_else(|| {
            let expected: Vec<&str> = names().collect();
            wrong(format!("too many values, expected {} ({})", slots.len(), expected.join(", ")))
        })?;
        let slot = slots.start + index;
        let number = data::parse_value(&schema.variable_of(slot).kind, value)
            .map_err(|message| wrong(format!("`{}`: {message}", schema.slots()[slot].name)))?;
        if place.replace(number).is_some() {
            return Err(wrong(format!("`{}` is given twice", schema.slots()[slot].name)));
        }
    }
    let missing = values.iter().position(Option::is_none);
    if let Some(index) = missing {
        let name = &schema.slots()[slots.start + index].name;
        return Err(wrong(format!("`{name}` is missing")));
    }
    Ok(values.into_iter().flatten().collect())
}

/// Reads a sequence of actions from a file.
///
/// A text file has an action a line, as [`parse_action`] reads it; or it is a CSV with the
/// action variables among its columns. A `.parquet` or `.npz` of recorded transitions will do, and
/// so will an `.npz` or `.npy` with nothing but the actions.
///
/// # Errors
/// When the file cannot be read or holds something else, with the line or row.
pub fn read_actions(path: &Path, schema: &Schema) -> Result<Vec<Vec<f64>>, DataError> {
    data::read_actions(path, schema, |text| {
        parse_action(schema, text).map_err(|error| match error {
            EnvironmentError::Action { message, .. } => message,
            other => other.to_string(),
        })
    })
}

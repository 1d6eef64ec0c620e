//! Actions: drawn at random, enumerated, written as text and read back, read from a file.

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
            Kind::Circular(circle) => stream.uniform(circle.low, circle.low + circle.period),
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

/// All actions, where every action variable has finitely many values and there are at most `max`.
#[must_use]
pub fn every_action(schema: &Schema, max: usize) -> Option<Vec<Vec<f64>>> {
    combined(schema, max, |_| None)
}

/// Actions to ask about: every category; of a number its bounds and the middle. Empty where there
/// are more than `max`, or a number has no bounds.
#[must_use]
pub fn typical_actions(schema: &Schema, max: usize) -> Vec<Vec<f64>> {
    let typical = |kind: &Kind| {
        let (Kind::Integer(bounds) | Kind::Continuous(bounds)) = kind else { return None };
        let (mut low, mut high) = (bounds.low?, bounds.high?);
        let mut middle = f64::midpoint(low, high);
        if matches!(kind, Kind::Integer(_)) {
            (low, high) = (low.ceil(), high.floor());
            middle = middle.round().clamp(low, high.max(low));
        }
        let mut values = vec![low, middle, high];
        values.dedup();
        Some(values)
    };
    combined(schema, max, typical).unwrap_or_default()
}

/// Every combination of the values of the action slots; `numbers` gives those of a number.
fn combined(
    schema: &Schema,
    max: usize,
    numbers: impl Fn(&Kind) -> Option<Vec<f64>>,
) -> Option<Vec<Vec<f64>>> {
    let mut all: Vec<Vec<f64>> = vec![Vec::new()];
    for slot in schema.action_slots() {
        let values: Vec<f64> = match &schema.variable_of(slot).kind {
            Kind::Boolean => vec![0.0, 1.0],
            Kind::Categorical(labels) => (0..labels.len()).map(|label| label as f64).collect(),
            kind => numbers(kind)?,
        };
        if all.len() * values.len() > max {
            return None;
        }
        let longer = |action: &Vec<f64>, value: f64| [action.as_slice(), &[value]].concat();
        all = all.iter().flat_map(|a| values.iter().map(move |&v| longer(a, v))).collect();
    }
    Some(all)
}

/// An action as a person writes it: `depot`, or `main=0.5,lateral=-1`. [`parse_action`] reads it back.
#[must_use]
pub fn action_text(schema: &Schema, action: &[f64]) -> String {
    let slots: Vec<usize> = schema.action_slots().collect();
    if let ([slot], [value]) = (slots.as_slice(), action) {
        return schema.variable_of(*slot).kind.show(*value);
    }
    let part = |(slot, value): (usize, &f64)| {
        format!("{}={}", schema.slots()[slot].name, schema.variable_of(slot).kind.show(*value))
    };
    slots.into_iter().zip(action).map(part).collect::<Vec<_>>().join(",")
}

/// The action with exactly this label, where a single category is chosen. A label may have any letters: `a=1,b` is one too.
#[must_use]
pub fn labelled_action(schema: &Schema, text: &str) -> Option<Vec<f64>> {
    let slots = schema.action_slots();
    if slots.len() != 1 {
        return None;
    }
    match &schema.variable_of(slots.start).kind {
        Kind::Categorical(labels) => {
            Some(vec![labels.iter().position(|label| label == text)? as f64])
        }
        _ => None,
    }
}

/// Reads an action as a person writes it: `depot`, `2`, or `main=0.5,lateral=-1`.
///
/// # Errors
/// When it is not an action, with what was expected.
pub fn parse_action(schema: &Schema, text: &str) -> Result<Vec<f64>, EnvironmentError> {
    if let Some(action) = labelled_action(schema, text) {
        return Ok(action);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(actions: &str) -> Schema {
        let text = format!(
            "name = \"Small\"\n[state]\nx = {{ kind = \"continuous\" }}\n[action]\n{actions}"
        );
        Schema::parse(&text).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn an_action_is_read_back_as_it_is_written() {
        let schemas = [
            schema("a = { kind = \"categorical\", labels = [\"left\", \"right\", \"x=1,y\"] }\n"),
            schema(
                "main = { kind = \"continuous\", low = -1.0, high = 1.0 }\ngear = { kind = \"integer\", low = 0, high = 4 }\n",
            ),
            schema("on = { kind = \"boolean\" }\nlegs = { kind = \"boolean\", size = 2 }\n"),
        ];
        for schema in schemas {
            for action in typical_actions(&schema, 64) {
                let text = action_text(&schema, &action);
                assert_eq!(parse_action(&schema, &text), Ok(action), "{text}");
            }
        }
    }

    #[test]
    fn all_actions_are_listed_only_where_there_are_few() {
        let schema = schema(
            "on = { kind = \"boolean\" }\ngear = { kind = \"integer\", low = 0, high = 4 }\n",
        );
        assert_eq!(every_action(&schema, 64), None, "a number has no list");
        assert_eq!(typical_actions(&schema, 64).len(), 6);
        assert!(typical_actions(&schema, 5).is_empty());
        let narrow = self::schema("gear = { kind = \"integer\", low = 0, high = 1 }\n");
        assert_eq!(typical_actions(&narrow, 64), [[0.0], [1.0]], "each action once");
    }
}

//! The change that a what-if question asks about.

use super::error::ExplainError;
use super::moment::check_values;
use crate::chain::{Origin, Shape};
use becausal_core::data::parse_value;
use becausal_core::env::{labelled_action, parse_action};
use becausal_core::schema::{Role, Schema, suggestion};

/// Another action, other values of state variables, or both.
///
/// If only the state changes, the action stays the same, so that all differences are due to the
/// change. The agent's later actions follow its policy.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Change {
    /// Another action, slot by slot.
    pub action: Option<Vec<f64>>,
    /// Other values in the state, by slot.
    pub state: Vec<(usize, f64)>,
}

impl Change {
    /// Another action.
    #[must_use]
    pub fn action(action: &[f64]) -> Self {
        Self { action: Some(action.to_vec()), state: Vec::new() }
    }

    /// Parses a change as a person writes it: `depot`, `money=400`, or `money=400,build=depot`.
    ///
    /// # Errors
    /// When a variable is unknown or a value is invalid.
    pub fn parse(schema: &Schema, text: &str, action: &[f64]) -> Result<Self, ExplainError> {
        if let Some(action) = labelled_action(schema, text) {
            return Ok(Self::action(&action));
        }
        let wrong = |message: String| ExplainError::Change { text: text.to_owned(), message };
        let mut change = Self::default();
        let mut bare = Vec::new();
        for part in text.split(',').map(str::trim) {
            let Some((name, value)) = part.split_once('=') else {
                let states = schema.state_slots().map(|slot| schema.slots()[slot].name.as_str());
                let is_state = |known: &str| known == part;
                if states.into_iter().any(is_state) && parse_action(schema, part).is_err() {
                    let message = format!("`{part}` is a state variable, expected {part}=VALUE");
                    return Err(wrong(message));
                }
                bare.push(part);
                continue;
            };
            let (name, value) = (name.trim(), value.trim());
            let slots = schema.state_slots().start..schema.action_slots().end;
            let Some(slot) = slots.clone().find(|&slot| schema.slots()[slot].name == name) else {
                let known = slots.map(|slot| schema.slots()[slot].name.as_str());
                let hint = suggestion(name, known.collect::<Vec<_>>());
                return Err(wrong(format!("there is no state or action `{name}` ({hint})")));
            };
            let kind = &schema.variable_of(slot).kind;
            let number = parse_value(kind, value)
                .map_err(|message| wrong(format!("`{name}`: {message}")))?;
            let number = kind.circle().map_or(number, |circle| circle.wrap(number));
            match slot.checked_sub(schema.action_slots().start) {
                Some(place) => {
                    let mut other = change.action.take().unwrap_or_else(|| action.to_vec());
                    match other.get_mut(place) {
                        Some(entry) => *entry = number,
                        None => return Err(wrong(format!("`{name}` has no place in the action"))),
                    }
                    change.action = Some(other);
                }
                None => change.state.push((slot, number)),
            }
        }
        if !bare.is_empty() {
            change.action = Some(parse_action(schema, &bare.join(","))?);
        }
        Ok(change)
    }

    /// The state after the change.
    ///
    /// # Errors
    /// When there is no such slot or a value is invalid.
    pub fn state(&self, schema: &Schema, state: &[f64]) -> Result<Vec<f64>, ExplainError> {
        let mut changed = state.to_vec();
        for &(slot, value) in &self.state {
            match changed.get_mut(slot) {
                Some(entry) => *entry = value,
                None => {
                    return Err(ExplainError::Change {
                        text: format!("slot {slot}"),
                        message: format!("expected a state slot below {}", state.len()),
                    });
                }
            }
        }
        check_values(schema, schema.state_slots(), &changed)?;
        Ok(changed)
    }

    /// Where the chain begins: the variables whose values really differ.
    pub(super) fn origin(&self, shape: &Shape, state: &[f64], action: &[f64]) -> Origin {
        let differs = |range: &std::ops::Range<usize>| {
            let mut changes = self.state.iter().filter(|(slot, _)| range.contains(slot));
            changes.any(|&(slot, value)| state.get(slot) != Some(&value))
        };
        let ranges = shape.states.iter().enumerate();
        let states: Vec<usize> =
            ranges.filter(|(_, range)| differs(range)).map(|(i, _)| i).collect();
        let other = self.action.as_ref().is_some_and(|other| other != action);
        Origin { action: other || states.is_empty(), states }
    }

    /// The names of the changed state variables.
    #[must_use]
    pub fn changed_states<'a>(&self, schema: &'a Schema) -> Vec<&'a str> {
        let states = schema.of_role(Role::State).count();
        let mut names: Vec<&str> = Vec::new();
        for &(slot, _) in &self.state {
            if let Some(entry) = schema.slots().get(slot).filter(|entry| entry.variable < states) {
                let name = schema.variables()[entry.variable].name.as_str();
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_angle_beyond_a_turn_is_the_same_angle() {
        let schema = Schema::parse(
            "name = \"Dial\"\n[state]\nangle = { kind = \"circular\", period = 360 }\n\
             [action]\npush = { kind = \"boolean\" }\n",
        );
        let schema = schema.expect("a schema");
        let change = |text: &str| Change::parse(&schema, text, &[0.0]).expect("a change").state;
        assert_eq!(change("angle=370"), [(0, 10.0)]);
        assert_eq!(change("angle=370"), change("angle=10"));
    }
}

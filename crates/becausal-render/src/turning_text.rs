//! What would have turned the agent, as text and JSON.

use serde_json::{Value, json};

use super::words::{action, instead, list, number, value};
use becausal_core::schema::Schema;
use becausal_explain::Turning;

/// The smallest change of a state after which the agent would have done otherwise, in a sentence.
#[must_use]
pub fn turning_text(schema: &Schema, state: &[f64], turning: &Turning) -> String {
    let changes: Vec<String> = turning
        .changes
        .iter()
        .map(|&(slot, changed)| {
            let variable = schema.variable_of(slot);
            let name = slot_title(schema, slot);
            let (to, from) = instead(Some(variable), &[changed], &[state[slot]]);
            format!("{name} had been {to} instead of {from}")
        })
        .collect();
    let size = number(turning.size, 2);
    format!(
        "The agent would have chosen {} if {} (a change of {size} standard deviations).",
        action(schema, &turning.action),
        list(&changes)
    )
}

/// The same for other programs.
#[must_use]
pub fn turning_json(schema: &Schema, state: &[f64], turning: &Turning) -> Value {
    let change = |&(slot, changed): &(usize, f64)| {
        let variable = Some(schema.variable_of(slot));
        json!({
            "variable": schema.slots()[slot].name,
            "from": state[slot],
            "to": changed,
            "from_text": value(variable, &[state[slot]]),
            "to_text": value(variable, &[changed]),
        })
    };
    json!({
        "sentence": turning_text(schema, state, turning),
        "action": action(schema, &turning.action),
        "changes": turning.changes.iter().map(change).collect::<Vec<_>>(),
        "size": turning.size,
    })
}

/// The title of a slot: `legs on the ground[1]` for an element of a vector.
fn slot_title(schema: &Schema, slot: usize) -> String {
    let variable = schema.variable_of(slot);
    let name = &schema.slots()[slot].name;
    match name.strip_prefix(variable.name.as_str()) {
        Some(element) => format!("{}{element}", variable.title()),
        None => name.clone(),
    }
}

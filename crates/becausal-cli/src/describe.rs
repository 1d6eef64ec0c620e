//! A schema in words and as JSON.

use std::fmt::Write;

use becausal::Schema;
use becausal::render::{Alignment, Table};
use becausal::schema::{Kind, Role, Variable};
use serde_json::{Value, json};

/// The variables, rewards and termination of a schema, a line each.
pub fn text(schema: &Schema) -> String {
    let mut text = String::new();
    for (role, title) in
        [(Role::State, "states"), (Role::Action, "actions"), (Role::Outcome, "outcomes")]
    {
        let variables: Vec<&Variable> = schema.of_role(role).collect();
        if variables.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{title}");
        let mut table = Table::new([("", Alignment::Left); 2]);
        for variable in variables {
            table.push([format!("  {}", name(variable)), kind(variable)]);
        }
        text.push_str(&table.lines());
    }
    if !schema.rewards().is_empty() {
        let _ = writeln!(text, "rewards");
        for reward in schema.rewards() {
            let _ = writeln!(text, "  {} = {}", reward.name, reward.expression.source());
            let parents = schema.parents_of(&reward.expression);
            let caused = if parents.is_empty() { "nothing".into() } else { parents.join(", ") };
            let _ = writeln!(text, "    caused by {caused}");
        }
    }
    if let Some(when) = schema.termination() {
        let _ = writeln!(text, "an episode ends when\n  {}", when.source());
    }
    text
}

/// A name with its size: `legs[2]`.
pub fn name(variable: &Variable) -> String {
    match variable.size {
        Some(size) => format!("{}[{size}]", variable.name),
        None => variable.name.clone(),
    }
}

fn kind(variable: &Variable) -> String {
    let mut text = variable.kind.word().to_owned();
    match &variable.kind {
        Kind::Categorical(labels) => {
            let _ = write!(text, ": {}", labels.join(", "));
        }
        Kind::Continuous(bounds) | Kind::Integer(bounds)
            if bounds.low.is_some() || bounds.high.is_some() =>
        {
            let _ = write!(text, ", {bounds}");
        }
        Kind::Circular(circle) => {
            let _ = write!(text, " from {} to {}", circle.low, circle.low + circle.period);
        }
        _ => {}
    }
    if let Some(unit) = &variable.unit {
        let _ = write!(text, ", in {unit}");
    }
    if let Some(label) = &variable.label {
        let _ = write!(text, " ({label})");
    }
    text
}

/// The same as JSON.
pub fn json(schema: &Schema) -> Value {
    let variables = |role| -> Vec<Value> { schema.of_role(role).map(variable).collect() };
    let rewards: Vec<Value> = schema
        .rewards()
        .iter()
        .map(|reward| {
            json!({
                "name": reward.name,
                "expression": reward.expression.source(),
                "parents": schema.parents_of(&reward.expression),
            })
        })
        .collect();
    json!({
        "name": schema.name(),
        "description": schema.description(),
        "states": variables(Role::State),
        "actions": variables(Role::Action),
        "outcomes": variables(Role::Outcome),
        "rewards": rewards,
        "termination": schema.termination().map(|when| json!({
            "when": when.source(),
            "parents": schema.parents_of(when),
        })),
    })
}

fn variable(variable: &Variable) -> Value {
    let mut value = json!({ "name": variable.name, "kind": variable.kind.word() });
    let mut set = |key: &str, entry: Value| {
        if !entry.is_null() {
            value[key] = entry;
        }
    };
    set("size", json!(variable.size));
    match &variable.kind {
        Kind::Categorical(labels) => set("labels", json!(labels)),
        Kind::Continuous(bounds) | Kind::Integer(bounds) => {
            set("low", json!(bounds.low));
            set("high", json!(bounds.high));
        }
        Kind::Circular(circle) => {
            set("low", json!(circle.low));
            set("period", json!(circle.period));
        }
        Kind::Boolean => {}
    }
    set("unit", json!(variable.unit));
    set("label", json!(variable.label));
    value
}

/// A JSON object as the text of standard output.
pub fn line(value: &Value) -> String {
    format!("{value}\n")
}

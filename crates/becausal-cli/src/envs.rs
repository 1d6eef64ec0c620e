//! `becausal envs`: environments and their variables.

use std::fmt::Write;

use becausal::env::{Circumstance, Entry, Trial, Truth, entries, find};
use becausal::explain::NEGLIGIBLE;
use becausal::render::{Alignment, Table};
use becausal::schema::{Kind, Role, Variable};
use becausal::text::counted;
use serde_json::{Map, Value, json};

use crate::arguments::{Common, Envs};
use crate::describe;
use crate::failure::Failure;

pub fn run(common: &Common, arguments: &Envs) -> Result<String, Failure> {
    let Some(id) = &arguments.id else {
        return Ok(if common.json {
            let all: Vec<Value> = entries().iter().map(as_json).collect();
            describe::line(&json!({ "environments": all }))
        } else {
            list()
        });
    };
    let entry = find(id)?;
    Ok(if arguments.schema && common.json {
        describe::line(&json!({ "id": entry.id, "schema": entry.schema().to_toml() }))
    } else if arguments.schema {
        entry.schema().to_toml()
    } else if common.json {
        let mut value = as_json(entry);
        value["trial"] = json!(entry.trial().as_ref().map(trial_as_json));
        describe::line(&value)
    } else {
        show(entry)
    })
}

fn list() -> String {
    let mut text = String::new();
    for entry in entries() {
        let schema = entry.schema();
        let _ = writeln!(text, "{}", entry.id);
        if let Some(description) = schema.description() {
            let _ = writeln!(text, "  {description}");
        }
        let names = |role| schema.of_role(role).map(describe::name).collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "  states    {}", names(Role::State));
        let actions: Vec<String> = schema.of_role(Role::Action).map(action).collect();
        let _ = writeln!(text, "  actions   {}", actions.join("; "));
        if schema.of_role(Role::Outcome).next().is_some() {
            let _ = writeln!(text, "  outcomes  {}", names(Role::Outcome));
        }
        text.push('\n');
    }
    text.push_str("`becausal envs ID` shows one of them, with its rewards, options and causes.\n");
    text
}

/// An action with what can be chosen.
fn action(variable: &Variable) -> String {
    match &variable.kind {
        Kind::Categorical(labels) => format!("{}: {}", variable.name, labels.join(", ")),
        Kind::Continuous(bounds) | Kind::Integer(bounds) => {
            format!("{} {bounds}", describe::name(variable))
        }
        Kind::Boolean | Kind::Circular(_) => describe::name(variable),
    }
}

fn show(entry: &Entry) -> String {
    let schema = entry.schema();
    let mut text = format!("{}\n", entry.id);
    if let Some(description) = schema.description() {
        let _ = writeln!(text, "{description}");
    }
    let _ = write!(text, "\n{}", describe::text(&schema));
    if let Some(steps) = entry.max_episode_steps {
        let _ = writeln!(text, "or is truncated after\n  {}", counted(steps, "step"));
    }
    if let Some(truth) = entry.truth() {
        let _ = writeln!(text, "what causes what, by its rules");
        let mut table = Table::new([("", Alignment::Left); 2]);
        for effect in &truth.effects {
            let parents = truth.parents(effect).join(", ");
            table.push([format!("  {effect}"), format!("<- {parents}")]);
        }
        text.push_str(&table.lines());
    }
    if let Some(trial) = entry.trial() {
        show_trial(&mut text, &trial);
    }
    let _ = writeln!(text, "options");
    let mut table = Table::new([("", Alignment::Left); 2]);
    for option in entry.options() {
        let default = match (option.default, entry.max_episode_steps) {
            ("", Some(steps)) => format!("default {steps}"),
            ("", None) => "default none".into(),
            (default, _) => format!("default {default}"),
        };
        table.push([format!("  {}", option.name), format!("{} ({default})", option.description)]);
    }
    text.push_str(&table.lines());
    text
}

fn as_json(entry: &Entry) -> Value {
    let mut value = describe::json(&entry.schema());
    value["id"] = json!(entry.id);
    value["max_episode_steps"] = json!(entry.max_episode_steps);
    value["options"] = entry
        .options()
        .map(|option| json!({ "name": option.name, "default": option.default, "description": option.description }))
        .collect();
    value["truth"] = json!(entry.truth().as_ref().map(truth_as_json));
    value
}

/// What was found by trying: the causes of every effect, the strongest first.
fn show_trial(text: &mut String, trial: &Trial) {
    for circumstance in &trial.circumstances {
        let _ = writeln!(text, "what causes what {}, found by trying", circumstance.name);
        let mut table = Table::new([("", Alignment::Left); 2]);
        for (effect, name) in trial.effects.iter().enumerate() {
            let mut parents = circumstance.parents(effect, NEGLIGIBLE);
            parents.sort_by(|left, right| {
                let moved = |cause: usize| circumstance.moves[effect][cause].unwrap_or(0.0);
                moved(*right).total_cmp(&moved(*left))
            });
            let parents: Vec<&str> =
                parents.into_iter().map(|cause| trial.causes[cause].as_str()).collect();
            table.push([format!("  {name}"), format!("<- {}", parents.join(", "))]);
        }
        text.push_str(&table.lines());
        let untried: Vec<&str> =
            circumstance.untried().into_iter().map(|cause| trial.causes[cause].as_str()).collect();
        if !untried.is_empty() {
            let _ = writeln!(text, "  {} cannot be changed alone", untried.join(", "));
        }
    }
}

fn trial_as_json(trial: &Trial) -> Value {
    let of_circumstance = |circumstance: &Circumstance| {
        let rows = trial.effects.iter().zip(&circumstance.moves).map(|(effect, row)| {
            let named = trial.causes.iter().zip(row);
            let moves = named.map(|(cause, moved)| (cause.clone(), json!(moved)));
            (effect.clone(), Value::Object(moves.collect()))
        });
        (circumstance.name.to_owned(), Value::Object(rows.collect()))
    };
    Value::Object(trial.circumstances.iter().map(of_circumstance).collect())
}

fn truth_as_json(truth: &Truth) -> Value {
    let parents = |graph: &[Vec<bool>]| -> Value {
        let rows = truth.effects.iter().zip(graph).map(|(effect, row)| {
            let named = truth.causes.iter().zip(row);
            let causes: Vec<&String> =
                named.filter(|(_, edge)| **edge).map(|(cause, _)| cause).collect();
            (effect.clone(), json!(causes))
        });
        Value::Object(rows.collect::<Map<String, Value>>())
    };
    let by_action: Map<String, Value> =
        truth.by_action.iter().map(|one| (one.action.clone(), parents(&one.graph))).collect();
    json!({ "graph": parents(&truth.graph), "by_action": by_action })
}

//! The graph as a map, and the evidence for one pair of it.

use std::collections::BTreeMap;

use becausal::discovery::{CausalGraph, CauseId, EffectId, Pair};
use becausal::model::{Dynamics, Influence, Noise, Situation};
use becausal::render::reason_words;
use becausal::schema::{Role, Schema};
use becausal::{Run, Stream};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::refusal::Refusal;

/// Rows of a scatter: enough to see a shape, drawn in a moment.
const SCATTER_ROWS: usize = 400;

/// Rows in which the influence is asked for, to say where it acts.
const INFLUENCE_ROWS: usize = 40;

/// The threshold of influences that count, as for answers.
const TAU: f64 = 0.1;

/// The most actions of which it is said where an influence acts.
const MAX_ACTIONS: usize = 8;

/// A pair that is asked for, by its names.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairQuery {
    cause: String,
    effect: String,
}

/// The verdict about a pair, with its numbers.
fn told(graph: &CausalGraph, pair: &Pair) -> Value {
    json!({
        "cause": graph.cause(pair.cause),
        "effect": graph.effect(pair.effect),
        "verdict": pair.verdict.word(),
        "strength": pair.strength,
        "p": pair.p,
        "proxy": pair.proxy,
        "confidence": pair.confidence,
        "reason": pair.reason.as_ref().map(reason_words),
    })
}

/// Causes, effects, and every pair that is an edge or cannot be told.
pub fn map(run: &Run) -> Value {
    let Some(graph) = run.graph().get() else { return Value::Null };
    let schema = run.schema();
    let role = |name: &String| {
        let plain = name.strip_suffix('\'').unwrap_or(name);
        let variable = schema.variables().iter().find(|variable| variable.name == plain);
        let role = variable.map_or("state", |variable| match variable.role {
            Role::State => "state",
            Role::Action => "action",
            Role::Outcome => "outcome",
        });
        json!({ "name": name, "role": role })
    };
    let shown = |pair: &&Pair| pair.verdict != becausal::discovery::Verdict::None;
    json!({
        "method": graph.method,
        "eta": graph.eta,
        "causes": graph.causes().iter().map(role).collect::<Value>(),
        "effects": graph.effects().iter().map(role).collect::<Value>(),
        "pairs": graph.pairs().iter().filter(shown).map(|pair| told(graph, pair)).collect::<Value>(),
    })
}

/// The pair that is asked for.
fn find<'a>(run: &'a Run, query: &PairQuery) -> Result<(&'a CausalGraph, &'a Pair), Refusal> {
    let graph = run.graph().get().ok_or_else(|| Refusal::unanswered("this run has no graph"))?;
    let pair = graph.find(&query.cause, &query.effect).ok_or_else(|| {
        Refusal::unanswered(format!("there is no pair {} → {}", query.cause, query.effect))
    })?;
    Ok((graph, pair))
}

/// The evidence for a pair: the verdict and a scatter of residuals.
///
/// The residual is what is left of the effect when the model predicts it with the cause held at one value, the mean or
/// the most frequent label: what the cause adds shows in it.
///
/// # Errors
/// When there is no graph, or no such pair.
pub fn evidence(run: &Run, query: &PairQuery) -> Result<Value, Refusal> {
    let (graph, pair) = find(run, query)?;
    let mut value = told(graph, pair);
    value["scatter"] = scatter(run, (pair.cause, pair.effect));
    Ok(value)
}

/// The first slot of a cause: of a vector, its first element.
fn cause_slot(schema: &Schema, cause: CauseId) -> usize {
    let slots = schema.state_slots().chain(schema.action_slots());
    slots.into_iter().find(|&slot| schema.slots()[slot].variable == cause.0).unwrap_or(0)
}

fn scatter(run: &Run, (cause, effect): (CauseId, EffectId)) -> Value {
    let schema = run.schema();
    let data = run.data();
    let from = cause_slot(schema, cause);
    let states = schema.of_role(Role::State).count();
    // Effects are next states, then outcomes; variables are states, actions, outcomes.
    let is_state = effect.0 < states;
    let variable =
        if is_state { effect.0 } else { effect.0 + schema.of_role(Role::Action).count() };
    let slots = if is_state { schema.next_slots() } else { schema.outcome_slots() };
    let Some(to) = slots.clone().find(|&slot| schema.slots()[slot].variable == variable) else {
        return Value::Null;
    };
    let held = usual(run, from);
    let rows = data.sample(SCATTER_ROWS, &mut Stream::new(0));
    let point = |&row: &usize| {
        let values = data.row(row);
        let mut causes = values[..schema.action_slots().end].to_vec();
        let x = std::mem::replace(&mut causes[from], held);
        let (state, action) = causes.split_at(schema.state_slots().end);
        let predicted = run.model().step(state, action, &Noise::most_likely());
        let course = if is_state { &predicted.next } else { &predicted.outcomes };
        [x, values[to] - course[to - slots.start]]
    };
    let points: Vec<[f64; 2]> = rows.par_iter().map(point).collect();
    json!({
        "cause": schema.slots()[from].name,
        "effect": schema.slots()[to].name,
        "held": schema.variable_of(from).kind.show(held),
        "labels": schema.variable_of(from).kind.labels(),
        "points": points,
    })
}

/// The mean of a number, rounded where it is whole; the most frequent label.
fn usual(run: &Run, slot: usize) -> f64 {
    let column = run.data().column(slot);
    let kind = &run.schema().variable_of(slot).kind;
    if kind.is_label() {
        let mut counts: BTreeMap<u64, (usize, f64)> = BTreeMap::new();
        for row in 0..column.len() {
            let value = column.get(row);
            counts.entry(value.to_bits()).or_insert((0, value)).0 += 1;
        }
        return counts.into_values().max_by_key(|(count, _)| *count).map_or(0.0, |(_, v)| v);
    }
    let mean = run.data().spread(slot).map_or(0.0, |spread| spread.mean);
    if kind.word() == "integer" { mean.round() } else { mean }
}

/// In which share of states a state acts on an effect, under each action; of actions it is not asked.
///
/// # Errors
/// When there is no graph, or no such pair.
pub fn acts(run: &Run, query: &PairQuery) -> Result<Value, Refusal> {
    let (_, &Pair { cause, effect, .. }) = find(run, query)?;
    let schema = run.schema();
    if cause.0 >= schema.of_role(Role::State).count() {
        return Ok(Value::Null);
    }
    let actions = becausal::env::typical_actions(schema, MAX_ACTIONS);
    let rows = run.data().sample(INFLUENCE_ROWS, &mut Stream::new(0));
    let states: Vec<Vec<f64>> =
        rows.iter().map(|&row| run.data().row(row)[schema.state_slots()].to_vec()).collect();
    let told = |action: &Vec<f64>| {
        let situations: Vec<Situation<'_>> =
            states.iter().map(|state| (&state[..], &action[..])).collect();
        let influences = run.model().influences(&situations);
        let acts = |influence: &&Influence| influence.weight(effect.0, cause.0) > TAU;
        let acting = influences.iter().filter(acts).count();
        json!({
            "action": becausal::env::action_text(schema, action),
            "share": acting as f64 / influences.len().max(1) as f64,
        })
    };
    Ok(json!({
        "states": states.len(),
        "tau": TAU,
        "actions": actions.iter().map(told).collect::<Value>(),
    }))
}

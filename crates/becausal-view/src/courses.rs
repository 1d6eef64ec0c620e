//! Courses of events as columns, to be drawn beside each other.

use becausal::explain::{Change, Comparison, ExplainError, Explainer};
use becausal::model::WorldModel;
use becausal::schema::{Kind, Role, Schema};
use becausal::trajectory::Trajectory;
use becausal::{Answer, Ask, Moment, Run};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::refusal::Refusal;

/// A column of a course: the values of a slot, or the reward, step by step.
pub fn columns(schema: &Schema, trajectory: &Trajectory) -> Value {
    let steps = trajectory.steps();
    let mut columns = serde_json::Map::new();
    for slot in schema.state_slots() {
        let at = slot - schema.state_slots().start;
        let values = steps.iter().map(|step| step.state[at]);
        let last = steps.last().map(|step| step.next[at]);
        columns.insert(schema.slots()[slot].name.clone(), values.chain(last).collect());
    }
    for slot in schema.action_slots() {
        let at = slot - schema.action_slots().start;
        let values = steps.iter().map(|step| step.action[at]);
        columns.insert(schema.slots()[slot].name.clone(), values.collect());
    }
    for slot in schema.outcome_slots() {
        let at = slot - schema.outcome_slots().start;
        let values = steps.iter().map(|step| step.outcomes[at]);
        columns.insert(schema.slots()[slot].name.clone(), values.collect());
    }
    let rewards: Value = steps.iter().map(|step| step.rewards.iter().sum::<f64>()).collect();
    json!({
        "steps": steps.len(),
        "recorded": trajectory.recorded_steps(),
        "over": trajectory.is_over(),
        "columns": columns,
        "reward": rewards,
    })
}

/// What a page has to know of every slot to draw it.
pub fn slots(run: &Run) -> Value {
    let schema = run.schema();
    let describe = |slot: usize| {
        let entry = &schema.slots()[slot];
        let variable = &schema.variables()[entry.variable];
        let (low, high) = match &variable.kind {
            Kind::Continuous(bounds) | Kind::Integer(bounds) => (bounds.low, bounds.high),
            Kind::Boolean | Kind::Categorical(_) => (None, None),
        };
        let spread = becausal::data::Spread::of(run.data().column(slot));
        let label = match entry.element {
            Some(element) => format!("{}[{element}]", variable.title()),
            None => variable.title().to_owned(),
        };
        json!({
            "name": entry.name,
            "role": match variable.role {
                Role::State => "state",
                Role::Action => "action",
                Role::Outcome => "outcome",
            },
            "kind": variable.kind.word(),
            "labels": variable.kind.labels(),
            "title": label,
            "unit": variable.unit,
            "low": low,
            "high": high,
            "minimum": spread.map(|spread| spread.minimum),
            "maximum": spread.map(|spread| spread.maximum),
            "deviation": spread.map(|spread| spread.deviation),
        })
    };
    let slots = schema.state_slots().chain(schema.action_slots()).chain(schema.outcome_slots());
    slots.map(describe).collect()
}

/// The lowest and the highest of several courses, column by column. Only where all of them still go on.
fn band(schema: &Schema, courses: &[&Trajectory]) -> Value {
    let shortest = courses.iter().map(|course| course.len()).min().unwrap_or(0);
    let mut columns = serde_json::Map::new();
    for slot in schema.state_slots() {
        let at = slot - schema.state_slots().start;
        if schema.variable_of(slot).kind.is_label() {
            continue;
        }
        let extreme = |fold: fn(f64, f64) -> f64, start: f64| -> Vec<f64> {
            let value =
                |course: &&Trajectory, step: usize| course.state(step).map_or(start, |s| s[at]);
            (0..=shortest)
                .map(|step| courses.iter().map(|course| value(course, step)).fold(start, fold))
                .collect()
        };
        let (low, high) = (extreme(f64::min, f64::INFINITY), extreme(f64::max, f64::NEG_INFINITY));
        columns.insert(schema.slots()[slot].name.clone(), json!({ "low": low, "high": high }));
    }
    columns.into()
}

/// What happened, and what would have after a change: how far apart the members of the model are about each.
///
/// Every member answers the question alone, with the noise that it infers itself. One member has no band.
///
/// # Errors
/// When the question cannot be answered.
pub fn bands(
    run: &Run,
    members: &[WorldModel],
    moment: &Moment,
    change: Option<&Change>,
    ask: &Ask,
) -> Result<Option<[Value; 2]>, Refusal> {
    if members.len() < 2 {
        return Ok(None);
    }
    let nothing = Change::default();
    let compare = |model: &WorldModel| -> Result<Comparison, ExplainError> {
        let explainer = Explainer::new(model, run.policy(), run.graph().get(), ask.clone())?;
        explainer.compare(moment, change.unwrap_or(&nothing))
    };
    let each: Vec<Comparison> = members.par_iter().map(compare).collect::<Result<_, _>>()?;
    let factual: Vec<&Trajectory> = each.iter().map(|one| &one.factual).collect();
    let other: Vec<&Trajectory> = each.iter().map(|one| &one.counterfactual).collect();
    Ok(Some([band(run.schema(), &factual), band(run.schema(), &other)]))
}

/// Both courses of an answer, with their bands where there are some.
pub fn both(run: &Run, answer: &Answer, bands: Option<[Value; 2]>) -> Value {
    let schema = run.schema();
    let (factual, other) = match answer {
        Answer::Why(why) => (why.chain.trajectory(), None),
        Answer::Contrast(contrast) => {
            let other = contrast.counterfactual.chain.trajectory();
            (contrast.factual.chain.trajectory(), Some(other))
        }
    };
    let mut value = json!({
        "first": factual.first(),
        "factual": columns(schema, factual),
        "members": run.model().members(),
    });
    if let Some(other) = other {
        value["other"] = columns(schema, other);
    }
    if let Some([of_factual, of_other]) = bands {
        value["factual_band"] = of_factual;
        if other.is_some() {
            value["other_band"] = of_other;
        }
    }
    value
}

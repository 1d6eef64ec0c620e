//! Courses of events as columns, to be drawn beside each other.

use becausal::explain::Contrast;
use becausal::explain::chain::Node;
use becausal::schema::{Kind, Role, Schema};
use becausal::trajectory::Trajectory;
use becausal::{Answer, Run};
use serde_json::{Value, json};

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
            Kind::Circular(circle) => (Some(circle.low), Some(circle.low + circle.period)),
            Kind::Boolean | Kind::Categorical(_) => (None, None),
        };
        let spread = run.data().spread(slot);
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

/// The intervals that hold the numbers of a course in nine of ten cases, column by column: of what happened, or of what
/// would have.
fn band(schema: &Schema, contrast: &Contrast, is_other: bool) -> Value {
    let place = usize::from(is_other);
    let course = &contrast.courses[place];
    let mut columns = serde_json::Map::new();
    for (index, range) in course.shape().states.iter().enumerate() {
        for (element, at) in range.clone().enumerate() {
            let slot = schema.state_slots().start + at;
            if schema.variable_of(slot).kind.is_label() {
                continue;
            }
            let (mut low, mut high) = (Vec::new(), Vec::new());
            for step in 0..=course.len() {
                let Some(estimate) = course.state(step).map(|state| state[at]) else { break };
                let interval = contrast.range_in(place, Node::state(step, index), element);
                let [lowest, highest] = interval.unwrap_or([estimate; 2]);
                low.push(lowest);
                high.push(highest);
            }
            let name = schema.slots()[slot].name.clone();
            columns.insert(name, json!({ "low": low, "high": high }));
        }
    }
    columns.into()
}

/// Both courses of an answer, with the intervals of what was not recorded.
pub fn both(run: &Run, answer: &Answer) -> Value {
    let schema = run.schema();
    let contrast = answer.contrast();
    let factual = match (answer, contrast) {
        (_, Some(contrast)) => &contrast.courses[0],
        (Answer::Why(why), None) => why.chain.trajectory(),
        (Answer::Contrast(contrast), None) => &contrast.courses[0],
    };
    let mut value = json!({
        "first": factual.first(),
        "factual": columns(schema, factual),
        "members": run.model().members(),
    });
    let Some(contrast) = contrast else { return value };
    if factual.recorded_steps() < factual.len() {
        value["factual_band"] = band(schema, contrast, false);
    }
    if matches!(answer, Answer::Contrast(_)) {
        value["other"] = columns(schema, &contrast.courses[1]);
        value["other_band"] = band(schema, contrast, true);
    }
    value
}

//! The interface for other programs: the answers of `becausal explain --json`.

use becausal::Worth;
use becausal::env::action_text;
use becausal::render::trajectory_json;
use serde_json::{Value, json};

use crate::courses;
use crate::question::{MAX_HORIZON, Question, QuestionKind};
use crate::refusal::Refusal;
use crate::site::Site;
use crate::truth::Truth;

/// The most episodes whose lengths are told.
const MAX_LENGTHS: usize = 10_000;

/// What the run is: its variables, rewards, episodes, and what can be asked.
pub fn run(site: &Site) -> Value {
    let run = &*site.run;
    let schema = run.schema();
    let data = run.data();
    let rewards: Vec<&str> = schema.rewards().iter().map(|reward| reward.name.as_str()).collect();
    let actions: Vec<String> =
        run.usual_actions().iter().map(|action| action_text(schema, action)).collect();
    let lengths: Vec<usize> =
        (0..data.episodes().min(MAX_LENGTHS)).map(|episode| data.episode(episode).len()).collect();
    json!({
        "name": schema.name(),
        "description": schema.description(),
        "version": env!("CARGO_PKG_VERSION"),
        "rows": data.len(),
        "episodes": data.episodes(),
        "lengths": lengths,
        "variables": courses::slots(run),
        "rewards": rewards,
        "actions": actions,
        "members": run.model().members(),
        "edges": run.graph().get().map(|graph| graph.edges().count()),
        "has_policy": run.policy().is_some(),
        "has_environment": run.environment().is_some(),
        "draws": site.draws(),
        "max_horizon": MAX_HORIZON,
        "finds": Worth::ALL.map(Worth::name),
    })
}

/// The answer to a question, as `becausal explain --json` prints it.
///
/// # Errors
/// When the question cannot be read or answered.
pub fn answer(site: &Site, kind: QuestionKind, body: &[u8]) -> Result<Value, Refusal> {
    let question = Question::read(body)?;
    let (_, moment) = question.moment(&site.run, &site.episodes)?;
    Ok(question.answer(kind, &site.run, &moment)?.json())
}

/// What really happens after a change, beside what the model claims.
///
/// # Errors
/// When the question cannot be read, or the environment cannot be replayed.
pub fn replay(site: &Site, body: &[u8]) -> Result<Value, Refusal> {
    let question = Question::read(body)?;
    let truth = Truth::of(&site.run, &site.episodes, &question)?;
    Ok(json!({
        "schema": site.run.schema().name(),
        "step": question.step,
        "change": question.change.as_ref().or(question.action.as_ref()),
        "return_of_record": truth.return_of_record,
        "return_of_change": truth.return_of_change,
        "difference": truth.difference(),
        "claimed_difference": truth.claimed,
        "trajectory": trajectory_json(&truth.real.trajectory),
    }))
}

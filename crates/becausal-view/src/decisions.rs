//! Decisions that are worth a look.

use becausal::env::{action_text, typical_actions};
use becausal::explain::{Decision, decisions};
use becausal::{Ask, Environment, Horizon, Run, Transitions};
use serde_json::{Value, json};

use crate::episodes::{Chosen, Episodes};
use crate::question::EpisodeQuery;
use crate::refusal::Refusal;

/// Other actions that a step is compared with, at most.
pub const MAX_ACTIONS: usize = 16;

/// Steps that are compared, at most: a few seconds of work at the lander's size.
const MAX_COMPARED: usize = 200;

/// Episodes that the policy plays anew, where there is one.
const NEW_EPISODES: u64 = 5;

/// Decisions of each list.
const SHOWN: usize = 8;

/// Three lists of decisions: those in which the action taken was clearly the best, those that were close, and those in
/// which another action would have been better, by the model.
///
/// # Errors
/// When the run has no steps to compare.
pub fn worth_a_look(run: &Run, episodes: &Episodes) -> Result<Value, Refusal> {
    let actions = typical_actions(run.schema(), MAX_ACTIONS);
    // Over the steps of a chain: the model tells most about them.
    let ask = Ask::default().horizon(Horizon::Auto.of_chain());
    let explainer = run.explainer(&ask)?;
    let plays = run.policy().is_some() && run.environment().is_some();
    let mut played = Transitions::new(run.schema().clone());
    if plays {
        for seed in 0..NEW_EPISODES {
            let query = EpisodeQuery { episode: None, seed: Some(seed), actions: None };
            if let Chosen::Played(episode) = episodes.find(run, &query)? {
                episode.trajectory().append_to(&mut played);
            }
        }
    }
    let data = if plays { &played } else { run.data() };
    let all: Vec<(usize, usize)> = (0..data.episodes())
        .flat_map(|episode| (0..data.episode(episode).len()).map(move |step| (episode, step)))
        .collect();
    let count = all.len().min(MAX_COMPARED);
    let places: Vec<(usize, usize)> = (0..count).map(|at| all[at * all.len() / count]).collect();
    let found = decisions(&explainer, data, &actions, &places)?;
    let told = |decision: &Decision| {
        let row = data.episode(decision.episode).start + decision.step;
        let slots = run.schema().action_slots();
        let taken: Vec<f64> = slots.map(|slot| data.column(slot).get(row)).collect();
        let place = if plays { "seed" } else { "episode" };
        json!({
            place: decision.episode,
            "step": decision.step,
            "taken": action_text(run.schema(), &taken),
            "rival": action_text(run.schema(), &decision.rival),
            "lead": decision.lead,
        })
    };
    let mut close: Vec<&Decision> = found.iter().filter(|d| d.lead != 0.0).collect();
    close.sort_by(|a, b| a.lead.abs().total_cmp(&b.lead.abs()));
    let clear: Vec<&Decision> = found.iter().filter(|d| d.lead > 0.0).take(SHOWN).collect();
    let mut worse: Vec<&Decision> = found.iter().filter(|d| d.lead < 0.0).collect();
    worse.reverse();
    let list = |decisions: &[&Decision]| -> Value {
        decisions.iter().take(SHOWN).map(|decision| told(decision)).collect()
    };
    Ok(json!({
        "compared": places.len(),
        "clear": list(&clear),
        "close": list(&close),
        "worse": list(&worse),
    }))
}

/// Whether the environment of a run draws itself.
pub fn draws(run: &Run) -> bool {
    let Some(environment) = run.environment() else { return false };
    let mut environment = environment.clone();
    environment.reset(0);
    environment.scene().is_some()
}

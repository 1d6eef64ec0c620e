//! The graph under each value of a categorical action.

use super::discover::{DiscoverParams, pairs, test};
use super::error::DiscoveryError;
use super::frame::Frame;
use super::graph::{ActionGraph, CausalGraph, CauseId, Verdict};
use super::reason::Reason;
use becausal_core::progress::Tracker;
use becausal_core::schema::{Kind, Role};

/// How the graphs by action are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByAction {
    /// Within each action only the edges of the unified graph are tested, given only its parents:
    /// what never matters cannot matter here, and need not be conditioned on.
    Within,
    /// The paper's baseline: the rows of each action are data of their own, all pairs are tested.
    Direct,
}

/// The input that is the action, and its labels.
pub(super) fn action_values(frame: &Frame) -> Result<(usize, Vec<String>), DiscoveryError> {
    let actions: Vec<usize> =
        (0..frame.inputs.len()).filter(|&i| frame.inputs[i].role == Role::Action).collect();
    let categorical = |&input: &usize| {
        let factor = &frame.inputs[input];
        matches!(factor.kind, Kind::Categorical(_) | Kind::Boolean) && factor.columns.len() == 1
    };
    match actions.as_slice() {
        [] => Err(DiscoveryError::NoActionValues("the schema has no action".into())),
        [action] if categorical(action) => {
            let labels = match &frame.inputs[*action].kind {
                Kind::Categorical(labels) => labels.clone(),
                _ => vec!["false".into(), "true".into()],
            };
            Ok((*action, labels))
        }
        [action] => {
            let name = &frame.inputs[*action].name;
            Err(DiscoveryError::NoActionValues(format!("`{name}` is not one")))
        }
        several => {
            let names: Vec<&str> =
                several.iter().map(|&input| frame.inputs[input].name.as_str()).collect();
            Err(DiscoveryError::NoActionValues(format!("there are {}", names.join(", "))))
        }
    }
}

/// The number of pairs that will be told of.
pub(super) fn count(frame: &Frame, way: Option<ByAction>) -> usize {
    match (way, action_values(frame)) {
        (Some(_), Ok((_, labels))) => labels.len() * (frame.inputs.len() - 1) * frame.outputs.len(),
        _ => 0,
    }
}

/// The graph under each label of the action; the causes are the states.
pub(super) fn graphs(
    frame: &Frame,
    unified: &CausalGraph,
    way: ByAction,
    params: &DiscoverParams,
    watch: &Tracker<'_>,
) -> Vec<ActionGraph> {
    let Ok((action, labels)) = action_values(frame) else { return Vec::new() };
    let edges = unified.pairs().chunks(frame.inputs.len().max(1));
    let allowed: Vec<Vec<usize>> = edges
        .map(|row| {
            (0..frame.inputs.len())
                .filter(|&input| input != action)
                // What could not be told may be an edge, and is conditioned on.
                .filter(|&input| way == ByAction::Direct || row[input].verdict != Verdict::None)
                .collect()
        })
        .collect();
    let column = &frame.u[frame.inputs[action].columns[0]];
    let mut graphs = Vec::new();
    for (label, name) in labels.iter().enumerate() {
        let rows: Vec<u32> = (0_u32..)
            .zip(&column.values)
            .filter(|(_, value)| **value == label as f64)
            .map(|(row, _)| row)
            .collect();
        let part = frame.select(&rows);
        let findings = test(&part, &allowed, params, watch);
        let mut found = pairs(&part, &findings);
        for (place, pair) in found.iter_mut().enumerate() {
            let input = place % frame.inputs.len();
            let unified = &unified.pairs()[place];
            pair.given = unified.given;
            if rows.is_empty() {
                pair.reason = Some(Reason::NeverChosen { label: name.clone() });
            } else if !allowed[place / frame.inputs.len()].contains(&input) {
                // The unified graph has no such edge: there is none under any action either.
                pair.reason = None;
            }
        }
        let states = found.into_iter().enumerate();
        let states = states.filter(|(place, _)| place % frame.inputs.len() != action);
        graphs.push(ActionGraph {
            action: CauseId(action),
            label: name.clone(),
            pairs: states.map(|(_, pair)| pair).collect(),
        });
    }
    graphs
}

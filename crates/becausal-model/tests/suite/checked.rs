//! Checking a causal model against unrestricted models detects missing causes.

use std::ops::ControlFlow;
use std::sync::Arc;

use becausal_core::data::Row;
use becausal_core::progress::{Advance, Listener};
use becausal_core::{Schema, Stream, Transitions};
use becausal_discovery::{CausalGraph, Given, Reason, Verdict};
use becausal_model::{Checked, FitError, ModelParams, Sizes};

/// `n` counts up under `go` unless there is no room; `z` is noise.
fn store(rows: usize) -> Transitions {
    store_with(r#"do = { kind = "categorical", labels = ["wait", "go"] }"#, rows)
}

/// The same with an action that is declared like this.
fn store_with(action: &str, rows: usize) -> Transitions {
    let schema = Schema::parse(&format!(
        r#"
        name = "Store"
        [state]
        n = {{ kind = "integer" }}
        room = {{ kind = "integer" }}
        z = {{ kind = "integer" }}
        [action]
        {action}
        [reward]
        "stored" = "n' - n"
        "#
    ));
    let mut data = Transitions::new(Arc::new(schema.expect("a schema")));
    let mut stream = Stream::new(4);
    for row in 0..rows {
        if row % 10 == 0 {
            data.begin_episode();
        }
        let mut draw = || [stream.below(9) as f64, stream.below(7) as f64, stream.below(9) as f64];
        let (state, mut next) = (draw(), draw());
        let action = stream.below(2) as f64;
        next[0] = state[0] + if state[1] > 0.0 { action } else { 0.0 };
        data.push(&Row {
            state: &state,
            action: &[action],
            outcomes: &[],
            next: &next,
            reward: 0.0,
            terminated: false,
            truncated: row % 10 == 9,
        });
    }
    data
}

/// A graph with these causes of `n'`, and none of the other effects.
fn graph(data: &Transitions, causes: &[&str]) -> CausalGraph {
    let (names, effects) = (data.schema().causes(), data.schema().effects());
    let mut graph = CausalGraph::new("given", 0.001, &names, &effects);
    for pair in graph.pairs_mut() {
        if effects[pair.effect.0] == "n'" && causes.contains(&names[pair.cause.0].as_str()) {
            (pair.p, pair.strength) = (0.0, 1.0);
        }
    }
    graph.with_eta(0.001)
}

fn check(data: &Transitions, graph: &mut CausalGraph) -> Checked {
    let params = ModelParams {
        members: 2,
        sizes: Sizes { encoder: 16, hidden: 16, action: 8, key: 8 },
        steps: 500,
        interval: 50,
        ..ModelParams::default()
    };
    Checked::fit(data, graph, &params).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_cause_that_discovery_missed_is_detected_and_used() {
    let data = store(8000);
    let mut graph = graph(&data, &["n", "do"]);
    let checked = check(&data, &mut graph);
    assert_eq!(checked.shortfalls.len(), 1, "{:?}", checked.shortfalls);
    assert_eq!(checked.shortfalls[0].effect, "n'");
    assert_eq!(checked.shortfalls[0].used, ["room"]);
    assert_eq!(checked.model.structure().parents(0), [0, 1, 3]);
    // No test has found it: it is not called an edge.
    let pair = graph.find("room", "n'").expect("a pair");
    assert_eq!(pair.verdict, Verdict::Untestable);
    assert_eq!(pair.reason, Some(Reason::NetworksUse));
    assert_eq!(graph.find("z", "n'").expect("a pair").verdict, Verdict::None);
    let error = checked.model.score(&store(500)).variables[0].error;
    assert!(error < 0.03, "{error}");
}

#[test]
fn with_continuous_actions_every_variable_stays_where_a_cause_is_missing() {
    let data = store_with(r#"do = { kind = "continuous", low = 0.0, high = 1.0 }"#, 4000);
    let mut graph = graph(&data, &["n", "do"]);
    let checked = check(&data, &mut graph);
    assert_eq!(checked.shortfalls.len(), 1, "{:?}", checked.shortfalls);
    // Nothing is pruned without a table of actions: which of the two is missing is not told.
    assert_eq!(checked.shortfalls[0].used, ["room", "z"]);
    assert_eq!(checked.model.structure().parents(0), [0, 1, 2, 3]);
    assert_eq!(checked.model.members(), 2);
    for cause in ["room", "z"] {
        let pair = graph.find(cause, "n'").expect("a pair");
        assert_eq!(pair.verdict, Verdict::Untestable);
    }
}

#[test]
fn a_forbidden_cause_is_never_tried() {
    let data = store(8000);
    let mut graph = graph(&data, &["n", "do"]);
    for pair in graph.pairs_mut().iter_mut().filter(|pair| pair.cause.0 == 2) {
        pair.given = Some(Given::Forbidden);
    }
    let checked = check(&data, &mut graph);
    assert_eq!(checked.shortfalls[0].used, ["room"]);
    assert_eq!(checked.model.structure().parents(0), [0, 1, 3]);

    // Nothing is left to try, so nothing is said to be missing.
    for pair in graph.pairs_mut().iter_mut().filter(|pair| pair.cause.0 == 1) {
        (pair.verdict, pair.reason) = (Verdict::None, None);
        pair.given = Some(Given::Forbidden);
    }
    let checked = check(&data, &mut graph);
    assert_eq!(checked.shortfalls, []);
    assert_eq!(checked.model.structure().parents(0), [0, 3]);
}

#[test]
fn a_complete_graph_is_not_changed() {
    for action in [
        r#"do = { kind = "categorical", labels = ["wait", "go"] }"#,
        r#"do = { kind = "continuous", low = 0.0, high = 1.0 }"#,
    ] {
        let data = store_with(action, 2000);
        let mut graph = graph(&data, &["n", "room", "do"]);
        let before = graph.clone();
        let checked = check(&data, &mut graph);
        assert_eq!(checked.shortfalls, []);
        assert_eq!(graph, before);
        assert_eq!(checked.model.members(), 2);
    }
}

#[test]
fn a_listener_can_stop_it() {
    let data = store(400);
    let progress = Listener::new(|_: &Advance<'_>| ControlFlow::Break(()));
    let params = ModelParams { progress, ..ModelParams::default() };
    let stopped = Checked::fit(&data, &mut graph(&data, &[]), &params);
    assert_eq!(stopped.err(), Some(FitError::Stopped));
}

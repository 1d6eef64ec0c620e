//! The time that explanations take, and an audit with the exact rules as a model:
//! `cargo bench -p becausal-render --bench explain`.

#[path = "../../becausal-explain/tests/suite/exact.rs"]
#[allow(dead_code)] // the tests use the rest
mod exact;
#[path = "../tests/suite/explanations.rs"]
#[allow(dead_code)]
mod explanations;

use becausal_render::{AuditText, Explained};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use becausal_core::RandomPolicy;
use becausal_core::env::{EnvironmentError, Options, collect, random_action};
use becausal_core::{Environment, Transitions};
use becausal_envs::find;
use becausal_explain::chain::{ExtendedGraph, Origin};
use becausal_explain::{AuditParams, Explainer, Moment, audit};
use becausal_model::Dynamics;
use becausal_render::chain_layout;

use exact::Exact;
use explanations::{Against, Many, many, within};

fn main() {
    let contrast = many();
    let trajectory = contrast.factual.chain.trajectory().clone();
    let dynamics = Many::new(20, 4);
    let influences: Vec<_> =
        trajectory.steps().iter().map(|s| dynamics.influence(&s.state, &s.action)).collect();
    let policy = Against(Arc::clone(dynamics.schema()));
    let choices = becausal_explain::chain::choices(&policy, &trajectory);
    report("a chain of 10 steps over 20 variables", 200, || {
        let parents = |effect| dynamics.parents(effect);
        let graph = ExtendedGraph::new(
            trajectory.clone(),
            parents,
            &influences,
            Some(&choices),
            0.1,
            Origin::default(),
        );
        black_box(graph.expect("a graph").chain(&[0, 1, 2]));
    });
    let start = &trajectory.steps()[0];
    let moment = Moment::imagined(dynamics.schema(), start.state.clone(), start.action.clone())
        .expect("a moment");
    let explainer = Explainer::new(&dynamics, Some(&policy), None, within(10)).expect("one");
    report("its why-not", 50, || {
        black_box(explainer.why_not(&moment, &[-1.0, 0.0]).expect("a contrast"));
    });
    report("its why-not with texts and pictures", 10, || {
        let contrast = explainer.why_not(&moment, &[-1.0, 0.0]).expect("a contrast");
        black_box(contrast.text());
        black_box(contrast.picture().expect("a picture").drawing(&chain_layout()).svg());
        black_box(contrast.factual.picture().expect("one").drawing(&chain_layout()).svg());
        black_box(becausal_render::waterfall(&contrast).expect("finite").drawing().svg());
    });
    report("its picture as PNG, twice the size", 10, || {
        let picture = contrast.picture().expect("a picture");
        black_box(picture.drawing(&chain_layout()).png(2.0).expect("a PNG"));
    });
    let explainer = Explainer::new(&dynamics, Some(&policy), None, within(1000)).expect("one");
    report("a why-not of 1000 steps, text and picture", 1, || {
        let contrast = explainer.why_not(&moment, &[-1.0, 0.0]).expect("a contrast");
        black_box(contrast.text());
        black_box(contrast.picture().expect("a picture").drawing(&chain_layout()).svg());
    });
    audit_rules("AimTest-v0", &Exact::aim_test());
    audit_rules("Vacuum-v0", &Exact::vacuum());
    audit_rules("CartPole-v1", &Exact::cart_pole());
    audit_rules("BuildMarine-v0", &Exact::build_marine());
}

/// Audits the exact rules of an environment, under random actions.
fn audit_rules(id: &str, rules: &Exact) {
    let environment = find(id).and_then(|entry| entry.make(&Options::default())).expect("made");
    let schema = Arc::clone(environment.schema());
    let mut data = Transitions::new(Arc::clone(&schema));
    collect::<_, EnvironmentError>(
        &environment,
        20_000,
        0,
        |_, stream, action| random_action(&schema, stream, action),
        |part| {
            data.append(part);
            Ok(())
        },
    )
    .expect("collected");
    let policy = RandomPolicy::new(schema).expect("bounded");
    let options = AuditParams::default();
    let audit = audit(&environment, rules, &policy, &data, &options).expect("an audit");
    println!("\n{id}: {}", audit.text());
}

/// Prints the shortest time of some repetitions, which is the least disturbed.
fn report(what: &str, repeats: usize, mut work: impl FnMut()) {
    let mut best = f64::INFINITY;
    for _ in 0..repeats {
        let started = Instant::now();
        work();
        best = best.min(started.elapsed().as_secs_f64());
    }
    println!("{what:45} {:9.3} ms", 1000.0 * best);
}

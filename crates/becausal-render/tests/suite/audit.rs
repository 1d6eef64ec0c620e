//! The audit: what a model says against what really happens, with the same noise.

use becausal_render::AuditText;
use std::sync::Arc;

use becausal_core::env::{AnyEnvironment, EnvironmentError, collect, random_action};
use becausal_core::{Environment, Transitions};
use becausal_core::{Policy, RandomPolicy};
use becausal_envs::find;
use becausal_explain::{Audit, AuditParams, ExplainError, audit};
use becausal_model::Dynamics;

use crate::exact::{Exact, Rules};
use crate::golden::assert_golden;

fn made(id: &str) -> AnyEnvironment {
    find(id).and_then(|entry| entry.make(&becausal_core::env::Options::default())).expect("made")
}

fn recorded(environment: &AnyEnvironment, rows: usize) -> Transitions {
    let schema = Arc::clone(environment.schema());
    let mut data = Transitions::new(Arc::clone(&schema));
    collect::<_, EnvironmentError>(
        environment,
        rows,
        0,
        |_, stream, action| random_action(&schema, stream, action),
        |part| {
            data.append(part);
            Ok(())
        },
    )
    .expect("collected");
    data
}

fn options(states: usize) -> AuditParams {
    AuditParams { states, ..AuditParams::default() }
}

fn examine(id: &str, dynamics: &dyn Dynamics, policy: Option<&dyn Policy>, states: usize) -> Audit {
    let environment = made(id);
    let random = RandomPolicy::new(Arc::clone(environment.schema())).expect("bounded");
    let policy = policy.unwrap_or(&random);
    let data = recorded(&environment, 3000);
    audit(&environment, dynamics, policy, &data, &options(states)).expect("an audit")
}

#[test]
fn a_model_that_knows_the_rules_is_always_right() {
    for (id, dynamics, actions) in
        [("AimTest-v0", Exact::aim_test(), 4), ("Vacuum-v0", Exact::vacuum(), 3)]
    {
        let audit = examine(id, &dynamics, None, 40);
        assert_eq!(audit.cases, 40 * (actions - 1), "{id}");
        assert_eq!((audit.changes.precision(), audit.changes.recall()), (1.0, 1.0), "{id}");
        assert_eq!((audit.sign, audit.better_action, audit.ends), (1.0, 1.0, 1.0), "{id}");
        assert!(audit.size_error < 1e-9, "{id}");
        assert!(audit.sign_cases > 20 && audit.better_action_cases > 5, "{id}");
        // The explainers without a model are not.
        let [everything, direct] = &audit.trivial[..] else { panic!("two of them") };
        assert!(everything.changes.recall() == 1.0 && everything.changes.precision() < 0.95);
        assert!(direct.changes.recall() < 0.9, "{id}: {direct:?}");
    }
}

#[test]
fn cart_pole_is_right_up_to_rounding() {
    let audit = examine("CartPole-v1", &Exact::cart_pole(), Some(&Rules::cart_pole()), 30);
    assert!(audit.changes.precision() > 0.99 && audit.changes.recall() > 0.99, "{audit:?}");
    assert!(audit.ends > 0.95, "{audit:?}");
}

#[test]
fn a_model_that_does_not_hear_the_action_is_found_out() {
    let audit = examine("AimTest-v0", &Exact::aim_test().hearing(&[2.0]), None, 20);
    assert_eq!(audit.changes.recall(), 0.0, "{audit:?}");
    assert_eq!(audit.sign, 0.0, "{audit:?}");
    assert!(audit.size_error > 0.9);
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| examine("AimTest-v0", &Exact::aim_test(), None, 12))
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn an_audit_tells_its_figures_in_text_and_json() {
    let audit = examine("Vacuum-v0", &Exact::vacuum(), None, 10);
    let value = audit.json();
    for key in ["cases", "precision", "recall", "sign", "better_action", "trivial", "curve"] {
        assert!(!value[key].is_null(), "{key}");
    }
    assert_eq!(value["trivial"]["everything"]["recall"], 1.0);
    assert!(value["trivial"]["direct"]["precision"].is_number());
    assert_eq!(value["curve"].as_array().map(Vec::len), Some(6));
    assert_golden("explain/audit-vacuum.txt", &audit.text());
    assert_golden("explain/audit-vacuum.json", &format!("{value}\n"));
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let environment = made("Vacuum-v0");
    let policy = RandomPolicy::new(Arc::clone(environment.schema())).expect("bounded");
    let data = recorded(&environment, 50);
    let wrong = audit(&environment, &Exact::aim_test(), &policy, &data, &options(2));
    assert!(matches!(wrong, Err(ExplainError::Schema { .. })));
    let none = audit(&environment, &Exact::vacuum(), &policy, &data, &options(0));
    assert!(matches!(none, Err(ExplainError::Audit(_))));
    let long = AuditParams { horizon: 0, ..options(2) };
    let horizon = audit(&environment, &Exact::vacuum(), &policy, &data, &long);
    assert!(horizon.expect_err("refused").to_string().contains("a horizon of 0 steps"));
}

#[test]
fn build_marine_is_right_as_far_as_its_six_variables_tell() {
    // Where each worker is in its cycle is not among the variables.
    let audit = examine("BuildMarine-v0", &Exact::build_marine(), None, 40);
    assert!(audit.changes.precision() > 0.9 && audit.changes.recall() > 0.9, "{audit:?}");
    assert!(audit.sign > 0.95, "{audit:?}");
}

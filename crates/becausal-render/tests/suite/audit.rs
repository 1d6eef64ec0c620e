//! The audit: the claims of a model compared with what really happens, under the same noise.

use becausal_render::AuditText;
use std::sync::Arc;

use becausal_core::env::{
    AnyEnvironment, EnvironmentError, collect, random_action, typical_actions,
};
use becausal_core::trajectory::Trajectory;
use becausal_core::{Environment, Transitions};
use becausal_core::{Policy, RandomPolicy};
use becausal_envs::find;
use becausal_explain::{
    Acting, Ask, Audit, AuditParams, Auditor, Comparison, CurvePoint, ExplainError, Explainer,
    NEGLIGIBLE, Scale, Tally, Trivial, audit,
};
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
        // The baselines without a model are not.
        let [everything, direct] = &audit.trivial[..] else { panic!("two of them") };
        assert!(everything.changes.recall() == 1.0 && everything.changes.precision() < 0.95);
        assert!(direct.changes.recall() < 0.9, "{id}: {direct:?}");
    }
}

/// Whether two trajectories have the same actions, states, outcomes, rewards and end.
fn agree(left: &Trajectory, right: &Trajectory) -> bool {
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    left.len() == right.len()
        && left.steps().iter().zip(right.steps()).all(|(a, b)| {
            a.action == b.action
                && close(&a.state, &b.state)
                && close(&a.outcomes, &b.outcomes)
                && close(&a.next, &b.next)
                && close(&a.rewards, &b.rewards)
                && a.terminated == b.terminated
        })
}

#[test]
fn the_audit_compares_the_answers_of_why_not_with_replays_of_the_same_actions() {
    type Setup = (&'static str, fn() -> Exact, Option<Rules>);
    let setups: [Setup; 3] = [
        ("AimTest-v0", Exact::aim_test, None),
        ("Vacuum-v0", Exact::vacuum, None),
        // The later actions of this policy depend on the state.
        ("Vacuum-v0", Exact::vacuum, Some(Rules::vacuum())),
    ];
    for (id, exact, rules) in setups {
        let environment = made(id);
        let random = RandomPolicy::new(Arc::clone(environment.schema())).expect("bounded");
        let policy: &dyn Policy = rules.as_ref().map_or(&random, |rules| rules);
        let scale = Scale::of(&recorded(&environment, 3000));
        let params =
            AuditParams { acting: Acting::Sampled, discount: 0.9, ..AuditParams::default() };
        let examine = |dynamics: &Exact, case: u32| -> Vec<(Comparison, Trajectory)> {
            let auditor = Auditor::new(dynamics, policy, &scale, &params).expect("an auditor");
            let examined = auditor.examine(case, &environment).expect("a case");
            let moment = &examined.moment;
            // A record that does not terminate has all steps up to the horizon or the time limit.
            let (length, ended) = (moment.record().len(), moment.record().terminated());
            let horizon = if ended { params.horizon } else { length };
            let ask = Ask::default().horizon(horizon).discount(params.discount);
            let explainer = Explainer::new(dynamics, Some(policy), None, ask)
                .expect("an explainer")
                .with_scale(scale.clone(), NEGLIGIBLE);
            let mut others = typical_actions(environment.schema(), 16);
            others.retain(|action| action != moment.action());
            assert_eq!(examined.answers.len(), others.len(), "{id}, case {case}");
            for ((claimed, real), other) in examined.answers.iter().zip(&others) {
                let answer = explainer.why_not(moment, other).expect("a contrast");
                let place = format!("{id}, case {case}, action {other:?}");
                assert!(claimed.factual == *answer.factual.chain.trajectory(), "{place}");
                assert!(
                    claimed.counterfactual == *answer.counterfactual.chain.trajectory(),
                    "{place}"
                );
                assert!(claimed.credit == answer.credit, "{place}");
                let first = &real.steps()[0];
                assert_eq!((&first.state[..], &first.action), (moment.state(), other));
                assert!(real.steps().iter().all(|step| step.recorded), "{id}, case {case}");
            }
            examined.answers
        };
        let (right, wrong) = (exact(), exact().assuming(&[2.0]));
        let mut mistakes = 0;
        for case in 0..10 {
            let answers = examine(&right, case);
            for (claimed, real) in &answers {
                let model = &claimed.counterfactual;
                assert!(agree(model, real), "{id}, case {case}:\n{model:?}\n{real:?}");
            }
            // The replay does not depend on the model: a wrong one disagrees with the same replay.
            for ((claimed, real), (_, replay)) in examine(&wrong, case).iter().zip(&answers) {
                assert!(real == replay, "{id}, case {case}");
                mistakes += usize::from(!agree(&claimed.counterfactual, real));
            }
        }
        assert!(mistakes > 5, "{id}: {mistakes}");
    }
}

#[test]
fn cart_pole_is_right_up_to_rounding() {
    let audit = examine("CartPole-v1", &Exact::cart_pole(), Some(&Rules::cart_pole()), 30);
    assert!(audit.changes.precision() > 0.99 && audit.changes.recall() > 0.99, "{audit:?}");
    assert!(audit.ends > 0.95, "{audit:?}");
}

#[test]
fn a_model_that_ignores_the_action_gets_no_recall() {
    let audit = examine("AimTest-v0", &Exact::aim_test().assuming(&[2.0]), None, 20);
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
fn an_audit_without_cases_has_no_scores() {
    let audit = examine("Vacuum-v0", &Exact::vacuum(), None, 2);
    let nothing = Tally::default();
    let trivial = audit.trivial.iter().map(|t| Trivial { changes: nothing, ..t.clone() }).collect();
    let curve = audit.curve.iter().map(|point| CurvePoint { changes: nothing, ..*point }).collect();
    let empty = Audit {
        cases: 0,
        changes: nothing,
        sign: 1.0,
        sign_cases: 0,
        better_action: 1.0,
        better_action_cases: 0,
        ends: 1.0,
        trivial,
        curve,
        ..audit
    };
    let text = empty.text();
    assert!(text.starts_with("0 cases from 2 states. There is nothing to score"), "{text}");
    assert!(!text.contains("1.000"), "{text}");
    let value = empty.json();
    for key in ["precision", "recall", "sign", "better_action", "size_error", "ends"] {
        assert!(value[key].is_null(), "{key}: {value}");
    }
    assert!(value["trivial"]["direct"]["sign"].is_null(), "{value}");
    assert!(value["curve"][0]["recall"].is_null(), "{value}");
}

#[test]
fn an_audit_has_its_scores_in_text_and_json() {
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
fn mismatched_and_empty_parts_are_refused() {
    let environment = made("Vacuum-v0");
    let policy = RandomPolicy::new(Arc::clone(environment.schema())).expect("bounded");
    let data = recorded(&environment, 50);
    let wrong = audit(&environment, &Exact::aim_test(), &policy, &data, &options(2));
    assert!(matches!(wrong, Err(ExplainError::Schema { .. })));
    let none = audit(&environment, &Exact::vacuum(), &policy, &data, &options(0));
    assert!(matches!(none, Err(ExplainError::Audit(_))));
    let no_horizon = AuditParams { horizon: 0, ..options(2) };
    let refused = audit(&environment, &Exact::vacuum(), &policy, &data, &no_horizon);
    assert!(refused.expect_err("refused").to_string().contains("a horizon of 0 steps"));
}

#[test]
fn build_marine_is_right_up_to_its_hidden_state() {
    // The position of each worker in its cycle is hidden.
    let audit = examine("BuildMarine-v0", &Exact::build_marine(), None, 40);
    assert!(audit.changes.precision() > 0.9 && audit.changes.recall() > 0.9, "{audit:?}");
    assert!(audit.sign > 0.95, "{audit:?}");
}

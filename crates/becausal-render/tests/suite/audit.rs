//! The audit: the claims of a model compared with what really happens, under the same noise.

use becausal_render::AuditText;
use std::sync::Arc;

use becausal_core::env::{
    AnyEnvironment, EnvironmentError, collect, random_action, rollout, typical_actions,
};
use becausal_core::trajectory::Trajectory;
use becausal_core::{Environment, Schema, Stream, Transitions};
use becausal_core::{Policy, RandomPolicy};
use becausal_envs::find;
use becausal_explain::{
    Acting, Ask, Audit, AuditAnswer, AuditParams, Auditor, CurvePoint, ExplainError, Explainer,
    Line, Measure, NEGLIGIBLE, Quantity, Scale, Scores, Tally, audit,
};
use becausal_model::{Dynamics, Influence, Noise, Prediction, Situation};

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
    let acting = if policy.is_none() { Acting::Sampled } else { Acting::MostLikely };
    let policy = policy.unwrap_or(&random);
    let data = recorded(&environment, 3000);
    let params = AuditParams { acting, ..options(states) };
    audit(&environment, dynamics, policy, &data, &params).expect("an audit")
}

/// A score of the explanations, which must be there.
fn score(audit: &Audit, measure: Measure) -> f64 {
    audit.explanations.by_kind.value(measure).unwrap_or_else(|| panic!("no {}", measure.key()))
}

#[test]
fn a_model_that_knows_the_rules_is_always_right() {
    for (id, dynamics, actions) in
        [("AimTest-v0", Exact::aim_test(), 4), ("Vacuum-v0", Exact::vacuum(), 3)]
    {
        let audit = examine(id, &dynamics, None, 40);
        assert_eq!(audit.cases, 40 * (actions - 1), "{id}");
        for measure in Measure::ALL {
            for scores in [&audit.explanations.by_kind, &audit.explanations.by_step] {
                let Some(score) = scores.get(measure) else {
                    // Vacuum has no numbers, and who knows the rules is sure and leaves nothing open.
                    let of_numbers = measure == Measure::ChangeError;
                    let unsure = matches!(measure, Measure::WhenLikely | Measure::WhenGuess);
                    let open = matches!(
                        measure,
                        Measure::WorthHeld
                            | Measure::ValueHeld
                            | Measure::WorthHeldRaw
                            | Measure::ValueHeldRaw
                    );
                    let is_none = unsure || open || (of_numbers && id == "Vacuum-v0");
                    assert!(is_none, "{id}: {measure:?}");
                    continue;
                };
                let (low, high) = if measure.is_share() { (1.0, 1.0) } else { (0.0, 1e-9) };
                let holds = (low..=high).contains(&score.value);
                assert!(holds, "{id}: {} is {score:?}", measure.key());
                let [low, high] = score.interval.expect("enough episodes");
                assert!(low <= score.value && score.value <= high, "{id}: {score:?}");
            }
        }
        let whole = |measure| audit.explanations.by_kind.get(measure).map_or(0.0, |s| s.whole);
        assert!(whole(Measure::Sign) > 20.0 && whole(Measure::BestAction) > 5.0, "{id}");
        // The references without a model are not.
        let reference = |name: &str| &audit.reference(name).expect("a reference").by_kind;
        let everything = reference("everything");
        assert_eq!(everything.value(Measure::Recall), Some(1.0));
        assert!(everything.value(Measure::Precision).is_some_and(|share| share < 0.95));
        assert!(
            reference("direct").value(Measure::Recall).is_some_and(|share| share < 0.9),
            "{id}"
        );
        // The noise of AimTest can be drawn again, and Vacuum has none.
        assert_eq!(audit.reference("twin").is_some(), id == "AimTest-v0");
    }
}

/// A model of AimTest with known errors in x2: one that all members share, and one that each has of its own.
struct Erring {
    rules: Exact,
    /// Standard deviations of the shared and of the own error.
    errors: [f64; 2],
}

impl Erring {
    /// The prediction of a member; without one, that of all.
    fn predict(&self, member: Option<u32>, given: (&[f64], &[f64]), noise: &Noise) -> Prediction {
        let (state, action) = given;
        let mut predicted = self.rules.step(state, action, noise);
        let place = predicted.next.iter().sum::<f64>().to_bits();
        let [shared, own] = self.errors;
        predicted.next[1] += shared * Stream::keyed(place, &[0]).normal();
        if let Some(member) = member {
            predicted.next[1] += own * Stream::keyed(place, &[1 + member]).normal();
        }
        predicted
    }
}

impl Dynamics for Erring {
    fn schema(&self) -> &Arc<Schema> {
        self.rules.schema()
    }

    fn parents(&self, effect: usize) -> &[usize] {
        self.rules.parents(effect)
    }

    fn step(&self, state: &[f64], action: &[f64], noise: &Noise) -> Prediction {
        self.predict(None, (state, action), noise)
    }

    fn noise(&self, state: &[f64], action: &[f64], outcomes: &[f64], next: &[f64]) -> Noise {
        self.rules.noise(state, action, outcomes, next)
    }

    fn members(&self) -> usize {
        5
    }

    fn steps_of(
        &self,
        member: usize,
        states: &[Vec<f64>],
        actions: &[Vec<f64>],
        noise: &[&Noise],
    ) -> Vec<Prediction> {
        let member = u32::try_from(member).ok();
        let given = states.iter().zip(actions).zip(noise);
        given.map(|((state, action), noise)| self.predict(member, (state, action), noise)).collect()
    }

    fn influence(&self, state: &[f64], action: &[f64]) -> Influence {
        self.rules.influence(state, action)
    }

    fn disagreement(&self, situations: &[Situation<'_>]) -> Vec<Vec<f64>> {
        self.rules.disagreement(situations)
    }

    fn distance(&self, state: &[f64]) -> Vec<f64> {
        self.rules.distance(state)
    }
}

#[test]
fn intervals_come_to_hold_nine_in_ten_whatever_the_errors_of_the_model_are() {
    for (errors, raw) in [([12.0, 2.0], 0.0..0.75), ([0.5, 2.0], 0.95..1.01)] {
        let audit = examine("AimTest-v0", &Erring { rules: Exact::aim_test(), errors }, None, 100);
        let held = |measure| audit.all_cases.value(measure).expect("intervals");
        let as_drawn = held(Measure::ValueHeldRaw);
        assert!(raw.contains(&as_drawn), "{errors:?}: {as_drawn}");
        let calibrated = held(Measure::ValueHeld);
        assert!((0.87..=0.93).contains(&calibrated), "{errors:?}: {calibrated}");
        // x1 and t are predicted exactly. In x3, which x2 is added to, members agree on what is a little wrong.
        assert!((0.9..=1.0).contains(&held(Measure::Exact)));
        let factor = audit.calibration.factor(Quantity::Effect(1));
        assert_eq!(factor > 1.0, as_drawn < 0.9, "{errors:?}: {factor}");
    }
}

#[test]
fn influences_are_tried_in_the_environment() {
    let audit = examine("AimTest-v0", &Exact::aim_test(), None, 20);
    let line = |name: &str| {
        let found = audit.influences.iter().find(|line| line.name == name);
        &found.unwrap_or_else(|| panic!("no {name}")).by_kind
    };
    assert_eq!(line("chains").value(Measure::Precision), Some(1.0));
    assert_eq!(line("chains").value(Measure::Recall), Some(1.0));
    // x1 moves x2' under one action only: the graph over all actions says it always does.
    assert!(line("graph").value(Measure::Precision).is_some_and(|share| share < 0.9));
    assert_eq!(line("everything").value(Measure::Recall), Some(1.0));
}

#[test]
fn the_twin_of_a_lander_is_worse_than_what_its_record_shows() {
    let environment = made("LunarLander-v3");
    let schema = Arc::clone(environment.schema());
    let policy = RandomPolicy::new(schema).expect("bounded");
    let data = recorded(&environment, 600);
    // The model does not matter here: one that says nothing ever changes.
    let still = Exact::still("LunarLander-v3");
    let params = AuditParams { acting: Acting::Sampled, ..options(30) };
    let audit = audit(&environment, &still, &policy, &data, &params).expect("an audit");
    let of = |name: &str, measure| {
        audit.reference(name).and_then(|line| line.by_step.value(measure)).expect("a score")
    };
    for name in ["twin", "reachable"] {
        assert!(of("ideal", Measure::SizeError) < of(name, Measure::SizeError), "{name}");
        assert!(of("ideal", Measure::Sign) > of(name, Measure::Sign), "{name}");
    }
    // A model that expects nothing to move finds hardly any change: only the fuel that it forgets.
    assert!(score(&audit, Measure::Recall) < 0.1);
    assert!(!audit.groups.is_empty());
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
        let examine = |dynamics: &Exact, case: u32| -> Vec<AuditAnswer> {
            let auditor = Auditor::new(dynamics, policy, &scale, &params).expect("an auditor");
            let mut start = environment.clone();
            start.reset(u64::from(case));
            let mut draws = Stream::new(u64::from(case));
            let mut actor = |_: usize, state: &[f64]| Some(policy.sample(state, &mut draws));
            let begun = Trajectory::begin(environment.schema());
            let record = rollout(&mut start.clone(), begun, params.horizon, &mut actor);
            let record = record.expect("a record");
            let examined = auditor.examine(&start, &record, 7).expect("a case");
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
            for (AuditAnswer { claimed, real, .. }, other) in examined.answers.iter().zip(&others) {
                let answer = explainer.why_not(moment, other).expect("a contrast");
                let place = format!("{id}, case {case}, action {other:?}");
                assert!(claimed.courses[0] == *answer.factual.chain.trajectory(), "{place}");
                assert!(claimed.courses[1] == *answer.counterfactual.chain.trajectory(), "{place}");
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
            for AuditAnswer { claimed, real, .. } in &answers {
                let model = &claimed.courses[1];
                assert!(agree(model, real), "{id}, case {case}:\n{model:?}\n{real:?}");
            }
            // The replay does not depend on the model: a wrong one disagrees with the same replay.
            for (AuditAnswer { claimed, real, .. }, replay) in
                examine(&wrong, case).iter().zip(&answers)
            {
                assert!(*real == replay.real, "{id}, case {case}");
                mistakes += usize::from(!agree(&claimed.courses[1], real));
            }
        }
        assert!(mistakes > 5, "{id}: {mistakes}");
    }
}

#[test]
fn cart_pole_is_right_up_to_rounding() {
    let audit = examine("CartPole-v1", &Exact::cart_pole(), Some(&Rules::cart_pole()), 30);
    assert!(score(&audit, Measure::Precision) > 0.99, "{audit:?}");
    assert!(score(&audit, Measure::Recall) > 0.99, "{audit:?}");
    assert!(score(&audit, Measure::Ends) > 0.95, "{audit:?}");
}

#[test]
fn a_model_that_ignores_the_action_gets_no_recall() {
    let audit = examine("AimTest-v0", &Exact::aim_test().assuming(&[2.0]), None, 20);
    assert_eq!(score(&audit, Measure::Recall), 0.0, "{audit:?}");
    assert_eq!(score(&audit, Measure::Sign), 0.0, "{audit:?}");
    assert!(score(&audit, Measure::SizeError) > 0.9);
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
    let nothing =
        Line { name: "explanations", by_kind: Scores::default(), by_step: Scores::default() };
    let references =
        audit.references.iter().map(|line| Line { name: line.name, ..nothing.clone() });
    let curve =
        audit.curve.iter().map(|p| CurvePoint { changes: Tally::default(), ..*p }).collect();
    let empty = Audit {
        cases: 0,
        references: references.collect(),
        explanations: nothing.clone(),
        all_cases: Scores::default(),
        influences: Vec::new(),
        far: None,
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
    for key in [
        "cases",
        "precision",
        "recall",
        "direction",
        "sign",
        "better_action",
        "best_action",
        "trivial",
        "size_error",
        "ends",
        "intervals",
        "by_variable",
        "influence",
        "all_steps",
        "curve",
    ] {
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
    assert!(score(&audit, Measure::Precision) > 0.9, "{audit:?}");
    assert!(score(&audit, Measure::Recall) > 0.9, "{audit:?}");
    assert!(score(&audit, Measure::Sign) > 0.95, "{audit:?}");
}

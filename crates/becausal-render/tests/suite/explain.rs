//! Explanations in worlds with known rules.

use crate::explanations;
use becausal_render::{Explained, waterfall};
use std::sync::Arc;

use becausal_core::data::Row;
use becausal_core::env::parse_action;
use becausal_core::schema::Role;
use becausal_core::{Environment, Schema, Transitions};
use becausal_envs::AimTest;
use becausal_explain::chain::{Node, Part, Trajectory, Way};
use becausal_explain::{
    Ask, AuditParams, Change, Contrast, Doubt, ExplainError, Explainer, Explanan, Moment, Scale,
    Why, audit,
};
use becausal_model::{Dynamics, Influence, Noise, Prediction, Situation};
use proptest::prelude::*;

use crate::exact::{Exact, Rules, imagined, paper_example};
use crate::explanations::{Against, Many, check_labels, within};

/// The names of nodes with their steps: `x3@1`.
fn names<'a>(schema: &Schema, nodes: impl IntoIterator<Item = &'a Node>) -> Vec<String> {
    nodes.into_iter().map(|node| format!("{}@{}", node.name(schema), node.step)).collect()
}

fn chain_names(why: &Why) -> Vec<String> {
    names(why.chain.trajectory().schema(), why.chain.nodes())
}

fn head_names(why: &Why) -> Vec<String> {
    names(why.chain.trajectory().schema(), why.chain.heads())
}

fn why(dynamics: &dyn Dynamics, options: Ask, moment: &Moment) -> Why {
    let explainer = Explainer::new(dynamics, None, None, options).expect("an explainer");
    explainer.why(moment).expect("an explanation")
}

// ---- known rules ----------------------------------------------------------------------------

#[test]
fn sucking_cleans_this_cell() {
    let dynamics = Exact::vacuum();
    let why = why(&dynamics, within(1), &imagined(&dynamics, &[0.0, 0.0, 0.0], "suck"));
    let text = why.sentence();
    assert_eq!(
        text,
        "With a = suck at step 0, clean_1 becomes true after 1 step, which leads to a reward of 1 \
         for cell 1 cleaned (predicted)."
    );
    // The position decides which cell is cleaned.
    let at_2 = imagined(&dynamics, &[1.0, 0.0, 0.0], "suck");
    let there = self::why(&dynamics, within(1), &at_2).sentence();
    assert!(there.contains("clean_2 becomes true") && there.contains("cell 2 cleaned"), "{there}");
    assert!(head_names(&why).contains(&"position@0".to_owned()));
}

#[test]
fn moving_into_the_wall_fails() {
    let dynamics = Exact::vacuum();
    let options = Ask { rewards: vec!["failure".to_owned()], ..within(1) };
    let left = imagined(&dynamics, &[0.0, 0.0, 0.0], "left");
    let why = why(&dynamics, options, &left);
    assert_eq!(chain_names(&why), ["a@0", "failure@0", "failure@0"]);
    assert_eq!(head_names(&why), ["position@0"]);
    assert_eq!(
        why.sentence(),
        "With a = left at step 0, failure is true after 1 step, which leads to a reward of -1 for \
         failure (predicted)."
    );
}

#[test]
fn each_action_of_aim_test_has_its_own_chains() {
    // Then action 2 is taken, under which x3 influences itself and x4, and x2 influences nothing.
    let heads: [(&str, &[&str]); 4] =
        [("0", &["x1@0", "x3@0"]), ("1", &["x2@0", "x3@0"]), ("2", &["x3@0"]), ("3", &["x3@0"])];
    for (action, expected) in heads {
        let why = explanations::aim(action, 2);
        assert_eq!(
            chain_names(&why),
            ["a@0", "rise of x3@0", "x3@1", "rise of x3@1", "rise of x4@1", "x3@2", "x4@2"],
            "action {action}"
        );
        assert_eq!(head_names(&why), expected, "action {action}");
    }
}

#[test]
fn x2_matters_in_aim_test_when_action_1_follows() {
    let dynamics = Exact::aim_test();
    let schema = dynamics.schema();
    let mut environment = AimTest::new(Arc::clone(schema));
    environment.reset(1);
    let mut steps = Vec::new();
    for action in ["0", "1"] {
        let state = environment.state().to_vec();
        let action = parse_action(schema, action).expect("an action");
        let step = environment.step(&action).expect("a step");
        let parts = [&state[..], &action, step.outcomes, step.state];
        steps.push(becausal_explain::chain::Step::new(schema, parts, Some(false)));
    }
    let moment = Moment::of_steps(Arc::clone(schema), 0, steps).expect("a moment");
    let why = why(&dynamics, within(2), &moment);
    assert!(chain_names(&why).contains(&"x2@1".to_owned()), "{:?}", chain_names(&why));
}

#[test]
fn a_depot_leads_to_barracks_to_marines_and_never_through_time() {
    for why in [explanations::paper(), explanations::depot_with_policy()] {
        let schema = why.chain.trajectory().schema();
        let has = |name: &str| chain_names(&why).contains(&name.to_owned());
        assert!(has("depots@1") && has("barracks@2") && has("barracks@3") && has("marines@4"));
        let all = why.chain.nodes().iter().chain(why.chain.heads());
        assert!(all.into_iter().all(|node| node.name(schema) != "time"));
    }
    let through = explanations::depot_with_policy();
    let policy: Vec<_> = through.chain.edges().filter(|edge| edge.way == Way::Policy).collect();
    assert!(!policy.is_empty());
    assert!(policy.iter().all(|edge| edge.from.part == Part::State && edge.to.step > 0));
}

#[test]
fn the_papers_example_has_the_right_words() {
    let why = explanations::paper();
    assert_eq!(
        why.sentence(),
        "With build = depot at step 20, marines rise from 0 to 6 after 4 steps, which leads to a \
         reward of 6 for new marines (recorded)."
    );
    let text = why.text();
    for words in [
        "supply depots rise from 7 to 11",
        "money falls from 505 to 330",
        "barracks rise from 1 to 3",
        "money rises from 330 to 465",
        "barracks rise from 3 to 6",
        "money falls from 465 to 430",
        "marines rise from 0 to 6",
        "reward +6 for new marines",
    ] {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
    assert!(!text.contains("wants"));
    let changed = |explanan: &Explanan| -> Vec<String> {
        let facts = explanan.intermediates.iter().filter(|fact| fact.changed());
        let nodes: Vec<Node> = facts.map(|fact| fact.node).collect();
        names(why.chain.trajectory().schema(), &nodes)
    };
    assert_eq!(changed(&why.minimal), ["marines@4"]);
    assert_eq!(
        changed(&why.complete),
        ["depots@1", "money@1", "barracks@2", "money@2", "barracks@3", "money@3", "marines@4"]
    );
    // Between the paper's steps money goes from 330 to 430: it rises.
    let dynamics = Exact::build_marine();
    let record = paper_example(dynamics.schema());
    let (from, to) = (&record.record().steps()[1].state, &record.record().steps()[3].state);
    let parts = [&from[..], &[3.0], &[], &to[..]];
    let step = becausal_explain::chain::Step::new(dynamics.schema(), parts, Some(false));
    let marine = paper_example(dynamics.schema()).record().steps()[3].clone();
    let steps = vec![step, marine];
    let moment = Moment::of_steps(Arc::clone(dynamics.schema()), 21, steps).expect("a moment");
    let text = self::why(&dynamics, within(2), &moment).text();
    assert!(text.contains("money rises from 330 to 430"), "{text}");
}

#[test]
fn an_answer_without_a_reward_says_so() {
    let dynamics = Exact::aim_test();
    let options = Ask { rewards: vec!["rise of x4".to_owned()], ..within(1) };
    let why = why(&dynamics, options, &explanations::aim_record(&dynamics, "0", 1));
    assert!(why.chain.is_empty() && why.minimal.is_empty());
    let expected =
        "No influence above 0.1 leads from a = 0 at step 0 to rise of x4 over the next step.";
    assert_eq!(why.sentence(), expected);
    assert_eq!(why.text(), format!("Why a = 0 at step 0?\n\n{expected}\n"));
    assert!(why.picture().is_ok());
}

// ---- contrasts ------------------------------------------------------------------------------

#[test]
fn a_counterfactual_has_the_same_noise() {
    let dynamics = Exact::aim_test();
    let schema = dynamics.schema();
    let moment = explanations::aim_record(&dynamics, "0", 4);
    let explainer = Explainer::new(&dynamics, None, None, within(4)).expect("an explainer");
    for action in ["1", "2", "3"] {
        let action = parse_action(schema, action).expect("an action");
        let contrast = explainer.why_not(&moment, &action).expect("a contrast");
        let mut twin = AimTest::new(Arc::clone(schema));
        twin.reset(5);
        for (number, step) in contrast.counterfactual.chain.trajectory().steps().iter().enumerate()
        {
            let chosen = if number == 0 { action.clone() } else { vec![2.0] };
            let real = twin.step(&chosen).expect("a step").state;
            for (predicted, real) in step.next.iter().zip(real) {
                assert!((predicted - real).abs() < 1e-9, "step {number}: {predicted} for {real}");
            }
            assert!(!step.recorded);
        }
    }
}

#[test]
fn the_contrast_of_an_action_with_itself_is_empty() {
    let (dynamics, policy) = (Exact::build_marine(), Rules::build_marine());
    let moment = explanations::build_marine_record(dynamics.schema(), &policy, 4);
    let explainer = Explainer::new(&dynamics, Some(&policy), None, within(4)).expect("one");
    let contrast = explainer.why_not(&moment, moment.action()).expect("a contrast");
    assert!(contrast.minimal.is_empty());
    assert_eq!(contrast.credit.difference(), 0.0);
    assert_eq!(
        contrast.sentence(),
        "No reward differs between build = depot and build = depot over the next 4 steps."
    );
}

#[test]
fn a_model_that_is_not_exact_invents_no_difference() {
    // Like a model in single precision.
    let dynamics = Exact::aim_test().off_by(1e-6);
    let moment = explanations::aim_record(&Exact::aim_test(), "2", 4);
    let explainer = Explainer::new(&dynamics, None, None, within(4)).expect("an explainer");
    // Recorded steps are kept as they are.
    let same = explainer.why_not(&moment, moment.action()).expect("a contrast");
    assert!(same.minimal.is_empty());
    assert_eq!(same.credit.difference(), 0.0);
    // A change of x2 has no effect on any reward, but the model's errors make x4 differ.
    let change = Change::parse(dynamics.schema(), "x2=25", moment.action()).expect("a change");
    let contrast = explainer.what_if(&moment, &change).expect("a contrast");
    assert!(contrast.factual.chain.is_empty());
    let x4 = Node::state(2, 3);
    assert_eq!(contrast.differs(x4), Some(true));
    let mut data = Transitions::new(Arc::clone(dynamics.schema()));
    for step in moment.record().steps() {
        data.push(&Row {
            state: &step.state,
            action: &step.action,
            outcomes: &step.outcomes,
            next: &step.next,
            reward: 0.0,
            terminated: false,
            truncated: false,
        });
    }
    let explainer = explainer.with_scale(Scale::of(&data), 0.01);
    let contrast = explainer.what_if(&moment, &change).expect("a contrast");
    assert_eq!(contrast.differs(x4), Some(false));
}

/// A model that predicts no change, in which everything depends on everything.
struct NoChange {
    schema: Arc<Schema>,
    causes: Vec<usize>,
}

impl Dynamics for NoChange {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }
    fn parents(&self, _: usize) -> &[usize] {
        &self.causes
    }
    fn step(&self, state: &[f64], _: &[f64], _: &Noise) -> Prediction {
        let outcomes = vec![0.0; self.schema.outcome_slots().len()];
        Prediction { outcomes, next: state.to_vec() }
    }
    fn noise(&self, _: &[f64], _: &[f64], _: &[f64], _: &[f64]) -> Noise {
        Noise::most_likely()
    }
    fn influence(&self, _: &[f64], _: &[f64]) -> Influence {
        let states = self.schema.of_role(Role::State).count();
        let effects = states + self.schema.of_role(Role::Outcome).count();
        Influence::new(effects, states, &[vec![0.5; states * effects]])
    }
    fn disagreement(&self, situations: &[Situation<'_>]) -> Vec<Vec<f64>> {
        vec![vec![0.0; self.schema.next_slots().len()]; situations.len()]
    }
    fn distance(&self, _: &[f64]) -> Vec<f64> {
        vec![0.0; self.schema.of_role(Role::State).count()]
    }
}

#[test]
fn several_continuous_actions_and_vectors_are_explained_and_audited() {
    let entry = becausal_envs::find("LunarLanderContinuous-v3").expect("known");
    let environment = entry.make(&becausal_core::env::Options::default()).expect("made");
    let schema = entry.schema();
    let causes = (0..schema.of_role(Role::State).count() + 2).collect();
    let dynamics = NoChange { schema: Arc::clone(&schema), causes };
    let mut data = Transitions::new(Arc::clone(&schema));
    becausal_core::env::collect::<_, becausal_core::env::EnvironmentError>(
        &environment,
        300,
        1,
        |_, stream, action| becausal_core::env::random_action(&schema, stream, action),
        |part| {
            data.append(part);
            Ok(())
        },
    )
    .expect("collected");
    let last = data.episode(0).len() - 2;
    let explainer = Explainer::new(&dynamics, None, None, within(5)).expect("an explainer");
    let moment = Moment::recorded(&data, 0, last).expect("a moment");
    let contrast = explainer.why_not(&moment, &[0.5, -1.0]).expect("a contrast");
    let trajectory = contrast.factual.chain.trajectory();
    assert!(trajectory.len() == 2 && trajectory.terminated());
    let question = contrast.question();
    assert!(question.contains(" = 0.5, ") && question.contains(" = -1 at step"), "{question}");
    check_labels(&contrast.picture().expect("a picture"));
    check_labels(&contrast.factual.picture().expect("a picture"));
    assert!(contrast.factual.text().contains("The episode ends after 2 steps."));
    let policy = becausal_core::RandomPolicy::new(Arc::clone(&schema)).expect("bounded");
    let options = AuditParams { states: 3, most_actions: 2, ..AuditParams::default() };
    let audit = audit(&environment, &dynamics, &policy, &data, &options).expect("an audit");
    assert_eq!(audit.cases, 6);
    let recall = audit.explanations.by_kind.value(becausal_explain::Measure::Recall);
    assert!(recall.is_some_and(|recall| recall > 0.5), "{audit:?}");
}

#[test]
fn trajectories_of_different_length_are_compared() {
    let contrast = explanations::push();
    let lengths = |c: &Contrast| {
        (c.factual.chain.trajectory().len(), c.counterfactual.chain.trajectory().len())
    };
    assert_eq!(lengths(&contrast), (6, 4));
    assert_eq!(contrast.credit.difference(), 3.0);
    assert!(contrast.text().contains("The episode continues; otherwise it ends after 4 steps."));
    assert_eq!(
        contrast.sentence(),
        "Because after 4 steps angle is 0.18 rad instead of 0.214, which earns 3 more for balancing. In all, push = right earns 3 more reward than push = left over the next 6 steps."
    );
    // The reverse contrast has the opposite difference, and says so.
    let (dynamics, policy) = (Exact::cart_pole(), Rules::cart_pole());
    let explainer = Explainer::new(&dynamics, Some(&policy), None, within(6)).expect("one");
    let moment = imagined(&dynamics, &[0.02, 0.4, 0.16, 0.6], "left");
    let reverse = explainer.why_not(&moment, &[1.0]).expect("a contrast");
    assert_eq!(lengths(&reverse), (4, 6));
    assert_eq!(reverse.credit.difference(), -3.0);
    assert!(reverse.sentence().starts_with("By the model this was not the best choice"));
    assert!(reverse.picture().is_ok());
}

#[test]
fn credit_adds_up() {
    for contrast in [
        explanations::depot_or_nothing(),
        explanations::less_money(),
        explanations::wall(),
        explanations::push(),
        explanations::many(),
    ] {
        let credit = &contrast.credit;
        let parts = credit.through_state() + credit.through_actions();
        assert!((parts - credit.difference()).abs() < 1e-9);
        let terms: f64 = credit.by_term().iter().map(|(_, difference)| difference).sum();
        assert!((terms - credit.difference()).abs() < 1e-9);
        let return_of = |why: &Why| why.chain.trajectory().discounted(credit.discount);
        let real = return_of(&contrast.factual) - return_of(&contrast.counterfactual);
        assert!((real - credit.difference()).abs() < 1e-9);
    }
    let depot = explanations::depot_or_nothing();
    // Most of the difference is due to later actions, not to the depots themselves.
    assert!(depot.credit.through_actions() > depot.credit.through_state());
}

#[test]
fn the_chain_begins_at_the_changed_state() {
    let contrast = explanations::less_money();
    let schema = contrast.factual.chain.trajectory().schema();
    let chain = &contrast.factual.chain;
    assert_eq!(names(schema, chain.nodes())[0], "money@0");
    assert!(!chain.contains(Node::action(0, 0)), "the action stays as it was");
    assert!(contrast.question().starts_with("What if money = 60 instead of money = 505"));
}

#[test]
fn changes_are_parsed_as_people_write_them() {
    let dynamics = Exact::build_marine();
    let schema = dynamics.schema();
    let read = |text: &str| Change::parse(schema, text, &[4.0]);
    assert_eq!(read("none"), Ok(Change::action(&[0.0])));
    assert_eq!(read("build=none"), Ok(Change::action(&[0.0])));
    let both = Change { action: Some(vec![0.0]), state: vec![(4, 400.0)] };
    assert_eq!(read("money=400, build=none"), Ok(both.clone()));
    assert_eq!(read("money=400,none"), Ok(both));
    let error = |text: &str| read(text).expect_err("refused").to_string();
    let unknown = error("mony=4");
    assert!(unknown.contains("there is no state or action `mony`"), "{unknown}");
    assert!(unknown.contains("`money`"), "{unknown}");
    assert!(error("money=much").contains("`money`"));
    assert!(error("castle").contains("castle"));
    // A value that the variable cannot have.
    let explainer = Explainer::new(&dynamics, None, None, within(2)).expect("an explainer");
    let change = Change { action: None, state: vec![(4, -5.0)] };
    let error = explainer.what_if(&paper_example(schema), &change).expect_err("refused");
    assert_eq!(error.to_string(), "`money`: -5 is out of bounds: expected at least 0");
}

#[test]
fn invalid_options_give_clear_errors() {
    let dynamics = Exact::build_marine();
    let refuse = |options: Ask| {
        Explainer::new(&dynamics, None, None, options).err().expect("refused").to_string()
    };
    let standard = Ask::default;
    assert_eq!(refuse(within(0)), "a horizon of 0 steps, expected 1 to 1000");
    assert_eq!(refuse(within(10_000)), "a horizon of 10000 steps, expected 1 to 1000");
    assert!(refuse(Ask { tau: 1.5, ..standard() }).starts_with("tau is 1.5, expected"));
    assert!(refuse(Ask { discount: 0.0, ..standard() }).starts_with("the discount is 0"));
    let wrong = refuse(Ask { rewards: vec!["marines".to_owned()], ..standard() });
    assert!(wrong.ends_with("the rewards are: new marines"), "{wrong}");
    // A moment of another world.
    let explainer = Explainer::new(&dynamics, None, None, standard()).expect("an explainer");
    let vacuum = Exact::vacuum();
    let error = explainer.why(&imagined(&vacuum, &[0.0, 0.0, 0.0], "suck")).expect_err("refused");
    assert!(matches!(error, ExplainError::Schema { .. }), "{error}");
    // A step that does not exist.
    let data = Transitions::new(Arc::clone(dynamics.schema()));
    let error = Moment::recorded(&data, 0, 3).expect_err("refused");
    assert_eq!(error.to_string(), "there is no episode 0: the data have 0, counted from 0");
}

#[test]
fn recorded_steps_come_first_and_predicted_ones_are_marked() {
    let why = explanations::depot_with_policy();
    let trajectory: &Trajectory = why.chain.trajectory();
    let recorded: Vec<bool> = trajectory.steps().iter().map(|step| step.recorded).collect();
    assert_eq!(recorded, [true, true, false, false]);
    assert!(why.evidence.doubts.contains(&Doubt::Predicted { steps: 2, of: 4 }));
    let text = why.text();
    assert!(
        text.contains("After 2 steps (recorded)") && text.contains("After 3 steps (predicted)")
    );
    // Without a policy nothing is predicted beyond the record.
    let dynamics = Exact::build_marine();
    let why = self::why(&dynamics, within(9), &paper_example(dynamics.schema()));
    assert_eq!(why.chain.trajectory().len(), 4);
    assert!(why.evidence.doubts.contains(&Doubt::WithoutPolicy));
}

// ---- random worlds --------------------------------------------------------------------------

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn in_random_worlds_the_same_action_makes_no_difference(
        variables in 2_usize..8,
        horizon in 1_usize..6,
        seed in any::<u64>(),
        push in -1.0..1.0_f64,
        other in -1.0..1.0_f64,
    ) {
        let dynamics = Many::new(variables, seed);
        let policy = Against(Arc::clone(dynamics.schema()));
        let explainer =
            Explainer::new(&dynamics, Some(&policy), None, within(horizon)).expect("one");
        let state = vec![0.3; variables];
        let moment =
            Moment::imagined(dynamics.schema(), state, vec![push, 1.0]).expect("one");
        let same = explainer.why_not(&moment, &[push, 1.0]).expect("a contrast");
        prop_assert!(same.minimal.is_empty());
        prop_assert_eq!(same.credit.difference(), 0.0);
        let contrast = explainer.why_not(&moment, &[other, 0.0]).expect("a contrast");
        // Every factual difference is in the factual chain.
        for fact in &contrast.minimal.factual {
            let chain = &contrast.factual.chain;
            prop_assert!(chain.contains(fact.node) || chain.heads().contains(&fact.node));
        }
        let picture = contrast.picture().expect("a picture");
        check_labels(&picture);
        // The sentence never hides a reward difference.
        let claims_no_difference = contrast.sentence().contains("earns the same reward")
            || contrast.sentence().contains("no reward and nothing");
        prop_assert!(contrast.credit.difference() == 0.0 || !claims_no_difference, "{}", contrast.sentence());
        prop_assert!(waterfall(&contrast).is_ok());
    }
}

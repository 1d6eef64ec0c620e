//! Decisions worth a look, in a pantry whose rules are known: to eat earns one meal now, to save fills the
//! stock. The shelf never changes.

use std::sync::Arc;

use becausal::data::Row;
use becausal::explain::{Certainty, Worth};
use becausal::render::graph_text;
use becausal::{
    Answer, Ask, DiscoverParams, FitParams, Log, Policy, ReportParams, Run, Schema, Stream,
    Transitions, discover, fit,
};

const SCHEMA: &str = "name = \"Pantry\"\n[state]\nstock = { kind = \"continuous\" }\n\
                      shelf = { kind = \"continuous\" }\n[action]\n\
                      do = { kind = \"categorical\", labels = [\"eat\", \"save\"] }\n[reward]\n\
                      meal = \"if(do == eat, 1, 0)\"\npantry = \"0.2 * stock'\"\n";

/// What a stock loses by the next step, as a share.
const DECAY: f64 = 0.5;

/// Episodes in which somebody eats or saves at random.
fn log() -> Log {
    let mut data = Transitions::new(Arc::new(Schema::parse(SCHEMA).expect("a schema")));
    let mut stream = Stream::new(5);
    for _ in 0..60 {
        data.begin_episode();
        let mut stock = 1.0 + 0.3 * stream.normal();
        for step in 0..20 {
            let saves = stream.below(2) as f64;
            let next = DECAY * stock + saves + 0.02 * stream.normal();
            data.push(&Row {
                state: &[stock, 2.0],
                action: &[saves],
                outcomes: &[],
                next: &[next, 2.0],
                reward: 1.0 - saves + 0.2 * next,
                terminated: false,
                truncated: step == 19,
            });
            stock = next;
        }
    }
    Log::new(data, None)
}

fn run() -> Run {
    fit(&log(), &FitParams::default().members(2).steps(300)).expect("a run")
}

/// Always saves, and expects so much from every unit of stock that is left.
struct Saver {
    schema: Arc<Schema>,
    worth: f64,
}

impl Policy for Saver {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn mode(&self, _: &[f64]) -> Vec<f64> {
        vec![1.0]
    }

    fn sample(&self, state: &[f64], _: &mut Stream) -> Vec<f64> {
        self.mode(state)
    }

    fn values(&self, states: &[Vec<f64>]) -> Option<Vec<f64>> {
        Some(states.iter().map(|state| self.worth * state[0]).collect())
    }
}

#[test]
fn what_pays_off_later_by_the_agents_own_estimate_is_no_mistake() {
    let run = run();
    let mistakes = |worth: f64| {
        let run = run.clone();
        let agent = Saver { schema: Arc::clone(run.schema()), worth };
        let run = run.with_policy(Arc::new(agent)).expect("the same variables");
        run.find(Worth::Mistakes, 5, &Ask::default()).expect("decisions")
    };
    // To save costs a meal, and after five steps a sixteenth of what was saved is left.
    let of_a_spendthrift = mistakes(0.0);
    assert_eq!(of_a_spendthrift.len(), 5);
    assert!(of_a_spendthrift.iter().all(|mistake| mistake.action == "save"));
    let of_a_saver = mistakes(100.0);
    assert!(of_a_saver.is_empty(), "{of_a_saver:?}");
}

#[test]
fn decisions_are_ranked_by_what_was_asked_about_and_their_commands_ask_the_same() {
    let run = run();
    let first = |ask: &Ask| run.find(Worth::Mistakes, 1, ask).expect("decisions").remove(0);
    let meal = first(&Ask::default().reward("meal"));
    assert_eq!((&meal.action[..], meal.found.amount), ("save", 1.0), "who wants a meal must eat");
    let pantry = Ask::default().reward("pantry");
    let found = first(&pantry);
    assert_eq!(found.action, "eat", "who wants a full pantry must save");
    // The worth of what was saved over five steps, whose discounted shares are powers of these.
    let worth = |discount: f64| 0.2 * (0..5).map(|t| (DECAY * discount).powi(t)).sum::<f64>();
    let near = |amount: f64, expected: f64| (amount / expected - 1.0).abs() < 0.1;
    assert!(near(found.found.amount, worth(1.0)), "{found:?}");
    let shown = found.options();
    assert!(shown.ends_with(" --reward pantry"), "{shown}");
    let asked = Ask { tau: 0.2, ..pantry.discount(0.5) };
    let found = first(&asked);
    assert!(near(found.found.amount, worth(0.5)), "{found:?}");
    let shown = found.options();
    for option in [" --why-not save", " --reward pantry", " --tau 0.2", " --discount 0.5"] {
        assert!(shown.contains(option), "{shown}");
    }
}

#[test]
fn a_report_opens_with_the_first_decision_that_is_found_and_lists_the_same() {
    let run = run();
    let page = run.report(&ReportParams { states: 4, ..ReportParams::default() }).expect("a page");
    let ask = Ask::default().horizon(ReportParams::default().horizon);
    let found = |worth| run.find(worth, 3, &ask).expect("found");
    let opens = found(Worth::Costly).into_iter().next().expect("a costly decision");
    assert_eq!(page.opening.why.chain.trajectory().first(), opens.found.step);
    assert_eq!(page.decision, Some((Worth::Costly, opens)));
    for decision in Worth::ALL.into_iter().flat_map(found) {
        let command = format!("becausal explain RUN {}", decision.options());
        assert!(page.html.contains(&command), "{command}");
    }
}

#[test]
fn what_is_made_up_for_later_costs_nothing() {
    // Whoever eats gives up stock, which this agent values more than the meal.
    let run = run();
    let costly = |worth: f64| {
        let agent = Saver { schema: Arc::clone(run.schema()), worth };
        let run = run.clone().with_policy(Arc::new(agent)).expect("of the same variables");
        let found = run.find(Worth::Costly, 5, &Ask::default().horizon(2)).expect("found");
        found.iter().filter(|found| found.action == "eat").count()
    };
    assert!(costly(0.0) > 0);
    assert_eq!(costly(50.0), 0);
}

#[test]
fn a_sum_of_some_rewards_says_what_it_is_of() {
    let run = run();
    let of = |rewards: &[&str]| {
        let ask = rewards.iter().fold(Ask::default(), |ask, reward| ask.reward(*reward));
        let saved = (0..20).find_map(|step| {
            let moment = run.recorded(1, step).expect("a step");
            (moment.action() == [1.0]).then_some(moment)
        });
        match run.why_not(&saved.expect("saved once"), "eat", &ask).expect("an answer") {
            Answer::Contrast(contrast) => Answer::Contrast(contrast).sentence(),
            Answer::Why(_) => panic!("a contrast"),
        }
    };
    let pantry = of(&["pantry"]);
    assert!(pantry.contains(" Of pantry alone, do = save earns 0."), "{pantry}");
    assert!(!pantry.contains("In all"), "{pantry}");
    let meal = of(&["meal"]);
    assert!(meal.contains("not the best choice for meal alone: do = eat would have"), "{meal}");
    for all in [of(&[]), of(&["meal", "pantry"])] {
        assert!(!all.contains("alone"), "{all}");
    }
}

#[test]
fn an_answer_about_what_never_varied_is_a_guess() {
    let run = run();
    let moment = run.recorded(1, 0).expect("a step");
    let answer = |change: &str| match run.what_if(&moment, change, &Ask::default()) {
        Ok(Answer::Contrast(contrast)) => contrast,
        other => panic!("{other:?}"),
    };
    let shelf = answer("shelf=2.5");
    assert_eq!((shelf.certainty(), shelf.claim()), (Certainty::Guess, None));
    let text = Answer::Contrast(shelf).text();
    assert!(text.contains("How sure: a guess; "), "{text}");
    assert!(text.contains("but the data never show what shelf does."), "{text}");
    let stock = answer("stock=2");
    assert_eq!((stock.certainty(), stock.never_varied()), (Certainty::Sure, None));
}

#[test]
fn a_cause_that_cannot_be_told_of_any_effect_is_listed_once() {
    let graph = discover(log().transitions(), &DiscoverParams::default()).expect("a graph");
    let told = graph_text(&graph);
    assert!(told.contains("record data in which it varies\n    all effects <- shelf\n"), "{told}");
    assert!(told.contains("    shelf' <- stock, do\n"), "only what is left: {told}");
}

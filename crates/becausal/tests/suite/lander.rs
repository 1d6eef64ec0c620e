//! What is said about a lander that can fly.

use becausal::env::{Options, Pilot, find, record_with_detours};
use becausal::model::Dynamics;
use becausal::{Ask, Environment, FitParams, Log, Transitions};

/// Flights of a scripted pilot; every fourth action is a random one.
fn flights(rows: usize) -> Transitions {
    let lander = find("LunarLander-v3").expect("known").make(&Options::default()).expect("made");
    let pilot = Pilot::of(lander.schema()).expect("a lander");
    record_with_detours(&lander, &pilot, 0.25, rows, 4).expect("flown")
}

#[test]
fn the_engine_is_named_as_a_cause_of_the_velocities() {
    let log = Log::new(flights(6000), None);
    let params = FitParams::default().members(1).steps(150).seed(1);
    let run = becausal::fit(&log, &params).expect("a fit");
    let (schema, model) = (run.schema(), run.model());
    let engine = schema.causes().iter().position(|cause| cause == "engine").expect("a cause");
    for velocity in ["vx'", "vy'", "v_angle'"] {
        let effect = schema.effects().iter().position(|name| name == velocity).expect("an effect");
        let causes = model.parents(effect);
        assert!(causes.contains(&engine), "{velocity}: {causes:?}\n{}", run.graph());
    }
    let moment = run.recorded(2, 60).expect("a step");
    let why = run.why(&moment, &Ask::default().horizon(3)).expect("an answer").details();
    // The main engine turns the lander by chance only.
    for words in ["horizontal velocity", "vertical velocity"] {
        assert!(why.contains(words), "{words} is missing:\n{why}");
    }
    let other = if moment.action() == [2.0] { "none" } else { "main" };
    let why_not = run.why_not(&moment, other, &Ask::default().horizon(3)).expect("an answer");
    assert!(why_not.sentence().contains("vertical velocity"), "{}", why_not.sentence());
}

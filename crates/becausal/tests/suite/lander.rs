//! What is said about a lander that can fly.

use std::sync::Arc;

use becausal::env::{Options, find, play_episode, random_action};
use becausal::model::Dynamics;
use becausal::{Ask, Environment, FitParams, Log, Stream, Transitions};

/// Gymnasium's own pilot for the lander.
fn pilot(state: &[f64]) -> f64 {
    let [x, y, vx, vy, angle, v_angle] = std::array::from_fn(|slot| state[slot]);
    let landed = state[6] > 0.0 || state[7] > 0.0;
    let target_angle = (0.5 * x + vx).clamp(-0.4, 0.4);
    let target_height = 0.55 * x.abs();
    let mut turn = 0.5 * (target_angle - angle) - v_angle;
    let mut rise = 0.5 * (target_height - y) - 0.5 * vy;
    if landed {
        (turn, rise) = (0.0, -0.5 * vy);
    }
    match () {
        () if rise > turn.abs() && rise > 0.05 => 2.0,
        () if turn < -0.05 => 3.0,
        () if turn > 0.05 => 1.0,
        () => 0.0,
    }
}

/// Its flights; every fourth action is another one.
fn flights(rows: usize) -> Transitions {
    let entry = find("LunarLander-v3").expect("known");
    let mut lander = entry.make(&Options::default()).expect("made");
    let schema = Arc::clone(lander.schema());
    let mut data = Transitions::new(Arc::clone(&schema));
    let mut stream = Stream::new(4);
    for seed in 0.. {
        if data.len() >= rows {
            break;
        }
        let mut actor = |_: usize, state: &[f64]| {
            let mut action = vec![pilot(state)];
            if stream.unit() < 0.25 {
                random_action(&schema, &mut stream, &mut action).ok()?;
            }
            Some(action)
        };
        play_episode(&mut lander, seed, 400, &mut actor).expect("flown").append_to(&mut data);
    }
    data
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
    let why = run.why(&moment, &Ask::default().horizon(3)).expect("an answer").text();
    for words in ["horizontal velocity", "vertical velocity", "angular velocity"] {
        assert!(why.contains(words), "{words} is missing:\n{why}");
    }
    let other = if moment.action() == [2.0] { "none" } else { "main" };
    let why_not = run.why_not(&moment, other, &Ask::default().horizon(3)).expect("an answer");
    assert!(why_not.sentence().contains("vertical velocity"), "{}", why_not.sentence());
}

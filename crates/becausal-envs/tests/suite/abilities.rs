//! What environments can do for audits: draw their noise again, hide it, and be put into a state.

use becausal_core::Environment;
use becausal_core::env::{AnyEnvironment, Onlooker, Options};
use becausal_envs::find;

fn begun(id: &str, seed: u64) -> AnyEnvironment {
    let mut environment = find(id).expect("known").make(&Options::default()).expect("made");
    environment.reset(seed);
    environment
}

/// The state after some steps with one action.
fn after(mut environment: AnyEnvironment, steps: usize, action: &[f64]) -> Vec<f64> {
    for _ in 0..steps {
        environment.step(action).expect("a step");
    }
    environment.state().to_vec()
}

#[test]
fn other_noise_changes_what_is_random_and_nothing_else() {
    for (id, action) in [("AimTest-v0", [0.0]), ("LunarLander-v3", [2.0])] {
        let start = begun(id, 3);
        let mut twin = start.clone();
        assert!(twin.renew_noise(11), "{id}");
        assert_eq!(start.state(), twin.state(), "{id}");
        assert_ne!(after(start.clone(), 1, &action), after(twin.clone(), 1, &action), "{id}");
        let mut same = start.clone();
        same.renew_noise(11);
        assert_eq!(after(same, 3, &action), after(twin, 3, &action), "{id}");
    }
    // Without an engine nothing is random for a lander.
    let start = begun("LunarLander-v3", 3);
    let mut twin = start.clone();
    twin.renew_noise(11);
    assert_eq!(after(start, 5, &[0.0]), after(twin, 5, &[0.0]));
    assert!(!begun("CartPole-v1", 0).renew_noise(1), "nothing is random");
}

#[test]
fn a_lander_shows_its_noise_only_when_an_engine_runs() {
    let start = begun("LunarLander-v3", 3);
    let with = |recorded: Option<f64>| {
        let mut environment = start.clone();
        let action = recorded.map(|label| [label]);
        let recorded = action.as_ref().map(|action| &action[..]);
        assert!(environment.hide_noise(recorded, Onlooker::OfRules));
        after(environment, 1, &[2.0])
    };
    let real = after(start.clone(), 1, &[2.0]);
    for engine in [1.0, 2.0, 3.0] {
        assert_eq!(with(Some(engine)), real);
    }
    assert_ne!(with(Some(0.0)), real);
    assert_eq!(with(Some(0.0)), with(None));
    // Hidden noise is the mean: the craft goes straight.
    let mut others = Vec::new();
    for seed in 0..400 {
        let mut twin = start.clone();
        twin.renew_noise(seed);
        others.push(after(twin, 1, &[2.0]));
    }
    let hidden = with(None);
    for slot in [2, 3, 5] {
        let mean = others.iter().map(|state| state[slot]).sum::<f64>() / 400.0;
        let spread = others.iter().map(|state| (state[slot] - mean).powi(2)).sum::<f64>() / 400.0;
        let off = (mean - hidden[slot]).abs();
        assert!(off < 4.0 * (spread / 400.0).sqrt() + 1e-4, "slot {slot}: {off}, {spread}");
    }
    // Only the next step is hidden.
    let mut twice = start.clone();
    twice.hide_noise(None, Onlooker::OfRules);
    twice.step(&[0.0]).expect("a step");
    let mut once = start.clone();
    once.step(&[0.0]).expect("a step");
    assert_eq!(after(twice, 1, &[2.0]), after(once, 1, &[2.0]));
}

#[test]
fn data_teach_the_noise_of_an_engine_that_ran_then_and_now() {
    let start = begun("LunarLanderContinuous-v3", 3);
    let with = |recorded: [f64; 2], action: [f64; 2], onlooker| {
        let mut environment = start.clone();
        assert!(environment.hide_noise(Some(&recorded), onlooker));
        after(environment, 1, &action)
    };
    let real = |action: [f64; 2]| after(start.clone(), 1, &action);
    let hidden = |action| with([-1.0, 0.0], action, Onlooker::OfData);
    let (main, left, both) = ([1.0, 0.0], [-1.0, -1.0], [1.0, -1.0]);
    // Another throttle of the same engine is the same engine.
    assert_eq!(with([0.2, 0.0], main, Onlooker::OfData), real(main));
    assert_eq!(with([-1.0, -0.6], left, Onlooker::OfData), real(left));
    // Another engine is not, except to those who know the rules.
    for (recorded, action) in [(left, main), (main, left), ([-1.0, 1.0], left)] {
        assert_eq!(with(recorded, action, Onlooker::OfData), hidden(action));
        assert_ne!(with(recorded, action, Onlooker::OfData), real(action));
        assert_eq!(with(recorded, action, Onlooker::OfRules), real(action));
    }
    // Of two engines, the noise of the one that ran.
    let half = with(main, both, Onlooker::OfData);
    assert_ne!(half, real(both));
    assert_ne!(half, hidden(both));
}

#[test]
fn put_into_its_own_state_an_environment_goes_on_as_before() {
    for (id, steps, action) in [
        ("AimTest-v0", 3, [1.0]),
        ("Vacuum-v0", 0, [1.0]),
        ("BuildMarine-v0", 4, [4.0]),
        ("LunarLander-v3", 20, [2.0]),
        ("CartPole-v1", 3, [1.0]),
    ] {
        let mut start = begun(id, 5);
        for _ in 0..steps {
            start.step(&action).expect("a step");
        }
        let mut moved = start.clone();
        let state = start.state().to_vec();
        assert!(moved.set_state(&state), "{id}");
        let (left, right) = (after(start, 1, &action), after(moved, 1, &action));
        for (slot, (left, right)) in left.iter().zip(&right).enumerate() {
            // The states of CartPole and of a lander are rounded to single precision.
            assert!((left - right).abs() < 1e-5, "{id}, slot {slot}: {left} and {right}");
        }
    }
}

#[test]
fn a_lander_moves_with_its_legs_and_not_into_the_ground() {
    let mut start = begun("LunarLander-v3", 5);
    for _ in 0..20 {
        start.step(&[0.0]).expect("a step");
    }
    let mut state = start.state().to_vec();
    state[0] = -0.3;
    state[1] = 1.2;
    state[2] = 0.4;
    state[4] = 0.5;
    state[5] = -0.2;
    let mut moved = start.clone();
    assert!(moved.set_state(&state));
    for (slot, (asked, got)) in state.iter().zip(moved.state()).enumerate() {
        assert!((asked - got).abs() < 1e-6, "slot {slot}: {asked} and {got}");
    }
    // It flies on: a step of 1/50 s moves it by its velocity, and the joints do not tear at it.
    let next = after(moved.clone(), 1, &[0.0]);
    assert!((next[0] - (state[0] + 0.01 * state[2])).abs() < 1e-3, "{next:?}");
    assert!((next[4] - (state[4] + 0.05 * state[5])).abs() < 1e-2, "{next:?}");
    assert!((next[2] - state[2]).abs() < 5e-3 && (next[5] - state[5]).abs() < 2e-2, "{next:?}");
    for wrong in [[0.0, -0.5], [0.0, 0.0], [5.0, 1.0]] {
        let mut state = state.clone();
        state[..2].copy_from_slice(&wrong);
        assert!(!start.clone().set_state(&state), "{wrong:?}");
    }
    let mut landed = state.clone();
    landed[6] = 1.0;
    assert!(!start.clone().set_state(&landed), "on the ground");
    assert!(!start.set_state(&state[..3]), "too few numbers");
}

#[test]
fn a_base_gets_the_counts_it_is_given() {
    let mut start = begun("BuildMarine-v0", 5);
    for action in [4.0, 3.0, 1.0] {
        start.step(&[action]).expect("a step");
    }
    for workers in [2.0, 30.0] {
        let mut moved = start.clone();
        let state = [workers, 3.0, 2.0, 5.0, 400.0, 700.0];
        assert!(moved.set_state(&state));
        assert_eq!(moved.state(), state);
        // With more workers there is more money.
        let money = after(moved.clone(), 1, &[0.0])[4];
        assert_eq!(money > 500.0, workers == 30.0, "{workers}: {money}");
    }
    for wrong in [[-1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.5, 0.0, 0.0, 0.0, 0.0, 0.0]] {
        assert!(!start.clone().set_state(&wrong), "{wrong:?}");
    }
    assert!(!start.set_state(&[12.0, 0.0, 0.0, 0.0, 0.0, 1600.0]), "over");
}

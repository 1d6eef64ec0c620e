//! The true causal graphs of the environments agree with interventions.

use becausal_core::{Environment, Stream};
use becausal_envs::{AimTest, BuildMarine, CartPole, Truth, Vacuum, find};

fn whole(value: f64) -> u32 {
    format!("{value}").parse().expect("a count")
}

/// Changes one state variable at a time, with the same noise, and compares the variables that
/// change with the graph.
fn check_truth(
    truth: &Truth,
    mut step: impl FnMut(&[f64], usize) -> Vec<f64>,
    mut draw: impl FnMut(&mut Stream) -> Vec<f64>,
    mut change: impl FnMut(usize, f64, &mut Stream) -> f64,
    rounds: usize,
) {
    let states = truth.by_action[0].graph[0].len();
    let mut seen = vec![vec![vec![false; states]; truth.effects.len()]; truth.by_action.len()];
    let mut acted = vec![false; truth.effects.len()];
    let mut stream = Stream::new(1);
    for _ in 0..rounds {
        let state = draw(&mut stream);
        let plain: Vec<Vec<f64>> =
            (0..truth.by_action.len()).map(|action| step(&state, action)).collect();
        for (effect, acted) in acted.iter_mut().enumerate() {
            *acted |= plain.iter().any(|outputs| outputs[effect] != plain[0][effect]);
        }
        for cause in 0..states {
            let mut changed = state.clone();
            changed[cause] = change(cause, state[cause], &mut stream);
            for (action, plain) in plain.iter().enumerate() {
                let outputs = step(&changed, action);
                for (effect, seen) in seen[action].iter_mut().enumerate() {
                    seen[cause] |= outputs[effect] != plain[effect];
                }
            }
        }
    }
    for (one, seen) in truth.by_action.iter().zip(&seen) {
        for (effect, (claimed, seen)) in one.graph.iter().zip(seen).enumerate() {
            assert_eq!(claimed, seen, "causes of {} under {}", truth.effects[effect], one.action);
        }
    }
    let claimed: Vec<bool> =
        truth.graph.iter().map(|row| row.last().copied().unwrap_or(false)).collect();
    assert_eq!(claimed, acted, "effects of the action on {:?}", truth.effects);
}

#[test]
fn the_true_graph_of_aim_test_agrees_with_interventions() {
    let entry = find("AimTest-v0").expect("known");
    let environment = AimTest::new(entry.schema());
    check_truth(
        &entry.truth().expect("known"),
        |state, action| {
            let mut environment = environment.clone();
            environment.place(state.try_into().expect("five"));
            environment.step(&[action as f64]).expect("a step").state.to_vec()
        },
        |stream| (0..5).map(|_| 10.0 * stream.normal()).collect(),
        |_, value, _| value + 1.0,
        20,
    );
}

#[test]
fn the_true_graph_of_cart_pole_agrees_with_interventions() {
    let entry = find("CartPole-v1").expect("known");
    let environment = CartPole::new(entry.schema(), false);
    check_truth(
        &entry.truth().expect("known"),
        |state, action| {
            let mut environment = environment.clone();
            environment.place(state.try_into().expect("four"));
            environment.step(&[action as f64]).expect("a step").state.to_vec()
        },
        |stream| (0..4).map(|_| 0.2 * stream.normal()).collect(),
        |_, value, _| value + 0.5,
        20,
    );
}

#[test]
fn the_true_graph_of_vacuum_agrees_with_interventions() {
    let entry = find("Vacuum-v0").expect("known");
    let environment = Vacuum::new(entry.schema());
    check_truth(
        &entry.truth().expect("known"),
        |state, action| {
            let mut environment = environment.clone();
            environment.place(state.try_into().expect("three"));
            let step = environment.step(&[action as f64]).expect("a step");
            [step.state, step.outcomes].concat()
        },
        |stream| (0..3).map(|_| stream.below(2) as f64).collect(),
        |_, value, _| 1.0 - value,
        50,
    );
}

#[test]
fn the_true_graph_of_build_marine_agrees_with_interventions() {
    let entry = find("BuildMarine-v0").expect("known");
    let environment = BuildMarine::new(entry.schema());
    // Upper limits of the counts: a wide range, and one near the limits of supply and money.
    let upper: [[f64; 6]; 2] =
        [[20.0, 30.0, 9.0, 29.0, 700.0, 1500.0], [16.0, 8.0, 3.0, 2.0, 250.0, 1500.0]];
    let pick = |slot: usize, stream: &mut Stream| {
        let count = (stream.unit() * upper[stream.below(2)][slot]).floor();
        if slot == 0 { count + 4.0 } else { count } // building needs some workers
    };
    check_truth(
        &entry.truth().expect("known"),
        |state, action| {
            let mut environment = environment.clone();
            environment.place(std::array::from_fn(|slot| whole(state[slot])), 9);
            environment.step(&[action as f64]).expect("a step").state.to_vec()
        },
        |stream| (0..6).map(|slot| pick(slot, stream)).collect(),
        |slot, _, stream| pick(slot, stream),
        1000,
    );
}

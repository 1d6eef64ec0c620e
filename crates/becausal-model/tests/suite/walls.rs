//! Numbers that are cut at a bound, and what stops at a wall.

use std::sync::Arc;

use becausal_core::data::Row;
use becausal_core::{Schema, Stream, Transitions};
use becausal_model::{Dynamics, ModelKind, ModelParams, Noise, Sizes, Structure, WorldModel};

/// The next state of a puck that is pushed left (0) or right (1): its speed is cut at 0.2, and at a wall it stops.
fn step([x, v]: [f64; 2], action: f64) -> [f64; 2] {
    let v = (v + 0.04 * (2.0 * action - 1.0) - 0.02 * (3.0 * x).sin()).clamp(-0.2, 0.2);
    match x + v {
        x if x <= -1.0 => [-1.0, 0.0],
        x if x >= 1.0 => [1.0, 0.0],
        x => [x, v],
    }
}

/// Pushes that are held for some steps, in episodes of 50.
fn pushes(rows: usize, seed: u64) -> Transitions {
    let schema = "name = \"Puck\"\n[state]\nx = { kind = \"continuous\" }\nv = { kind = \"continuous\" }\n\
                  [action]\npush = { kind = \"categorical\", labels = [\"left\", \"right\"] }\n";
    let mut data = Transitions::new(Arc::new(Schema::parse(schema).unwrap()));
    let mut stream = Stream::new(seed);
    let (mut state, mut action) = ([0.0; 2], 0.0);
    for row in 0..rows {
        if row % 50 == 0 {
            data.begin_episode();
            state = [1.6 * stream.unit() - 0.8, 0.3 * stream.unit() - 0.15];
        }
        if stream.unit() < 0.2 {
            action = stream.below(2) as f64;
        }
        let next = step(state, action);
        data.push(&Row {
            state: &state,
            action: &[action],
            outcomes: &[],
            next: &next,
            reward: 0.0,
            terminated: false,
            truncated: row % 50 == 49,
        });
        state = next;
    }
    data
}

fn fitted() -> WorldModel {
    let options = ModelParams {
        members: 2,
        sizes: Sizes { encoder: 16, hidden: 16, action: 8, key: 8 },
        steps: 600,
        interval: 200,
        ..ModelParams::default()
    };
    let structure = Structure::new(2, 1, vec![vec![0, 1, 2], vec![0, 1, 2]]);
    WorldModel::fit(&pushes(4000, 1), ModelKind::Causal, &structure, &options).unwrap().0
}

fn next(model: &WorldModel, state: [f64; 2], action: f64) -> [f64; 2] {
    let next = model.step(&state, &[action], &Noise::most_likely()).next;
    [next[0], next[1]]
}

fn near(found: [f64; 2], expected: [f64; 2]) -> bool {
    // The deviations are 0.5 and 0.1, and bounds are kept in single precision.
    (0..2).all(|at| (found[at] - expected[at]).abs() < 1e-5)
}

#[test]
fn what_is_cut_and_what_stops_is_predicted_exactly() {
    let model = fitted();
    let scores = model.score(&pushes(2000, 2));
    for score in &scores.variables {
        assert!(score.error < 0.02, "{scores:?}");
    }
    // Into either wall, and at the highest speed in either direction.
    assert!(near(next(&model, [-0.95, -0.15], 0.0), [-1.0, 0.0]));
    assert!(near(next(&model, [0.9, 0.18], 1.0), [1.0, 0.0]));
    assert_eq!(next(&model, [-0.2, 0.19], 1.0)[1], next(&model, [-0.4, 0.2], 1.0)[1]);
    assert!((next(&model, [-0.2, 0.19], 1.0)[1] - 0.2).abs() < 1e-5);
}

#[test]
fn under_another_action_what_is_cut_either_way_is_the_same() {
    let model = fitted();
    // At this speed the wall is hit whatever is pushed.
    let (state, recorded, other) = ([-0.95, -0.15], 0.0, 1.0);
    let seen = step(state, recorded);
    let noise = model.noise(&state, &[recorded], &[], &seen);
    let next = model.step(&state, &[other], &noise).next;
    assert!(near([next[0], next[1]], step(state, other)), "{next:?}");
}

#[test]
fn a_saved_model_knows_its_walls() {
    let model = fitted();
    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path()).unwrap();
    let again = WorldModel::load(folder.path(), model.schema()).unwrap();
    for (state, action) in [([-0.95, -0.15], 0.0), ([-0.2, 0.19], 1.0), ([0.1, 0.05], 0.0)] {
        assert_eq!(next(&model, state, action), next(&again, state, action));
    }
    let manifest = std::fs::read_to_string(folder.path().join("manifest.json")).unwrap();
    assert!(manifest.contains("cut_targets"), "a program that knows of no cuts must not read it");
}

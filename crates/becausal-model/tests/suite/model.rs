//! The world model: its inputs, its predictions and its files.

use std::fs;
use std::sync::Arc;

use becausal_core::data::Row;
use becausal_core::env::{Options, record_at_random};
use becausal_core::schema::Role;
use becausal_core::{Schema, Stream, Transitions};
use becausal_envs::find;
use becausal_model::{
    Dynamics, FitError, ModelKind, ModelParams, Noise, Sizes, Structure, WorldModel,
};
use proptest::prelude::*;

fn random_play(id: &str, rows: usize, seed: u64) -> Transitions {
    let environment = find(id).unwrap().make(&Options::default()).unwrap();
    record_at_random(&environment, rows, seed).unwrap()
}

fn true_structure(id: &str) -> Structure {
    let entry = find(id).unwrap();
    let (truth, schema) = (entry.truth().unwrap(), entry.schema());
    let parents = |row: &Vec<bool>| (0..row.len()).filter(|&cause| row[cause]).collect();
    Structure::new(
        schema.of_role(Role::State).count(),
        schema.of_role(Role::Action).count(),
        truth.graph.iter().map(parents).collect(),
    )
}

fn small() -> ModelParams {
    ModelParams {
        members: 1,
        sizes: Sizes { encoder: 16, hidden: 16, action: 8, key: 8 },
        steps: 30,
        interval: 10,
        ..ModelParams::default()
    }
}

fn fit(data: &Transitions, structure: &Structure, options: &ModelParams) -> WorldModel {
    WorldModel::fit(data, ModelKind::Causal, structure, options).unwrap().0
}

/// Four numbers, a category and a flag as actions, an outcome; all noise.
fn noise(rows: usize) -> Transitions {
    let schema = Schema::parse(
        r#"
        name = "Noise"
        [state]
        w = { kind = "continuous" }
        x = { kind = "continuous" }
        y = { kind = "integer" }
        z = { kind = "boolean" }
        [action]
        a = { kind = "categorical", labels = ["0", "1", "2"] }
        b = { kind = "boolean" }
        [outcome]
        o = { kind = "continuous" }
        [reward]
        "w" = "w'"
        "#,
    );
    let schema = Arc::new(schema.unwrap());
    let mut data = Transitions::new(Arc::clone(&schema));
    let mut stream = Stream::new(4);
    for row in 0..rows {
        if row % 20 == 0 {
            data.begin_episode();
        }
        let mut state = || {
            vec![
                stream.normal(),
                3.0 + 2.0 * stream.normal(),
                stream.below(7) as f64,
                f64::from(u8::from(stream.unit() < 0.25)),
            ]
        };
        let (before, after) = (state(), state());
        data.push(&Row {
            state: &before,
            action: &[stream.below(3) as f64, stream.below(2) as f64],
            outcomes: &[10.0 + stream.normal()],
            next: &after,
            reward: 0.0,
            terminated: false,
            truncated: row % 20 == 19,
        });
    }
    data
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For any graph, an effect does not change at all when a variable that is not a parent does.
    #[test]
    fn only_its_parents_change_an_effect(
        edges in proptest::collection::vec(proptest::bool::ANY, 5 * 6),
        moved in 0_usize..6,
        seed in 0_u64..1000,
    ) {
        let parents: Vec<Vec<usize>> = edges
            .chunks(6)
            .map(|row| (0..6).filter(|&cause| row[cause]).collect())
            .collect();
        let structure = Structure::new(4, 2, parents.clone());
        let model = fit(&noise(100), &structure, &ModelParams { steps: 3, seed, ..small() });
        let (state, action) = (vec![0.3, 1.0, 4.0, 1.0], vec![1.0, 0.0]);
        let (mut other_state, mut other_action) = (state.clone(), action.clone());
        match moved {
            3 => other_state[3] = 0.0,
            0..3 => other_state[moved] += 2.5,
            4 => other_action[0] = 2.0,
            _ => other_action[1] = 1.0,
        }
        // Noise of a surprising step, so that the predicted deviation counts too.
        let likely = model.step(&state, &action, &Noise::most_likely());
        let mut surprising = likely.next.clone();
        surprising[0] += 1.0;
        surprising[2] += 3.0;
        let noise = model.noise(&state, &action, &likely.outcomes, &surprising);
        let here = model.step(&state, &action, &noise);
        let there = model.step(&other_state, &other_action, &noise);
        for (effect, parents) in parents[..4].iter().enumerate() {
            if !parents.contains(&moved) {
                prop_assert_eq!(here.next[effect], there.next[effect]);
            }
        }
        if !parents[4].contains(&moved) {
            prop_assert_eq!(here.outcomes[0], there.outcomes[0]);
        }
        let influence = model.influence(&state, &action);
        for (effect, parents) in parents.iter().enumerate() {
            for state in 0..4 {
                if !parents.contains(&state) {
                    prop_assert_eq!(influence.weight(effect, state), 0.0);
                }
            }
        }
    }
}

#[test]
fn without_parents_the_model_predicts_the_marginal_distribution() {
    let structure = Structure::new(4, 2, vec![Vec::new(); 5]);
    let model = fit(&noise(2000), &structure, &ModelParams { steps: 300, ..small() });
    let scores = model.score(&noise(2000));
    let normal = -0.5 * (2.0 * std::f64::consts::PI * std::f64::consts::E).ln();
    let flag = 0.25 * 0.25_f64.ln() + 0.75 * 0.75_f64.ln();
    let expected = [("w'", normal), ("x'", normal - 2.0_f64.ln()), ("z'", flag), ("o", normal)];
    for (name, likelihood) in expected {
        let found = scores.variables.iter().find(|v| v.name == name).unwrap();
        assert!((found.error - 1.0).abs() < 0.03, "{name}: {}", found.error);
        assert!((found.log_likelihood - likelihood).abs() < 0.05, "{name}: {found:?}");
    }
    assert!((0.85..0.95).contains(&scores.variables[0].coverage.unwrap()));
}

#[test]
fn the_same_seed_gives_the_same_weights_on_any_number_of_threads() {
    let data = random_play("AimTest-v0", 600, 3);
    let structure = true_structure("AimTest-v0");
    let options = ModelParams { members: 3, ..small() };
    let files: Vec<Vec<u8>> = [1, 2, 4]
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let model = pool.install(|| fit(&data, &structure, &options));
            let folder = tempfile::tempdir().unwrap();
            model.save(folder.path()).unwrap();
            weights(folder.path())
        })
        .to_vec();
    assert!(files[0] == files[1] && files[0] == files[2]);
}

/// The bytes of the weights in a folder.
fn weights(folder: &std::path::Path) -> Vec<u8> {
    let mut found = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let file = found.find(|path| path.extension().is_some_and(|e| e == "safetensors"));
    fs::read(file.unwrap()).unwrap()
}

#[test]
fn a_model_survives_a_round_trip_and_wrong_files_are_rejected() {
    let data = random_play("AimTest-v0", 600, 3);
    let schema = data.schema();
    let model = fit(&data, &true_structure("AimTest-v0"), &ModelParams { members: 2, ..small() });
    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path()).unwrap();
    let again = WorldModel::load(folder.path(), schema).unwrap();
    assert_eq!(again.score(&data), model.score(&data));
    assert_eq!(again.influence_by_weight(&[1.0]), model.influence_by_weight(&[1.0]));
    // Saving again leaves one file of weights.
    again.save(folder.path()).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);

    let refused =
        |folder: &std::path::Path| WorldModel::load(folder, schema).unwrap_err().to_string();
    let other = find("CartPole-v1").unwrap().schema();
    let error = WorldModel::load(folder.path(), &other).unwrap_err().to_string();
    assert!(error.contains("another schema"), "{error}");

    let manifest = folder.path().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"version\": 4", "\"version\": 7")).unwrap();
    assert!(refused(folder.path()).contains("use a newer program"));
    fs::write(&manifest, text.replace("\"version\": 4", "\"version\": 1")).unwrap();
    assert!(refused(folder.path()).contains("create the world model again"));
    fs::write(&manifest, &text[..text.len() / 2]).unwrap();
    assert!(refused(folder.path()).contains("not valid JSON"));
    fs::write(&manifest, text.replace("\"members\": 2", "\"members\": 3")).unwrap();
    assert!(refused(folder.path()).contains("numbers that do not belong to its weights"));
    // Without the seal, as earlier versions wrote it, the parts are still compared.
    let unsealed = text.replace("fields_checksum", "no_checksum");
    fs::write(&manifest, unsealed.replace("\"members\": 2", "\"members\": 3")).unwrap();
    assert!(refused(folder.path()).contains("is missing"));
    fs::write(&manifest, &unsealed).unwrap();
    assert_eq!(WorldModel::load(folder.path(), schema).unwrap().score(&data), model.score(&data));
    fs::write(&manifest, text.replace("weights-", "../weights-")).unwrap();
    assert!(refused(folder.path()).contains("outside"));
    fs::write(&manifest, &text).unwrap();

    let file = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|e| e == "safetensors"))
        .unwrap();
    let bytes = fs::read(&file).unwrap();
    let mut altered = bytes.clone();
    let middle = altered.len() / 2;
    altered[middle] ^= 1;
    for wrong in [&bytes[..bytes.len() - 4], &altered, &[]] {
        fs::write(&file, wrong).unwrap();
        assert!(refused(folder.path()).contains("checksum"));
    }
    fs::remove_file(&manifest).unwrap();
    assert!(refused(folder.path()).contains("becausal fit"));
}

#[test]
fn a_manifest_may_not_claim_larger_networks_than_its_weights() {
    let data = noise(60);
    let schema = data.schema();
    for kind in [ModelKind::Full, ModelKind::Mlp] {
        let folder = tempfile::tempdir().unwrap();
        let structure = Structure::full(schema);
        let model = WorldModel::fit(&data, kind, &structure, &small()).unwrap().0;
        model.save(folder.path()).unwrap();
        let path = folder.path().join("manifest.json");
        let mut manifest: serde_json::Value =
            serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        manifest.as_object_mut().unwrap().remove("fields_checksum");
        fs::write(&path, manifest.to_string()).unwrap();
        assert!(WorldModel::load(folder.path(), schema).is_ok());
        for size in ["encoder", "hidden", "action", "key"] {
            if kind == ModelKind::Mlp && size != "hidden" {
                continue; // not used by it
            }
            let mut large = manifest.clone();
            large["sizes"][size] = 4096.into();
            fs::write(&path, large.to_string()).unwrap();
            let error = WorldModel::load(folder.path(), schema).err().unwrap();
            assert!(error.problem.contains("`sizes` is missing or wrong"), "{size}: {error}");
        }
    }
}

#[test]
fn data_that_cannot_be_fitted_are_rejected_with_a_reason() {
    let structure = true_structure("AimTest-v0");
    let options = small();
    let few = random_play("AimTest-v0", 10, 1);
    let error = WorldModel::fit(&few, ModelKind::Causal, &structure, &options);
    assert!(matches!(error, Err(FitError::TooFew { rows: 10, .. })));
    let mut data = random_play("AimTest-v0", 300, 1);
    data.begin_episode();
    data.push(&Row {
        state: &[1.0, f64::NAN, 0.0, 0.0, 0.0],
        action: &[0.0],
        outcomes: &[],
        next: &[0.0; 5],
        reward: 0.0,
        terminated: true,
        truncated: false,
    });
    let error = WorldModel::fit(&data, ModelKind::Causal, &structure, &options);
    let text = error.err().unwrap().to_string();
    assert!(text.contains("`x2` is NaN in row 301"), "{text}");
    // A learning rate that throws the weights out of all bounds: stopped, and said where.
    let wild = ModelParams { rate: 1e30, clip: f64::INFINITY, ..small() };
    let data = random_play("AimTest-v0", 300, 1);
    let error = WorldModel::fit(&data, ModelKind::Causal, &structure, &wild);
    let text = error.err().unwrap().to_string();
    assert!(text.contains("the fit failed at step") && text.contains("likelihood of `"), "{text}");
}

#[test]
fn the_noise_of_a_recorded_step_reproduces_the_step() {
    let data = random_play("BuildMarine-v0", 400, 2);
    let schema = data.schema();
    let model = fit(&data, &true_structure("BuildMarine-v0"), &small());
    let slots = [schema.state_slots(), schema.action_slots(), schema.next_slots()];
    for row in (0..data.len()).step_by(17) {
        let values = data.row(row);
        let [state, action, next] = slots.clone().map(|slots| &values[slots]);
        let noise = model.noise(state, action, &[], next);
        assert_eq!(model.step(state, action, &noise).next, next, "row {row}");
    }
    assert!(model.distance(&data.row(0)[slots[0].clone()]).iter().all(|&outside| outside == 0.0));
    let far: Vec<f64> = data.row(0)[slots[0].clone()].iter().map(|value| value + 1e6).collect();
    assert!(model.distance(&far).iter().all(|&outside| outside > 1.0));
}

#[test]
fn samples_follow_the_predicted_distributions() {
    let structure = Structure::new(4, 2, vec![Vec::new(); 5]);
    let model = fit(&noise(2000), &structure, &ModelParams { steps: 300, members: 2, ..small() });
    let rows = 4000;
    let drawn = model.sample(rows, |_, _| 0.0, 1.0, &mut Stream::new(1));
    let column = |at: usize| -> Vec<f64> { (0..rows).map(|row| drawn[row * 5 + at]).collect() };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // Outcomes first, then the next state.
    assert!((mean(&column(0)) - 10.0).abs() < 0.15);
    assert!((mean(&column(2)) - 3.0).abs() < 0.3);
    assert!((mean(&column(4)) - 0.25).abs() < 0.05);
    assert!(column(3).iter().all(|value| value.fract() == 0.0), "whole numbers stay whole");
    let again = model.sample(rows, |_, _| 0.0, 1.0, &mut Stream::new(1));
    assert_eq!(drawn, again);
    // Without noise each member predicts one number, but flags are still random.
    let noiseless = model.sample(rows, |_, _| 0.0, 0.0, &mut Stream::new(1));
    let different = |at: usize| {
        let column = (0..rows).map(|row| noiseless[row * 5 + at].to_bits());
        column.collect::<std::collections::BTreeSet<u64>>().len()
    };
    assert_eq!((different(0), different(4)), (2, 2));
    assert!((0..rows).any(|row| noiseless[row * 5 + 4] == 1.0));
}

#[test]
fn samples_of_all_members_share_their_noise() {
    let structure = Structure::new(4, 2, vec![Vec::new(); 5]);
    let options = ModelParams { steps: 50, members: 1, ..small() };
    let alone = fit(&noise(1000), &structure, &options);
    let both = fit(&noise(1000), &structure, &ModelParams { members: 2, ..options });
    let value = |row: usize, slot: usize| (row + slot) as f64 / 10.0;
    let rows = 700;
    let each = both.sample_each(rows, value, 1.0, &mut Stream::new(4));
    assert_eq!(each.len(), 2);
    assert_eq!(each, both.sample_each(rows, value, 1.0, &mut Stream::new(4)));
    assert_eq!(alone.sample_each(rows, value, 1.0, &mut Stream::new(4))[0].len(), rows * 5);
    // The noise is the same, so the samples of the two members are correlated.
    let first = |member: usize| -> Vec<f64> { each[member].iter().copied().step_by(5).collect() };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (one, other) = (first(0), first(1));
    let (a, b) = (mean(&one), mean(&other));
    let product = |x: &[f64], y: &[f64], a: f64, b: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - a) * (y - b)).sum()
    };
    let correlation = product(&one, &other, a, b)
        / (product(&one, &one, a, a) * product(&other, &other, b, b)).sqrt();
    assert!(correlation > 0.9, "{correlation}");
}

/// A small version of `becausal reproduce aim`.
#[test]
fn the_influence_of_each_action_is_recovered() {
    let data = random_play("AimTest-v0", 4000, 21);
    let entry = find("AimTest-v0").unwrap();
    let (truth, structure) = (entry.truth().unwrap(), true_structure("AimTest-v0"));
    let options = ModelParams {
        members: 1,
        sizes: Sizes { encoder: 32, hidden: 32, action: 16, key: 16 },
        steps: 1500,
        ..ModelParams::default()
    };
    let fitted = WorldModel::fit(&data, ModelKind::Causal, &structure, &options);
    let (model, report) = fitted.unwrap();
    let held_out = data.select_episodes(&report.held_out);
    let slot = data.schema().action_slots().start;
    let (mut by_effect, mut by_weight) = (0, 0);
    for (action, known) in truth.by_action.iter().enumerate() {
        let mut part = Transitions::new(Arc::clone(data.schema()));
        for row in (0..held_out.len()).filter(|&row| held_out.code(slot, row) == action) {
            part.append(&held_out.slice(row..row + 1));
        }
        let effect = model.influence_by_effect(&part, 0);
        let weight = model.influence_by_weight(&[action as f64]).unwrap();
        for (j, row) in known.graph.iter().enumerate() {
            for (i, &edge) in row.iter().enumerate() {
                by_effect += usize::from((effect.weight(j, i) > 0.1) == edge);
                by_weight += usize::from((weight.weight(j, i) > 0.1) == edge);
            }
        }
    }
    assert!(by_effect >= 98, "{by_effect} of 100 by effect");
    assert!(by_weight >= 93, "{by_weight} of 100 by weight; 92 without any model");
}

#[test]
fn cart_pole_is_predicted_almost_exactly() {
    let data = random_play("CartPole-v1", 2000, 5);
    let structure = true_structure("CartPole-v1");
    let options = ModelParams { steps: 600, ..small() };
    let scores = fit(&data, &structure, &options).score(&random_play("CartPole-v1", 1000, 6));
    for variable in &scores.variables {
        assert!(variable.explained > 0.999, "{variable:?}");
    }
    let blind = WorldModel::fit(&data, ModelKind::ActionBlind, &structure, &options);
    let blind = blind.unwrap().0.score(&random_play("CartPole-v1", 1000, 6));
    assert!(blind.mean_error() > 20.0 * scores.mean_error());
}

/// A rudder that an action sets to 175 or to 60 degrees, give or take ten, wherever it was before. A circle
/// ends at 180.
fn rudder(rows: usize, seed: u64) -> Transitions {
    let schema = Schema::parse(
        "name = \"Rudder\"\n[state]\nangle = { kind = \"circular\", period = 360 }\n[action]\n\
         back = { kind = \"boolean\" }\n",
    );
    let schema = Arc::new(schema.unwrap());
    let circle = schema.variables()[0].kind.circle().unwrap();
    let mut data = Transitions::new(schema);
    let mut stream = Stream::new(seed);
    for row in 0..rows {
        if row % 20 == 0 {
            data.begin_episode();
        }
        let back = stream.below(2) as f64;
        let set = if back > 0.0 { 175.0 } else { 60.0 };
        let next = [circle.wrap(set + stream.uniform(-10.0, 10.0))];
        data.push(&Row {
            state: &[stream.uniform(-180.0, 180.0)],
            action: &[back],
            outcomes: &[],
            next: &next,
            reward: 0.0,
            terminated: false,
            truncated: row % 20 == 19,
        });
    }
    data
}

#[test]
fn an_angle_that_does_not_depend_on_itself_is_predicted_across_the_end_of_its_circle() {
    let data = rudder(2000, 1);
    for (parents, persist) in [(vec![1], true), (vec![0, 1], false)] {
        let structure = Structure::new(1, 1, vec![parents]);
        let options = ModelParams { steps: 400, persist, members: 3, ..small() };
        let model = fit(&data, &structure, &options);
        let score = &model.score(&rudder(1000, 2)).variables[0];
        // The noise has a deviation of 5.8 degrees, the angles of 58.
        assert!(score.error < 0.13, "{persist}: {score:?}");
        for (back, expected) in [(1.0, 175.0), (0.0, 60.0)] {
            let step = model.step(&[-100.0], &[back], &Noise::most_likely());
            assert!((step.next[0] - expected).abs() < 5.0, "{persist}: {step:?}");
        }
    }
}

/// A hand that turns by its speed, which does not change; its angle is written in degrees from 0 to 360.
fn dial(rows: usize) -> Transitions {
    let schema = Schema::parse(
        "name = \"Dial\"\n[state]\nangle = { kind = \"circular\", period = 360, low = 0 }\n\
         speed = { kind = \"continuous\" }\n[action]\npush = { kind = \"boolean\" }\n",
    );
    let schema = Arc::new(schema.unwrap());
    let circle = schema.variables()[0].kind.circle().unwrap();
    let mut data = Transitions::new(schema);
    let mut stream = Stream::new(1);
    let mut state = [0.0; 2];
    for row in 0..rows {
        if row % 20 == 0 {
            data.begin_episode();
            state = [stream.uniform(0.0, 360.0), stream.uniform(-20.0, 20.0)];
        }
        let push = stream.below(2) as f64;
        let next = [circle.wrap(state[0] + state[1] + 10.0 * push), state[1]];
        let (state_now, action, outcomes) = (&state[..], &[push][..], &[][..]);
        let (reward, terminated, truncated) = (0.0, false, row % 20 == 19);
        data.push(&Row {
            state: state_now,
            action,
            outcomes,
            next: &next,
            reward,
            terminated,
            truncated,
        });
        state = next;
    }
    data
}

#[test]
fn an_angle_is_predicted_across_the_end_of_its_circle() {
    let data = dial(2000);
    let structure = Structure::new(2, 1, vec![vec![0, 1, 2], vec![1]]);
    let model = fit(&data, &structure, &ModelParams { steps: 600, interval: 200, ..small() });
    let scores = model.score(&dial(2000));
    // One in twenty rows passes the end; taken as numbers, they alone would be off by more than their deviation.
    assert!(scores.variables[0].error < 0.02, "{scores:?}");
    let (state, action) = ([355.0, 10.0], [0.0]);
    let step = model.step(&state, &action, &Noise::most_likely());
    assert!((step.next[0] - 5.0).abs() < 2.0, "{step:?}");
    // The same angle, written otherwise, is the same state, and the noise is small by either way of writing.
    let same = model.step(&[-5.0, 10.0], &action, &Noise::most_likely());
    assert!((same.next[0] - step.next[0]).abs() < 1e-3, "{same:?} {step:?}");
    let surprise = |next: f64| model.surprise(&state, &action, &[], &[next, 10.0]).unwrap()[0];
    assert!((surprise(5.0) - surprise(365.0)).abs() < 1e-3);
    assert_eq!(model.distance(&[361.0, 0.0])[0], 0.0);
}

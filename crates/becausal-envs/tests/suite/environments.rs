//! The environments equal Gymnasium's where they copy one, follow their rules, and can be cloned.

use std::sync::Arc;

use becausal_core::env::{
    AnyEnvironment, Batch, EnvironmentError, Options, collect, parse_action, random_action,
    read_actions, replay,
};
use becausal_core::{Environment, Stream, Transitions};
use becausal_envs::{CartPole, Vacuum, entries, find};
use proptest::prelude::*;

fn make(id: &str) -> AnyEnvironment {
    find(id).expect("known").make(&Options::default()).expect("made")
}

fn random_rows(id: &str, rows: usize, seed: u64) -> Transitions {
    let environment = make(id);
    let schema = Arc::clone(environment.schema());
    let mut all = Transitions::new(Arc::clone(&schema));
    collect::<_, EnvironmentError>(
        &environment,
        rows,
        seed,
        |_, stream, action| random_action(&schema, stream, action),
        |piece| {
            all.append(piece);
            Ok(())
        },
    )
    .expect("collected");
    all
}

// ---- CartPole -----------------------------------------------------------------------------

/// An episode recorded from Gymnasium.
struct Golden {
    seed: u64,
    first: Vec<f64>,
    actions: Vec<Vec<f64>>,
    observations: Vec<Vec<f64>>,
    rewards: Vec<f64>,
    terminated: Vec<bool>,
}

fn golden() -> Vec<Golden> {
    let bits =
        |text: &str| f64::from(f32::from_bits(u32::from_str_radix(text, 16).expect("hexadecimal")));
    let mut episodes: Vec<Golden> = Vec::new();
    let lines = include_str!("../golden/cart_pole.csv").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(',').collect();
        if fields[0] == "episode" {
            episodes.push(Golden {
                seed: fields[1].parse().expect("a seed"),
                first: fields[2..].iter().map(|field| bits(field)).collect(),
                actions: Vec::new(),
                observations: Vec::new(),
                rewards: Vec::new(),
                terminated: Vec::new(),
            });
            continue;
        }
        let episode = episodes.last_mut().expect("an episode");
        episode.actions.push(vec![fields[0].parse().expect("an action")]);
        episode.observations.push(fields[1..5].iter().map(|field| bits(field)).collect());
        episode.rewards.push(fields[5].parse().expect("a reward"));
        episode.terminated.push(fields[6] == "1");
    }
    episodes
}

#[test]
fn cart_pole_equals_gymnasiums_bit_for_bit() {
    let episodes = golden();
    assert_eq!(episodes.len(), 15);
    for episode in episodes {
        let cart = find("CartPole-v1").expect("known").make_endless(&Options::default());
        let (record, _) =
            replay(cart.expect("made"), episode.seed, &episode.actions).expect("replayed");
        assert_eq!(record.len(), episode.actions.len(), "seed {}", episode.seed);
        assert_eq!(record.row(0)[..4], episode.first[..], "seed {}", episode.seed);
        for (row, observation) in episode.observations.iter().enumerate() {
            assert_eq!(record.row(row)[5..], observation[..], "seed {} row {row}", episode.seed);
        }
        assert_eq!(record.reward(), Some(episode.rewards.as_slice()));
        assert_eq!(record.terminated(), episode.terminated);
    }
}

#[test]
fn cart_pole_ends_strictly_beyond_its_limits_and_is_truncated_after_500_steps() {
    let mut cart = CartPole::new(find("CartPole-v1").expect("known").schema(), false);
    cart.place([2.4, 0.0, 0.0, 0.0]);
    assert!(!cart.step(&[0.0]).expect("a step").terminated, "2.4 itself is allowed");
    cart.place([2.4, 0.1, 0.0, 0.0]);
    assert!(cart.step(&[0.0]).expect("a step").terminated);
    assert!(matches!(cart.step(&[0.0]), Err(EnvironmentError::Over { .. })));

    // A controller that keeps the pole up.
    let mut limited = make("CartPole-v1");
    limited.reset(3);
    for step in 1..=500 {
        let state = limited.state();
        let push = f64::from(u8::from(
            state[2] + 0.3 * state[3] + 0.02 * state[0] + 0.05 * state[1] > 0.0,
        ));
        let end = limited.step(&[push]).expect("a step");
        assert_eq!((end.terminated, end.truncated), (false, step == 500), "step {step}");
    }
    assert!(matches!(limited.step(&[0.0]), Err(EnvironmentError::Over { .. })));
}

#[test]
fn cart_pole_has_the_sutton_barto_reward_as_an_option() {
    let mut options = Options::default();
    options.set("sutton_barto_reward", "true");
    let cart = find("CartPole-v1").expect("known").make(&options).expect("made");
    let (record, _) = replay(cart, 1, &vec![vec![0.0]; 50]).expect("replayed");
    let rewards = record.reward().expect("recorded");
    assert_eq!(rewards.last(), Some(&-1.0));
    assert!(rewards[..rewards.len() - 1].iter().all(|&reward| reward == 0.0));
    // The schema's term: 1 for every step but the one that fails.
    let terms = record.total_reward();
    assert_eq!(terms.iter().sum::<f64>(), (record.len() - 1) as f64);
}

// ---- AimTest and Vacuum -------------------------------------------------------------------

#[test]
fn aim_test_follows_the_papers_equations() {
    let record = random_rows("AimTest-v0", 20_000, 5);
    let mut sums = [[0.0; 4]; 2];
    for row in 0..record.len() {
        let values = record.row(row);
        let [x1, x2, x3, x4, t, a] = values[..6] else { panic!("six inputs") };
        let action = [0.0, 1.0, 2.0, 3.0].iter().position(|&known| known == a).expect("an action");
        let expected = [
            x1 + 1.0,
            if action == 0 { x1 } else { x2 },
            x3 + [x1, x2, 5.0, 10.0][action],
            0.1 * x3 + 0.9 * x4,
        ];
        assert_eq!(values[10], t + [10.0, 20.0, 5.0, 5.0][action]);
        for index in 0..4 {
            let noise = values[6 + index] - expected[index];
            sums[0][index] += noise;
            sums[1][index] += noise * noise;
        }
    }
    let rows = record.len() as f64;
    for (index, deviation) in [1.0, 1.0, 1.0, 0.5].into_iter().enumerate() {
        assert!((sums[0][index] / rows).abs() < 0.03, "noise of x{} has a mean", index + 1);
        let found = (sums[1][index] / rows).sqrt();
        assert!((found - deviation).abs() < 0.02, "noise of x{}: {found}", index + 1);
    }
    let starts: Vec<Vec<f64>> =
        (0..record.episodes()).map(|episode| record.row(record.episode(episode).start)).collect();
    assert!(starts.iter().all(|start| start[2] == 0.0 && start[4] == 0.0));
    for (index, mean) in [(0, 10.0), (1, 20.0), (3, 15.0)] {
        let found = starts.iter().map(|start| start[index]).sum::<f64>() / starts.len() as f64;
        assert!((found - mean).abs() < 0.3, "start of slot {index}: {found}");
    }
}

#[test]
fn vacuum_moves_fails_and_cleans_by_its_rules() {
    let mut vacuum = Vacuum::new(find("Vacuum-v0").expect("known").schema());
    // position, clean_1, clean_2, action -> position, clean_1, clean_2, failure, reward
    let cases = [
        ([0.0, 0.0, 0.0], "left", [0.0, 0.0, 0.0], 1.0, -1.0),
        ([0.0, 0.0, 0.0], "right", [1.0, 0.0, 0.0], 0.0, 0.0),
        ([0.0, 0.0, 0.0], "suck", [0.0, 1.0, 0.0], 0.0, 1.0),
        ([1.0, 0.0, 0.0], "left", [0.0, 0.0, 0.0], 0.0, 0.0),
        ([1.0, 0.0, 0.0], "right", [1.0, 0.0, 0.0], 1.0, -1.0),
        ([1.0, 0.0, 0.0], "suck", [1.0, 0.0, 1.0], 0.0, 1.0),
        ([0.0, 1.0, 0.0], "suck", [0.0, 1.0, 0.0], 0.0, 0.0),
    ];
    for (state, action, next, failure, reward) in cases {
        vacuum.place(state);
        let chosen = parse_action(vacuum.schema(), action).expect("an action");
        let step = vacuum.step(&chosen).expect("a step");
        assert_eq!((step.state, step.outcomes, step.reward), (&next[..], &[failure][..], reward));
        assert!(!step.terminated);
    }
    vacuum.place([1.0, 1.0, 0.0]);
    assert!(vacuum.step(&[2.0]).expect("a step").terminated, "all clean");
}

// ---- all environments ---------------------------------------------------------------------

#[test]
fn a_clone_continues_identically_with_the_same_noise() {
    for entry in entries() {
        let mut environment = entry.make(&Options::default()).expect("made");
        let schema = Arc::clone(environment.schema());
        let mut stream = Stream::new(8);
        let mut action = vec![0.0; schema.action_slots().len()];
        environment.reset(4);
        for round in 0..200 {
            let mut twin = environment.clone();
            random_action(&schema, &mut stream, &mut action).expect("an action");
            let [one, other] = [&mut environment, &mut twin].map(|copy| {
                let step = copy.step(&action).expect("a step");
                (
                    step.state.to_vec(),
                    step.outcomes.to_vec(),
                    step.reward,
                    step.terminated,
                    step.truncated,
                )
            });
            assert_eq!(one, other, "{}", entry.id);
            if one.3 || one.4 {
                environment.reset(round);
            }
        }
    }
    // The noise does not depend on the action: x1 and x4 of AimTest do not either.
    let mut one = make("AimTest-v0");
    one.reset(6);
    let mut other = one.clone();
    for _ in 0..20 {
        let a = one.step(&[0.0]).expect("a step").state[0];
        let b = other.step(&[3.0]).expect("a step").state[0];
        assert_eq!(a, b);
    }
}

#[test]
fn the_seed_determines_every_recorded_row() {
    for entry in entries() {
        let one = random_rows(entry.id, 500, 3);
        assert_eq!(one, random_rows(entry.id, 500, 3), "{}", entry.id);
        assert_ne!(one, random_rows(entry.id, 500, 4), "{}", entry.id);
        assert_eq!(one.len(), 500);
    }
}

#[test]
fn neighbouring_seeds_share_no_episode() {
    let starts = |seed| {
        let record = random_rows("AimTest-v0", 3000, seed);
        (0..record.episodes())
            .map(|episode| record.row(record.episode(episode).start)[0].to_bits())
            .collect::<std::collections::BTreeSet<u64>>()
    };
    assert!(starts(1).is_disjoint(&starts(2)));
}

#[test]
fn the_schemas_reward_terms_and_ends_agree_with_the_environments() {
    for entry in entries() {
        let record = random_rows(entry.id, 3000, 3);
        let ended = record.evaluate(record.schema().termination().expect("one"));
        for (row, ended) in ended.iter().enumerate() {
            assert_eq!(*ended != 0.0, record.terminated()[row], "{} row {row}", entry.id);
        }
        if ["CartPole-v1", "LunarLander-v3", "LunarLanderContinuous-v3"].contains(&entry.id) {
            continue; // the paper's reward for the last step differs from Gymnasium's
        }
        let paid = record.reward().expect("recorded");
        for (row, terms) in record.total_reward().iter().enumerate() {
            assert!((terms - paid[row]).abs() < 1e-9, "{} row {row}", entry.id);
        }
    }
}

#[test]
fn recorded_steps_are_consecutive_and_ends_are_marked() {
    for entry in entries() {
        let record = random_rows(entry.id, 1000, 2);
        let states = record.schema().state_slots().len();
        let next = record.schema().next_slots().start;
        for episode in 0..record.episodes() {
            let rows = record.episode(episode);
            for row in rows.start..rows.end - 1 {
                assert_eq!(record.row(row)[next..], record.row(row + 1)[..states], "{}", entry.id);
                assert!(!record.terminated()[row] && !record.truncated()[row]);
            }
            let last = rows.end - 1;
            assert!(record.terminated()[last] || record.truncated()[last], "{}", entry.id);
        }
    }
}

#[test]
fn a_batch_steps_like_single_environments() {
    for entry in entries() {
        let environment = entry.make(&Options::default()).expect("made");
        let schema = Arc::clone(environment.schema());
        let seeds: Vec<u64> = (0..700).collect();
        let mut batch = Batch::new(&environment, &seeds);
        let mut alone = environment.clone();
        let mut stream = Stream::new(3);
        let width = schema.action_slots().len();
        let mut actions = vec![0.0; seeds.len() * width];
        for action in actions.chunks_mut(width) {
            random_action(&schema, &mut stream, action).expect("an action");
        }
        batch.step(&actions).expect("a step");
        for copy in [0, 1, 255, 256, 699] {
            alone.reset(seeds[copy]);
            let step = alone.step(&actions[copy * width..][..width]).expect("a step");
            let states = schema.state_slots().len();
            assert_eq!(&batch.states()[copy * states..][..states], step.state, "{}", entry.id);
            assert_eq!(batch.rewards()[copy], step.reward);
            assert_eq!(batch.terminated()[copy], step.terminated);
            assert_eq!(batch.truncated()[copy], step.truncated);
            let outcomes = schema.outcome_slots().len();
            assert_eq!(&batch.outcomes()[copy * outcomes..][..outcomes], step.outcomes);
        }
    }
}

#[test]
fn a_batch_does_not_start_episodes_by_itself() {
    let cart = make("CartPole-v1");
    let mut batch = Batch::new(&cart, &[1, 2]);
    while !batch.terminated().contains(&true) {
        batch.step(&[0.0, 0.0]).expect("a step");
    }
    assert!(matches!(batch.step(&[0.0, 0.0]), Err(EnvironmentError::Over { .. })));
    let over = batch.terminated().iter().position(|&end| end).expect("one is over");
    batch.reset(over, 9);
    assert!(!batch.terminated()[over]);
}

#[test]
fn invalid_actions_options_and_ids_are_rejected() {
    let mut cart = make("CartPole-v1");
    let cases: [(&[f64], &str); 5] = [
        (&[], "an action of 0 numbers, expected 1 (push)"),
        (&[0.0, 1.0], "an action of 2 numbers, expected 1 (push)"),
        (&[2.0], "action `push`: 2 is not the index of a label: expected 0 to 1"),
        (&[0.5], "action `push`: 0.5 is not the index of a label"),
        (&[f64::NAN], "action `push`: NaN is not a value"),
    ];
    for (action, expected) in cases {
        let got = cart.step(action).expect_err(expected).to_string();
        assert!(got.contains(expected), "{got}");
    }
    let got = find("CartPole-v2").err().map(|error| error.to_string());
    assert_eq!(
        got.as_deref(),
        Some("unknown environment `CartPole-v2` (did you mean `CartPole-v1`?)")
    );
    let options = [
        ("max_episode_step", "3", "there is no such option (did you mean `max_episode_steps`?)"),
        ("max_episode_steps", "0", "expected a positive whole number, got `0`"),
        ("sutton_barto_reward", "maybe", "expected true or false, got `maybe`"),
    ];
    for (name, value, expected) in options {
        let mut options = Options::default();
        options.set(name, value);
        let error = find("CartPole-v1").expect("known").make(&options).err().expect(expected);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn actions_are_read_as_people_write_them() {
    let schema = becausal_core::Schema::parse(
        "name = \"T\"\n[state]\nx = { kind = \"continuous\" }\n[action]\n\
         main = { kind = \"continuous\", low = -1, high = 1 }\nlateral = { kind = \"continuous\" }\n\
         gear = { kind = \"categorical\", labels = [\"low\", \"high\"] }\n",
    )
    .expect("a valid schema");
    let read = |text: &str| parse_action(&schema, text).map_err(|error| error.to_string());
    assert_eq!(read("main=0.5, lateral=-1, gear=high"), Ok(vec![0.5, -1.0, 1.0]));
    assert_eq!(read("0.5,-1,low"), Ok(vec![0.5, -1.0, 0.0]));
    let cases = [
        ("main=0.5", "`lateral` is missing"),
        ("mian=0.5", "there is no action variable `mian` (did you mean `main`?)"),
        ("main=2,lateral=0,gear=0", "`main`: 2 is out of bounds: expected from -1 to 1"),
        ("0,0,hihg", "`gear`: unknown label \"hihg\" (did you mean `high`?)"),
        ("0,0,0,0", "too many values, expected 3 (main, lateral, gear)"),
        ("0,main=1,low", "`main` is given twice"),
        ("", "`main`: the cell is empty"),
    ];
    for (text, expected) in cases {
        let got = read(text).expect_err(expected);
        assert!(got.contains(expected), "expected: {expected}\n     got: {got}");
    }
}

#[test]
fn actions_are_read_from_arrays() {
    let folder = tempfile::tempdir().expect("a folder");
    let array = |kind: &str, shape: &str, content: &[u8]| {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = u16::try_from(header.len()).expect("short").to_le_bytes();
        [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), content].concat()
    };
    let read = |bytes: Vec<u8>, id: &str| {
        let path = folder.path().join("actions.npy");
        std::fs::write(&path, bytes).expect("written");
        read_actions(&path, make(id).schema()).map_err(|error| error.to_string())
    };
    let left_right = read(array("|u1", "(3,)", &[0, 1, 0]), "CartPole-v1");
    assert_eq!(left_right, Ok(vec![vec![0.0], vec![1.0], vec![0.0]]));
    let throttles: Vec<u8> =
        [0.5_f32, -1.0, 0.0, 1.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let pairs = read(array("<f4", "(2, 2)", &throttles), "LunarLanderContinuous-v3");
    assert_eq!(pairs, Ok(vec![vec![0.5, -1.0], vec![0.0, 1.0]]));
    let cases = [
        (
            array("|u1", "(3, 2)", &[0; 6]),
            "the array of actions has the shape [3, 2], expected [rows, 1]",
        ),
        (array("|u1", "(1000000000000,)", &[0; 3]), "needs more bytes than the file has"),
        (
            array("|u1", "(3,)", &[0, 1, 7]),
            "row 3 (index 2), column `push`: 7 is not the index of a label",
        ),
        (array("|u1", "(0,)", &[]), "the file has no rows of data"),
        (b"nonsense".to_vec(), "not an array in NumPy's format"),
    ];
    for (bytes, expected) in cases {
        let got = read(bytes, "CartPole-v1").expect_err(expected);
        assert!(got.contains(expected), "expected: {expected}\n     got: {got}");
    }
}

proptest! {
    #[test]
    fn random_bytes_are_rejected_as_actions(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
        let folder = tempfile::tempdir().expect("a folder");
        let cart = make("CartPole-v1");
        for ending in ["txt", "csv", "npy", "npz", "parquet"] {
            let path = folder.path().join(format!("actions.{ending}"));
            std::fs::write(&path, &bytes).expect("written");
            if ending.starts_with('n') || ending == "parquet" {
                prop_assert!(read_actions(&path, cart.schema()).is_err());
            } else {
                let _ = read_actions(&path, cart.schema()); // a 0 or a 1 is an action
            }
            let framed = [b"\x93NUMPY\x01\x00".as_slice(), &bytes].concat();
            std::fs::write(&path, &framed).expect("written");
            prop_assert!(ending == "txt" || ending == "csv" || read_actions(&path, cart.schema()).is_err());
        }
    }

    #[test]
    fn parsing_any_text_as_an_action_never_panics(text in "\\PC{0,30}") {
        let cart = make("CartPole-v1");
        let _ = parse_action(cart.schema(), &text);
    }
}

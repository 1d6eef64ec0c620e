//! The environments: exact where they copy another, true to their rules, and clonable.

use std::sync::Arc;

use becausal::env::{
    AimTest, AnyEnvironment, Batch, BuildMarine, CartPole, EnvironmentError, Options, Truth,
    Vacuum, collect, entries, find, parse_action, random_action, read_actions, replay,
};
use becausal::{Environment, Stream, Transitions};
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
    let lines = include_str!("golden/cart_pole.csv").lines();
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
fn cart_pole_is_gymnasiums_bit_for_bit() {
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
fn cart_pole_ends_strictly_beyond_its_limits_and_is_cut_after_500_steps() {
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
fn cart_pole_pays_as_asked() {
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
fn vacuum_moves_fails_and_cleans() {
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

// ---- BuildMarine --------------------------------------------------------------------------

const WORKERS: usize = 0;
const MARINES: usize = 1;
const BARRACKS: usize = 2;
const DEPOTS: usize = 3;
const MONEY: usize = 4;
const TIME: usize = 5;
const ACTIONS: [&str; 5] = ["none", "worker", "marine", "barracks", "depot"];

fn base(counts: [u32; 6], seed: u64) -> BuildMarine {
    let mut base = BuildMarine::new(find("BuildMarine-v0").expect("known").schema());
    base.place(counts, seed);
    base
}

fn whole(value: f64) -> u32 {
    format!("{value}").parse().expect("a count")
}

fn act(base: &mut BuildMarine, action: &str) -> Vec<f64> {
    let chosen = parse_action(base.schema(), action).expect("an action");
    base.step(&chosen).expect("a step").state.to_vec()
}

#[test]
fn the_papers_example_happens() {
    for seed in 0..20 {
        let mut base = base([12, 0, 1, 7, 505, 600], seed);
        let after = act(&mut base, "depot");
        assert_eq!(after[DEPOTS], 11.0, "four more for 400");
        assert!((230.0..=400.0).contains(&after[MONEY]), "paper: 330, here {}", after[MONEY]);

        // The rest of the example, each step from the paper's own numbers.
        let mut base = self::base([12, 0, 1, 11, 330, 700], seed);
        let after = act(&mut base, "barracks");
        assert_eq!(after[BARRACKS], 3.0);
        assert!((380.0..=580.0).contains(&after[MONEY]), "paper: 465, here {}", after[MONEY]);
        let mut base = self::base([12, 0, 3, 11, 465, 850], seed);
        let after = act(&mut base, "barracks");
        assert_eq!(after[BARRACKS], 6.0);
        assert!((350.0..=530.0).contains(&after[MONEY]), "paper: 430, here {}", after[MONEY]);
        let mut base = self::base([12, 0, 6, 11, 430, 1000], seed);
        assert_eq!(act(&mut base, "marine")[MARINES], 6.0);
    }
}

#[test]
fn the_papers_example_happens_in_an_episode_from_the_start() {
    // Now and then a depot or a worker, never more than seven depots.
    let found = (0..5000).find_map(|seed| {
        let mut base = BuildMarine::new(find("BuildMarine-v0").expect("known").schema());
        base.reset(seed);
        let mut stream = Stream::new(seed);
        for _ in 0..40 {
            let [depots, money] = [DEPOTS, MONEY].map(|slot| base.state()[slot]);
            if depots == 7.0 && money == 505.0 {
                return Some(base);
            }
            let allowed = depots + (money / 100.0).floor().min(4.0) <= 7.0;
            let choices = ["none", "worker", if allowed { "depot" } else { "worker" }];
            act(&mut base, choices[stream.below(3)]);
        }
        None
    });
    let mut base = found.expect("7 depots and 505 money on some seed");
    assert_eq!(act(&mut base, "depot")[DEPOTS], 11.0);
}

#[test]
fn orders_follow_the_rules_of_the_game() {
    // counts, action, slot, value after
    let cases = [
        ([12, 0, 0, 0, 600, 0], "barracks", BARRACKS, 0.0, "barracks need a depot"),
        ([12, 0, 0, 1, 150, 0], "barracks", BARRACKS, 0.0, "150 is not more than 150"),
        ([12, 0, 0, 1, 2000, 0], "barracks", BARRACKS, 4.0, "at most four at once"),
        ([12, 0, 6, 1, 2000, 0], "barracks", BARRACKS, 8.0, "at most eight"),
        ([12, 0, 0, 0, 100, 0], "depot", DEPOTS, 1.0, "100 is enough"),
        ([12, 0, 0, 0, 90, 0], "depot", DEPOTS, 0.0, "90 is not"),
        ([12, 0, 0, 26, 2000, 0], "depot", DEPOTS, 28.0, "at most 28"),
        ([12, 0, 0, 1, 2000, 0], "marine", MARINES, 0.0, "marines come from barracks"),
        ([12, 0, 5, 1, 2000, 0], "marine", MARINES, 5.0, "one a barracks"),
        ([12, 0, 5, 1, 149, 0], "marine", MARINES, 2.0, "as money allows"),
        ([12, 9, 5, 1, 2000, 0], "marine", MARINES, 11.0, "supply for two more"),
        ([12, 11, 5, 1, 2000, 0], "marine", MARINES, 11.0, "no supply"),
        ([12, 0, 0, 0, 50, 0], "worker", WORKERS, 13.0, "one"),
        ([12, 0, 0, 0, 40, 0], "worker", WORKERS, 12.0, "no money"),
        ([15, 0, 0, 0, 500, 0], "worker", WORKERS, 15.0, "no supply"),
        ([15, 0, 0, 1, 500, 0], "worker", WORKERS, 16.0, "supply from a depot"),
    ];
    for (counts, action, slot, expected, why) in cases {
        assert_eq!(act(&mut base(counts, 3), action)[slot], expected, "{why}");
    }
}

#[test]
fn actions_take_the_time_they_take() {
    let calls = |counts, action: &str| act(&mut base(counts, 3), action)[TIME];
    assert_eq!(calls([12, 0, 0, 0, 0, 0], "none"), 30.0);
    assert_eq!(calls([12, 0, 0, 0, 0, 0], "worker"), 31.0); // selected, nothing ordered
    assert_eq!(calls([12, 0, 0, 0, 50, 0], "worker"), 1.0 + 34.0); // 272 loops
    assert_eq!(calls([12, 0, 1, 1, 50, 0], "marine"), 1.0 + 50.0); // 400 loops
    assert_eq!(calls([12, 0, 0, 0, 100, 0], "depot"), 1.0 + 68.0); // 60 + 480 loops, rounded up
    assert_eq!(calls([12, 0, 0, 1, 151, 0], "barracks"), 1.0 + 138.0); // 60 + 1040 loops
    // A new worker is idle until the next action sends it off, which takes two calls.
    let mut base = base([12, 0, 0, 0, 50, 0], 3);
    let before = act(&mut base, "worker")[TIME];
    let after = act(&mut base, "none")[TIME];
    assert_eq!(after - before, 32.0);
    assert_eq!(act(&mut base, "none")[TIME] - after, 30.0);
}

#[test]
fn workers_raise_money_and_saturate() {
    // Income a minute (960 loops, 120 calls), by waiting.
    let income = |workers: u32| {
        let mut base = base([workers, 0, 0, 0, 0, 0], 1);
        for _ in 0..4 {
            act(&mut base, "none");
        }
        let before = base.state()[MONEY];
        for _ in 0..12 {
            act(&mut base, "none");
        }
        (base.state()[MONEY] - before) / 3.0
    };
    let near =
        |got: f64, expected: f64| assert!((got / expected - 1.0).abs() < 0.1, "{got} {expected}");
    near(income(16), 672.0);
    near(income(24), 816.0);
    near(income(32), 816.0);
    near(income(8) / 8.0, 42.0);
    near(income(1), 42.0);
}

/// Marines in an episode.
fn marines(seed: u64, choose: impl Fn(&[f64], &mut Stream) -> &'static str) -> f64 {
    let mut base = BuildMarine::new(find("BuildMarine-v0").expect("known").schema());
    base.reset(seed);
    let mut stream = Stream::new(seed);
    loop {
        let action = choose(base.state(), &mut stream);
        let chosen = parse_action(base.schema(), action).expect("an action");
        let step = base.step(&chosen).expect("a step");
        if step.terminated {
            return step.state[MARINES];
        }
    }
}

/// Depots when supply runs short, barracks first, some workers, then marines.
fn scripted(state: &[f64]) -> &'static str {
    let supply = 15.0 + 8.0 * state[DEPOTS] - state[WORKERS] - state[MARINES];
    let [money, barracks] = [state[MONEY], state[BARRACKS]];
    if supply < barracks.max(1.0) || state[DEPOTS] == 0.0 {
        return if money >= 100.0 { "depot" } else { "none" };
    }
    if barracks == 0.0 || (barracks < 8.0 && money > 300.0) {
        return if money > 150.0 { "barracks" } else { "none" };
    }
    if state[WORKERS] < 18.0 && money >= 50.0 {
        return "worker";
    }
    if money >= 50.0 * barracks { "marine" } else { "none" }
}

#[test]
fn a_build_order_makes_many_marines_and_chance_few() {
    let mean = |choose: &dyn Fn(&[f64], &mut Stream) -> &'static str| {
        (0..50).map(|seed| marines(seed, choose)).sum::<f64>() / 50.0
    };
    let script = mean(&|state, _| scripted(state));
    let chance = mean(&|_, stream| ACTIONS[stream.below(5)]);
    assert!(script > 70.0, "{script}");
    assert!(chance < 40.0, "{chance}");
    assert!(chance < script / 2.0, "{chance} by chance, {script} by script");
}

// ---- what causes what ---------------------------------------------------------------------

/// Changes one state variable at a time, with the same noise, and compares what changes with what
/// the environment says causes what.
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
fn the_truth_of_aim_test_is_what_interventions_show() {
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
fn the_truth_of_cart_pole_is_what_interventions_show() {
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
fn the_truth_of_vacuum_is_what_interventions_show() {
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
fn the_truth_of_build_marine_is_what_interventions_show() {
    let entry = find("BuildMarine-v0").expect("known");
    let environment = BuildMarine::new(entry.schema());
    // Far from the limits, and near those of supply and money.
    let most: [[f64; 6]; 2] =
        [[20.0, 30.0, 9.0, 29.0, 700.0, 1500.0], [16.0, 8.0, 3.0, 2.0, 250.0, 1500.0]];
    let pick = |slot: usize, stream: &mut Stream| {
        let count = (stream.unit() * most[stream.below(2)][slot]).floor();
        if slot == 0 { count + 4.0 } else { count } // some workers have to be there to build
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

// ---- all environments ---------------------------------------------------------------------

#[test]
fn a_clone_goes_on_identically_and_meets_the_same_noise() {
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
fn a_seed_decides_everything() {
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
            continue; // the paper pays something else than Gymnasium for the last step
        }
        let paid = record.reward().expect("recorded");
        for (row, terms) in record.total_reward().iter().enumerate() {
            assert!((terms - paid[row]).abs() < 1e-9, "{} row {row}", entry.id);
        }
    }
}

#[test]
fn recorded_steps_follow_each_other_and_ends_are_marked() {
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
fn a_batch_steps_like_its_copies_alone() {
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
fn a_batch_does_not_begin_episodes_by_itself() {
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
fn impossible_actions_options_and_ids_are_refused() {
    let mut cart = make("CartPole-v1");
    let cases: [(&[f64], &str); 5] = [
        (&[], "an action of 0 numbers, expected 1 (push)"),
        (&[0.0, 1.0], "an action of 2 numbers, expected 1 (push)"),
        (&[2.0], "action `push`: 2 is no index of a label: expected 0 to 1"),
        (&[0.5], "action `push`: 0.5 is no index"),
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
        ("max_episode_steps", "0", "expected a whole number from 1, got `0`"),
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
    let schema = becausal::Schema::parse(
        "name = \"T\"\n[state]\nx = { kind = \"continuous\" }\n[action]\n\
         main = { kind = \"continuous\", low = -1, high = 1 }\nlateral = { kind = \"continuous\" }\n\
         gear = { kind = \"categorical\", labels = [\"low\", \"high\"] }\n",
    )
    .expect("right");
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
        (array("|u1", "(1000000000000,)", &[0; 3]), "needs more than is there"),
        (
            array("|u1", "(3,)", &[0, 1, 7]),
            "row 3 (index 2), column `push`: 7 is no index of a label",
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
    fn random_bytes_are_no_actions(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
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
    fn any_text_is_an_action_or_refused(text in "\\PC{0,30}") {
        let cart = make("CartPole-v1");
        let _ = parse_action(cart.schema(), &text);
    }
}

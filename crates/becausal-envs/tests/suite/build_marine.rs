//! BuildMarine: the rules of the game, the paper's example, and the known facts of its economy.

use std::sync::Arc;

use becausal_core::env::parse_action;
use becausal_core::{Environment, Stream};
use becausal_core::{Policy, RandomPolicy};
use becausal_envs::BuildOrder;
use becausal_envs::{BuildMarine, find};

const WORKERS: usize = 0;
const MARINES: usize = 1;
const BARRACKS: usize = 2;
const DEPOTS: usize = 3;
const MONEY: usize = 4;
const TIME: usize = 5;

fn base(counts: [u32; 6], seed: u64) -> BuildMarine {
    let mut base = BuildMarine::new(find("BuildMarine-v0").expect("known").schema());
    base.place(counts, seed);
    base
}

fn act(base: &mut BuildMarine, action: &str) -> Vec<f64> {
    let chosen = parse_action(base.schema(), action).expect("an action");
    base.step(&chosen).expect("a step").state.to_vec()
}

#[test]
fn the_papers_example_is_reproduced_step_by_step() {
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
fn mean_money_after_the_papers_steps_matches_the_documentation() {
    let steps = [
        ([12, 0, 1, 7, 505, 600], "depot", 262.0),
        ([12, 0, 1, 11, 330, 700], "barracks", 472.0),
        ([12, 0, 3, 11, 465, 850], "barracks", 413.0),
    ];
    for (counts, action, expected) in steps {
        let money = |seed| act(&mut base(counts, seed), action)[MONEY];
        let mean = (0..100).map(money).sum::<f64>() / 100.0;
        assert!((mean - expected).abs() < 1.0, "{counts:?}: {mean}");
    }
}

#[test]
fn the_papers_example_is_reachable_from_the_start() {
    // Depots and workers at random, at most seven depots.
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
fn each_action_takes_its_number_of_calls() {
    let calls = |counts, action: &str| act(&mut base(counts, 3), action)[TIME];
    assert_eq!(calls([12, 0, 0, 0, 0, 0], "none"), 30.0);
    assert_eq!(calls([12, 0, 0, 0, 0, 0], "worker"), 31.0); // selected, nothing ordered
    assert_eq!(calls([12, 0, 0, 0, 50, 0], "worker"), 1.0 + 34.0); // 272 loops
    assert_eq!(calls([12, 0, 1, 1, 50, 0], "marine"), 1.0 + 50.0); // 400 loops
    assert_eq!(calls([12, 0, 0, 0, 100, 0], "depot"), 1.0 + 68.0); // 60 + 480 loops, rounded up
    assert_eq!(calls([12, 0, 0, 1, 151, 0], "barracks"), 1.0 + 138.0); // 60 + 1040 loops
    // A new worker is idle until the next action sends it to a field, which takes two calls.
    let mut base = base([12, 0, 0, 0, 50, 0], 3);
    let before = act(&mut base, "worker")[TIME];
    let after = act(&mut base, "none")[TIME];
    assert_eq!(after - before, 32.0);
    assert_eq!(act(&mut base, "none")[TIME] - after, 30.0);
}

#[test]
fn income_grows_with_the_workers_until_the_fields_saturate() {
    // Income per minute (960 loops, 120 calls) while waiting.
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
fn marines(seed: u64, policy: &dyn Policy) -> f64 {
    let mut base = BuildMarine::new(find("BuildMarine-v0").expect("known").schema());
    base.reset(seed);
    let mut stream = Stream::new(seed);
    loop {
        let action = policy.sample(base.state(), &mut stream);
        let step = base.step(&action).expect("a step");
        if step.terminated {
            return step.state[MARINES];
        }
    }
}

#[test]
fn the_build_order_makes_more_than_twice_as_many_marines_as_random_actions() {
    let schema = find("BuildMarine-v0").expect("known").schema();
    let mean = |policy: &dyn Policy| (0..50).map(|seed| marines(seed, policy)).sum::<f64>() / 50.0;
    let scripted = mean(&BuildOrder::of(&schema).expect("its environment"));
    let random = mean(&RandomPolicy::new(Arc::clone(&schema)).expect("labels"));
    assert!(scripted > 70.0, "{scripted}");
    assert!(random < 40.0, "{random}");
    assert!(random < scripted / 2.0, "{random} at random, {scripted} by the build order");
    let other = find("CartPole-v1").expect("known").schema();
    assert!(BuildOrder::of(&other).is_none());
}

//! What an agent's choice owes to the state, where the rules of the environment and of the agent are known.

use std::sync::Arc;

use becausal_core::env::{Environment, Options, record_at_random};
use becausal_core::schema::Schema;
use becausal_core::{Policy, Stream};
use becausal_envs::{Vacuum, find};
use becausal_explain::{Choice, Company};

/// An agent by rules: how likely each action is.
struct Rule<F> {
    schema: Arc<Schema>,
    odds: F,
}

impl<F: Fn(&[f64]) -> Vec<f64> + Sync> Policy for Rule<F> {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn mode(&self, state: &[f64]) -> Vec<f64> {
        let odds = (self.odds)(state);
        let best = (0..odds.len()).max_by(|a, b| odds[*a].total_cmp(&odds[*b]));
        vec![best.expect("actions") as f64]
    }

    fn sample(&self, state: &[f64], _: &mut Stream) -> Vec<f64> {
        self.mode(state)
    }

    fn probabilities(&self, states: &[Vec<f64>], actions: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
        let of = |state: &Vec<f64>| {
            let odds = (self.odds)(state);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a label")]
            actions.iter().map(|action| odds[action[0] as usize]).collect()
        };
        Some(states.iter().map(of).collect())
    }
}

/// Left, right and suck: where it is dirty it mostly sucks, where it is clean it mostly moves on.
fn cleans(state: &[f64]) -> Vec<f64> {
    let here = if state[0] == 0.0 { state[1] } else { state[2] };
    match (here == 1.0, state[0] == 0.0) {
        (false, _) => vec![0.1, 0.1, 0.8],
        (true, true) => vec![0.1, 0.7, 0.2],
        (true, false) => vec![0.7, 0.1, 0.2],
    }
}

/// The states of the vacuum's world under random actions, each with how often it is expected to be visited in an
/// episode: by the rules alone.
fn visits() -> Vec<(Vec<f64>, f64)> {
    let schema = find("Vacuum-v0").expect("built in").schema();
    let all: Vec<[f64; 3]> = (0..8_u8)
        .map(|code| [0, 1, 2].map(|bit| f64::from(code >> bit & 1)))
        .filter(|state| state[1..] != [1.0, 1.0])
        .collect();
    let mut now = vec![1.0 / all.len() as f64; all.len()];
    let mut sum = vec![0.0; all.len()];
    // After 300 random steps something dirty is left with a probability of less than 1e-9.
    for _ in 0..300 {
        let mut next = vec![0.0; all.len()];
        for (place, state) in all.iter().enumerate() {
            sum[place] += now[place];
            for action in [0.0, 1.0, 2.0] {
                let mut world = Vacuum::new(Arc::clone(&schema));
                world.place(*state);
                let over = Environment::step(&mut world, &[action]).expect("an action").terminated;
                if !over {
                    let at = all.iter().position(|s| s[..] == *Environment::state(&world));
                    next[at.expect("a state")] += now[place] / 3.0;
                }
            }
        }
        now = next;
    }
    all.iter().map(|state| state.to_vec()).zip(sum).collect()
}

/// Every order of some variables.
fn orders(variables: &[usize]) -> Vec<Vec<usize>> {
    if variables.is_empty() {
        return vec![Vec::new()];
    }
    let first = |&first: &usize| {
        let rest: Vec<usize> = variables.iter().copied().filter(|other| *other != first).collect();
        orders(&rest).into_iter().map(move |order| [vec![first], order].concat())
    };
    variables.iter().flat_map(first).collect()
}

/// The Shapley values of the variables that a number reads, with means over the states that agree, by the definition.
fn shapley(states: &[(Vec<f64>, f64)], here: &[f64], number: &dyn Fn(&[f64]) -> f64) -> [f64; 3] {
    let worth = |members: &[usize]| {
        let agree = |(state, _): &&(Vec<f64>, f64)| members.iter().all(|&at| state[at] == here[at]);
        let agreeing: Vec<&(Vec<f64>, f64)> = states.iter().filter(agree).collect();
        let weight: f64 = agreeing.iter().map(|(_, weight)| weight).sum();
        agreeing.iter().map(|(state, weight)| weight * number(state)).sum::<f64>() / weight
    };
    let reads = |variable: &usize| {
        states.iter().any(|(state, _)| {
            let mut other = state.clone();
            other[*variable] = 1.0 - other[*variable];
            number(state) != number(&other)
        })
    };
    let players: Vec<usize> = (0..3).filter(reads).collect();
    let orders = orders(&players);
    let mut shares = [0.0; 3];
    for order in &orders {
        for at in 0..order.len() {
            let gain = worth(&order[..=at]) - worth(&order[..at]);
            shares[order[at]] += gain / orders.len() as f64;
        }
    }
    shares
}

#[test]
fn in_the_vacuums_world_the_shares_are_those_of_the_rules() {
    let entry = find("Vacuum-v0").expect("built in");
    let environment = entry.make(&Options::default()).expect("made");
    let data = record_at_random(&environment, 20_000, 3).expect("recorded");
    let company = Company::of(&data);
    let agent = Rule { schema: entry.schema(), odds: cleans };
    let visited = visits();
    for (state, _) in &visited {
        let taken = agent.mode(state);
        let choice = Choice::of(&agent, &company, state, &taken);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a label")]
        let number = |state: &[f64]| cleans(state)[taken[0] as usize];
        let expected = shapley(&visited, state, &number);
        let found = &choice.reasons[0].attribution;
        assert_eq!(choice.probability(), Some(number(state)));
        for (share, expected) in found.shares.iter().zip(expected) {
            // At most 128 draws of a number with a deviation of about 0.3 for each coalition.
            assert!((share - expected).abs() < 0.06, "{state:?}: {found:?}, not {expected}");
        }
    }
}

/// How likely AimTest's agent takes action 1: it reads x1 and x2 only.
fn aims(x1: f64, x2: f64) -> f64 {
    1.0 / (1.0 + (-(x1 - 10.0) + 2.0 * (x2 - 20.0)).exp())
}

/// The mean of a function of a standard normal number, by the trapezoid rule.
fn mean_of_normal(number: impl Fn(f64) -> f64) -> f64 {
    const STEP: f64 = 0.01;
    let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (-600..=600).map(|at| f64::from(at) * STEP).map(|z| STEP * density(z) * number(z)).sum()
}

#[test]
fn in_aim_test_the_shares_are_those_of_the_rules_and_what_is_not_read_gets_nothing() {
    let entry = find("AimTest-v0").expect("built in");
    // At the start x1, x2 and x4 are independent and normal around 10, 20 and 15.
    let mut environment = entry.make(&Options::default()).expect("made");
    let starts: Vec<Vec<f64>> = (0..2000)
        .map(|seed| {
            Environment::reset(&mut environment, seed);
            Environment::state(&environment).to_vec()
        })
        .collect();
    let company = Company::of_states(&entry.schema(), starts);
    let odds = |state: &[f64]| {
        let one = aims(state[0], state[1]);
        vec![1.0 - one, one, 0.0, 0.0]
    };
    let agent = Rule { schema: entry.schema(), odds };
    for (x1, x2) in [(11.5, 19.5), (9.0, 20.5), (10.0, 20.0)] {
        let state = [x1, x2, 0.0, 16.0, 0.0];
        let choice = Choice::of(&agent, &company, &state, &[1.0]);
        let nobody = mean_of_normal(|a| mean_of_normal(|b| aims(10.0 + a, 20.0 + b)));
        let first = mean_of_normal(|b| aims(x1, 20.0 + b));
        let second = mean_of_normal(|a| aims(10.0 + a, x2));
        let both = aims(x1, x2);
        let expected = [
            0.5 * (first - nobody) + 0.5 * (both - second),
            0.5 * (second - nobody) + 0.5 * (both - first),
        ];
        let found = &choice.reasons[0].attribution;
        for (share, expected) in found.shares.iter().zip(expected) {
            // 128 draws of a number with a deviation of about 0.35 for each coalition.
            assert!((share - expected).abs() < 0.08, "{state:?}: {found:?}, not {expected}");
        }
        assert_eq!(found.shares[2..], [0.0; 3], "not read");
    }
}

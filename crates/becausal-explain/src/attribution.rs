//! Which state variables a number owes its value to: Shapley values.
//!
//! The number is any function of the state, for instance how likely the agent's action is. A coalition S of
//! variables is worth the mean of that number when the variables in S have their values and the others have
//! values that occur together with them: those of the recorded states that are nearest in S. So no state is
//! asked about that could not be. The Shapley value of a variable is its mean contribution over all orders in
//! which the variables can join; together they make up the difference between the number here and its mean over
//! the data.
//!
//! Variables that the function does not read are no players. Otherwise one that merely goes together with a
//! variable that is read would share its credit.

use std::ops::Range;

use becausal_core::schema::{Kind, Schema};
use becausal_core::{Shape, Stream, Transitions};

/// Recorded states to draw from, at most.
const STATES: usize = 2_000;

/// Players up to which all coalitions are asked about; beyond, orders are drawn.
const MAX_EXACT: usize = 12;

/// States that are asked about for one attribution, at most: what a network of two layers of 64 answers in some
/// ten milliseconds.
const ASKED: usize = 1 << 14;

/// The fewest and most states drawn for a coalition. Even, because the two halves of the draws tell the error.
const DRAWS: Range<usize> = 16..128;

/// Orders in which more than [`MAX_EXACT`] players join. Even, as above.
const ORDERS: usize = 64;

/// Shares of a number that are told apart from 0: rounding of a network in single precision.
const ROUNDING: f64 = 1e-6;

/// Recorded states that values are drawn from.
#[derive(Debug, Clone, PartialEq)]
pub struct Company {
    /// `[states][slots]`
    states: Vec<Vec<f64>>,
    /// The slots of every state variable.
    variables: Vec<Range<usize>>,
    /// For each slot its standard deviation; `None` for labels and flags.
    scales: Vec<Option<f64>>,
}

/// What each variable contributes.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribution {
    /// The mean of the number over the data.
    pub usual: f64,
    /// The number here.
    pub here: f64,
    /// `[state variables]`: what the variable adds. All add up to `here - usual`.
    pub shares: Vec<f64>,
    /// `[state variables]`: the standard error of `shares` from the draws.
    pub errors: Vec<f64>,
}

impl Company {
    /// States at even distances in the data.
    #[must_use]
    pub fn of(data: &Transitions) -> Self {
        let schema = data.schema();
        let count = data.len().min(STATES);
        let state = |at: usize| {
            let row = (2 * at + 1) * data.len() / (2 * count);
            schema.state_slots().map(|slot| data.column(slot).get(row)).collect()
        };
        Self::of_states(schema, (0..count).map(state).collect())
    }

    /// These states.
    #[must_use]
    pub fn of_states(schema: &Schema, states: Vec<Vec<f64>>) -> Self {
        let scale = |slot: usize| {
            let is_number =
                matches!(schema.variable_of(slot).kind, Kind::Continuous(_) | Kind::Integer(_));
            is_number.then(|| deviation(&states, slot - schema.state_slots().start))
        };
        Self {
            variables: Shape::of(schema).states,
            scales: schema.state_slots().map(scale).collect(),
            states,
        }
    }

    /// Attributes the value of `number` in a state to the state's variables. `number` answers many states at
    /// once. `None` where there are no recorded states.
    pub fn attribute(
        &self,
        state: &[f64],
        number: &dyn Fn(&[Vec<f64>]) -> Vec<f64>,
    ) -> Option<Attribution> {
        if self.states.is_empty() {
            return None;
        }
        let players = self.read_by(state, number);
        let game = Game { company: self, state, number, players: &players };
        let (halves, usual) = if players.len() <= MAX_EXACT { game.exact() } else { game.drawn() };
        let mut attribution = Attribution {
            usual,
            here: number(&[state.to_vec()])[0],
            shares: vec![0.0; self.variables.len()],
            errors: vec![0.0; self.variables.len()],
        };
        for (at, &variable) in players.iter().enumerate() {
            let (first, second) = (halves[0][at], halves[1][at]);
            attribution.shares[variable] = f64::midpoint(first, second);
            attribution.errors[variable] = (first - second).abs() / 2.0;
        }
        Some(attribution)
    }

    /// The variables that change the number when they take a recorded value here, or this value in a recorded
    /// state.
    fn read_by(&self, state: &[f64], number: &dyn Fn(&[Vec<f64>]) -> Vec<f64>) -> Vec<usize> {
        let others: Vec<&Vec<f64>> =
            evenly(self.states.len(), DRAWS.end).map(|at| &self.states[at]).collect();
        let mut asked = vec![state.to_vec()];
        asked.extend(others.iter().map(|other| (*other).clone()));
        for variable in &self.variables {
            for other in &others {
                let mut here = state.to_vec();
                here[variable.clone()].copy_from_slice(&other[variable.clone()]);
                let mut there = (*other).clone();
                there[variable.clone()].copy_from_slice(&state[variable.clone()]);
                asked.extend([here, there]);
            }
        }
        let answers = number(&asked);
        let (base, answers) = answers.split_at(1 + others.len());
        let is_read = |variable: &usize| {
            let own = &answers[2 * variable * others.len()..][..2 * others.len()];
            let pairs = own.chunks_exact(2).zip(&base[1..]);
            pairs.into_iter().any(|(pair, there)| {
                (pair[0] - base[0]).abs() > ROUNDING || (pair[1] - there).abs() > ROUNDING
            })
        };
        (0..self.variables.len()).filter(is_read).collect()
    }

    /// The recorded states nearest to a state in these variables, `count` of them. Where more are equally near,
    /// as with labels, they are taken evenly. States that are the same in all of them need no company of others.
    fn nearest(&self, state: &[f64], variables: &[usize], count: usize) -> Vec<usize> {
        let distance = |other: &Vec<f64>| -> f64 {
            let slots = variables.iter().flat_map(|&variable| self.variables[variable].clone());
            slots
                .map(|slot| match self.scales[slot] {
                    Some(scale) => ((state[slot] - other[slot]) / scale).powi(2),
                    None => f64::from(u8::from(state[slot] != other[slot])),
                })
                .sum()
        };
        let mut order: Vec<(f64, usize)> =
            self.states.iter().enumerate().map(|(at, other)| (distance(other), at)).collect();
        order.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
        let same = order.partition_point(|(distance, _)| *distance == 0.0);
        let count = count.min(if same < DRAWS.start { order.len() } else { same });
        let farthest = order[count - 1].0;
        let nearer = order.partition_point(|(distance, _)| *distance < farthest);
        let tied = order.partition_point(|(distance, _)| *distance <= farthest) - nearer;
        let near = order[..nearer].iter().map(|(_, at)| *at);
        near.chain(evenly(tied, count - nearer).map(|at| order[nearer + at].1)).collect()
    }
}

/// A state whose value is shared out among players.
struct Game<'a> {
    company: &'a Company,
    state: &'a [f64],
    number: &'a dyn Fn(&[Vec<f64>]) -> Vec<f64>,
    /// State variables.
    players: &'a [usize],
}

impl Game<'_> {
    /// The Shapley values of the players from each half of the draws, and the worth of nobody.
    fn exact(&self) -> ([Vec<f64>; 2], f64) {
        let count = self.players.len();
        let coalitions: Vec<Vec<usize>> = (0..1_usize << count)
            .map(|set| (0..count).filter(|player| set >> player & 1 == 1).collect())
            .collect();
        let draws = (ASKED >> count).clamp(DRAWS.start, DRAWS.end);
        let worths = self.worths(&coalitions, draws);
        let halves = [0, 1].map(|half| {
            let share = |player: usize| {
                let without = (0..coalitions.len()).filter(|set| set >> player & 1 == 0);
                let gain = |set: usize| {
                    let size = coalitions[set].len();
                    let gain = worths[set | 1 << player][half] - worths[set][half];
                    gain / (count as f64 * binomial(count - 1, size))
                };
                without.map(gain).sum()
            };
            (0..count).map(share).collect()
        });
        (halves, f64::midpoint(worths[0][0], worths[0][1]))
    }

    /// The same, from orders that are drawn, each of them followed by its reverse.
    fn drawn(&self) -> ([Vec<f64>; 2], f64) {
        let count = self.players.len();
        let mut stream = Stream::new(0);
        let mut orders: Vec<Vec<usize>> = Vec::with_capacity(ORDERS);
        for _ in 0..ORDERS / 2 {
            let order = stream.permutation(count);
            orders.push(order.iter().rev().copied().collect());
            orders.push(order);
        }
        let mut halves = [vec![0.0; count], vec![0.0; count]];
        let mut usual = 0.0;
        for (at, order) in orders.iter().enumerate() {
            let coalitions: Vec<Vec<usize>> =
                (0..=count).map(|joined| order[..joined].to_vec()).collect();
            let worths = self.worths(&coalitions, DRAWS.start);
            let worth = |joined: usize| f64::midpoint(worths[joined][0], worths[joined][1]);
            usual = worth(0);
            // Orders 0 and 1 are each other's reverse, and go into the same half.
            let half = &mut halves[at / 2 % 2];
            for (joined, &player) in order.iter().enumerate() {
                half[player] += (worth(joined + 1) - worth(joined)) / (ORDERS / 2) as f64;
            }
        }
        (halves, usual)
    }

    /// What each coalition is worth, by each half of the draws.
    fn worths(&self, coalitions: &[Vec<usize>], draws: usize) -> Vec<[f64; 2]> {
        let mut asked = Vec::new();
        let mut sizes = Vec::with_capacity(coalitions.len());
        for coalition in coalitions {
            let members: Vec<usize> =
                coalition.iter().map(|&player| self.players[player]).collect();
            let near = self.company.nearest(self.state, &members, draws);
            sizes.push(near.len());
            asked.extend(near.into_iter().map(|at| {
                let mut other = self.company.states[at].clone();
                for slot in
                    members.iter().flat_map(|&variable| self.company.variables[variable].clone())
                {
                    other[slot] = self.state[slot];
                }
                other
            }));
        }
        let answers = (self.number)(&asked);
        let mut rest = &answers[..];
        let mut worths = Vec::with_capacity(coalitions.len());
        for size in sizes {
            let (own, after) = rest.split_at(size);
            rest = after;
            // Every other one, so that both halves are as near.
            let half = |first: usize| {
                let each = own.iter().skip(first.min(size - 1)).step_by(2);
                each.clone().sum::<f64>() / each.count() as f64
            };
            worths.push([half(0), half(1)]);
        }
        worths
    }
}

/// `count` numbers at even distances below `of`.
fn evenly(of: usize, count: usize) -> impl Iterator<Item = usize> {
    let count = count.min(of);
    (0..count).map(move |at| (2 * at + 1) * of / (2 * count))
}

fn deviation(states: &[Vec<f64>], slot: usize) -> f64 {
    let count = states.len().max(1) as f64;
    let mean = states.iter().map(|state| state[slot]).sum::<f64>() / count;
    let squares: f64 = states.iter().map(|state| (state[slot] - mean).powi(2)).sum();
    let deviation = (squares / count).sqrt();
    if deviation > 0.0 { deviation } else { 1.0 }
}

fn binomial(of: usize, choose: usize) -> f64 {
    (0..choose).map(|at| (of - at) as f64 / (choose - at) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(kinds: &[&str]) -> Schema {
        let mut text = String::from("name = \"test\"\n[state]\n");
        for (at, kind) in kinds.iter().enumerate() {
            text += &format!("x{at} = {{ kind = \"{kind}\" }}\n");
        }
        text += "[action]\na = { kind = \"boolean\" }\n";
        Schema::parse(&text).expect("a schema")
    }

    /// Shapley values over all orders, with means over the states that agree.
    fn by_definition(states: &[Vec<f64>], state: &[f64], number: fn(&[f64]) -> f64) -> Vec<f64> {
        let count = state.len();
        let worth = |members: &[usize]| {
            let agree = |other: &&Vec<f64>| members.iter().all(|&at| other[at] == state[at]);
            let agreeing: Vec<&Vec<f64>> = states.iter().filter(agree).collect();
            agreeing.iter().map(|other| number(other)).sum::<f64>() / agreeing.len() as f64
        };
        let orders = orders(count);
        let mut shares = vec![0.0; count];
        for order in &orders {
            for at in 0..count {
                shares[order[at]] +=
                    (worth(&order[..=at]) - worth(&order[..at])) / orders.len() as f64;
            }
        }
        shares
    }

    fn orders(count: usize) -> Vec<Vec<usize>> {
        if count == 0 {
            return vec![Vec::new()];
        }
        let mut longer = Vec::new();
        for order in orders(count - 1) {
            for place in 0..count {
                let mut order = order.clone();
                order.insert(place, count - 1);
                longer.push(order);
            }
        }
        longer
    }

    #[test]
    fn flags_that_go_together_get_the_shares_of_the_definition() {
        let mut stream = Stream::new(3);
        let draw = |_| {
            let first = stream.below(2) as f64;
            let second = if stream.unit() < 0.8 { first } else { 1.0 - first };
            vec![first, second, f64::from(u8::from(stream.unit() < 0.3))]
        };
        let states: Vec<Vec<f64>> = (0..STATES).map(draw).collect();
        // What a vacuum cleaner does: it sucks where it is and where it is dirty.
        let sucks = |state: &[f64]| {
            let clean = if state[0] == 0.0 { state[1] } else { state[2] };
            1.0 - clean
        };
        let company = Company::of_states(&schema(&["boolean"; 3]), states.clone());
        for state in [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0]] {
            let found = company
                .attribute(&state, &|asked| asked.iter().map(|state| sucks(state)).collect())
                .expect("states");
            let expected = by_definition(&states, &state, sucks);
            for (share, expected) in found.shares.iter().zip(&expected) {
                assert!((share - expected).abs() < 0.04, "{state:?}: {found:?}, not {expected:?}");
            }
            assert_eq!(found.here, sucks(&state));
            let sum: f64 = found.shares.iter().sum();
            assert!((sum - (found.here - found.usual)).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn independent_numbers_get_their_own_terms_and_a_shadow_gets_nothing() {
        let mut stream = Stream::new(5);
        let draw = |_| {
            let (first, second) = (stream.normal(), stream.normal());
            vec![first, second, first + 0.1 * stream.normal()]
        };
        let states: Vec<Vec<f64>> = (0..STATES).map(draw).collect();
        let company = Company::of_states(&schema(&["continuous"; 3]), states);
        let found = company
            .attribute(&[1.0, -2.0, 1.0], &|asked| {
                asked.iter().map(|state| 3.0 * state[0] + state[1]).collect()
            })
            .expect("states");
        assert!((found.shares[0] - 3.0).abs() < 0.4, "{found:?}");
        assert!((found.shares[1] + 2.0).abs() < 0.4, "{found:?}");
        assert_eq!(
            (found.shares[2], found.errors[2]),
            (0.0, 0.0),
            "goes with the first, is not read"
        );
    }

    #[test]
    fn many_players_are_drawn_and_still_add_up() {
        let count = MAX_EXACT + 8;
        let mut stream = Stream::new(7);
        let states: Vec<Vec<f64>> =
            (0..500).map(|_| (0..count).map(|_| stream.normal()).collect()).collect();
        let company = Company::of_states(&schema(&vec!["continuous"; count]), states);
        let sum = |asked: &[Vec<f64>]| -> Vec<f64> {
            asked.iter().map(|state| state.iter().sum()).collect()
        };
        let state = vec![1.0; count];
        let found = company.attribute(&state, &sum).expect("states");
        let total: f64 = found.shares.iter().sum();
        assert!((total - (found.here - found.usual)).abs() < 1e-9, "{total} {found:?}");
        assert!(found.errors.iter().all(|&error| error < 0.5), "{found:?}");
        assert!(found.shares.iter().all(|share| (share - 1.0).abs() < 1.0), "{found:?}");
    }

    #[test]
    fn without_states_there_is_nothing_to_compare_with() {
        let company = Company::of_states(&schema(&["boolean"]), Vec::new());
        assert_eq!(company.attribute(&[1.0], &|asked| vec![0.0; asked.len()]), None);
    }
}

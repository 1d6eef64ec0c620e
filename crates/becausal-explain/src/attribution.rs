//! Which state variables numbers owe their values to: Shapley values.
//!
//! The numbers are any function of the state, for instance how likely the agent's action is. A coalition S of
//! variables is worth the mean of the number when the variables in S have their values and the others have
//! values that occur together with them: those of the recorded states that are nearest in S. So the states that
//! are asked about are close to recorded ones. The Shapley value of a variable is its mean contribution over all orders
//! in which the variables can join; together they make up the difference between the number here and its mean over
//! the recorded states.
//!
//! Variables that the function does not read are no players. Otherwise one that merely goes together with a
//! variable that is read would share its credit.

use std::ops::Range;

use becausal_core::schema::{Circle, Kind, Schema};
use becausal_core::{Shape, Stream, Transitions};

/// Recorded states to draw from, at most.
const STATES: usize = 2_000;

/// Recorded states without which nothing is attributed.
const MIN_STATES: usize = 32;

/// Players up to which all coalitions are asked about; beyond, orders are drawn. With twelve, 4,096 coalitions of
/// [`MIN_DRAWS`] draws make four times [`ASKED`] states.
const MAX_EXACT: usize = 12;

/// States that all coalitions together ask about: what a network of two layers of 64 answers in some ten
/// milliseconds.
const ASKED: usize = 1 << 14;

/// The fewest and most states drawn for a coalition.
const MIN_DRAWS: usize = 16;
const MAX_DRAWS: usize = 128;

/// Orders in which more than [`MAX_EXACT`] players join; a multiple of two for every batch.
const ORDERS: usize = 64;

/// Parts of the draws whose differences tell the error.
const BATCHES: usize = 8;

/// States in which a variable is replaced to see whether it is read.
const TRIED: usize = 128;

/// Differences up to this are those of rounding in a network in single precision.
const ROUNDING: f64 = 1e-6;

/// Many numbers for many states: `[states][numbers]`.
pub type Numbers<'a> = dyn Fn(&[Vec<f64>]) -> Vec<Vec<f64>> + 'a;

/// Recorded states that values are drawn from.
#[derive(Debug, Clone, PartialEq)]
pub struct Company {
    /// `[states][slots]`
    states: Vec<Vec<f64>>,
    /// The slots of every state variable.
    variables: Vec<Range<usize>>,
    /// For each slot its standard deviation and its kind; `None` for labels and flags.
    scales: Vec<Option<(f64, Kind)>>,
}

/// What each variable contributes to a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribution {
    /// The mean of the number over the recorded states.
    pub usual: f64,
    /// The number here.
    pub here: f64,
    /// `[state variables]`: what the variable adds. All add up to `here - usual`.
    pub shares: Vec<f64>,
    /// `[state variables]`: the standard error of `shares`, from parts of the draws.
    pub errors: Vec<f64>,
}

impl Company {
    /// Some of the states in the data, in no order: what is drawn from them does not follow the episodes' rhythm.
    #[must_use]
    pub fn of(data: &Transitions) -> Self {
        let schema = data.schema();
        let rows = Stream::new(0).permutation(data.len());
        let state =
            |&row: &usize| schema.state_slots().map(|slot| data.column(slot).get(row)).collect();
        Self::of_states(schema, rows.iter().take(STATES).map(state).collect())
    }

    /// These states, which are in no order.
    #[must_use]
    pub fn of_states(schema: &Schema, states: Vec<Vec<f64>>) -> Self {
        let first = schema.state_slots().start;
        let scale = |slot: usize| {
            let kind = &schema.variable_of(slot).kind;
            let deviation = || deviation(&states, slot - first, kind.circle());
            (!kind.is_label()).then(|| (deviation(), kind.clone()))
        };
        let scales = schema.state_slots().map(scale).collect();
        Self { variables: Shape::of(schema).states, scales, states }
    }

    /// Attributes the values of `numbers` in a state to the state's variables, each number apart. `None` where there
    /// are too few recorded states.
    pub fn attribute(&self, state: &[f64], numbers: &Numbers<'_>) -> Option<Vec<Attribution>> {
        if self.states.len() < MIN_STATES {
            return None;
        }
        let here = numbers(&[state.to_vec()]).remove(0);
        let usual = means(&numbers(&self.states), here.len());
        let readers = self.read_by(state, numbers, here.len());
        let mut attributions: Vec<Option<Attribution>> = vec![None; here.len()];
        for first in 0..here.len() {
            // Numbers that read the same variables are shared out together.
            let together: Vec<usize> = (first..here.len())
                .filter(|&number| {
                    attributions[number].is_none() && readers[number] == readers[first]
                })
                .collect();
            if together.is_empty() {
                continue;
            }
            let pick = |all: &[f64]| -> Vec<f64> { together.iter().map(|&at| all[at]).collect() };
            let game = Game {
                company: self,
                state,
                numbers: &|states| numbers(states).iter().map(|all| pick(all)).collect(),
                players: &readers[first],
                here: &pick(&here),
                usual: &pick(&usual),
            };
            for (&number, attribution) in together.iter().zip(game.attributions()) {
                attributions[number] = Some(attribution);
            }
        }
        attributions.into_iter().collect()
    }

    /// For each number, the variables that change it when they take a recorded value here, or this value in a recorded
    /// state.
    fn read_by(&self, state: &[f64], numbers: &Numbers<'_>, count: usize) -> Vec<Vec<usize>> {
        let others = &self.states[..self.states.len().min(TRIED)];
        let mut asked = vec![state.to_vec()];
        asked.extend_from_slice(others);
        for variable in &self.variables {
            for other in others {
                let (mut here, mut there) = (state.to_vec(), other.clone());
                here[variable.clone()].copy_from_slice(&other[variable.clone()]);
                there[variable.clone()].copy_from_slice(&state[variable.clone()]);
                asked.extend([here, there]);
            }
        }
        let answers = numbers(&asked);
        let (base, answers) = answers.split_at(1 + others.len());
        let reads = |number: usize, variable: usize| {
            let differ =
                |left: &[f64], right: &[f64]| (left[number] - right[number]).abs() > ROUNDING;
            let own = &answers[2 * variable * others.len()..][..2 * others.len()];
            let mut pairs = own.chunks_exact(2).zip(&base[1..]);
            pairs.any(|(pair, there)| differ(&pair[0], &base[0]) || differ(&pair[1], there))
        };
        let read = |number: usize| {
            (0..self.variables.len()).filter(|&variable| reads(number, variable)).collect()
        };
        (0..count).map(read).collect()
    }

    /// The squared distance of every recorded state in one variable: in standard deviations, or 1 for another label.
    fn distances(&self, state: &[f64], variable: usize) -> Vec<f64> {
        let slots = self.variables[variable].clone();
        let distance = |other: &Vec<f64>| {
            let each = slots.clone().map(|slot| match &self.scales[slot] {
                Some((scale, kind)) => (kind.difference(state[slot], other[slot]) / scale).powi(2),
                None => f64::from(u8::from(state[slot] != other[slot])),
            });
            each.sum()
        };
        self.states.iter().map(distance).collect()
    }
}

/// The `count` nearest states, given their distances. Where at least [`MIN_DRAWS`] are the same, only those.
fn nearest(distances: &[f64], count: usize) -> Vec<usize> {
    let same: Vec<usize> =
        (0..distances.len()).filter(|&at| distances[at] == 0.0).take(count).collect();
    if same.len() >= MIN_DRAWS {
        return same;
    }
    let count = count.min(distances.len());
    let mut order: Vec<usize> = (0..distances.len()).collect();
    let nearer = |left: &usize, right: &usize| {
        distances[*left].total_cmp(&distances[*right]).then(left.cmp(right))
    };
    if count < order.len() {
        order.select_nth_unstable_by(count, nearer);
        order.truncate(count);
    }
    order.sort_unstable();
    order
}

/// A state whose numbers are shared out among players.
struct Game<'a> {
    company: &'a Company,
    state: &'a [f64],
    numbers: &'a Numbers<'a>,
    /// State variables.
    players: &'a [usize],
    /// What all players are worth.
    here: &'a [f64],
    /// What nobody is worth.
    usual: &'a [f64],
}

/// What a coalition is worth: by all draws, then by each batch of them; `[1 + batches][numbers]`.
type Worth = Vec<Vec<f64>>;

impl Game<'_> {
    /// What each variable contributes to each number.
    fn attributions(&self) -> Vec<Attribution> {
        let (shares, errors) =
            if self.players.len() <= MAX_EXACT { self.exact() } else { self.drawn() };
        let of_number = |number: usize| {
            let of_variables = |of_players: &[Vec<f64>]| {
                let mut all = vec![0.0; self.company.variables.len()];
                for (&variable, values) in self.players.iter().zip(of_players) {
                    all[variable] = values[number];
                }
                all
            };
            Attribution {
                usual: self.usual[number],
                here: self.here[number],
                shares: of_variables(&shares),
                errors: of_variables(&errors),
            }
        };
        (0..self.here.len()).map(of_number).collect()
    }

    /// The Shapley values of the players and their standard errors, `[players][numbers]`.
    fn exact(&self) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let count = self.players.len();
        if count == 0 {
            return (Vec::new(), Vec::new());
        }
        let own: Vec<Vec<f64>> = self.own_distances();
        let full = (1_usize << count) - 1;
        let draws = (ASKED >> count).clamp(MIN_DRAWS, MAX_DRAWS);
        let mut asked = Vec::new();
        for set in 1..full {
            let members: Vec<usize> = (0..count).filter(|player| set >> player & 1 == 1).collect();
            let mut distances = own[members[0]].clone();
            for &member in &members[1..] {
                distances.iter_mut().zip(&own[member]).for_each(|(sum, own)| *sum += own);
            }
            asked.push((members, nearest(&distances, draws)));
        }
        let mut worths = vec![known(self.usual)];
        worths.extend(self.worths(&asked));
        worths.push(known(self.here));
        let shares = |part: usize| -> Vec<Vec<f64>> {
            let of_player = |player: usize| {
                let mut share = vec![0.0; self.here.len()];
                for set in (0..full).filter(|set| set >> player & 1 == 0) {
                    let weight =
                        1.0 / (count as f64 * binomial(count - 1, set.count_ones() as usize));
                    let (with, without) = (&worths[set | 1 << player][part], &worths[set][part]);
                    for (share, (with, without)) in share.iter_mut().zip(with.iter().zip(without)) {
                        *share += weight * (with - without);
                    }
                }
                share
            };
            (0..count).map(of_player).collect()
        };
        let batches: Vec<Vec<Vec<f64>>> = (1..=BATCHES).map(shares).collect();
        (shares(0), errors(&batches))
    }

    /// The same, from orders that are drawn, each of them followed by its reverse. Every batch of orders has its
    /// own draws for the error, which is therefore rather too large.
    fn drawn(&self) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let count = self.players.len();
        let own = self.own_distances();
        let mut stream = Stream::new(0);
        let nothing = vec![vec![0.0; self.here.len()]; count];
        let mut shares = nothing.clone();
        let mut batches = vec![nothing; BATCHES];
        for pair in 0..ORDERS / 2 {
            let forwards = stream.permutation(count);
            let backwards: Vec<usize> = forwards.iter().rev().copied().collect();
            for order in [forwards, backwards] {
                let mut distances = vec![0.0; self.company.states.len()];
                let mut asked = Vec::new();
                for joined in 1..count {
                    let newest = &own[order[joined - 1]];
                    distances.iter_mut().zip(newest).for_each(|(sum, own)| *sum += own);
                    asked.push((order[..joined].to_vec(), nearest(&distances, MIN_DRAWS)));
                }
                let mut worths = vec![known(self.usual)];
                worths.extend(self.worths(&asked));
                worths.push(known(self.here));
                let batch = pair % BATCHES;
                for (joined, &player) in order.iter().enumerate() {
                    for number in 0..self.here.len() {
                        let gain = |part: usize| {
                            worths[joined + 1][part][number] - worths[joined][part][number]
                        };
                        shares[player][number] += gain(0) / ORDERS as f64;
                        batches[batch][player][number] +=
                            gain(1 + batch) * (BATCHES as f64 / ORDERS as f64);
                    }
                }
            }
        }
        (shares, errors(&batches))
    }

    fn own_distances(&self) -> Vec<Vec<f64>> {
        self.players.iter().map(|&player| self.company.distances(self.state, player)).collect()
    }

    /// What each coalition is worth, given the recorded states that complete it.
    fn worths(&self, coalitions: &[(Vec<usize>, Vec<usize>)]) -> Vec<Worth> {
        let mut asked = Vec::new();
        for (members, others) in coalitions {
            for &at in others {
                let mut state = self.company.states[at].clone();
                for &member in members {
                    let slots = self.company.variables[self.players[member]].clone();
                    state[slots.clone()].copy_from_slice(&self.state[slots]);
                }
                asked.push(state);
            }
        }
        let answers = (self.numbers)(&asked);
        let mut rest = &answers[..];
        let mut worths = Vec::with_capacity(coalitions.len());
        for (_, others) in coalitions {
            let (own, after) = rest.split_at(others.len());
            rest = after;
            let count = self.here.len();
            let batch = |first: usize| {
                let each: Vec<Vec<f64>> =
                    own.iter().skip(first).step_by(BATCHES).cloned().collect();
                means(&each, count)
            };
            worths
                .push(std::iter::once(means(own, count)).chain((0..BATCHES).map(batch)).collect());
        }
        worths
    }
}

/// A worth that needs no draws.
fn known(numbers: &[f64]) -> Worth {
    vec![numbers.to_vec(); 1 + BATCHES]
}

/// The standard error of the mean of batches, `[batches][players][numbers]`.
fn errors(batches: &[Vec<Vec<f64>>]) -> Vec<Vec<f64>> {
    let count = batches.len() as f64;
    let error = |player: usize, number: usize| {
        let each = batches.iter().map(|batch| batch[player][number]);
        let mean = each.clone().sum::<f64>() / count;
        let squares: f64 = each.map(|share| (share - mean).powi(2)).sum();
        (squares / (count - 1.0) / count).sqrt()
    };
    let players = batches.first().map_or(0, Vec::len);
    (0..players)
        .map(|player| (0..batches[0][player].len()).map(|number| error(player, number)).collect())
        .collect()
}

/// The means of the columns of `[rows][columns]`.
fn means(rows: &[Vec<f64>], columns: usize) -> Vec<f64> {
    let mean =
        |column: usize| rows.iter().map(|row| row[column]).sum::<f64>() / rows.len().max(1) as f64;
    (0..columns).map(mean).collect()
}

fn deviation(states: &[Vec<f64>], slot: usize, circle: Option<Circle>) -> f64 {
    let count = states.len().max(1) as f64;
    let values = states.iter().map(|state| state[slot]);
    let deviation = if let Some(circle) = circle {
        circle.spread(values).1
    } else {
        let mean = values.clone().sum::<f64>() / count;
        (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
    };
    if deviation > 0.0 { deviation } else { 1.0 }
}

fn binomial(of: usize, choose: usize) -> f64 {
    (0..choose).map(|at| (of - at) as f64 / (choose - at) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(kinds: &[&str]) -> Schema {
        let variable = |(at, kind): (usize, &&str)| format!("x{at} = {{ kind = \"{kind}\" }}\n");
        let states: String = kinds.iter().enumerate().map(variable).collect();
        let text =
            format!("name = \"test\"\n[state]\n{states}[action]\na = {{ kind = \"boolean\" }}\n");
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
                .attribute(&state, &|asked| asked.iter().map(|state| vec![sucks(state)]).collect())
                .expect("states")
                .remove(0);
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
        let both = company
            .attribute(&[1.0, -2.0, 1.0], &|asked| {
                asked.iter().map(|state| vec![3.0 * state[0] + state[1], state[1]]).collect()
            })
            .expect("states");
        let found = &both[0];
        assert_eq!(both[1].shares[0], 0.0, "the second number does not read it");
        assert!((found.shares[0] - 3.0).abs() < 0.4, "{found:?}");
        assert!((found.shares[1] + 2.0).abs() < 0.4, "{found:?}");
        assert_eq!(
            (found.shares[2], found.errors[2]),
            (0.0, 0.0),
            "goes with the first, is not read"
        );
    }

    #[test]
    fn many_players_are_drawn_and_each_gets_its_own() {
        let count = MAX_EXACT + 8;
        let mut stream = Stream::new(7);
        let states: Vec<Vec<f64>> =
            (0..1000).map(|_| (0..count).map(|_| stream.normal()).collect()).collect();
        let company = Company::of_states(&schema(&vec!["continuous"; count]), states);
        let weighted = |asked: &[Vec<f64>]| -> Vec<Vec<f64>> {
            let sum =
                |state: &Vec<f64>| state.iter().enumerate().map(|(at, x)| at as f64 * x).sum();
            asked.iter().map(|state| vec![sum(state)]).collect()
        };
        let found = company.attribute(&vec![1.0; count], &weighted).expect("states").remove(0);
        for (at, (share, error)) in found.shares.iter().zip(&found.errors).enumerate() {
            // The sum has a standard deviation of 42 over the states.
            assert!((share - at as f64).abs() < 5.0, "{at}: {share} +- {error}");
            assert!(*error < 8.0, "{at}: {error}");
        }
        let total: f64 = found.shares.iter().sum();
        assert!((total - (found.here - found.usual)).abs() < 1e-6, "{total} {found:?}");
    }

    #[test]
    fn few_states_are_nothing_to_compare_with() {
        let company = Company::of_states(&schema(&["boolean"]), vec![vec![0.0]; MIN_STATES - 1]);
        assert_eq!(company.attribute(&[1.0], &|asked| vec![vec![0.0]; asked.len()]), None);
        let company = Company::of_states(&schema(&["boolean"]), vec![vec![0.0]; MIN_STATES]);
        let found =
            company.attribute(&[1.0], &|asked| vec![vec![0.5]; asked.len()]).expect("states");
        assert_eq!(found[0].shares, [0.0], "nobody is read");
    }
}

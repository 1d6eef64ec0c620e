//! Numbers that are cut at a bound, and what stops with them.
//!
//! Many environments keep a number within bounds: a velocity is cut at 8, a position at a wall. What the rules give is then
//! lost, and a network that learns what is left has to make a sharp bend of its own. So a number that is seen at its bound
//! often is predicted before it is cut ([`Distribution::Cut`]), and a value at the bound says only that it was beyond.
//!
//! At a wall something else may happen, too: the velocity becomes 0 at once. Where one number is exactly the same whenever
//! another one is at its bound, it is a [`Stop`]: networks do not learn from these rows, and the number is set where the other one
//! is predicted beyond the bound.

use becausal_core::data::Transitions;
use becausal_core::schema::Kind;
use becausal_nn::{Block, Distribution};

use super::encoding::single;
use super::target::Target;

/// Minimum number of different values from which a number comes to its bound. Fewer would be coincidences; the wall of
/// `MountainCar` is hit in 38 of 20,000 rows (seed 0).
const MIN_ARRIVALS: usize = 10;

/// The bound is reached from at least this many times as many values as the value next to it: a count comes to either from as
/// many. Rows alone do not tell, because episodes may repeat themselves.
const MIN_TIMES_AS_MANY: usize = 10;

/// At most this share of the rows at a bound may contradict a stop: one that is there by chance, without having been cut.
const MAX_CONTRADICTION: f64 = 0.01;

/// A stop is an event: at most this share of the other rows have the value too.
const MAX_ELSEWHERE: f64 = 0.5;

/// What stands for the deviation of a number that is set: softplus of it is as good as 0.
const NO_DEVIATION: f32 = -20.0;

/// A number that is set where another one is cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stop {
    /// The target that is cut.
    pub cut: usize,
    /// Whether at its upper bound.
    pub upper: bool,
    /// The target that is set.
    pub set: usize,
    /// To what, on its scale.
    pub value: f32,
}

/// The bounds at which the next values of a state variable are cut, in its own units.
pub(super) fn bounds(data: &Transitions, target: &Target) -> [Option<f64>; 2] {
    let is_continuous = matches!(data.schema().variable_of(target.slot).kind, Kind::Continuous(_));
    let Some(before) = target.before.filter(|_| is_continuous) else { return [None; 2] };
    let (before, now) = (data.column(before).to_numbers(), data.column(target.slot).to_numbers());
    let of_end = |sign: f64| {
        let largest =
            |values: &mut dyn Iterator<Item = f64>| values.fold(f64::NEG_INFINITY, f64::max);
        let top = largest(&mut now.iter().map(|value| sign * value));
        let next = now.iter().map(|value| sign * value).filter(|&value| value < top);
        let next = largest(&mut next.into_iter());
        // The different values from which a value is reached.
        let arrivals = |value: f64| {
            let pairs =
                before.iter().zip(&now).filter(|(from, to)| from != to && sign * **to == value);
            let mut from: Vec<f64> = pairs.map(|(from, _)| *from).collect();
            from.sort_by(f64::total_cmp);
            from.dedup();
            from.len()
        };
        let least = MIN_ARRIVALS.max(MIN_TIMES_AS_MANY * arrivals(next));
        (next.is_finite() && arrivals(top) >= least).then_some(sign * top)
    };
    [of_end(-1.0), of_end(1.0)]
}

/// The same targets, those of numbers that are cut with [bounds](Distribution::Cut), which are given in the variables' units.
pub(super) fn with_bounds(target: &mut Target, [low, high]: [Option<f64>; 2]) {
    let Distribution::Tailed { floor } = target.head.distribution else { return };
    if low.is_none() && high.is_none() {
        return;
    }
    // In single precision, as the values that are learned from.
    let on_scale = |bound: f64| f64::from(single(target.scale.apply(bound)));
    target.head.distribution = Distribution::Cut {
        floor,
        low: low.map_or(f64::NEG_INFINITY, on_scale),
        high: high.map_or(f64::INFINITY, on_scale),
    };
}

/// Whether the number of a target is cut.
pub(super) fn is_cut(target: &Target) -> bool {
    matches!(target.head.distribution, Distribution::Cut { .. })
}

/// The bounds of a target on its scale, as a file has them: none or one below, none or one above.
pub(super) fn stored_bounds(target: &Target) -> [Vec<f64>; 2] {
    let Distribution::Cut { low, high, .. } = target.head.distribution else {
        return [const { Vec::new() }; 2];
    };
    [low, high].map(|bound| bound.is_finite().then_some(bound).into_iter().collect())
}

/// Gives a target the bounds that a file has; `None` if they are invalid.
pub(super) fn with_stored_bounds(target: &mut Target, stored: &[Vec<f64>; 2]) -> Option<()> {
    let [low, high] = match stored {
        [low, high] if low.len() <= 1 && high.len() <= 1 => {
            [low.first().copied(), high.first().copied()]
        }
        _ => return None,
    };
    if low.is_none() && high.is_none() {
        return Some(());
    }
    let Distribution::Tailed { floor } = target.head.distribution else { return None };
    let (low, high) = (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY));
    target.head.distribution = Distribution::Cut { floor, low, high };
    // Also false for NaN.
    (low < high).then_some(())
}

/// What is set where one of these targets is cut. `bounds` has those of each target.
pub(super) fn stops(
    data: &Transitions,
    targets: &[Target],
    bounds: &[[Option<f64>; 2]],
) -> Vec<Stop> {
    let mut stops = Vec::new();
    for (cut, ends) in bounds.iter().enumerate() {
        for (upper, bound) in [false, true].into_iter().zip(ends) {
            let Some(bound) = *bound else { continue };
            let column = data.column(targets[cut].slot);
            let (at, elsewhere): (Vec<usize>, Vec<usize>) =
                (0..data.len()).partition(|&row| column.get(row) == bound);
            for (set, target) in targets.iter().enumerate().filter(|(set, _)| *set != cut) {
                if let Some(value) = constant(data, target, &at, &elsewhere) {
                    stops.push(Stop { cut, upper, set, value: single(target.scale.apply(value)) });
                }
            }
        }
    }
    stops
}

/// The value that the next values of a number have in some rows, but hardly in others.
fn constant(
    data: &Transitions,
    target: &Target,
    rows: &[usize],
    elsewhere: &[usize],
) -> Option<f64> {
    let is_number = target.before.is_some() && target.circle.is_none();
    let is_continuous = is_number
        && matches!(
            target.head.distribution,
            Distribution::Tailed { .. } | Distribution::Cut { .. }
        );
    if !is_continuous {
        return None;
    }
    let column = data.column(target.slot);
    let mut values: Vec<f64> = rows.iter().map(|&row| column.get(row)).collect();
    values.sort_by(f64::total_cmp);
    let middle = *values.get(values.len() / 2)?;
    let others = values.iter().filter(|&&value| value != middle).count();
    let same = elsewhere.iter().filter(|&&row| column.get(row) == middle).count();
    let holds = others as f64 <= MAX_CONTRADICTION * values.len() as f64
        && same as f64 <= MAX_ELSEWHERE * elsewhere.len() as f64;
    holds.then_some(middle)
}

impl Stop {
    /// A stop from the numbers in a file; `None` if they do not fit the targets.
    pub fn from_numbers([cut, upper, set, value]: [f64; 4], targets: &[Target]) -> Option<Self> {
        let index = |number: f64| (0..targets.len()).find(|&at| at as f64 == number);
        let (cut, set) = (index(cut)?, index(set)?);
        let is_number = targets[set].before.is_some()
            && matches!(
                targets[set].head.distribution,
                Distribution::Tailed { .. } | Distribution::Cut { .. }
            );
        let fits = cut != set && is_cut(&targets[cut]) && is_number && value.is_finite();
        fits.then_some(Self { cut, upper: upper > 0.5, set, value: single(value) })
    }

    /// The numbers to store in a file.
    pub fn to_numbers(self) -> [f64; 4] {
        let upper = if self.upper { 1.0 } else { 0.0 };
        [self.cut as f64, upper, self.set as f64, f64::from(self.value)]
    }

    /// Sets the number in the outputs `[effects, rows, columns]` wherever the other one is beyond its bound.
    pub fn apply(self, targets: &[Target], outputs: &mut Block) {
        let (cut, set) = (&targets[self.cut].head, &targets[self.set].head);
        let shape = outputs.shape;
        for row in 0..shape.rows {
            let mean = f64::from(cut.parameters(outputs, row)[0]);
            if self.is_met(cut.distribution, mean) {
                let into = (set.group * shape.rows + row) * shape.columns + set.column;
                outputs.values[into..][..2].copy_from_slice(&[self.value, NO_DEVIATION]);
            }
        }
    }

    /// Whether a value of the number that is cut, or what is expected of it, is beyond its bound.
    fn is_met(self, distribution: Distribution, value: f64) -> bool {
        match distribution {
            Distribution::Cut { high, .. } if self.upper => value >= high,
            Distribution::Cut { low, .. } => value <= low,
            _ => false,
        }
    }

    /// Makes the values of the number NaN in the rows of the stop: they are not to be learned from. `values` are those of all
    /// targets, `[targets, rows, 1]`.
    pub fn leave_out(self, targets: &[Target], values: &mut Block) {
        let distribution = targets[self.cut].head.distribution;
        let rows: Vec<usize> = (0..values.shape.rows)
            .filter(|&row| self.is_met(distribution, f64::from(values.group(self.cut)[row])))
            .collect();
        let into = values.group_mut(self.set);
        for row in rows {
            into[row] = f32::NAN;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use becausal_core::Stream;
    use becausal_core::data::Row;
    use becausal_core::progress::Tracker;
    use becausal_core::schema::Schema;

    use super::super::encoding::Encoding;
    use super::*;

    /// Rows of a number `x` and another one `y`, in episodes of 20; `next` says how they continue from what they are.
    fn rows(mut next: impl FnMut(usize, [f64; 2], &mut Stream) -> [f64; 2]) -> Transitions {
        let text = "name = \"Two\"\n[state]\nx = { kind = \"continuous\" }\ny = { kind = \"continuous\" }\n\
                    [action]\na = { kind = \"boolean\" }\n";
        let mut data = Transitions::new(Arc::new(Schema::parse(text).expect("a schema")));
        let mut stream = Stream::new(4);
        let mut state = [0.0; 2];
        for row in 0..2000_usize {
            if row.is_multiple_of(20) {
                data.begin_episode();
                state = [stream.normal(), 0.0];
            }
            let next = next(row, state, &mut stream);
            let (terminated, truncated) = (false, row % 20 == 19);
            let (state_of_row, action, next) = (&state[..], &[0.0][..], &next[..]);
            let row = Row {
                state: state_of_row,
                action,
                outcomes: &[],
                next,
                reward: 0.0,
                terminated,
                truncated,
            };
            data.push(&row);
            state = [next[0], next[1]];
        }
        data
    }

    fn found(data: &Transitions) -> (Vec<[Option<f64>; 2]>, Vec<Stop>) {
        let encoding = Encoding::of(data, false, &Tracker::unheard());
        let each: Vec<_> = encoding.targets().iter().map(|target| bounds(data, target)).collect();
        let stops = stops(data, encoding.targets(), &each);
        (each, stops)
    }

    #[test]
    fn a_number_that_is_cut_is_told_from_one_that_is_not() {
        let walk = |state: f64, stream: &mut Stream| state + 0.3 * stream.normal();
        let data = rows(|_, [x, y], stream| [walk(x, stream).min(1.5), walk(y, stream)]);
        assert_eq!(found(&data), (vec![[None, Some(1.5)], [None, None]], vec![]));
    }

    #[test]
    fn counts_and_what_never_changes_are_not_cut() {
        // A count comes to its largest value from as many values as to the one before.
        let data = rows(|row, [x, _], _| [x, (row % 20).min(18) as f64]);
        assert_eq!(found(&data), (vec![[None; 2]; 2], vec![]));
    }

    #[test]
    fn episodes_that_repeat_themselves_neither_make_nor_hide_a_cut() {
        // Every run of 20 rows occurs ten times: its largest values do, too.
        let walk = |row: usize, state: f64, of: u64| {
            let place = u64::try_from(row % 200).expect("a row");
            state + 0.3 * Stream::keyed(of, &[u32::try_from(place).expect("a row")]).normal()
        };
        let start = |row: usize, state: f64| if row.is_multiple_of(20) { 0.0 } else { state };
        let data = rows(|row, [x, y], _| {
            let (x, y) = (start(row, x), start(row, y));
            [walk(row, x, 1).min(0.3), walk(row, y, 2)]
        });
        assert_eq!(found(&data), (vec![[None, Some(0.3)], [None; 2]], vec![]));
    }

    #[test]
    fn what_is_always_the_same_at_a_bound_stops_there() {
        let walk = |state: f64, stream: &mut Stream| state + 0.3 * stream.normal();
        let data = rows(|_, [x, y], stream| {
            let (x, y) = (walk(x, stream), walk(y, stream));
            if x <= -1.0 { [-1.0, 0.25] } else { [x, y] }
        });
        let (bounds, stops) = found(&data);
        assert_eq!(bounds, [[Some(-1.0), None], [None; 2]]);
        assert_eq!(stops.len(), 1);
        assert_eq!((stops[0].cut, stops[0].upper, stops[0].set), (0, false, 1));
        let encoding = Encoding::of(&data, false, &Tracker::unheard()).with_cuts(&data);
        let mut targets = encoding.encode_all(&data, &Tracker::unheard()).targets;
        encoding.leave_out_stops(&mut targets);
        for row in 0..data.len() {
            let stopped = data.column(encoding.targets()[0].slot).get(row) == -1.0;
            assert_eq!(targets.group(1)[row].is_nan(), stopped, "row {row}");
        }
    }

    #[test]
    fn numbers_from_a_file_that_fit_no_target_are_refused() {
        let data = rows(|_, [x, y], stream| [(x + stream.normal()).min(1.5), y]);
        let encoding = Encoding::of(&data, false, &Tracker::unheard()).with_cuts(&data);
        let targets = encoding.targets();
        assert!(Stop::from_numbers([0.0, 1.0, 1.0, 0.5], targets).is_some());
        for wrong in [[1.0, 1.0, 0.0, 0.5], [0.0, 1.0, 2.0, 0.5], [0.0, 1.0, 0.0, 0.5]] {
            assert_eq!(Stop::from_numbers(wrong, targets), None, "{wrong:?}");
        }
        let mut plain = Encoding::of(&data, false, &Tracker::unheard()).targets()[0].clone();
        assert_eq!(with_stored_bounds(&mut plain, &[vec![1.0], vec![-1.0]]), None);
        assert_eq!(with_stored_bounds(&mut plain, &[vec![1.0, 2.0], vec![]]), None);
    }
}

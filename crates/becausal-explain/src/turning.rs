//! The smallest change of the state after which the agent would have done otherwise.

use becausal_core::Policy;
use becausal_core::schema::{Kind, Schema};
use becausal_core::{Stream, Transitions};

/// Values of a number that are tried on either side of its value.
const TRIED: usize = 64;

/// Halvings after which a value is exact: a 2^20th of the distance between two tried ones.
const HALVINGS: usize = 20;

/// Recorded states that are tried where no single variable is enough, at most.
const MAX_STATES: usize = 2000;

/// A change of the state after which the agent does otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Turning {
    /// The changed slots of the state, each with its value, the largest change first.
    pub changes: Vec<(usize, f64)>,
    /// What the agent does then.
    pub action: Vec<f64>,
    /// How large the change is: the root of the sum of squares of its parts, in standard deviations of the data; a
    /// label counts as one.
    pub size: f64,
}

/// Looks for the smallest change.
pub(super) struct Search<'a> {
    policy: &'a dyn Policy,
    data: &'a Transitions,
    state: &'a [f64],
    /// The action that is wanted; any other than the present one if `None`.
    wanted: Option<&'a [f64]>,
    present: Vec<f64>,
    /// The range and the standard deviation of every slot in the data.
    ranges: Vec<([f64; 2], f64)>,
}

impl<'a> Search<'a> {
    pub fn new(
        policy: &'a dyn Policy,
        data: &'a Transitions,
        state: &'a [f64],
        wanted: Option<&'a [f64]>,
    ) -> Self {
        let range = |slot: usize| {
            let column = data.column(slot);
            let circle = data.schema().variable_of(slot).kind.circle();
            let placed = |value| circle.map_or(value, |circle| circle.near(value, state[slot]));
            let values = (0..column.len()).map(|row| placed(column.get(row)));
            let [low, high] = values
                .fold([state[slot]; 2], |[low, high], value| [low.min(value), high.max(value)]);
            let deviation = data.spread(slot).map_or(0.0, |spread| spread.deviation);
            ([low, high], deviation)
        };
        let ranges = data.schema().state_slots().map(range).collect();
        Self { policy, data, state, wanted, present: policy.mode(state), ranges }
    }

    fn schema(&self) -> &Schema {
        self.data.schema()
    }

    fn is_wanted(&self, action: &[f64]) -> bool {
        match self.wanted {
            Some(wanted) => action == wanted,
            None => action != self.present,
        }
    }

    /// The smallest change that was found, of one variable or of several.
    pub fn smallest(&self) -> Option<Turning> {
        let single = (0..self.state.len()).filter_map(|slot| self.of_one(slot));
        single.chain(self.of_several()).min_by(|a, b| a.size.total_cmp(&b.size))
    }

    /// The nearest value of one slot.
    fn of_one(&self, slot: usize) -> Option<Turning> {
        let tried = self.values(slot);
        let states: Vec<Vec<f64>> =
            tried.iter().map(|&value| self.with(&[(slot, value)])).collect();
        let actions = self.policy.modes(&states);
        let found = tried.iter().zip(&actions).filter(|(_, action)| self.is_wanted(action));
        let nearest = found.map(|(value, _)| *value).min_by(|a, b| {
            let distance = |value: f64| self.difference(slot, value).abs();
            distance(*a).total_cmp(&distance(*b))
        })?;
        let mut change = [(slot, nearest)];
        self.refine(&mut change, 0);
        self.turning(change.to_vec())
    }

    /// From the nearest recorded states in which the agent does what is wanted: every slot goes back as far as it can.
    fn of_several(&self) -> Option<Turning> {
        let rows = self.data.len();
        let mut stream = Stream::new(0);
        let rows: Vec<usize> = if rows <= MAX_STATES {
            (0..rows).collect()
        } else {
            (0..MAX_STATES).map(|_| stream.below(rows)).collect()
        };
        let slots = self.schema().state_slots();
        let states: Vec<Vec<f64>> =
            rows.iter().map(|&row| self.data.row(row)[slots.clone()].to_vec()).collect();
        let actions = self.policy.modes(&states);
        let mut near: Vec<&Vec<f64>> = states
            .iter()
            .zip(&actions)
            .filter(|(_, action)| self.is_wanted(action))
            .map(|(state, _)| state)
            .collect();
        let changes = |state: &Vec<f64>| -> Vec<(usize, f64)> {
            let differ = |slot: &usize| state[*slot] != self.state[*slot];
            (0..state.len()).filter(differ).map(|slot| (slot, state[slot])).collect()
        };
        near.sort_by(|a, b| self.size(&changes(a)).total_cmp(&self.size(&changes(b))));
        let shrunk = near.iter().take(NEAREST).filter_map(|state| self.shrink(changes(state)));
        shrunk.min_by(|a, b| a.size.total_cmp(&b.size))
    }

    /// Takes back whatever is not needed, the smallest parts first, then each part as far as it can be.
    fn shrink(&self, mut changes: Vec<(usize, f64)>) -> Option<Turning> {
        changes.sort_by(|a, b| self.size(&[*b]).total_cmp(&self.size(&[*a])));
        for place in (0..changes.len()).rev() {
            let mut fewer = changes.clone();
            fewer.remove(place);
            if !fewer.is_empty() && self.turns(&fewer) {
                changes = fewer;
            }
        }
        for place in 0..changes.len() {
            self.refine(&mut changes, place);
        }
        self.turning(changes)
    }

    /// Moves one part of a change as near to the present value as the agent still does what is wanted.
    fn refine(&self, changes: &mut [(usize, f64)], place: usize) {
        let (slot, value) = changes[place];
        let kind = &self.schema().variable_of(slot).kind;
        if kind.is_label() {
            return;
        }
        let (mut inside, mut outside) = (value, self.state[slot]);
        if let Kind::Circular(circle) = kind {
            inside = circle.near(inside, outside);
        }
        for _ in 0..HALVINGS {
            let mut middle = f64::midpoint(inside, outside);
            if matches!(kind, Kind::Integer(_)) {
                middle = middle.round();
            }
            if middle == inside || middle == outside {
                break;
            }
            changes[place].1 = self.written(slot, middle);
            if self.turns(changes) { inside = middle } else { outside = middle }
        }
        changes[place].1 = self.written(slot, inside);
    }

    /// Other values of a slot, within the data.
    fn values(&self, slot: usize) -> Vec<f64> {
        let here = self.state[slot];
        let ([low, high], _) = self.ranges[slot];
        let values: Vec<f64> = match &self.schema().variable_of(slot).kind {
            Kind::Boolean | Kind::Categorical(_) => {
                let column = self.data.column(slot);
                let mut seen: Vec<f64> = (0..column.len()).map(|row| column.get(row)).collect();
                seen.sort_by(f64::total_cmp);
                seen.dedup();
                seen
            }
            Kind::Continuous(_) | Kind::Integer(_) | Kind::Circular(_) => {
                let side = |end: f64| {
                    (1..=TRIED).map(move |part| here + (end - here) * part as f64 / TRIED as f64)
                };
                side(low).chain(side(high)).collect()
            }
        };
        let whole = matches!(self.schema().variable_of(slot).kind, Kind::Integer(_));
        let round = |value: f64| {
            if whole { value.round().clamp(low, high) } else { self.written(slot, value) }
        };
        let mut values: Vec<f64> = values.into_iter().map(round).filter(|v| *v != here).collect();
        values.dedup();
        values
    }

    /// A value of a slot as it is written, on its circle if it has one.
    fn written(&self, slot: usize, value: f64) -> f64 {
        let circle = self.schema().variable_of(slot).kind.circle();
        circle.map_or(value, |circle| circle.wrap(value))
    }

    /// How far a value of a slot is from the present one.
    fn difference(&self, slot: usize, value: f64) -> f64 {
        self.schema().variable_of(slot).kind.difference(value, self.state[slot])
    }

    fn with(&self, changes: &[(usize, f64)]) -> Vec<f64> {
        let mut state = self.state.to_vec();
        for &(slot, value) in changes {
            state[slot] = value;
        }
        state
    }

    fn turns(&self, changes: &[(usize, f64)]) -> bool {
        self.is_wanted(&self.policy.mode(&self.with(changes)))
    }

    fn size(&self, changes: &[(usize, f64)]) -> f64 {
        let part = |&(slot, value): &(usize, f64)| {
            let (_, deviation) = self.ranges[slot];
            if self.schema().variable_of(slot).kind.is_label() || deviation <= 0.0 {
                1.0
            } else {
                self.difference(slot, value) / deviation
            }
        };
        changes.iter().map(|change| part(change).powi(2)).sum::<f64>().sqrt()
    }

    fn turning(&self, mut changes: Vec<(usize, f64)>) -> Option<Turning> {
        changes.sort_by(|a, b| self.size(&[*b]).total_cmp(&self.size(&[*a])));
        let action = self.policy.mode(&self.with(&changes));
        let size = self.size(&changes);
        self.is_wanted(&action).then_some(Turning { changes, action, size })
    }
}

/// Recorded states that are shrunk to a smallest change.
const NEAREST: usize = 20;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use becausal_core::data::Row;

    /// Pushes by a rule.
    struct Pusher(Arc<Schema>, fn(&[f64]) -> bool);

    impl Policy for Pusher {
        fn schema(&self) -> &Arc<Schema> {
            &self.0
        }

        fn mode(&self, state: &[f64]) -> Vec<f64> {
            vec![f64::from(u8::from((self.1)(state)))]
        }

        fn sample(&self, state: &[f64], _: &mut Stream) -> Vec<f64> {
            self.mode(state)
        }
    }

    /// Every x and y from -5 to 5 in steps of a half, with the gate open and shut.
    fn grid() -> Transitions {
        let text = "name = \"Gate\"\n[state]\nx = { kind = \"continuous\" }\ny = { kind = \"continuous\" }\n\
                    gate = { kind = \"boolean\" }\n[action]\npush = { kind = \"boolean\" }\n[reward]\nr = \"x'\"\n";
        let mut data = Transitions::new(Arc::new(Schema::parse(text).expect("a schema")));
        data.begin_episode();
        for place in 0..21 * 21 * 2 {
            let number = |at: usize| (at % 21) as f64 / 2.0 - 5.0;
            let state = [number(place / 2), number(place / 42), (place % 2) as f64];
            let row = Row {
                state: &state,
                action: &[0.0],
                outcomes: &[],
                next: &state,
                reward: state[0],
                terminated: false,
                truncated: false,
            };
            data.push(&row);
        }
        data
    }

    /// The changes of a state in the order of their slots, and their size.
    fn found(rule: fn(&[f64]) -> bool, state: [f64; 3]) -> Option<(Vec<(usize, f64)>, f64)> {
        let data = grid();
        let policy = Pusher(Arc::clone(data.schema()), rule);
        let turning = Search::new(&policy, &data, &state, None).smallest()?;
        assert_ne!(turning.action, policy.mode(&state));
        let mut changes = turning.changes;
        changes.sort_by_key(|(slot, _)| *slot);
        Some((changes, turning.size))
    }

    fn deviation() -> f64 {
        let values: Vec<f64> = (0..21).map(|at| f64::from(at) / 2.0 - 5.0).collect();
        (values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64).sqrt()
    }

    #[test]
    fn the_threshold_of_one_number_is_found_to_the_last_digits() {
        let (changes, size) = found(|s| s[0] > 1.3, [0.0, 4.0, 0.0]).expect("a change");
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].0, 0);
        assert!((changes[0].1 - 1.3).abs() < 1e-5, "{changes:?}");
        assert!((size - 1.3 / deviation()).abs() < 0.01, "{size}");
        // The nearer of two thresholds, and back over it.
        let (changes, _) = found(|s| s[0] > 1.3 || s[1] < 3.9, [0.0, 4.0, 0.0]).expect("a change");
        assert_eq!((changes.len(), changes[0].0), (1, 1));
        assert!((changes[0].1 - 3.9).abs() < 1e-5, "{changes:?}");
    }

    #[test]
    fn where_one_is_not_enough_two_change_each_as_little_as_it_can() {
        let (changes, size) = found(|s| s[0] > 1.3 && s[1] < -0.7, [0.0; 3]).expect("a change");
        let [(0, x), (1, y)] = changes[..] else { panic!("{changes:?}") };
        assert!((x - 1.3).abs() < 1e-5 && (y + 0.7).abs() < 1e-5, "{x}, {y}");
        assert!((size - 1.3_f64.hypot(0.7) / deviation()).abs() < 0.01, "{size}");
    }

    #[test]
    fn a_label_turns_and_what_no_data_show_is_not_asked() {
        let (changes, size) = found(|s| s[2] > 0.0, [0.0; 3]).expect("a change");
        assert_eq!((changes, size), (vec![(2, 1.0)], 1.0));
        assert_eq!(found(|s| s[0] > 7.0, [0.0; 3]), None, "outside the data");
        assert_eq!(found(|_| true, [0.0; 3]), None, "the agent always does the same");
    }

    #[test]
    fn only_the_action_that_is_wanted_counts() {
        let data = grid();
        let policy = Pusher(Arc::clone(data.schema()), |s| s[0] > 1.3);
        let search =
            |wanted: &[f64]| Search::new(&policy, &data, &[2.0, 0.0, 0.0], Some(wanted)).smallest();
        assert_eq!(search(&[0.0]).expect("a change").action, [0.0]);
        assert_eq!(search(&[5.0]), None);
    }
}

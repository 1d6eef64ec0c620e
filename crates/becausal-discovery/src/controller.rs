//! Actions that a rule of the state decides: a thermostat, a script, a policy without exploration.

use becausal_core::schema::{Kind, Role};

use super::frame::Frame;
use super::table::Table;
use super::tree::Tree;

/// The rule is learned from about this many rows.
const COMPARED_ROWS: usize = 20_000;

/// Whether each input is an action with few values that follows from the state: a tree grown from half
/// of the episodes is wrong about the action in hardly any row of the others. In such data the effect of
/// the action and the effect of the state that decides it cannot be told apart.
pub(super) fn follows_state(frame: &Frame) -> Vec<bool> {
    let step = frame.rows().div_ceil(COMPARED_ROWS).max(1);
    let rows: Vec<usize> = (0..frame.rows()).step_by(step).collect();
    (0..frame.inputs.len()).map(|input| is_decided(frame, input, &rows, step)).collect()
}

fn is_decided(frame: &Frame, input: usize, rows: &[usize], step: usize) -> bool {
    let action = &frame.inputs[input];
    let values = match &action.kind {
        Kind::Boolean => 2,
        Kind::Categorical(labels) => labels.len(),
        Kind::Continuous(_) | Kind::Integer(_) | Kind::Circular(_) => return false,
    };
    let &[column] = &action.columns[..] else { return false };
    if action.role != Role::Action || frame.input_is_constant(input) {
        return false;
    }
    let taken = |row: usize| frame.u[column].values[row];
    let shown: Vec<Vec<f64>> = (0..values)
        .map(|value| {
            let is_it = |&row: &usize| f64::from(u8::from(taken(row) == value as f64));
            rows.iter().map(is_it).collect()
        })
        .collect();
    #[expect(clippy::cast_possible_truncation, reason = "trees compare in single precision")]
    let states: Vec<Vec<f32>> = frame
        .inputs
        .iter()
        .filter(|factor| factor.role == Role::State)
        .flat_map(|factor| &factor.columns)
        .map(|&column| rows.iter().map(|&row| frame.u[column].standard(row) as f32).collect())
        .collect();
    let preference: Vec<usize> = (0..states.len()).collect();
    let table = Table::new(states, preference.clone(), vec![false; preference.len()], &shown);
    let fold_of = |row: usize| frame.units.fold[frame.units.of_row[row] as usize];
    let mut departures = 0;
    for fold in 0..2 {
        let training: Vec<bool> = rows.iter().map(|&row| fold_of(row) != fold).collect();
        if !training.contains(&true) || !training.contains(&false) {
            return false;
        }
        let tree = Tree::grow(&table, &training, 2, &preference);
        for at in (0..rows.len()).filter(|&at| !training[at]) {
            tree.predict(&table, at, None, &[2], |_, shares| {
                let says = (0..values).max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
                departures += usize::from(says.is_none_or(|value| value as f64 != taken(rows[at])));
            });
        }
    }
    // Only every `step`-th row was looked at.
    departures * step < frame.thresholds.min_departures
}

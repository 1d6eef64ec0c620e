//! Persistent values: a direct connection from a number to its own next value.
//!
//! Most numbers of a state change little in a step. If a number persists under an action, its next
//! value is predicted as `s_j` + D(h), so the decoder only predicts the *change*. If the action
//! overwrites it, it is predicted as D(h). A linear regression of the next value on the parents
//! decides this before the training: the value persists if its own coefficient is closer to 1 than
//! to 0.

use becausal_core::data::Transitions;
use becausal_core::progress::{Listener, Tracker};
use becausal_core::schema::{Kind, Role};
use becausal_discovery::regress;
use rayon::prelude::*;

use becausal_nn::{Backward, Block, Operation, Shape, Tape, Variable};

use super::encoding::Encoding;
use super::structure::Structure;
use super::target::Target;
use super::world_model::evenly;

/// Minimum number of rows per coefficient of the regression. With fewer, the value counts as
/// persistent.
const MIN_ROWS_PER_COEFFICIENT: usize = 10;

/// Maximum number of rows of the regression: it only tells 0 from 1.
const MAX_REGRESSION_ROWS: usize = 10_000;

/// Which numbers persist under which action: 1 or 0 in `[effects, distinct actions, 1]`. Without a
/// table of actions there is one row for all of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Persistence {
    pub stays: Block,
}

impl Persistence {
    /// All values persist.
    pub fn of_all(effects: usize) -> Self {
        Self { stays: Block::new(Shape::new(effects, 1, 1), vec![1.0; effects]) }
    }

    /// No value persists.
    pub fn of_none(effects: usize, actions: usize) -> Self {
        Self { stays: Block::zeros(Shape::new(effects, actions, 1)) }
    }

    /// Determines from data which values persist, or that none does where it is not wanted.
    pub fn asked(
        wanted: bool,
        data: &Transitions,
        encoding: &Encoding,
        structure: &Structure,
        listener: &Listener,
    ) -> Self {
        if wanted {
            return Self::of(data, encoding, structure, listener);
        }
        let actions = encoding.action_table().map_or(1, |table| table.len());
        Self::of_none(structure.effects(), actions)
    }

    /// Determines from data which values persist.
    pub fn of(
        data: &Transitions,
        encoding: &Encoding,
        structure: &Structure,
        listener: &Listener,
    ) -> Self {
        let watch = Tracker::begin(listener, "prepare", "effects", structure.effects());
        let actions = encoding.action_table().map_or(1, |table| table.len());
        let mut rows_of = vec![Vec::new(); actions];
        match encoding.actions_of(data) {
            None => rows_of[0] = (0..data.len()).collect(),
            Some(actions) => {
                for (row, action) in actions.into_iter().enumerate() {
                    rows_of[action as usize].push(row);
                }
            }
        }
        for rows in &mut rows_of {
            *rows = evenly(rows.len(), MAX_REGRESSION_ROWS).map(|at| rows[at]).collect();
        }
        let mut stays = Block::zeros(Shape::new(structure.effects(), actions, 1));
        stays.values.par_chunks_mut(actions).enumerate().for_each(|(effect, stays)| {
            for (rows, into) in rows_of.iter().zip(stays) {
                let persists = structure.persists(effect)
                    && is_persistent(data, encoding, structure, effect, rows);
                *into = if persists { 1.0 } else { 0.0 };
            }
            watch.advance(1.0, "");
        });
        Self { stays }
    }

    /// Whether an effect persists under one of the distinct actions: 1 or 0.
    pub fn stays(&self, effect: usize, action: usize) -> f32 {
        let group = self.stays.group(effect);
        group[action.min(group.len() - 1)]
    }
}

/// Whether the numbers of an effect persist in these rows.
fn is_persistent(
    data: &Transitions,
    encoding: &Encoding,
    structure: &Structure,
    effect: usize,
    rows: &[usize],
) -> bool {
    let schema = data.schema();
    let variable = schema.of_role(Role::State).nth(effect);
    if variable.is_some_and(|variable| variable.kind.circle().is_some()) {
        // Only a change can be predicted on a line.
        return true;
    }
    let mut own = Vec::new();
    let mut features: Vec<Vec<f64>> = vec![vec![1.0; rows.len()]];
    let mut slot = schema.state_slots().start;
    for (state, variable) in schema.of_role(Role::State).enumerate() {
        for _ in 0..variable.elements() {
            let parent = structure.state_parents(effect).contains(&state);
            if parent && !matches!(variable.kind, Kind::Categorical(_)) {
                if state == effect {
                    own.push((features.len(), slot));
                }
                let scale = encoding.input_scale(slot);
                let column = data.column(slot);
                let value = |&row: &usize| {
                    (encoding.placed(slot, column.get(row)) - scale.mean) / scale.scale
                };
                features.push(rows.iter().map(value).collect());
            }
            slot += 1;
        }
    }
    let numeric = encoding.targets().iter().any(|t| t.effect == effect && t.before.is_some());
    if !numeric || rows.len() < MIN_ROWS_PER_COEFFICIENT * features.len() {
        return true;
    }
    let coefficients = own.iter().map(|&(feature, slot)| {
        let next = slot - schema.state_slots().start + schema.next_slots().start;
        let column = data.column(next);
        let values: Vec<f64> = rows.iter().map(|&row| column.get(row)).collect();
        regress(&features, &values)[feature] / encoding.input_scale(slot).scale
    });
    coefficients.sum::<f64>() / own.len() as f64 >= 0.5
}

/// Adds the value before the step to the mean of every persistent target.
///
/// `outputs` is `[effects, rows, columns]`, `before` is `[targets, rows, 1]`.
pub(super) fn persist(
    tape: &mut Tape<'_>,
    outputs: Variable,
    before: &Block,
    action_of: &[u32],
    persistence: &Persistence,
    targets: &[Target],
) -> Variable {
    let shape = tape.value(outputs).shape;
    let mut moved = tape.scratch(shape);
    moved.values.copy_from_slice(&tape.value(outputs).values);
    for (at, target) in targets.iter().enumerate().filter(|(_, t)| t.before.is_some()) {
        for (row, &before) in before.group(at).iter().enumerate() {
            let mean = (target.effect * shape.rows + row) * shape.columns + target.head.column;
            moved.values[mean] +=
                persistence.stays(target.effect, action_of[row] as usize) * before;
        }
    }
    tape.push(moved, Persist { outputs })
}

struct Persist {
    outputs: Variable,
}

impl Operation for Persist {
    fn backward(&self, _result: Variable, _gradient: &mut [f32], back: &mut Backward<'_>) {
        back.pass_on(self.outputs);
    }
}

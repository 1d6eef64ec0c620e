//! Persistent values: a direct connection from a number to its own next value.
//!
//! Most numbers of a state change little in a step. If a number persists under an action, its next
//! value is predicted as `s_j` + D(h), so the decoder only predicts the *change*. If the action
//! overwrites it, it is predicted as D(h). A linear regression of the next value on the parents
//! decides this before the training: the value persists if its own coefficient is closer to 1 than
//! to 0. Where a [linear law](super::law) holds under an action, that is what the decoder starts from instead.

use becausal_core::data::Transitions;
use becausal_core::progress::{Listener, Tracker};
use becausal_core::schema::{Kind, Role};
use becausal_discovery::regress;
use rayon::prelude::*;

use becausal_nn::{Backward, Block, Operation, Shape, Tape, Variable};

use super::encoding::{Encoding, single};
use super::inputs::Inputs;
use super::law::Observed;
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
    /// Linear laws on the scale of the targets, `[effects, distinct actions, states + 1]`: what each standardised state adds,
    /// and a constant. The value itself is `stays`, which is then any number. `None` if there are none.
    pub laws: Option<Block>,
}

impl Persistence {
    /// All values persist.
    pub fn of_all(effects: usize) -> Self {
        Self { stays: Block::new(Shape::new(effects, 1, 1), vec![1.0; effects]), laws: None }
    }

    /// No value persists.
    pub fn of_none(effects: usize, actions: usize) -> Self {
        Self { stays: Block::zeros(Shape::new(effects, actions, 1)), laws: None }
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
    fn of(
        data: &Transitions,
        encoding: &Encoding,
        structure: &Structure,
        listener: &Listener,
    ) -> Self {
        let watch = Tracker::begin(listener, "prepare", "effects", structure.effects());
        let rows_of = rows_of_actions(data, encoding);
        let actions = rows_of.len();
        let mut stays = Block::zeros(Shape::new(structure.effects(), actions, 1));
        stays.values.par_chunks_mut(actions).enumerate().for_each(|(effect, stays)| {
            for (rows, into) in rows_of.iter().zip(stays) {
                let persists = structure.persists(effect)
                    && is_persistent(data, encoding, structure, effect, rows);
                *into = if persists { 1.0 } else { 0.0 };
            }
            watch.advance(1.0, "");
        });
        Self { stays, laws: None }
    }

    /// The same, with the linear laws that the data follow.
    pub fn with_laws(
        mut self,
        data: &Transitions,
        encoding: &Encoding,
        structure: &Structure,
    ) -> Self {
        let rows_of = rows_of_actions(data, encoding);
        let (actions, states) = (rows_of.len(), structure.states());
        let all: Vec<usize> = evenly(data.len(), MAX_REGRESSION_ROWS).collect();
        let places: Vec<(usize, usize)> = (0..structure.effects())
            .flat_map(|effect| (0..actions).map(move |action| (effect, action)))
            .collect();
        let is_acted_on =
            |effect: usize| structure.parents(effect).iter().any(|&cause| cause >= states);
        let of_place = |&(effect, action): &(usize, usize)| {
            // What does not depend on the action has one law, which stands in the first place.
            let rows = match (is_acted_on(effect), action) {
                (true, _) => &rows_of[action],
                (false, 0) => &all,
                (false, _) => return None,
            };
            law_of(data, encoding, structure, effect, (rows, self.stays(effect, action)))
        };
        let mut found: Vec<Option<(f32, Vec<f32>)>> = places.par_iter().map(of_place).collect();
        for effect in (0..structure.effects()).filter(|&effect| !is_acted_on(effect)) {
            let (first, others) = found[effect * actions..][..actions].split_at_mut(1);
            for other in others {
                other.clone_from(&first[0]);
            }
        }
        if found.iter().all(Option::is_none) {
            return self;
        }
        let mut laws = Block::zeros(Shape::new(structure.effects(), actions, states + 1));
        for ((effect, action), (own, law)) in
            places.into_iter().zip(found).filter_map(|(place, law)| Some((place, law?)))
        {
            self.stays.group_mut(effect)[action] = own;
            laws.group_mut(effect)[action * (states + 1)..][..=states].copy_from_slice(&law);
        }
        self.laws = Some(laws);
        self
    }

    /// Whether its numbers are finite and its laws read single numbers among the parents of each effect.
    pub fn fits(&self, encoding: &Encoding, structure: &Structure) -> bool {
        let is_finite = |block: &Block| block.values.iter().all(|value| value.is_finite());
        let states = structure.states();
        let fit = |laws: &Block| {
            let is_read = |effect: usize, state: usize| {
                structure.state_parents(effect).contains(&state) && encoding.is_number(state)
            };
            let of_row = |(at, law): (usize, &[f32])| {
                let effect = at / laws.shape.rows.max(1);
                (0..states).all(|state| law[state] == 0.0 || is_read(effect, state))
            };
            laws.shape == Shape::new(structure.effects(), self.stays.shape.rows, states + 1)
                && is_finite(laws)
                && laws.values.chunks_exact(states + 1).enumerate().all(of_row)
        };
        is_finite(&self.stays) && self.laws.as_ref().is_none_or(fit)
    }

    /// The factor of an effect's own value under one of the distinct actions: 1 if it persists, 0 if not, and any number
    /// in a linear law.
    pub fn stays(&self, effect: usize, action: usize) -> f32 {
        let group = self.stays.group(effect);
        group[action.min(group.len() - 1)]
    }

    /// The law of an effect under one of the distinct actions beside its own value: what each state adds, and a constant.
    fn law(&self, effect: usize, action: usize) -> Option<&[f32]> {
        let laws = self.laws.as_ref()?;
        Some(laws.row(effect, action.min(laws.shape.rows - 1)))
    }

    /// Whether an effect depends on a state under one of the distinct actions, whatever the networks say.
    pub fn reads(&self, effect: usize, action: usize, state: usize) -> bool {
        (state == effect && self.stays(effect, action) != 0.0)
            || self.law(effect, action).is_some_and(|law| law[state] != 0.0)
    }

    /// What the networks of an effect start from: `before` is its own value on the scale of the target, `states` gives the
    /// standardised values.
    pub fn start(
        &self,
        effect: usize,
        action: usize,
        before: f32,
        states: impl Fn(usize) -> f32,
    ) -> f32 {
        let own = self.stays(effect, action) * before;
        let Some((constant, law)) = self.law(effect, action).and_then(<[f32]>::split_last) else {
            return own;
        };
        let terms = law.iter().enumerate().filter(|(_, coefficient)| **coefficient != 0.0);
        own + constant + terms.map(|(state, coefficient)| coefficient * states(state)).sum::<f32>()
    }
}

impl Persistence {
    /// What the networks [start from](Self::start) in some rows: `[targets, rows, 1]`.
    pub fn starts(&self, inputs: &Inputs, targets: &[Target]) -> Block {
        let mut starts = inputs.before.clone();
        for (at, target) in targets.iter().enumerate().filter(|(_, t)| t.before.is_some()) {
            for (row, start) in starts.group_mut(at).iter_mut().enumerate() {
                let action = inputs.action_of[row] as usize;
                let state = |state: usize| inputs.states.row(state, row)[0];
                *start = self.start(target.effect, action, *start, state);
            }
        }
        starts
    }
}

/// Some rows under each of the distinct actions; without a table of actions, of all of them.
fn rows_of_actions(data: &Transitions, encoding: &Encoding) -> Vec<Vec<usize>> {
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
    let some = |rows: &Vec<usize>| {
        evenly(rows.len(), MAX_REGRESSION_ROWS).map(|at| rows[at]).collect::<Vec<usize>>()
    };
    rows_of.iter().map(some).collect()
}

/// The linear law of an effect in some rows, in which its own value stays or not: the factor of its own value, then what every
/// state adds and a constant, on the scale of the target. `None` where there is no law, or it is not a single number.
fn law_of(
    data: &Transitions,
    encoding: &Encoding,
    structure: &Structure,
    effect: usize,
    (rows, stays): (&[usize], f32),
) -> Option<(f32, Vec<f32>)> {
    let schema = data.schema();
    let mut targets = encoding.targets().iter().filter(|target| target.effect == effect);
    let (target, None) = (targets.next()?, targets.next()) else { return None };
    let before = target.before.filter(|_| target.circle.is_none())?;
    let mut slot = schema.state_slots().start;
    let mut parents = Vec::new();
    for (state, variable) in schema.of_role(Role::State).enumerate() {
        let is_parent = structure.state_parents(effect).contains(&state);
        if is_parent && variable.elements() == 1 && encoding.is_number(state) {
            parents.push((state, slot));
        }
        slot += variable.elements();
    }
    let standard = |slot: usize| {
        let (scale, column) = (encoding.input_scale(slot), data.column(slot));
        rows.iter().map(|&row| (column.get(row) - scale.mean) / scale.scale).collect::<Vec<f64>>()
    };
    let on_target = |slot: usize| {
        let column = data.column(slot);
        rows.iter().map(|&row| target.scale.apply(column.get(row))).collect::<Vec<f64>>()
    };
    let otherwise = on_target(before).into_iter().map(|value| f64::from(stays) * value).collect();
    let observed = Observed {
        target: on_target(target.slot),
        otherwise,
        parents: parents.iter().map(|&(_, slot)| standard(slot)).collect(),
    };
    let law = observed.law()?;
    let mut own = 0.0;
    let mut terms = vec![0.0; structure.states() + 1];
    terms[structure.states()] = single(law.constant);
    for (&(state, slot), coefficient) in parents.iter().zip(law.parents) {
        if state == effect {
            own = single(coefficient * target.scale.scale / encoding.input_scale(slot).scale);
        } else {
            terms[state] = single(coefficient);
        }
    }
    Some((own, terms))
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

/// Adds what the networks [start from](Persistence::starts) to the mean of every target.
///
/// `outputs` is `[effects, rows, columns]`, `starts` is `[targets, rows, 1]`.
pub(super) fn persist(
    tape: &mut Tape<'_>,
    outputs: Variable,
    starts: &Block,
    targets: &[Target],
) -> Variable {
    let shape = tape.value(outputs).shape;
    let mut moved = tape.scratch(shape);
    moved.values.copy_from_slice(&tape.value(outputs).values);
    for (at, target) in targets.iter().enumerate().filter(|(_, t)| t.before.is_some()) {
        for (row, &start) in starts.group(at).iter().enumerate() {
            let mean = (target.effect * shape.rows + row) * shape.columns + target.head.column;
            moved.values[mean] += start;
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

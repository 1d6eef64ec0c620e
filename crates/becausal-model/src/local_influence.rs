//! The influence of each state variable on each effect in single states.
//!
//! Every variable takes other values from the data, and the predictions tell how much that matters. An effect is only
//! predicted for changes of its own parents, and each changed value is encoded once for all states: with 8 variables
//! that is a sixth of the work of predicting everything, with 50 a twentieth.

use becausal_core::schema::Role;
use becausal_core::student_quantile;
use becausal_nn::{Block, Pool, Shape, Tape};
use rayon::prelude::*;

use super::action_influence::{NEGLIGIBLE, weight};
use super::divergence::Predicted;
use super::dynamics::Situation;
use super::influence::Influence;
use super::inputs::Inputs;
use super::member::Member;
use super::network::{CausalNetwork, Replacement};
use super::world_model::WorldModel;

/// How sure it must be that the members of an ensemble predict a step at all: the probability by Student's t distribution,
/// for their number, that their mean is not 0. Chosen by the audit of influences of trained agents (seeds 301 and 302). Three
/// networks must then have a mean of 5.7 deviations, five one of 2.1: precision and recall are .98, .92 and .96, .95 for two
/// landers with three networks, .96, .96 and .91, .89 for two agents of `BuildMarine` with five. With three deviations for both
/// of them the recall of `BuildMarine` was .89 and .84, and .77 for seed 311.
const CLEAR: f64 = 0.99;

/// A mean of this many standard deviations among the members is clear in any case. Two networks would need 45.
const MAX_DEVIATIONS: f64 = 6.0;

/// A label counts as influenced where its probability changes by at least this: in one of four cases, with the same noise, it
/// is then another one. Chosen among 0, 0.02, 0.1, 0.25 and 0.5 by the audit of influences of two trained landers (seeds 301
/// and 302): precision .93, .93, .93, .93, .93 and .87, .89, .90, .90, .90, recall .92 and .96 to .97.
const LABEL_SHIFT: f64 = 0.25;

/// Number of values that replace a state variable to measure its influence in a single state.
const SUBSTITUTES: usize = 16;

/// States that are looked at together: with 50 variables their predictions take some 25 MB.
const CHUNK_STATES: usize = 64;

/// The values that replace those of a state variable.
struct Substitutes {
    /// The features of the distinct ones, `[values, features]`.
    features: Vec<f32>,
    /// The values before the step, on the scale of the targets: the target, and one number for each value.
    before: Vec<(usize, Vec<f32>)>,
    /// The row of a batch of [`SUBSTITUTES`] that each of the distinct ones stands in first.
    first: Vec<usize>,
    /// For each of [`SUBSTITUTES`], or for those that are kept, which of the distinct ones it is.
    which: Vec<usize>,
}

impl Substitutes {
    /// Keeps some of the values; the others do not count.
    fn keep(&mut self, tried: &[bool]) {
        let each = self.which.iter().zip(tried);
        self.which = each.filter(|(_, tried)| **tried).map(|(&which, _)| which).collect();
    }
}

/// What a member predicts for one effect when one of the state variables takes other values.
struct Changed {
    /// `[rows, columns]`
    outputs: Vec<f32>,
    columns: usize,
    /// Each situation's first row, one for every distinct value; `None` where the effect does not read the variable.
    first: Vec<Option<usize>>,
}

/// What a member predicts for some situations: as they are, and after every change.
struct Tried {
    /// `[effects, situations, columns]`
    here: Block,
    /// For each effect and state, `[effects * states]`; `None` if the effect does not read the state.
    there: Vec<Option<Changed>>,
}

impl WorldModel {
    /// Influence by effect in single states: the divergence of the prediction of each effect when a state variable
    /// takes other values from the data.
    #[must_use]
    pub fn influences_here(&self, situations: &[Situation<'_>]) -> Vec<Influence> {
        let substitutes = self.substitutes();
        let of_chunk = |chunk: &[Situation<'_>]| self.influences_of(chunk, &substitutes);
        situations.chunks(CHUNK_STATES).flat_map(of_chunk).collect()
    }

    /// The same in one state, by some of the [values](Self::substitute_values) alone: `tried[variable][value]`.
    pub(super) fn influence_here_by(
        &self,
        situation: Situation<'_>,
        tried: &[Vec<bool>],
    ) -> Influence {
        let mut substitutes = self.substitutes();
        for (substitutes, tried) in substitutes.iter_mut().zip(tried) {
            substitutes.keep(tried);
        }
        self.influences_of(&[situation], &substitutes).remove(0)
    }

    /// The values that replace those of every state variable: `[variables][values][slots of the variable]`.
    pub(super) fn substitute_values(&self) -> Vec<Vec<Vec<f64>>> {
        let variables = self.state_variable_of_slots();
        let of_state = |state: usize| {
            let slots: Vec<usize> =
                (0..variables.len()).filter(|&slot| variables[slot] == state).collect();
            let value = |at: usize| {
                slots.iter().map(|&slot| self.encoding.substitute(slot, at, SUBSTITUTES)).collect()
            };
            (0..SUBSTITUTES).map(value).collect()
        };
        (0..self.structure.states()).map(of_state).collect()
    }

    fn influences_of(
        &self,
        situations: &[Situation<'_>],
        substitutes: &[Substitutes],
    ) -> Vec<Influence> {
        let inputs = self.inputs_of(situations);
        let of_member = |(at, member): (usize, &Member)| match member.causal() {
            Some(network) => self.tried(at, network, &inputs, substitutes),
            None => Tried {
                here: member.predict(&inputs, &self.structure),
                there: self.changed_inputs(member, situations, substitutes),
            },
        };
        let tried: Vec<Tried> = self.members.par_iter().enumerate().map(of_member).collect();
        (0..situations.len())
            .into_par_iter()
            .map(|situation| self.influence_of(&tried, substitutes, situation))
            .collect()
    }

    /// What a causal network predicts, as it is and for every change of a parent.
    fn tried(
        &self,
        member: usize,
        network: &CausalNetwork,
        inputs: &Inputs,
        substitutes: &[Substitutes],
    ) -> Tried {
        let (states, effects) = (self.structure.states(), self.structure.effects());
        let kept = self.action_part(member).cloned();
        let member = &self.members[member];
        let parameters = &member.parameters;
        let mut tape = Tape::computing(parameters, Pool::default());
        let pruned = member.pruned.as_deref();
        let common = match kept {
            Some(part) => network.common_under(&mut tape, inputs, &self.structure, part),
            None => network.common(&mut tape, inputs, &self.structure, pruned),
        };
        let encode = |(state, values): (usize, &Substitutes)| {
            network.encode(parameters, state, &values.features, values.first.len())
        };
        let encodings: Vec<Vec<f32>> = substitutes.iter().enumerate().map(encode).collect();
        let of_effect = |effect: usize| {
            let mut here = network.as_it_is(parameters, &common, effect);
            let columns = here.len() / inputs.rows().max(1);
            let before = |at: usize, row: usize| inputs.before.group(at)[row];
            let start = |row: usize, before: f32, standard: &dyn Fn(usize) -> f32| {
                let action = inputs.action_of[row] as usize;
                network.persistence().start(effect, action, before, standard)
            };
            let standard = |row: usize, state: usize| inputs.states.row(state, row)[0];
            self.persist(effect, columns, &mut here, |at, row| {
                start(row, before(at, row), &|state| standard(row, state))
            });
            let mut there: Vec<Option<Changed>> = (0..states).map(|_| None).collect();
            for &state in self.structure.state_parents(effect) {
                let values = &substitutes[state];
                let count = values.first.len();
                let features = values.features.len() / count.max(1);
                let reads = |&row: &usize| {
                    network.reads_under(&common.alpha, inputs.action_of[row], (effect, state))
                };
                let read: Vec<usize> = (0..inputs.rows()).filter(reads).collect();
                if read.is_empty() {
                    continue;
                }
                let replacement = Replacement {
                    state,
                    encodings: &encodings[state],
                    rows: read.len() * count,
                    place: |row| (read[row / count], row % count),
                };
                let action_of = &inputs.action_of;
                let mut outputs = network
                    .with_other_state(parameters, &common, action_of, effect, &replacement)
                    .values;
                self.persist(effect, columns, &mut outputs, |at, row| {
                    let (situation, value) = (replacement.place)(row);
                    let other = values.before.iter().find(|(target, _)| *target == at);
                    let before = match other.filter(|_| state == effect) {
                        Some((_, other)) => other[value],
                        None => before(at, situation),
                    };
                    start(situation, before, &|read| {
                        if read == state {
                            values.features[value * features]
                        } else {
                            standard(situation, read)
                        }
                    })
                });
                let mut first = vec![None; inputs.rows()];
                for (at, &situation) in read.iter().enumerate() {
                    first[situation] = Some(at * count);
                }
                there[state] = Some(Changed { outputs, columns, first });
            }
            (here, there)
        };
        let all: Vec<_> = (0..effects).into_par_iter().map(of_effect).collect();
        let (here, there): (Vec<Vec<f32>>, Vec<Vec<Option<Changed>>>) = all.into_iter().unzip();
        let columns = self.encoding.output_columns();
        let here = Block::new(Shape::new(effects, inputs.rows(), columns), here.concat());
        Tried { here, there: there.into_iter().flatten().collect() }
    }

    /// Adds what persists, by target and row, to the outputs `[rows, columns]` of an effect.
    fn persist(
        &self,
        effect: usize,
        columns: usize,
        outputs: &mut [f32],
        persists: impl Fn(usize, usize) -> f32,
    ) {
        let targets = self.encoding.targets().iter().enumerate();
        for (at, target) in targets.filter(|(_, t)| t.effect == effect && t.before.is_some()) {
            for (row, output) in outputs.chunks_exact_mut(columns).enumerate() {
                output[target.head.column] += persists(at, row);
            }
        }
    }

    /// What any network predicts for every change: all its inputs are made anew.
    fn changed_inputs(
        &self,
        member: &Member,
        situations: &[Situation<'_>],
        substitutes: &[Substitutes],
    ) -> Vec<Option<Changed>> {
        let (states, effects) = (self.structure.states(), self.structure.effects());
        let first_action = self.schema().action_slots().start;
        let variables = self.state_variable_of_slots();
        let mut there: Vec<Option<Changed>> = (0..effects * states).map(|_| None).collect();
        for (state, values) in substitutes.iter().enumerate() {
            let count = values.first.len();
            let rows = situations.len() * count;
            let inputs = self.encoding.inputs(rows, |row, slot| {
                let (values_here, action) = situations[row / count];
                if slot >= first_action {
                    action[slot - first_action]
                } else if variables[slot] == state {
                    self.encoding.substitute(slot, values.first[row % count], SUBSTITUTES)
                } else {
                    values_here[slot]
                }
            });
            let outputs = member.predict(&inputs, &self.structure);
            for effect in 0..effects {
                if self.structure.state_parents(effect).contains(&state) {
                    let first = (0..situations.len()).map(|at| Some(at * count)).collect();
                    let (columns, outputs) =
                        (outputs.shape.columns, outputs.group(effect).to_vec());
                    there[effect * states + state] = Some(Changed { outputs, columns, first });
                }
            }
        }
        there
    }

    /// The values that replace those of every state variable. A flag has only two.
    fn substitutes(&self) -> Vec<Substitutes> {
        let first_action = self.schema().action_slots().start;
        let inputs = self.encoding.inputs(SUBSTITUTES, |row, slot| {
            // The actions of these rows are not read.
            if slot < first_action { self.encoding.substitute(slot, row, SUBSTITUTES) } else { 0.0 }
        });
        let of_state = |state: usize| {
            let row = |row: usize| inputs.states.row(state, row);
            let mut first: Vec<usize> = Vec::new();
            let mut which = Vec::with_capacity(SUBSTITUTES);
            for at in 0..SUBSTITUTES {
                let known = first.iter().position(|&other| row(other) == row(at));
                which.push(known.unwrap_or(first.len()));
                if known.is_none() {
                    first.push(at);
                }
            }
            let targets = self.encoding.targets().iter().enumerate();
            let own = targets.filter(|(_, t)| t.effect == state && t.before.is_some());
            let before = own.map(|(at, _)| {
                (at, first.iter().map(|&row| inputs.before.group(at)[row]).collect())
            });
            let features = first.iter().flat_map(|&at| row(at).iter().copied()).collect();
            Substitutes { features, before: before.collect(), first, which }
        };
        (0..self.structure.states()).map(of_state).collect()
    }

    /// How much the changes of one situation matter.
    fn influence_of(
        &self,
        members: &[Tried],
        substitutes: &[Substitutes],
        situation: usize,
    ) -> Influence {
        let (states, effects) = (self.structure.states(), self.structure.effects());
        let mut weights = vec![vec![0.0; effects * states]; members.len()];
        // How much each distinct value matters to each member, `[values][members]`, and whether it counts.
        let (mut losses, mut counts) = (Vec::new(), Vec::new());
        let mut steps = vec![0.0; members.len()];
        for target in self.encoding.targets() {
            let distribution = &target.head.distribution;
            let here: Vec<&[f32]> =
                members.iter().map(|m| target.head.parameters(&m.here, situation)).collect();
            let from: Vec<Predicted> =
                here.iter().map(|here| Predicted::of(distribution, here)).collect();
            let is_number = distribution.deviation(here[0]).is_some();
            let label = Predicted::likeliest(&from);
            let least = if is_number { NEGLIGIBLE * target.spread } else { LABEL_SHIFT };
            for &state in self.structure.state_parents(target.effect) {
                let place = target.effect * states + state;
                let reads = |tried: &Tried| {
                    tried.there[place].as_ref().is_some_and(|c| c.first[situation].is_some())
                };
                if !members.iter().any(reads) {
                    continue;
                }
                let there = |member: usize, value: usize| {
                    let changed = members[member].there[place].as_ref();
                    changed.and_then(|c| c.of(situation, value)).map_or(here[member], |outputs| {
                        &outputs[target.head.column..][..distribution.parameters()]
                    })
                };
                let Substitutes { first, which, .. } = &substitutes[state];
                losses.clear();
                counts.clear();
                for value in 0..first.len() {
                    for (member, step) in steps.iter_mut().enumerate() {
                        let to = there(member, value);
                        *step = if is_number {
                            let [to, from] = [to, here[member]].map(|at| distribution.mean(at));
                            target.scale.scale * target.error(to, from)
                        } else {
                            from[member].loses_to(&Predicted::of(distribution, to), label)
                        };
                    }
                    let is_counted = is_clear(&steps, least);
                    counts.push(is_counted);
                    losses.extend(from.iter().enumerate().map(|(member, from)| {
                        if !is_counted {
                            return 0.0;
                        }
                        let to = Predicted::of(distribution, there(member, value));
                        from.divergence(&to, target) / which.len() as f64
                    }));
                }
                for &value in which.iter().filter(|&&value| counts[value]) {
                    let losses = &losses[value * members.len()..][..members.len()];
                    for (loss, weights) in losses.iter().zip(&mut weights) {
                        weights[place] += loss;
                    }
                }
            }
        }
        for loss in weights.iter_mut().flatten() {
            *loss = weight(*loss);
        }
        Influence::new(effects, states, &weights)
    }

    /// The state variable that each state slot belongs to.
    fn state_variable_of_slots(&self) -> Vec<usize> {
        let each = self.schema().of_role(Role::State).enumerate();
        each.flat_map(|(at, variable)| std::iter::repeat_n(at, variable.elements())).collect()
    }
}

impl Changed {
    /// The outputs in a situation with one of the distinct values; `None` where the effect does not read the variable.
    fn of(&self, situation: usize, value: usize) -> Option<&[f32]> {
        let row = self.first[situation]? + value;
        Some(&self.outputs[row * self.columns..][..self.columns])
    }
}

/// Whether the mean step that the members of an ensemble predict is larger than `least`, and clearly
/// larger than what they differ by: an influence that only some networks see is more likely theirs than the
/// environment's.
fn is_clear(steps: &[f64], least: f64) -> bool {
    let count = steps.len() as f64;
    let mean = steps.iter().sum::<f64>() / count;
    let squares: f64 = steps.iter().map(|step| (step - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
    let clear = if steps.len() < 2 {
        0.0
    } else {
        student_quantile(0.5 + 0.5 * CLEAR, steps.len() - 1) / count.sqrt()
    };
    mean.abs() > least.max(clear.min(MAX_DEVIATIONS) * deviation)
}

#[cfg(test)]
mod tests {
    use becausal_core::env::{Options, record_at_random};
    use becausal_envs::find;

    use super::*;
    use crate::{ModelKind, ModelParams, Sizes, Structure};

    #[test]
    fn the_quick_way_and_the_plain_way_agree() {
        let entry = find("BuildMarine-v0").expect("built in");
        let environment = entry.make(&Options::default()).expect("made");
        let data = record_at_random(&environment, 400, 1).expect("recorded");
        let schema = data.schema();
        let (states, actions) =
            [Role::State, Role::Action].map(|role| schema.of_role(role).count()).into();
        let effects = schema.effects().len();
        // Every second variable, so that some are parents and some are not.
        let parents: Vec<Vec<usize>> = (0..effects)
            .map(|effect| (0..states + actions).filter(|cause| (cause + effect) % 2 == 0).collect())
            .collect();
        let params = ModelParams {
            members: 2,
            sizes: Sizes { encoder: 16, hidden: 16, action: 8, key: 8 },
            steps: 20,
            ..ModelParams::default()
        };
        let structure = Structure::new(states, actions, parents);
        let (model, _) =
            WorldModel::fit(&data, ModelKind::Causal, &structure, &params).expect("a model");
        let rows: Vec<Vec<f64>> = (0..3).map(|row| data.row(50 * row)).collect();
        let situations: Vec<Situation<'_>> = rows
            .iter()
            .map(|row| (&row[schema.state_slots()], &row[schema.action_slots()]))
            .collect();
        let inputs = model.inputs_of(&situations);
        let substitutes = model.substitutes();
        for (at, member) in model.members.iter().enumerate() {
            let network = member.causal().expect("a causal network");
            let quick = model.tried(at, network, &inputs, &substitutes);
            assert_eq!(quick.here, member.predict(&inputs, &model.structure));
            let plain = model.changed_inputs(member, &situations, &substitutes);
            let mut compared = 0;
            for (at, (quick, plain)) in quick.there.iter().zip(&plain).enumerate() {
                let is_parent = structure.state_parents(at / states).contains(&(at % states));
                assert_eq!((quick.is_some(), plain.is_some()), (is_parent, is_parent));
                let (Some(quick), Some(plain)) = (quick, plain) else { continue };
                assert_eq!((quick.columns, &quick.first), (plain.columns, &plain.first));
                for (quick, plain) in quick.outputs.iter().zip(&plain.outputs) {
                    assert!((quick - plain).abs() <= 1e-4 * (1.0 + plain.abs()), "{quick} {plain}");
                    compared += 1;
                }
            }
            assert!(compared > 500, "{compared}");
        }
    }

    #[test]
    fn a_step_counts_where_the_members_agree_about_it() {
        assert!(is_clear(&[1.0, 1.1, 0.9], 0.5));
        assert!(!is_clear(&[1.0, 1.1, 0.9], 2.0), "negligible");
        assert!(!is_clear(&[2.0, 0.1, 0.9], 0.5), "the members differ");
        assert!(!is_clear(&[1.0, -1.0, 0.0], 0.0), "no direction");
        assert!(is_clear(&[1.0], 0.5), "a single member cannot differ");
    }
}

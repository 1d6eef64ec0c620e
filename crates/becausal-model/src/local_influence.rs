//! The influence of each state variable on each effect in single states.
//!
//! Every variable takes other values from the data, and the predictions tell how much that matters. An effect is only
//! predicted for changes of its own parents, and each changed value is encoded once for all states: with 8 variables
//! that is a sixth of the work of predicting everything, with 50 a twentieth.

use becausal_core::schema::Role;
use becausal_nn::{Block, Distribution, Head, Pool, Shape, Tape};
use rayon::prelude::*;

use super::action_influence::{NEGLIGIBLE, weight};
use super::dynamics::Situation;
use super::influence::Influence;
use super::inputs::Inputs;
use super::member::Member;
use super::network::{CausalNetwork, Replacement};
use super::probe::TOLERANCE;
use super::world_model::WorldModel;

/// How many standard deviations among the members of an ensemble a predicted step must have to count as an
/// influence. Chosen among 0, 1, 2 and 4 by the audit of influences, with 60 states, of a trained lander and a trained
/// `BuildMarine` (seed 61): precision .84, .87, .92, .93 and .86, .89, .94, .98, recall .94, .94, .93, .93 and
/// .96, .94, .90, .83.
const CLEAR: f64 = 2.0;

/// Number of values that replace a state variable to measure its influence in a single state.
const SUBSTITUTES: usize = 16;

/// States that are looked at together: 512 rows with their substitutes, which fit into the cache.
const CHUNK_STATES: usize = 32;

/// What a member predicts for some situations: as they are, and after every change.
struct Tried {
    /// `[effects, situations, columns]`
    here: Block,
    /// For each effect and state, `[effects * states]`: `[1, situations * SUBSTITUTES, columns]`; `None` if the effect
    /// does not read the state.
    there: Vec<Option<Block>>,
}

impl WorldModel {
    /// Influence by effect in single states: the divergence of the prediction of each effect when a state variable
    /// takes other values from the data.
    #[must_use]
    pub fn influences_here(&self, situations: &[Situation<'_>]) -> Vec<Influence> {
        situations.chunks(CHUNK_STATES).flat_map(|chunk| self.influences_of(chunk)).collect()
    }

    fn influences_of(&self, situations: &[Situation<'_>]) -> Vec<Influence> {
        let first_action = self.schema().action_slots().start;
        let inputs = self.encoding.inputs(situations.len(), |row, slot| {
            let (state, action) = situations[row];
            if slot < first_action { state[slot] } else { action[slot - first_action] }
        });
        let of_member = |member: &Member| {
            let here = member.predict(&inputs, &self.structure);
            let there = match member.causal() {
                Some(network) => self.changed(member, network, &inputs),
                None => self.changed_inputs(member, situations),
            };
            Tried { here, there }
        };
        let tried: Vec<Tried> = self.members.par_iter().map(of_member).collect();
        (0..situations.len()).map(|situation| self.influence_of(&tried, situation)).collect()
    }

    /// What a causal network predicts for every change of a parent.
    fn changed(
        &self,
        member: &Member,
        network: &CausalNetwork,
        inputs: &Inputs,
    ) -> Vec<Option<Block>> {
        let states = self.structure.states();
        let parameters = &member.parameters;
        let mut tape = Tape::computing(parameters, Pool::default());
        let common = network.common(&mut tape, inputs, &self.structure, member.pruned.as_deref());
        let values = self.substitutes();
        let encode =
            |state| network.encode(parameters, state, values.states.group(state), SUBSTITUTES);
        let encodings: Vec<Vec<f32>> = (0..states).map(encode).collect();
        let changed = |at: usize| {
            let (effect, state) = (at / states, at % states);
            if !network.reads(&common, inputs, &self.structure, (effect, state)) {
                return None;
            }
            let replacement = Replacement {
                state,
                encodings: &encodings[state],
                rows: inputs.rows() * SUBSTITUTES,
                place: |row| (row / SUBSTITUTES, row % SUBSTITUTES),
            };
            let action_of = &inputs.action_of;
            let mut outputs =
                network.with_other_state(parameters, &common, action_of, effect, &replacement);
            let columns = outputs.shape.columns;
            let targets = self.encoding.targets().iter().enumerate();
            for (at, target) in targets.filter(|(_, t)| t.effect == effect && t.before.is_some()) {
                for (row, output) in outputs.values.chunks_exact_mut(columns).enumerate() {
                    let (situation, value) = (replacement.place)(row);
                    let before = if state == effect {
                        values.before.group(at)[value]
                    } else {
                        inputs.before.group(at)[situation]
                    };
                    let stays = network.stays(effect, action_of[situation] as usize);
                    output[target.head.column] += stays * before;
                }
            }
            Some(outputs)
        };
        (0..self.structure.effects() * states).into_par_iter().map(changed).collect()
    }

    /// The same for any network: all its inputs are made anew for every change.
    fn changed_inputs(&self, member: &Member, situations: &[Situation<'_>]) -> Vec<Option<Block>> {
        let (states, effects) = (self.structure.states(), self.structure.effects());
        let first_action = self.schema().action_slots().start;
        let variables = self.state_variable_of_slots();
        let mut there = vec![None; effects * states];
        for state in 0..states {
            let rows = situations.len() * SUBSTITUTES;
            let inputs = self.encoding.inputs(rows, |row, slot| {
                let (values, action) = situations[row / SUBSTITUTES];
                if slot >= first_action {
                    action[slot - first_action]
                } else if variables[slot] == state {
                    self.encoding.substitute(slot, row % SUBSTITUTES, SUBSTITUTES)
                } else {
                    values[slot]
                }
            });
            let outputs = member.predict(&inputs, &self.structure);
            let shape = Shape::new(1, rows, outputs.shape.columns);
            for effect in 0..effects {
                if self.structure.state_parents(effect).contains(&state) {
                    let group = outputs.group(effect).to_vec();
                    there[effect * states + state] = Some(Block::new(shape, group));
                }
            }
        }
        there
    }

    /// The values that replace those of every state variable, a row each.
    fn substitutes(&self) -> Inputs {
        let first_action = self.schema().action_slots().start;
        self.encoding.inputs(SUBSTITUTES, |row, slot| {
            // The actions of these rows are not read.
            if slot < first_action { self.encoding.substitute(slot, row, SUBSTITUTES) } else { 0.0 }
        })
    }

    /// How much the changes of one situation matter.
    fn influence_of(&self, members: &[Tried], situation: usize) -> Influence {
        let (states, effects) = (self.structure.states(), self.structure.effects());
        let mut weights = vec![vec![0.0; effects * states]; members.len()];
        for target in self.encoding.targets() {
            let distribution = &target.head.distribution;
            let alone = Head { group: 0, ..target.head };
            let first = target.head.parameters(&members[0].here, situation);
            let is_number = distribution.deviation(first).is_some();
            let step = |here, there| {
                let moved = target.error(distribution.mean(there), distribution.mean(here));
                target.scale.scale * moved
            };
            for &state in self.structure.state_parents(target.effect) {
                let place = target.effect * states + state;
                if members.iter().all(|tried| tried.there[place].is_none()) {
                    continue;
                }
                for row in (situation * SUBSTITUTES..).take(SUBSTITUTES) {
                    let both: Vec<(&[f32], &[f32])> = members
                        .iter()
                        .map(|tried| {
                            let here = target.head.parameters(&tried.here, situation);
                            let there = tried.there[place].as_ref();
                            (here, there.map_or(here, |there| alone.parameters(there, row)))
                        })
                        .collect();
                    let steps: Vec<f64> =
                        both.iter().map(|&(here, there)| step(here, there)).collect();
                    if is_number && !is_clear(&steps, NEGLIGIBLE * target.spread) {
                        continue;
                    }
                    for (&(here, there), weights) in both.iter().zip(&mut weights) {
                        weights[place] +=
                            divergence(distribution, here, there) / SUBSTITUTES as f64;
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

/// Whether the mean step that the members of an ensemble predict is larger than `least`, and clearly
/// larger than what they differ by: an influence that only some networks see is more likely theirs than the
/// environment's.
fn is_clear(steps: &[f64], least: f64) -> bool {
    let count = steps.len() as f64;
    let mean = steps.iter().sum::<f64>() / count;
    let squares: f64 = steps.iter().map(|step| (step - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
    mean.abs() > least.max(CLEAR * deviation)
}

/// The Kullback-Leibler divergence of two predictions, in nats.
fn divergence(distribution: &Distribution, here: &[f32], there: &[f32]) -> f64 {
    match distribution {
        Distribution::Normal { .. }
        | Distribution::Rounded { .. }
        | Distribution::Bounded { .. } => {
            // Rounding to whole numbers is noise too: uniform within half a step.
            let rounding = match distribution {
                Distribution::Rounded { half, .. } => half / 3.0_f64.sqrt(),
                _ => 0.0,
            };
            let deviation = |parameters| {
                let own: f64 = distribution.deviation(parameters).unwrap_or(1.0);
                own.hypot(TOLERANCE).hypot(rounding)
            };
            let (a, b) = (deviation(here), deviation(there));
            let moved = f64::from(here[0]) - f64::from(there[0]);
            (b / a).ln() + (a * a + moved * moved) / (2.0 * b * b) - 0.5
        }
        Distribution::Bernoulli => {
            let share = |parameters: &[f32]| {
                (1.0 / (1.0 + (-f64::from(parameters[0])).exp())).clamp(1e-6, 1.0 - 1e-6)
            };
            let (p, q) = (share(here), share(there));
            p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln()
        }
        Distribution::Categorical(labels) => {
            let shares = |parameters: &[f32]| -> Vec<f64> {
                let top = parameters.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
                let raw: Vec<f64> =
                    parameters[..*labels].iter().map(|p| f64::from(p - top).exp()).collect();
                let total: f64 = raw.iter().sum();
                raw.iter().map(|raw| (raw / total).max(1e-6)).collect()
            };
            shares(here).iter().zip(shares(there)).map(|(p, q)| p * (p / q).ln()).sum()
        }
    }
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
        let first_action = schema.action_slots().start;
        let inputs = model.encoding.inputs(situations.len(), |row, slot| {
            let (state, action) = situations[row];
            if slot < first_action { state[slot] } else { action[slot - first_action] }
        });
        for member in &model.members {
            let network = member.causal().expect("a causal network");
            let quick = model.changed(member, network, &inputs);
            let plain = model.changed_inputs(member, &situations);
            let mut compared = 0;
            for (at, (quick, plain)) in quick.iter().zip(&plain).enumerate() {
                let is_parent = structure.state_parents(at / states).contains(&(at % states));
                assert_eq!((quick.is_some(), plain.is_some()), (is_parent, is_parent));
                let (Some(quick), Some(plain)) = (quick, plain) else { continue };
                assert_eq!(quick.shape, plain.shape);
                for (quick, plain) in quick.values.iter().zip(&plain.values) {
                    assert!((quick - plain).abs() <= 1e-4 * (1.0 + plain.abs()), "{quick} {plain}");
                    compared += 1;
                }
            }
            assert!(compared > 1000, "{compared}");
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

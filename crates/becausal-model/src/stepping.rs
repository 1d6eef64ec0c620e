//! Steps of a world model: single steps for explanations, batches for dreams.

use std::sync::Arc;

use rayon::prelude::*;

use becausal_core::Stream;
use becausal_core::schema::{Role, Schema};
use becausal_nn::{Block, Distribution, Head};

use super::coupling::Coupling;
use super::dynamics::{Dynamics, Noise, Prediction};
use super::influence::Influence;
use super::member::{CHUNK_ROWS, Member};
use super::world_model::{WorldModel, index};

/// Deviations in the noise of a target.
const DEVIATIONS: usize = 2;

impl Dynamics for WorldModel {
    fn schema(&self) -> &Arc<Schema> {
        self.encoding.schema()
    }

    fn parents(&self, effect: usize) -> &[usize] {
        self.structure.parents(effect)
    }

    fn step(&self, state: &[f64], action: &[f64], noise: &Noise) -> Prediction {
        let outputs = mean_of_members(&self.outputs(state, action));
        let no_noise = vec![0.0; self.noises()];
        let noise = noise.values().unwrap_or(&no_noise);
        let (mut noise, recorded_action) = noise.split_at(noise.len() - action.len());
        let mut values = Vec::with_capacity(self.encoding.targets().len());
        for target in self.encoding.targets() {
            let distribution = target.head.distribution;
            let parameters = target.head.parameters(&outputs, 0);
            let (own, rest) = noise.split_at(distribution.noises());
            let (deviations, rest) = rest.split_at(DEVIATIONS);
            noise = rest;
            values.push(match distribution.deviation(parameters) {
                Some(deviation) => {
                    let coupling = Coupling { recorded: deviations[0], least: deviations[1] };
                    let same_action = self.acts_alike(target.effect, recorded_action, action);
                    let carried = coupling.correlation(deviation, same_action);
                    distribution.value(parameters, &[own[0] * carried])
                }
                None => distribution.value(parameters, own),
            });
        }
        self.prediction(&values)
    }

    fn noise(&self, state: &[f64], action: &[f64], outcomes: &[f64], next: &[f64]) -> Noise {
        let outputs = mean_of_members(&self.outputs(state, action));
        let others: Vec<Block> = (self.encoding.action_table().unwrap_or_default().iter())
            .map(|other| mean_of_members(&self.outputs(state, other)))
            .collect();
        let schema = self.schema();
        let (outcome_start, next_start) = (schema.outcome_slots().start, schema.next_slots().start);
        let mut noise = vec![0.0; self.noises()];
        let mut at = 0;
        for (index, target) in self.encoding.targets().iter().enumerate() {
            let observed = match target.slot.checked_sub(next_start) {
                Some(slot) => next[slot],
                None => outcomes[target.slot - outcome_start],
            };
            let distribution = target.head.distribution;
            let parameters = target.head.parameters(&outputs, 0);
            let own = &mut noise[at..][..distribution.noises()];
            at += distribution.noises();
            let value = self.encoding.encode_target(index, observed);
            distribution.noise_of(parameters, value, own);
            if let Some(recorded) = distribution.deviation(parameters) {
                let under = |other: &Block| {
                    distribution.deviation(target.head.parameters(other, 0)).unwrap_or(recorded)
                };
                let least = others.iter().map(under).fold(recorded, f64::min);
                noise[at..][..DEVIATIONS].copy_from_slice(&[recorded, least]);
            }
            at += DEVIATIONS;
        }
        noise[at..].copy_from_slice(action);
        Noise::of(noise)
    }

    fn chances(
        &self,
        state: &[f64],
        action: &[f64],
        outcomes: &[f64],
        next: &[f64],
    ) -> Vec<Option<f64>> {
        let members = self.outputs(state, action);
        let schema = self.schema();
        let (outcome_start, next_start) = (schema.outcome_slots().start, schema.next_slots().start);
        let mut chances = vec![None; self.structure.effects()];
        for target in self.encoding.targets() {
            let value = match target.slot.checked_sub(next_start) {
                Some(slot) => next[slot],
                None => outcomes[target.slot - outcome_start],
            };
            let of_member = |outputs: &Block| {
                target.head.distribution.chance(target.head.parameters(outputs, 0), value)
            };
            let each: Option<Vec<f64>> = members.iter().map(of_member).collect();
            if let Some(each) = each.filter(|each| !each.is_empty()) {
                let chance = each.iter().sum::<f64>() / each.len() as f64;
                chances[target.effect] = Some(chances[target.effect].unwrap_or(1.0) * chance);
            }
        }
        chances
    }

    fn influence(&self, state: &[f64], action: &[f64]) -> Influence {
        self.influence_here(state, action)
    }

    fn attention(&self, action: &[f64]) -> Option<Influence> {
        self.influence_by_weight(action)
    }

    fn disagreement(&self, state: &[f64], action: &[f64]) -> Vec<f64> {
        let outputs = self.outputs(state, action);
        let count = outputs.len() as f64;
        let mut disagreement = vec![0.0_f64; self.structure.effects()];
        for (at, target) in self.encoding.targets().iter().enumerate() {
            let mean = |outputs: &Block| {
                let mean = target.head.distribution.mean(target.head.parameters(outputs, 0));
                self.encoding.raw(at, mean)
            };
            let means: Vec<f64> = outputs.iter().map(mean).collect();
            let middle = means.iter().sum::<f64>() / count;
            let squares: f64 = means.iter().map(|mean| (mean - middle) * (mean - middle)).sum();
            let deviation = (squares / count).sqrt() / target.spread;
            disagreement[target.effect] = disagreement[target.effect].max(deviation);
        }
        disagreement
    }

    fn distance(&self, state: &[f64]) -> Vec<f64> {
        let mut slot = 0;
        let of_variable = |elements: usize| {
            let outside = (slot..slot + elements).map(|slot| {
                let (low, high) = self.encoding.range(slot);
                let outside = (low - state[slot]).max(state[slot] - high).max(0.0);
                outside / self.encoding.input_scale(slot).scale
            });
            let farthest = outside.fold(0.0, f64::max);
            slot += elements;
            farthest
        };
        self.schema()
            .of_role(Role::State)
            .map(becausal_core::schema::Variable::elements)
            .map(of_variable)
            .collect()
    }
}

impl WorldModel {
    /// Samples the results of many rows at once, each from a random member.
    ///
    /// `value(row, slot)` returns states and actions. The result contains, row by row, the outcomes
    /// and then the next state, in the order of the schema's slots. The noise of continuous numbers
    /// is multiplied by `noise`: 1 for samples from the distribution, 0 for the means.
    ///
    /// # Panics
    /// When the model has no members.
    #[must_use]
    pub fn sample(
        &self,
        rows: usize,
        value: impl Fn(usize, usize) -> f64 + Sync,
        noise: f64,
        stream: &mut Stream,
    ) -> Vec<f64> {
        let mut of_member = vec![Vec::new(); self.members.len()];
        for row in 0..rows {
            of_member[stream.below(self.members.len())].push(row);
        }
        let chunks: Vec<(usize, &[usize], Stream)> = of_member
            .iter()
            .enumerate()
            .flat_map(|(member, rows)| rows.chunks(CHUNK_ROWS).map(move |rows| (member, rows)))
            .map(|(member, rows)| (member, rows, Stream::new(stream.next_u64())))
            .collect();
        let width = self.encoding.targets().len();
        let drawn: Vec<Vec<f64>> = chunks
            .into_par_iter()
            .map(|(member, rows, mut stream)| {
                let inputs = self.encoding.inputs(rows.len(), |row, slot| value(rows[row], slot));
                let outputs = self.members[member].predict(&inputs, &self.structure);
                self.draw(&outputs, rows.len(), noise, &mut stream)
            })
            .collect();
        let mut all = vec![0.0; rows * width];
        let mut drawn = drawn.into_iter();
        for rows in of_member.iter().flat_map(|rows| rows.chunks(CHUNK_ROWS)) {
            let chunk = drawn.next().expect("one result per chunk");
            for (from, &row) in chunk.chunks_exact(width).zip(rows) {
                all[row * width..][..width].copy_from_slice(from);
            }
        }
        all
    }

    /// Samples the results of every member with the same noise. They differ only where the members
    /// disagree.
    #[must_use]
    pub fn sample_each(
        &self,
        rows: usize,
        value: impl Fn(usize, usize) -> f64 + Sync,
        noise: f64,
        stream: &mut Stream,
    ) -> Vec<Vec<f64>> {
        let seed = stream.next_u64();
        let starts: Vec<usize> = (0..rows).step_by(CHUNK_ROWS).collect();
        let inputs: Vec<_> = starts
            .iter()
            .map(|from| {
                let count = CHUNK_ROWS.min(rows - from);
                (count, self.encoding.inputs(count, |row, slot| value(from + row, slot)))
            })
            .collect();
        let of_member = |member: &Member| {
            let values = inputs.iter().zip(&starts).flat_map(|((count, inputs), from)| {
                let outputs = member.predict(inputs, &self.structure);
                let mut stream = Stream::keyed(seed, &[index(*from)]);
                self.draw(&outputs, *count, noise, &mut stream)
            });
            values.collect()
        };
        self.members.par_iter().with_max_len(1).map(of_member).collect()
    }

    /// Samples the values of all targets of every row, in the order of their slots.
    fn draw(&self, outputs: &Block, rows: usize, factor: f64, stream: &mut Stream) -> Vec<f64> {
        let targets = self.encoding.targets();
        let first = self.schema().outcome_slots().start;
        let mut drawn = vec![0.0; rows * targets.len()];
        let mut noise = vec![0.0; outputs.shape.columns.max(1)];
        for row in 0..rows {
            for (at, target) in targets.iter().enumerate() {
                let distribution = target.head.distribution;
                distribution.draw(stream, &mut noise);
                if matches!(distribution, Distribution::Normal { .. }) {
                    noise[0] *= factor;
                }
                let value = distribution.value(target.head.parameters(outputs, row), &noise);
                let into = row * targets.len() + target.slot - first;
                drawn[into] = self.encoding.decode(at, value);
            }
        }
        drawn
    }

    /// The outputs of every member for a state and an action: `[effects, 1, columns]` each.
    fn outputs(&self, state: &[f64], action: &[f64]) -> Vec<Block> {
        let first = self.schema().action_slots().start;
        let inputs = self.encoding.inputs(1, |_, slot| match slot.checked_sub(first) {
            Some(slot) => action[slot],
            None => state[slot],
        });
        self.members.iter().map(|member| member.predict(&inputs, &self.structure)).collect()
    }

    /// Whether two actions are the same in every action variable that an effect depends on.
    fn acts_alike(&self, effect: usize, left: &[f64], right: &[f64]) -> bool {
        let schema = self.schema();
        let parents = self.structure.parents(effect);
        let differ = schema.action_slots().zip(left.iter().zip(right)).filter(|(_, (l, r))| l != r);
        // Variables are states, then actions, as causes are.
        differ.map(|(slot, _)| schema.slots()[slot].variable).all(|cause| !parents.contains(&cause))
    }

    /// Numbers in the noise of a step: for every target its own noise and the deviations of its
    /// [`Coupling`], then the action.
    fn noises(&self) -> usize {
        let heads = self.encoding.targets().iter().map(|target| &target.head);
        let own = heads.map(|Head { distribution, .. }| distribution.noises() + DEVIATIONS);
        own.sum::<usize>() + self.schema().action_slots().len()
    }

    /// Outcomes and next state from the values of all targets, on their scales.
    fn prediction(&self, values: &[f64]) -> Prediction {
        let schema = self.schema();
        let (outcome, next) = (schema.outcome_slots(), schema.next_slots());
        let mut prediction =
            Prediction { outcomes: vec![0.0; outcome.len()], next: vec![0.0; next.len()] };
        for (at, target) in self.encoding.targets().iter().enumerate() {
            let value = self.encoding.decode(at, values[at]);
            match target.slot.checked_sub(next.start) {
                Some(slot) => prediction.next[slot] = value,
                None => prediction.outcomes[target.slot - outcome.start] = value,
            }
        }
        prediction
    }
}

/// The parameters of the distributions, averaged over the members.
fn mean_of_members(outputs: &[Block]) -> Block {
    let mut mean = outputs[0].clone();
    for other in &outputs[1..] {
        mean.values.iter_mut().zip(&other.values).for_each(|(mean, value)| *mean += value);
    }
    let count = outputs.len() as f32;
    mean.values.iter_mut().for_each(|value| *value /= count);
    mean
}

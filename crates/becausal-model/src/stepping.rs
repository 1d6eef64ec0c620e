//! Steps of a world model: single steps for explanations, batches for dreams.

use std::sync::Arc;

use rayon::prelude::*;

use becausal_core::schema::{Role, Schema};
use becausal_core::trajectory::Step;
use becausal_core::{Stream, Transitions};
use becausal_nn::{Block, Distribution, Head};

use super::coupling::Coupling;
use super::dynamics::{Dynamics, Noise, Prediction, Situation};
use super::influence::Influence;
use super::member::{CHUNK_ROWS, Member};
use super::target::Target;
use super::world_model::{WorldModel, index};

/// The seed of the values that replace others to measure effects: the same question has the same answer.
const EFFECT_SEED: u64 = 0;

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
        self.predicted(&outputs, 0, action, noise)
    }

    fn noise(&self, state: &[f64], action: &[f64], outcomes: &[f64], next: &[f64]) -> Noise {
        let step = Step::new(self.schema(), [state, action, outcomes, next], None);
        self.noises(&[&step]).remove(0)
    }

    fn noises(&self, steps: &[&Step]) -> Vec<Noise> {
        let table = self.encoding.action_table().unwrap_or_default();
        let rows = Self::own_and_other_actions(steps, &table);
        let members: Vec<Block> =
            (0..self.members.len()).map(|member| self.outputs_of_member(member, &rows)).collect();
        let outputs = mean_of_members(&members);
        let infer = |(at, step): (usize, &&Step)| {
            let seen = [&step.action[..], &step.outcomes, &step.next];
            self.inferred(
                (&outputs, at),
                &others(&outputs, (steps.len(), table.len()), at),
                seen,
                None,
            )
        };
        steps.iter().enumerate().map(infer).collect()
    }

    fn members(&self) -> usize {
        self.members.len()
    }

    fn draw_noise(
        &self,
        member: usize,
        steps: &[Option<&Step>],
        count: usize,
        stream: &mut Stream,
    ) -> Vec<Vec<Noise>> {
        let recorded: Vec<&Step> = steps.iter().filter_map(|step| *step).collect();
        let table = self.encoding.action_table().unwrap_or_default();
        let rows = Self::own_and_other_actions(&recorded, &table);
        let outputs = self.outputs_of_member(member, &rows);
        let mut of_steps = || {
            let mut at = 0;
            let draw = |step: Option<&Step>| {
                let noise = match step {
                    Some(step) => {
                        let others = others(&outputs, (recorded.len(), table.len()), at);
                        let seen = [&step.action[..], &step.outcomes, &step.next];
                        let noise = self.inferred((&outputs, at), &others, seen, Some(stream));
                        at += 1;
                        noise
                    }
                    None => self.drawn(stream),
                };
                let targets = self.encoding.targets();
                noise.with_open(targets.iter().map(|_| stream.normal()).collect())
            };
            steps.iter().copied().map(draw).collect()
        };
        (0..count).map(|_| of_steps()).collect()
    }

    fn steps_of(
        &self,
        member: usize,
        states: &[Vec<f64>],
        actions: &[Vec<f64>],
        noise: &[&Noise],
    ) -> Vec<Prediction> {
        let rows: Vec<(&[f64], &[f64])> =
            states.iter().zip(actions).map(|(state, action)| (&state[..], &action[..])).collect();
        let outputs = self.outputs_of_member(member, &rows);
        let steps = actions.iter().zip(noise).enumerate();
        steps.map(|(row, (action, noise))| self.predicted(&outputs, row, action, noise)).collect()
    }

    fn surprise(
        &self,
        state: &[f64],
        action: &[f64],
        outcomes: &[f64],
        next: &[f64],
    ) -> Option<Vec<f64>> {
        let outputs = mean_of_members(&self.outputs(state, action));
        let mut surprise = vec![0.0; self.structure.effects()];
        for (at, target) in self.encoding.targets().iter().enumerate() {
            let parameters = target.head.parameters(&outputs, 0);
            let observed = self.observed(target, outcomes, next);
            let value = self.encoding.encode_target(at, observed, parameters);
            let mut slopes = vec![0.0; target.head.distribution.parameters()];
            surprise[target.effect] -=
                target.head.distribution.log_likelihood(parameters, value, &mut slopes);
        }
        Some(surprise)
    }

    fn chances(
        &self,
        state: &[f64],
        action: &[f64],
        outcomes: &[f64],
        next: &[f64],
    ) -> Vec<Option<f64>> {
        let members = self.outputs(state, action);
        let mut chances = vec![None; self.structure.effects()];
        for target in self.encoding.targets() {
            let value = self.observed(target, outcomes, next);
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
        self.influences_here(&[(state, action)]).remove(0)
    }

    fn influences(&self, situations: &[Situation<'_>]) -> Vec<Influence> {
        self.influences_here(situations)
    }

    fn attention(&self, action: &[f64]) -> Option<Influence> {
        self.influence_by_weight(action)
    }

    fn effect(&self, rows: &Transitions) -> Option<Influence> {
        (!rows.is_empty()).then(|| self.influence_by_effect(rows, EFFECT_SEED))
    }

    fn disagreement(&self, situations: &[Situation<'_>]) -> Vec<Vec<f64>> {
        let of_member = |member: usize| self.outputs_of_member(member, situations);
        let outputs: Vec<Block> = (0..self.members.len()).into_par_iter().map(of_member).collect();
        let count = outputs.len() as f64;
        let at_row = |row: usize| {
            let mut disagreement = vec![0.0_f64; self.structure.effects()];
            for (at, target) in self.encoding.targets().iter().enumerate() {
                let mean = |outputs: &Block| {
                    let mean = target.head.distribution.mean(target.head.parameters(outputs, row));
                    self.encoding.raw(at, mean)
                };
                let means: Vec<f64> = outputs.iter().map(mean).collect();
                let middle = means.iter().sum::<f64>() / count;
                let squares: f64 = means.iter().map(|mean| (mean - middle) * (mean - middle)).sum();
                let deviation = (squares / count).sqrt() / target.spread;
                disagreement[target.effect] = disagreement[target.effect].max(deviation);
            }
            disagreement
        };
        (0..situations.len()).map(at_row).collect()
    }

    fn distance(&self, state: &[f64]) -> Vec<f64> {
        let mut slot = 0;
        let of_variable = |elements: usize| {
            let outside = (slot..slot + elements).map(|slot| {
                let (low, high) = self.encoding.range(slot);
                let value = self.encoding.placed(slot, state[slot]);
                let outside = (low - value).max(value - high).max(0.0);
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

    /// The states and actions of recorded steps, then every action in every of these states.
    fn own_and_other_actions<'a>(
        steps: &[&'a Step],
        table: &'a [Vec<f64>],
    ) -> Vec<(&'a [f64], &'a [f64])> {
        let own = steps.iter().map(|step| (&step.state[..], &step.action[..]));
        let others =
            steps.iter().flat_map(|step| table.iter().map(|other| (&step.state[..], &other[..])));
        own.chain(others).collect()
    }

    /// The outputs of one member for states and actions: `[effects, rows, columns]`.
    fn outputs_of_member(&self, member: usize, rows: &[(&[f64], &[f64])]) -> Block {
        let first = self.schema().action_slots().start;
        let inputs = self.encoding.inputs(rows.len(), |row, slot| match slot.checked_sub(first) {
            Some(slot) => rows[row].1[slot],
            None => rows[row].0[slot],
        });
        self.members[member].predict(&inputs, &self.structure)
    }

    /// The result of an action with this noise, from row `row` of some outputs.
    fn predicted(&self, outputs: &Block, row: usize, action: &[f64], noise: &Noise) -> Prediction {
        let no_noise = vec![0.0; self.noise_width()];
        let values = noise.values().unwrap_or(&no_noise);
        let (mut values, recorded_action) = values.split_at(values.len() - action.len());
        let mut results = Vec::with_capacity(self.encoding.targets().len());
        for (at, target) in self.encoding.targets().iter().enumerate() {
            let distribution = target.head.distribution;
            let parameters = target.head.parameters(outputs, row);
            let (own, rest) = values.split_at(distribution.noises());
            let (deviations, rest) = rest.split_at(DEVIATIONS);
            values = rest;
            results.push(match distribution.deviation(parameters) {
                Some(deviation) => {
                    let coupling = Coupling { recorded: deviations[0], least: deviations[1] };
                    let same_action = self.acts_alike(target.effect, recorded_action, action);
                    let carried = coupling.correlation(deviation, same_action);
                    let open = noise.open().map_or(0.0, |open| open[at]);
                    let rest = (1.0 - carried * carried).max(0.0).sqrt();
                    distribution.value(parameters, &[own[0] * carried + open * rest])
                }
                None => distribution.value(parameters, own),
            });
        }
        self.prediction(&results)
    }

    /// The noise of a recorded step (action, outcomes and next state): the median of what is possible, or
    /// drawn from it. The step's own outputs come first, then those of every action in its state, each as
    /// a block and a row.
    fn inferred(
        &self,
        (outputs, row): (&Block, usize),
        others: &[(&Block, usize)],
        [action, outcomes, next]: [&[f64]; 3],
        mut stream: Option<&mut Stream>,
    ) -> Noise {
        let mut noise = vec![0.0; self.noise_width()];
        let mut at = 0;
        for (index, target) in self.encoding.targets().iter().enumerate() {
            let distribution = target.head.distribution;
            let parameters = target.head.parameters(outputs, row);
            let own = &mut noise[at..][..distribution.noises()];
            at += distribution.noises();
            let observed = self.observed(target, outcomes, next);
            let value = self.encoding.encode_target(index, observed, parameters);
            match &mut stream {
                Some(stream) => distribution.draw_noise_of(parameters, value, stream, own),
                None => distribution.noise_of(parameters, value, own),
            }
            if let Some(recorded) = distribution.deviation(parameters) {
                let under = |(other, row): &(&Block, usize)| {
                    distribution.deviation(target.head.parameters(other, *row)).unwrap_or(recorded)
                };
                let least = others.iter().map(under).fold(recorded, f64::min);
                noise[at..][..DEVIATIONS].copy_from_slice(&[recorded, least]);
            }
            at += DEVIATIONS;
        }
        noise[at..].copy_from_slice(action);
        Noise::of(noise)
    }

    /// Noise of a step that was not recorded. That of numbers is left open.
    fn drawn(&self, stream: &mut Stream) -> Noise {
        let mut noise = vec![0.0; self.noise_width()];
        let mut at = 0;
        for target in self.encoding.targets() {
            let distribution = target.head.distribution;
            if matches!(distribution, Distribution::Bernoulli | Distribution::Categorical(_)) {
                distribution.draw(stream, &mut noise[at..]);
            }
            at += distribution.noises() + DEVIATIONS;
        }
        Noise::of(noise)
    }

    /// The recorded value of a target.
    fn observed(&self, target: &Target, outcomes: &[f64], next: &[f64]) -> f64 {
        let schema = self.schema();
        match target.slot.checked_sub(schema.next_slots().start) {
            Some(slot) => next[slot],
            None => outcomes[target.slot - schema.outcome_slots().start],
        }
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
    fn noise_width(&self) -> usize {
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

/// Where outputs have those of every action in the state of step `at`: after those of all `steps` themselves.
fn others(outputs: &Block, (steps, actions): (usize, usize), at: usize) -> Vec<(&Block, usize)> {
    let first = steps + at * actions;
    (first..first + actions).map(|row| (outputs, row)).collect()
}

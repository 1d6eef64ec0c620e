//! Steps of a world model for explanations.

use std::sync::Arc;

use rayon::prelude::*;

use becausal_core::env::typical_actions;
use becausal_core::progress::Tracker;
use becausal_core::schema::{Role, Schema};
use becausal_core::trajectory::Step;
use becausal_core::{Stream, Transitions};
use becausal_nn::{Block, Head};

use super::carried::{DEVIATIONS, Known, Recorded, is_label};
use super::dynamics::{Dynamics, Noise, PossibleNoise, Prediction, Situation};
use super::encoding::single;
use super::influence::Influence;
use super::inputs::Inputs;
use super::target::Target;
use super::world_model::WorldModel;

/// The seed of the values that replace others to measure effects: the same question has the same answer.
const EFFECT_SEED: u64 = 0;

/// The most combinations of numbers that are asked which of them has the least noise. With more, the recorded action
/// and the one taken are compared alone.
const MAX_STRENGTHS: usize = 16;

impl Dynamics for WorldModel {
    fn schema(&self) -> &Arc<Schema> {
        self.encoding.schema()
    }

    fn parents(&self, effect: usize) -> &[usize] {
        self.structure.parents(effect)
    }

    fn step(&self, state: &[f64], action: &[f64], noise: &Noise) -> Prediction {
        let outputs = mean_of_members(self.encoding.targets(), &self.outputs(state, action));
        self.predicted(&outputs, &[(state, action)], &[noise]).remove(0)
    }

    fn noise(&self, state: &[f64], action: &[f64], outcomes: &[f64], next: &[f64]) -> Noise {
        let step = Step::new(self.schema(), [state, action, outcomes, next], None);
        self.noises(&[&step]).remove(0)
    }

    fn noises(&self, steps: &[&Step]) -> Vec<Noise> {
        self.likely_noise(steps, &self.seen_by_members(steps))
    }

    fn members(&self) -> usize {
        self.members.len()
    }

    fn possible_noise(&self, steps: &[Option<&Step>], count: usize, seed: u64) -> PossibleNoise {
        let recorded: Vec<&Step> = steps.iter().filter_map(|step| *step).collect();
        let members = self.seen_by_members(&recorded);
        let mut inferred = self.likely_noise(&recorded, &members).into_iter();
        let likely = steps
            .iter()
            .map(|step| step.and_then(|_| inferred.next()).unwrap_or_default())
            .collect();
        let of_member = |outputs: &Block| {
            // The same random numbers for every member: they differ only in what they have learned.
            let mut stream = Stream::new(seed);
            (0..count).map(|_| self.drawn_noise(steps, outputs, &mut stream)).collect()
        };
        PossibleNoise { likely, drawn: members.par_iter().map(of_member).collect() }
    }

    fn noise_of_predicted(
        &self,
        member: usize,
        steps: &[&Step],
        stream: &mut Stream,
    ) -> Vec<Noise> {
        let outputs = self.outputs_for(member, &self.own_and_other_actions(steps));
        let steps: Vec<Option<&Step>> = steps.iter().copied().map(Some).collect();
        self.drawn_noise(&steps, &outputs, stream)
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
        self.predicted(&outputs, &rows, noise)
    }

    fn surprise(
        &self,
        state: &[f64],
        action: &[f64],
        outcomes: &[f64],
        next: &[f64],
    ) -> Option<Vec<f64>> {
        let outputs = mean_of_members(self.encoding.targets(), &self.outputs(state, action));
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

    fn substitutes(&self) -> Vec<Vec<Vec<f64>>> {
        self.substitute_values()
    }

    fn influence_by(&self, state: &[f64], action: &[f64], tried: &[Vec<bool>]) -> Influence {
        self.influence_here_by((state, action), tried)
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
                let of = |outputs: &Block| {
                    target.head.distribution.mean(target.head.parameters(outputs, row))
                };
                let first = of(&outputs[0]);
                let mean = |outputs: &Block| self.encoding.raw(at, target.near(of(outputs), first));
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
    /// What the members say of recorded steps on average: `[effects, steps, columns]`.
    pub(super) fn mean_outputs(&self, steps: &[&Step]) -> Block {
        let situations = steps.iter().map(|step| (&step.state[..], &step.action[..]));
        let inputs = self.inputs_of(&situations.collect::<Vec<Situation<'_>>>());
        let of_member = |member: usize| self.outputs_for(member, &inputs);
        let members: Vec<Block> = (0..self.members.len()).into_par_iter().map(of_member).collect();
        mean_of_members(self.encoding.targets(), &members)
    }

    /// The outputs of every member for a state and an action: `[effects, 1, columns]` each.
    fn outputs(&self, state: &[f64], action: &[f64]) -> Vec<Block> {
        let inputs = self.inputs_of(&[(state, action)]);
        (0..self.members.len()).map(|member| self.outputs_for(member, &inputs)).collect()
    }

    /// The states and actions of steps, then every action in every of these states; of actions that are numbers, their
    /// bounds and the middle.
    fn own_and_other_actions(&self, steps: &[&Step]) -> Inputs {
        let table = self.encoding.action_table();
        let table = table.unwrap_or_else(|| typical_actions(self.schema(), MAX_STRENGTHS));
        let own = steps.iter().map(|step| (&step.state[..], &step.action[..]));
        let others =
            steps.iter().flat_map(|step| table.iter().map(|other| (&step.state[..], &other[..])));
        self.inputs_of(&own.chain(others).collect::<Vec<Situation<'_>>>())
    }

    /// What each member says of recorded steps: its outputs for their states and actions, then for every action in every
    /// of these states.
    fn seen_by_members(&self, steps: &[&Step]) -> Vec<Block> {
        let inputs = self.own_and_other_actions(steps);
        let of_member = |member: usize| self.outputs_for(member, &inputs);
        (0..self.members.len()).into_par_iter().map(of_member).collect()
    }

    /// The noise of recorded steps, given what the members [say](Self::seen_by_members) of them.
    fn likely_noise(&self, steps: &[&Step], members: &[Block]) -> Vec<Noise> {
        let outputs = mean_of_members(self.encoding.targets(), members);
        let infer = |(at, step): (usize, &&Step)| {
            let others = others(&outputs, steps.len(), at);
            self.inferred((&outputs, at), &others, step, None)
        };
        steps.iter().enumerate().map(infer).collect()
    }

    /// Noise of some steps that is possible by what one member says of the recorded ones among them.
    fn drawn_noise(
        &self,
        steps: &[Option<&Step>],
        outputs: &Block,
        stream: &mut Stream,
    ) -> Vec<Noise> {
        let recorded = steps.iter().flatten().count();
        let mut at = 0;
        let draw = |step: Option<&Step>| {
            let noise = match step {
                Some(step) => {
                    let others = others(outputs, recorded, at);
                    let noise = self.inferred((outputs, at), &others, step, Some(stream));
                    at += 1;
                    noise
                }
                None => self.drawn(stream),
            };
            let targets = self.encoding.targets();
            // Added to what is known, so without tails.
            noise.with_open(targets.iter().map(|_| stream.normal()).collect())
        };
        steps.iter().copied().map(draw).collect()
    }

    /// The outputs of one member for states and actions: `[effects, rows, columns]`.
    fn outputs_of_member(&self, member: usize, rows: &[Situation<'_>]) -> Block {
        self.outputs_for(member, &self.inputs_of(rows))
    }

    /// The inputs of the networks for states and actions.
    pub(super) fn inputs_of(&self, rows: &[Situation<'_>]) -> Inputs {
        let first = self.schema().action_slots().start;
        self.encoding.inputs(rows.len(), |row, slot| match slot.checked_sub(first) {
            Some(slot) => rows[row].1[slot],
            None => rows[row].0[slot],
        })
    }

    fn outputs_for(&self, member: usize, inputs: &Inputs) -> Block {
        let part = self.action_part(member);
        let member = &self.members[member];
        let mut outputs = member.predict_under(inputs, &self.structure, part, &Tracker::unheard());
        self.encoding.apply_stops(&mut outputs);
        outputs
    }

    /// The results of actions with this noise, from the rows of some outputs.
    fn predicted(
        &self,
        outputs: &Block,
        situations: &[Situation<'_>],
        noise: &[&Noise],
    ) -> Vec<Prediction> {
        let known = self.known(outputs, situations, noise);
        let row = |(row, known): (usize, &Option<Vec<Known>>)| {
            self.prediction(&self.values((outputs, row), noise[row], known.as_deref()))
        };
        known.iter().enumerate().map(row).collect()
    }

    /// The noise of a recorded step: the median of what is possible, or drawn from it. The step's own outputs come
    /// first, then those of every action in its state, each as a block and a row.
    fn inferred(
        &self,
        (outputs, row): (&Block, usize),
        others: &[(&Block, usize)],
        step: &Step,
        mut stream: Option<&mut Stream>,
    ) -> Noise {
        let mut noise = vec![0.0; self.noise_width()];
        let mut labels = Vec::new();
        let mut at = 0;
        for (index, target) in self.encoding.targets().iter().enumerate() {
            let distribution = target.head.distribution;
            let parameters = target.head.parameters(outputs, row);
            let own = &mut noise[at..][..distribution.noises()];
            at += distribution.noises();
            let observed = self.observed(target, &step.outcomes, &step.next);
            let value = self.encoding.encode_target(index, observed, parameters);
            if is_label(distribution) {
                labels.push(single(value));
                labels.extend_from_slice(parameters);
            }
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
        let (state, action) = (step.state.clone(), step.action.clone());
        Noise::of(noise).recorded_in(Recorded { state, action, labels })
    }

    /// Noise of a step that was not recorded. That of numbers is left open.
    fn drawn(&self, stream: &mut Stream) -> Noise {
        let mut noise = vec![0.0; self.noise_width()];
        let mut at = 0;
        for target in self.encoding.targets() {
            let distribution = target.head.distribution;
            if is_label(distribution) {
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

    /// Numbers in the noise of a step: for every target its own noise and the deviations of its
    /// [`Coupling`](super::coupling::Coupling).
    fn noise_width(&self) -> usize {
        let heads = self.encoding.targets().iter().map(|target| &target.head);
        let own = heads.map(|Head { distribution, .. }| distribution.noises() + DEVIATIONS);
        own.sum()
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
fn mean_of_members(targets: &[Target], outputs: &[Block]) -> Block {
    let mut mean = outputs[0].clone();
    for other in &outputs[1..] {
        mean.values.iter_mut().zip(&other.values).for_each(|(mean, value)| *mean += value);
        // On a circle, members that are whole periods apart say the same.
        for target in targets.iter().filter(|target| target.circle.is_some()) {
            for row in 0..other.shape.rows {
                let [first, own] = [&outputs[0], other]
                    .map(|outputs| f64::from(target.head.parameters(outputs, row)[0]));
                let place = (target.head.group * other.shape.rows + row) * other.shape.columns;
                mean.values[place + target.head.column] += single(target.near(own, first) - own);
            }
        }
    }
    let count = outputs.len() as f32;
    mean.values.iter_mut().for_each(|value| *value /= count);
    mean
}

/// Where outputs have those of every action in the state of step `at`: after those of all `steps` themselves.
fn others(outputs: &Block, steps: usize, at: usize) -> Vec<(&Block, usize)> {
    let actions = (outputs.shape.rows / steps.max(1)).saturating_sub(1);
    let first = steps + at * actions;
    (first..first + actions).map(|row| (outputs, row)).collect()
}

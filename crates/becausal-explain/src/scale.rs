//! What counts as a change: a share of a variable's standard deviation in the data.

use std::ops::Range;

use super::explanan::differ;
use crate::chain::{Node, Part, Shape};
use becausal_core::Transitions;
use becausal_core::data::Spread;
use becausal_core::schema::{Kind, Schema};

pub use becausal_model::NEGLIGIBLE;

/// The standard deviations of the effects (next states, then outcomes) in the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// For each effect, its range in (s', o) and the standard deviation of each number; `None` for
    /// categories and booleans, where any difference counts.
    effects: Vec<(Range<usize>, Vec<Option<f64>>)>,
    /// The number of effects that are outcomes.
    outcomes: usize,
    /// The standard deviation of the sum of all reward terms.
    reward: f64,
}

impl Scale {
    /// The standard deviations in recorded data.
    #[must_use]
    pub fn of(data: &Transitions) -> Self {
        let schema = data.schema();
        let shape = Shape::of(schema);
        let offset = schema.state_slots().len();
        let slots: Vec<usize> = schema.next_slots().chain(schema.outcome_slots()).collect();
        let outcomes = shape.outcomes.iter().map(|r| r.start + offset..r.end + offset);
        let ranges = shape.states.iter().cloned().chain(outcomes);
        let effects = ranges.map(|range| {
            let deviations = slots[range.clone()].iter().map(|&slot| deviation(data, schema, slot));
            let deviations = deviations.collect();
            (range, deviations)
        });
        let rewards = data.total_reward();
        let mean = rewards.iter().sum::<f64>() / rewards.len().max(1) as f64;
        let squares: f64 = rewards.iter().map(|reward| (reward - mean).powi(2)).sum();
        let reward = (squares / rewards.len().max(1) as f64).sqrt();
        Self { effects: effects.collect(), outcomes: shape.outcomes.len(), reward }
    }

    /// The number of effects.
    #[must_use]
    pub fn effects(&self) -> usize {
        self.effects.len()
    }

    /// Whether an effect differs by more than a share of its standard deviation. `left` and `right`
    /// are (s', o) in two trajectories. Categories and booleans differ unless they are equal.
    #[must_use]
    pub fn differs(&self, effect: usize, left: &[f64], right: &[f64], share: f64) -> bool {
        let (range, deviations) = &self.effects[effect];
        range.clone().zip(deviations).any(|(at, d)| exceeds(left[at], right[at], *d, share))
    }

    /// For each number of an effect, the largest difference that is negligible; `None` for labels.
    #[must_use]
    pub fn negligible(&self, effect: usize, share: f64) -> Vec<Option<f64>> {
        let (_, deviations) = &self.effects[effect];
        deviations.iter().map(|deviation| deviation.map(|d| (share * d).max(1e-9))).collect()
    }

    /// Whether an effect changes in the same direction in two courses, from `from` to `real` and to
    /// `claimed`, in every number that really changes by more than a share of its standard deviation. A
    /// label has to be the same.
    #[must_use]
    pub fn same_direction(
        &self,
        effect: usize,
        [from, real, claimed]: [&[f64]; 3],
        share: f64,
    ) -> bool {
        let (range, deviations) = &self.effects[effect];
        range.clone().zip(deviations).all(|(at, deviation)| match deviation {
            _ if !exceeds(from[at], real[at], *deviation, share) => true,
            Some(_) => (real[at] - from[at]) * (claimed[at] - from[at]) > 0.0,
            None => claimed[at] == real[at],
        })
    }

    /// The error of the claimed change of a numeric effect and the size of the real one, both in standard
    /// deviations of the variable; `None` for labels, and for a variable that never varies.
    #[must_use]
    pub fn sizes(&self, effect: usize, [from, real, claimed]: [&[f64]; 3]) -> Option<[f64; 2]> {
        let (range, deviations) = &self.effects[effect];
        let mut sizes = None;
        for (at, deviation) in range.clone().zip(deviations) {
            if let Some(deviation) = deviation.filter(|deviation| *deviation > 0.0) {
                let [error, size] = sizes.get_or_insert([0.0, 0.0]);
                *error += (claimed[at] - real[at]).abs() / deviation;
                *size += (real[at] - from[at]).abs() / deviation;
            }
        }
        sizes
    }

    /// Whether two values of a node differ. Actions and rewards differ unless they are equal up to
    /// rounding.
    #[must_use]
    pub fn differs_at(&self, node: Node, left: &[f64], right: &[f64], share: f64) -> bool {
        let states = self.effects.len() - self.outcomes;
        let effect = match node.part {
            Part::State => node.index,
            Part::Outcome => states + node.index,
            Part::Action | Part::Reward => return differ(left, right),
        };
        let Some((_, deviations)) = self.effects.get(effect).filter(|_| left.len() == right.len())
        else {
            return differ(left, right);
        };
        left.iter().zip(right).zip(deviations).any(|((a, b), d)| exceeds(*a, *b, *d, share))
    }

    /// How far the two values of a node are apart, in standard deviations; a label counts as one.
    #[must_use]
    pub fn size(&self, node: Node, left: &[f64], right: &[f64]) -> f64 {
        let states = self.effects.len() - self.outcomes;
        let effect = match node.part {
            Part::State => node.index,
            Part::Outcome => states + node.index,
            Part::Action | Part::Reward => self.effects.len(),
        };
        let deviations = self.effects.get(effect).map_or(&[][..], |(_, deviations)| deviations);
        let apart = left.iter().zip(right).enumerate().map(|(element, (left, right))| {
            match deviations.get(element).copied().flatten() {
                Some(deviation) if deviation > 0.0 => (left - right).abs() / deviation,
                _ => f64::from(u8::from(left != right)),
            }
        });
        apart.fold(0.0, f64::max)
    }

    /// The smallest reward difference that is not negligible.
    #[must_use]
    pub fn reward(&self, share: f64) -> f64 {
        (share * self.reward).max(1e-9)
    }
}

/// Whether two numbers differ by more than a share of their standard deviation.
fn exceeds(left: f64, right: f64, deviation: Option<f64>, share: f64) -> bool {
    let difference = (left - right).abs();
    match deviation {
        // A rounding error is never a change.
        Some(deviation) => difference > (share * deviation).max(1e-9 * left.abs().max(1e-3)),
        None => difference != 0.0,
    }
}

fn deviation(data: &Transitions, schema: &Schema, slot: usize) -> Option<f64> {
    match schema.variable_of(slot).kind {
        Kind::Boolean | Kind::Categorical(_) => None,
        Kind::Continuous(_) | Kind::Integer(_) => {
            Some(Spread::of(data.column(slot)).map_or(0.0, |spread| spread.deviation))
        }
    }
}

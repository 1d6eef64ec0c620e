//! What counts as a change: a share of a variable's standard deviation in the data.

use std::ops::Range;

use super::explanan::differ;
use crate::chain::{Node, Part, Shape};
use becausal_core::Transitions;
use becausal_core::schema::Kind;

pub use becausal_model::NEGLIGIBLE;

/// The standard deviations of the effects (next states, then outcomes) in the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// For each effect, its range in (s', o) and the measure of each element.
    effects: Vec<(Range<usize>, Vec<Measure>)>,
    /// The number of effects that are outcomes.
    outcomes: usize,
    /// The standard deviation of the sum of all reward terms.
    reward: f64,
}

/// What the differences of an element of an effect are measured by.
#[derive(Debug, Clone, PartialEq)]
struct Measure {
    /// The standard deviation of a number; `None` for categories and booleans, where any difference counts.
    deviation: Option<f64>,
    /// Says how differences are taken: on a circle the shortest way.
    kind: Kind,
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
            let measures = slots[range.clone()].iter().map(|&slot| Measure::of(data, slot));
            let measures = measures.collect();
            (range, measures)
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
        let (range, measures) = &self.effects[effect];
        range.clone().zip(measures).any(|(at, m)| m.exceeds(left[at], right[at], share))
    }

    /// For each number of an effect, the largest difference that is negligible; `None` for labels.
    #[must_use]
    pub fn negligible(&self, effect: usize, share: f64) -> Vec<Option<f64>> {
        let (_, measures) = &self.effects[effect];
        let negligible = |measure: &Measure| Some((share * measure.deviation?).max(1e-9));
        measures.iter().map(negligible).collect()
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
        let (range, measures) = &self.effects[effect];
        range.clone().zip(measures).all(|(at, measure)| {
            if !measure.exceeds(from[at], real[at], share) {
                return true;
            }
            if measure.deviation.is_none() {
                return claimed[at] == real[at];
            }
            let [real, claimed] =
                [real, claimed].map(|to| measure.kind.difference(to[at], from[at]));
            real * claimed > 0.0
        })
    }

    /// The error of the claimed change of a numeric effect and the size of the real one, both in standard
    /// deviations of the variable; `None` for labels, and for a variable that never varies.
    #[must_use]
    pub fn sizes(&self, effect: usize, [from, real, claimed]: [&[f64]; 3]) -> Option<[f64; 2]> {
        let (range, measures) = &self.effects[effect];
        let mut sizes = None;
        for (at, measure) in range.clone().zip(measures) {
            if let Some(deviation) = measure.deviation.filter(|deviation| *deviation > 0.0) {
                let [error, size] = sizes.get_or_insert([0.0, 0.0]);
                *error += measure.kind.difference(claimed[at], real[at]).abs() / deviation;
                *size += measure.kind.difference(real[at], from[at]).abs() / deviation;
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
        let Some((_, measures)) = self.effects.get(effect).filter(|_| left.len() == right.len())
        else {
            return differ(left, right);
        };
        left.iter().zip(right).zip(measures).any(|((a, b), m)| m.exceeds(*a, *b, share))
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
        let measures = self.effects.get(effect).map_or(&[][..], |(_, measures)| measures);
        let apart = left.iter().zip(right).enumerate().map(|(element, (left, right))| {
            let measure = measures.get(element);
            match measure.and_then(|measure| Some((measure, measure.deviation?))) {
                Some((measure, deviation)) if deviation > 0.0 => {
                    measure.kind.difference(*left, *right).abs() / deviation
                }
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

impl Measure {
    fn of(data: &Transitions, slot: usize) -> Self {
        let kind = &data.schema().variable_of(slot).kind;
        let deviation = || data.spread(slot).map_or(0.0, |spread| spread.deviation);
        Self { deviation: (!kind.is_label()).then(deviation), kind: kind.clone() }
    }

    /// Whether two values differ by more than a share of the standard deviation.
    fn exceeds(&self, left: f64, right: f64, share: f64) -> bool {
        let difference = self.kind.difference(left, right).abs();
        match self.deviation {
            // A rounding error is never a change.
            Some(deviation) => difference > (share * deviation).max(1e-9 * left.abs().max(1e-3)),
            None => difference != 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use becausal_core::Schema;
    use becausal_core::data::Row;

    use super::*;

    #[test]
    fn differences_on_a_circle_go_the_shortest_way() {
        let text = "name = \"Dial\"\n[state]\nangle = { kind = \"circular\", period = 360 }\n\
                    [action]\na = { kind = \"boolean\" }\n";
        let mut data = Transitions::new(Arc::new(Schema::parse(text).expect("a schema")));
        for angle in [90.0, 179.0, -179.0, -90.0] {
            let (state, next) = (&[angle], &[angle]);
            let (action, outcomes, reward) = (&[0.0], &[], 0.0);
            let (terminated, truncated) = (false, false);
            data.push(&Row { state, action, outcomes, next, reward, terminated, truncated });
        }
        let scale = Scale::of(&data);
        assert!(!scale.differs(0, &[180.0], &[-180.0], 0.01));
        assert!(!scale.differs(0, &[179.9], &[-179.9], 0.01));
        assert!(scale.differs(0, &[170.0], &[-170.0], 0.01));
        let [from, real, claimed] = [[170.0], [-170.0], [-175.0]];
        assert!(scale.same_direction(0, [&from, &real, &claimed], 0.01));
        let [error, size] = scale.sizes(0, [&from, &real, &claimed]).expect("a number");
        assert!((size / error - 4.0).abs() < 1e-9, "{error} {size}");
        assert!((scale.size(Node::state(1, 0), &from, &real) - size).abs() < 1e-9);
    }
}

//! How much wider or narrower intervals have to be than possible courses make them.
//!
//! Possible courses show what the networks disagree about and what the record leaves open. They do not show what all
//! networks got wrong alike, nor how much of the disagreement is only theirs. An audit shows both: for each real
//! number, by what factor its interval has to be stretched to hold it. The factor that is enough for nine in ten of
//! these numbers is enough for nine in ten others of their kind (split conformal prediction, normalised by the
//! width: Vovk et al. 2005, Lei et al. 2018).

use super::chain::{Node, Part, Shape};

/// From fewer numbers no factor is learned: a tenth of them decides it. Of fifty independent ones, the share that the
/// factor comes to hold has a standard error of 0.04.
const MIN_NUMBERS: usize = 50;

/// The share of real numbers that an interval is to hold.
const SHARE: f64 = 0.9;

/// The largest factor, and its inverse the smallest. Where more would be needed, possible courses agree on what is wrong,
/// and an interval of any width would mislead.
const MAX_FACTOR: f64 = 10.0;

/// What a number is a number of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A reward difference.
    Reward,
    /// The value of an effect, by its index: next states, then outcomes.
    Effect(usize),
}

impl Quantity {
    /// That of a node; `None` for an action.
    pub(super) fn of(node: Node, shape: &Shape) -> Option<Self> {
        match node.part {
            Part::State => Some(Self::Effect(node.index)),
            Part::Outcome => Some(Self::Effect(shape.states.len() + node.index)),
            Part::Reward => Some(Self::Reward),
            Part::Action => None,
        }
    }
}

/// By what factor the intervals of each quantity are stretched; 1 where nothing is known.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Calibration {
    reward: Option<f64>,
    /// The factor of reward differences over more steps than this.
    beyond: Option<(usize, Option<f64>)>,
    /// One for each effect.
    effects: Vec<Option<f64>>,
}

impl Calibration {
    /// From factors that were kept: of reward differences, and of every effect. `None` if one of them is no factor from
    /// 0.1 to 10.
    #[must_use]
    pub fn new(reward: Option<f64>, effects: Vec<Option<f64>>) -> Option<Self> {
        let is_factor = |factor: f64| (1.0 / MAX_FACTOR..=MAX_FACTOR).contains(&factor);
        let are_factors =
            effects.iter().chain([&reward]).flatten().all(|&factor| is_factor(factor));
        are_factors.then_some(Self { reward, beyond: None, effects })
    }

    /// The same with another factor for reward differences over more than some steps: what courses add up to over a hundred
    /// steps is far less certain than a model thinks that has learned single steps. `None` if it is no factor from 0.1
    /// to 10.
    #[must_use]
    pub fn beyond(self, steps: usize, factor: Option<f64>) -> Option<Self> {
        let factor = Self::new(factor, Vec::new())?.reward;
        Some(Self { beyond: Some((steps, factor)), ..self })
    }

    /// From the stretches that an audit found, in states drawn in one or several ways. A factor is enough for each of
    /// them, or, where there are few numbers, for all together. An effect with few numbers even so has the factor of all
    /// effects.
    #[must_use]
    pub fn of(drawn: &[Vec<(Quantity, f64)>], effects: usize) -> Self {
        let factor_of = |is_meant: &dyn Fn(Quantity) -> bool| {
            let meant = |stretches: &Vec<(Quantity, f64)>| -> Vec<f64> {
                let meant = stretches.iter().filter(|(quantity, _)| is_meant(*quantity));
                meant.map(|(_, stretch)| *stretch).collect()
            };
            let meant: Vec<Vec<f64>> = drawn.iter().map(meant).collect();
            let enough_for_each = meant.iter().cloned().filter_map(factor).reduce(f64::max);
            enough_for_each.or_else(|| factor(meant.concat()))
        };
        let together = factor_of(&|quantity| quantity != Quantity::Reward);
        let of_effect =
            |effect| factor_of(&|quantity| quantity == Quantity::Effect(effect)).or(together);
        Self {
            reward: factor_of(&|quantity| quantity == Quantity::Reward),
            beyond: None,
            effects: (0..effects).map(of_effect).collect(),
        }
    }

    /// The factor of reward differences over some steps. Where nothing is known it is 1; over more steps than were audited it
    /// is at least that of few steps, and at least 1.
    #[must_use]
    pub fn of_reward_over(&self, steps: usize) -> f64 {
        let near = self.factor(Quantity::Reward);
        match self.beyond {
            Some((audited, factor)) if steps > audited => factor.unwrap_or(near.max(1.0)),
            _ => near,
        }
    }

    /// Whether an audit gave the factor of reward differences over some steps.
    #[must_use]
    pub fn knows_reward_over(&self, steps: usize) -> bool {
        match self.beyond {
            Some((audited, factor)) if steps > audited => factor.is_some(),
            _ => self.reward.is_some(),
        }
    }

    /// The factor of a quantity; 1 where nothing is known.
    #[must_use]
    pub fn factor(&self, quantity: Quantity) -> f64 {
        self.known(quantity).unwrap_or(1.0)
    }

    /// The factor of a quantity, if an audit gave one.
    #[must_use]
    pub fn known(&self, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::Reward => self.reward,
            Quantity::Effect(effect) => self.effects.get(effect).copied().flatten(),
        }
    }

    /// Whether no audit gave any factor.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reward.is_none() && self.beyond.is_none() && self.effects.iter().all(Option::is_none)
    }
}

/// The factor that is enough for nine in ten of these stretches; `None` of too few.
fn factor(mut stretches: Vec<f64>) -> Option<f64> {
    if stretches.len() < MIN_NUMBERS {
        return None;
    }
    stretches.sort_by(f64::total_cmp);
    // One more number is as likely to come at any place between these.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let enough = (SHARE * (stretches.len() + 1) as f64).ceil() as usize;
    Some(stretches[enough.min(stretches.len()) - 1].clamp(1.0 / MAX_FACTOR, MAX_FACTOR))
}

#[cfg(test)]
mod tests {
    use super::super::interval::Interval;
    use super::*;
    use becausal_core::Stream;

    /// What somebody says of a number who thinks that its standard deviation is 1.
    const SAID: Interval = Interval { low: -1.645, median: 0.0, high: 1.645 };

    fn stretches(deviation: f64, count: usize, stream: &mut Stream) -> Vec<(Quantity, f64)> {
        let mut one = |_| (Quantity::Reward, SAID.stretch_to(deviation * stream.normal()));
        (0..count).map(&mut one).collect()
    }

    #[test]
    fn stretched_intervals_hold_nine_in_ten_of_other_numbers() {
        let mut stream = Stream::new(8);
        for deviation in [0.3, 1.0, 2.5] {
            let calibration = Calibration::of(&[stretches(deviation, 2000, &mut stream)], 0);
            let factor = calibration.factor(Quantity::Reward);
            assert!((factor / deviation - 1.0).abs() < 0.1, "{deviation}: {factor}");
            let [low, high] = SAID.stretched(factor);
            let held = (0..2000).filter(|_| {
                let real = deviation * stream.normal();
                low <= real && real <= high
            });
            let held = held.count();
            // Four standard errors of 2,000 cases are 54, and the factor has an error of its own.
            assert!((1720..=1880).contains(&held), "{deviation}: {held} of 2000");
        }
    }

    #[test]
    fn a_factor_is_enough_for_every_way_in_which_states_were_drawn() {
        let mut stream = Stream::new(10);
        let drawn = [0.5, 2.0].map(|deviation| stretches(deviation, 2000, &mut stream));
        let factor = Calibration::of(&drawn, 0).factor(Quantity::Reward);
        assert!((factor / 2.0 - 1.0).abs() < 0.1, "{factor}");
    }

    #[test]
    fn of_few_numbers_nothing_is_learned() {
        let mut stream = Stream::new(9);
        let few = Calibration::of(&[stretches(3.0, MIN_NUMBERS - 1, &mut stream)], 2);
        assert_eq!(few.factor(Quantity::Reward), 1.0);
        assert_eq!(few.known(Quantity::Effect(1)), None);
        assert!(few.is_empty());
    }

    #[test]
    fn an_effect_with_few_numbers_has_the_factor_of_all() {
        let mut all: Vec<(Quantity, f64)> =
            (0..200).map(|at| (Quantity::Effect(0), f64::from(at) / 100.0)).collect();
        all.push((Quantity::Effect(1), 0.0));
        let calibration = Calibration::of(&[all], 2);
        let [first, second] = [0, 1].map(|effect| calibration.factor(Quantity::Effect(effect)));
        assert!((first - 1.8).abs() < 0.02 && (second - 1.8).abs() < 0.02, "{calibration:?}");
    }

    #[test]
    fn reward_differences_over_many_steps_have_a_factor_of_their_own() {
        let near = Calibration::new(Some(0.8), vec![Some(2.0)]).expect("sound");
        assert_eq!(near.of_reward_over(100), 0.8);
        let far = near.clone().beyond(5, Some(3.0)).expect("sound");
        assert_eq!([1, 5, 6, 100].map(|steps| far.of_reward_over(steps)), [0.8, 0.8, 3.0, 3.0]);
        assert_eq!(far.factor(Quantity::Effect(0)), 2.0);
        assert_eq!(near.beyond(5, Some(f64::NAN)), None);
    }

    #[test]
    fn factors_stay_within_their_bounds() {
        let wrong = vec![(Quantity::Reward, f64::INFINITY); 150];
        assert_eq!(Calibration::of(&[wrong], 0).factor(Quantity::Reward), MAX_FACTOR);
        for damaged in [f64::NAN, -1.0, 0.0, 1e9] {
            assert_eq!(Calibration::new(None, vec![Some(2.0), Some(damaged)]), None, "{damaged}");
            assert_eq!(Calibration::new(Some(damaged), Vec::new()), None, "{damaged}");
        }
        let kept = Calibration::new(Some(0.5), vec![None, Some(2.0)]).expect("sound");
        assert_eq!(kept.factor(Quantity::Effect(0)), 1.0);
        assert_eq!(kept.factor(Quantity::Effect(1)), 2.0);
    }
}

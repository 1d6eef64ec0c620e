//! What the noise of a recorded step says about the noise of another one.
//!
//! Data never show the same moment twice, so how the noise under one action goes together with the noise
//! under another cannot be learned: it is an assumption. Ours is the most cautious one that keeps noise
//! which has nothing to do with the action:
//!
//! - What is random under *every* action, in the amount of the least random one, is one and the same noise,
//!   whichever action is taken.
//! - What an action adds to it is its own: the dispersion of an engine that did not run shows nowhere, and
//!   that of an engine that ran says nothing about another engine.
//! - Under the same action, in another state, the smaller noise is part of the larger one.
//! - An action that is a number is one action at other strengths: what it adds is one noise, which grows with the
//!   strength. A throttle that is opened twice as far shakes twice as much. (One throttle of two engines, one for each
//!   sign, counts as one engine all the same.)
//!
//! So a noise that was seen is carried over as far as it must be shared, and has its mean beyond.
//!
//! All of it rests on standard deviations that networks predict. A deviation that is 5 % too small under one action
//! would make a tenth of the variance the other action's own, which is a third of its deviation. So deviations that
//! are as near to each other as networks can tell are the same ([`ALIKE`]).

/// Two predicted deviations that differ by up to this share are the same noise. In `AimTest-v0`, where noise is the
/// same under every action, the deviations that five networks predict from 20,000 rows differ between actions by 4 to 11 %
/// (seed 171; with 5, 20 and 40 % its intervals strictly hold .974, .929 and .929 of the reward differences, with this .948).
const ALIKE: f64 = 0.1;

/// How the action of a step compares with the recorded one, in the variables that an effect depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    SameAction,
    /// The same labels, and other numbers.
    OtherStrength,
    OtherAction,
}

/// The standard deviations of a number in a recorded step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Coupling {
    /// Under the recorded action.
    pub recorded: f64,
    /// Under the action with the least noise.
    pub least: f64,
}

impl Coupling {
    /// The standardised noise of a step, divided by the standardised noise of the recorded one: their
    /// correlation. `deviation` is that of the step.
    pub fn correlation(self, deviation: f64, relation: Relation) -> f64 {
        let smaller = self.recorded.min(deviation);
        let larger = self.recorded.max(deviation);
        if larger <= 0.0 {
            return 1.0;
        }
        if smaller <= 0.0 {
            return 0.0;
        }
        // What is common to all actions, as a share of each deviation: at most all of the smaller one.
        let least = self.least.min(smaller);
        let common = [smaller, larger].map(|deviation| ratio(least, deviation));
        match relation {
            Relation::SameAction => ratio(smaller, larger),
            Relation::OtherAction => common[0] * common[1],
            Relation::OtherStrength => {
                let added = common.map(|share| (1.0 - share * share).sqrt());
                common[0] * common[1] + added[0] * added[1]
            }
        }
    }
}

/// The ratio of two deviations, at most 1: 1 where they are [`ALIKE`], and the nearer to the plain ratio the farther they are
/// apart.
fn ratio(smaller: f64, larger: f64) -> f64 {
    let apart = (larger / smaller.min(larger)).ln();
    if apart <= ALIKE { 1.0 } else { (-(apart * apart - ALIKE * ALIKE).sqrt()).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_that_every_action_has_is_kept() {
        let same_everywhere = Coupling { recorded: 2.0, least: 2.0 };
        assert_eq!(same_everywhere.correlation(2.0, Relation::OtherAction), 1.0);
        assert_eq!(same_everywhere.correlation(2.0, Relation::SameAction), 1.0);
    }

    #[test]
    fn the_noise_of_an_engine_that_ran_says_nothing_about_another() {
        let engine = Coupling { recorded: 0.5, least: 0.0 };
        assert_eq!(engine.correlation(0.4, Relation::OtherAction), 0.0);
        assert_eq!(engine.correlation(0.5, Relation::SameAction), 1.0);
        let quiet = Coupling { recorded: 0.001, least: 0.001 };
        assert!(quiet.correlation(0.5, Relation::OtherAction) < 0.01);
    }

    #[test]
    fn in_another_state_the_smaller_noise_is_part_of_the_larger() {
        let coupling = Coupling { recorded: 1.0, least: 0.2 };
        for deviation in [2.0, 0.5] {
            let carried = coupling.correlation(deviation, Relation::SameAction);
            assert!((carried - 0.5).abs() < 0.01);
        }
    }

    #[test]
    fn a_throttle_opened_twice_as_far_shakes_twice_as_much() {
        // Next to nothing is random while it is shut, so all noise is the throttle's.
        let throttle = Coupling { recorded: 0.5, least: 1e-6 };
        assert!(throttle.correlation(1.0, Relation::OtherStrength) > 0.999);
        // Shut, it shows nothing of what it would do.
        let shut = Coupling { recorded: 0.01, least: 0.01 };
        assert!(shut.correlation(1.0, Relation::OtherStrength) < 0.011);
        // What is random at every strength stays as it is.
        let even = Coupling { recorded: 0.5, least: 0.5 };
        assert_eq!(even.correlation(0.5, Relation::OtherStrength), 1.0);
    }

    #[test]
    fn deviations_that_networks_cannot_tell_apart_are_one_noise() {
        let alike = Coupling { recorded: 1.04, least: 0.98 };
        assert_eq!(alike.correlation(1.02, Relation::OtherAction), 1.0);
        assert_eq!(alike.correlation(0.98, Relation::SameAction), 1.0);
        // A little farther apart they share a little less: there is no jump.
        let even = Coupling { recorded: 1.0, least: 1.0 };
        let correlations = [1.10, 1.11, 1.15, 1.3]
            .map(|deviation| even.correlation(deviation, Relation::OtherAction));
        assert!(correlations.is_sorted_by(|a, b| a > b), "{correlations:?}");
        assert!(correlations[1] > 0.95 && correlations[3] < 0.8, "{correlations:?}");
    }

    #[test]
    fn a_quieter_step_shares_no_more_than_its_own_noise() {
        for relation in [Relation::SameAction, Relation::OtherStrength, Relation::OtherAction] {
            // Recorded with the least noise of all actions, then a state in which less is random.
            let loud = Coupling { recorded: 1.0, least: 1.0 }.correlation(0.1, relation);
            let quiet = Coupling { recorded: 0.1, least: 0.1 }.correlation(1.0, relation);
            assert!((loud - quiet).abs() < 1e-12 && loud < 0.12, "{relation:?}: {loud} {quiet}");
        }
    }

    #[test]
    fn the_carried_noise_is_the_conditional_mean_of_a_sum_of_parts() {
        // Noise = shared part (deviation 0.6) + own part: recorded 1.0 in all, the other 0.8 in all.
        let coupling = Coupling { recorded: 1.0, least: 0.6 };
        let carried = coupling.correlation(0.8, Relation::OtherAction);
        assert!((carried - 0.36 / 0.8).abs() < 0.02, "{carried}");
    }
}

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
//!   strength. A throttle that is opened twice as far shakes twice as much.
//!
//! So a noise that was seen is carried over as far as it must be shared, and has its mean beyond.

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
        let least = self.least.min(smaller);
        let added = |deviation: f64| (deviation * deviation - least * least).max(0.0).sqrt();
        let common = match relation {
            Relation::SameAction => smaller * smaller,
            Relation::OtherStrength => least * least + added(smaller) * added(larger),
            Relation::OtherAction => least * least,
        };
        common / (smaller * larger)
    }
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
        assert_eq!(coupling.correlation(2.0, Relation::SameAction), 0.5);
        assert_eq!(coupling.correlation(0.5, Relation::SameAction), 0.5);
    }

    #[test]
    fn a_throttle_opened_twice_as_far_shakes_twice_as_much() {
        // Nothing is random while it is shut, so all noise is the throttle's.
        let throttle = Coupling { recorded: 0.5, least: 0.0 };
        assert_eq!(throttle.correlation(1.0, Relation::OtherStrength), 1.0);
        // Shut, it shows nothing of what it would do.
        let shut = Coupling { recorded: 0.01, least: 0.01 };
        assert_eq!(shut.correlation(1.0, Relation::OtherStrength), 0.01);
        // What is random at every strength stays as it is.
        let even = Coupling { recorded: 0.5, least: 0.5 };
        assert_eq!(even.correlation(0.5, Relation::OtherStrength), 1.0);
    }

    #[test]
    fn the_carried_noise_is_the_conditional_mean_of_a_sum_of_parts() {
        // Noise = shared part (deviation 0.6) + own part: recorded 1.0 in all, the other 0.8 in all.
        let carried =
            Coupling { recorded: 1.0, least: 0.6 }.correlation(0.8, Relation::OtherAction);
        assert!((carried - 0.36 / 0.8).abs() < 1e-12);
    }
}

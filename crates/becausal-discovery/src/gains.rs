//! How much inputs help to predict a target, in all rows and in those of a group.
//!
//! A craft that stands for four fifths of a log shows nothing there, and what it shows in the air drowns in it. So
//! rows that agree in all flags and labels of the state are also tested by themselves, with the models of all rows.

use super::discover::Method;
use super::thresholds::Thresholds;

/// How much one or more inputs help to predict a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gain {
    /// The p-value of the hypothesis that they do not help.
    pub p: f64,
    /// The mean loss without them minus the mean loss with them, in units of the target's variance.
    pub size: f64,
    /// The share of the loss without them that they remove, from 0 to 1.
    pub strength: f64,
    /// The upper limit of the gain (two standard errors above it) as a share of the loss.
    pub most: f64,
    /// The recordings hold too few independent pieces for a p-value.
    pub is_slow: bool,
    /// Of which rows: 0 are all, then come the groups.
    pub part: usize,
}

impl Gain {
    /// None, in all rows.
    pub(super) const NOTHING: Self =
        Self { p: 1.0, size: 0.0, strength: 0.0, most: 0.0, is_slow: false, part: 0 };

    /// Whether there is an edge, with the usual threshold for p.
    pub(super) fn is_edge(&self, thresholds: &Thresholds) -> bool {
        self.p <= Method::Auto.default_eta() && self.strength >= thresholds.min_strength
    }

    /// Whether there may be an edge.
    pub(super) fn is_unclear(&self, thresholds: &Thresholds) -> bool {
        self.p <= thresholds.max_unclear_p && self.most >= thresholds.min_strength
    }

    /// The gain that decides: the smaller p-value of those that are strong enough for an edge, or else may be, or
    /// else of all.
    pub(super) fn or(self, other: Self, thresholds: &Thresholds) -> Self {
        let order = |gain: &Self| {
            let is_unclear = gain.is_unclear(thresholds);
            (!(is_unclear && gain.strength >= thresholds.min_strength), !is_unclear)
        };
        let decides = order(&self).cmp(&order(&other)).then(self.p.total_cmp(&other.p)).is_le();
        Self { is_slow: self.is_slow || other.is_slow, ..if decides { self } else { other } }
    }
}

/// The gains of all drops in some rows.
#[derive(Debug, Clone)]
pub(super) struct Gains {
    /// The mean squared error with all allowed inputs.
    pub loss: f64,
    /// The variance of the target.
    pub variance: f64,
    pub of_drops: Vec<Gain>,
}

impl Gains {
    /// The gain of a drop in the part that decides: all rows, unless they do not show an edge and a group shows a strong
    /// influence. The models are those of all rows, so these come first: in a group a model errs more.
    pub(super) fn decisive(parts: &[Self], drop: usize, thresholds: &Thresholds) -> Gain {
        let all = parts[0].of_drops[drop];
        if all.is_edge(thresholds) {
            return all;
        }
        let groups = parts[1..].iter().map(|part| part.of_drops[drop]);
        let strong = groups.filter(|gain| gain.strength >= thresholds.min_special_strength);
        strong.fold(all, |one, other| one.or(other, thresholds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(p: f64, strength: f64, part: usize) -> Gain {
        Gain { p, strength, most: 2.0 * strength, part, ..Gain::NOTHING }
    }

    /// The part that decides.
    fn decides(gains: &[Gain]) -> usize {
        let of = |&gain: &Gain| Gains { loss: 1.0, variance: 1.0, of_drops: vec![gain] };
        let parts: Vec<Gains> = gains.iter().map(of).collect();
        Gains::decisive(&parts, 0, &Thresholds::default()).part
    }

    #[test]
    fn a_group_decides_if_it_shows_what_all_rows_do_not() {
        // Strong, and surer than all rows.
        assert_eq!(decides(&[gain(0.3, 0.5, 0), gain(1e-5, 0.5, 1), gain(1e-4, 0.5, 2)]), 1);
        assert_eq!(decides(&[gain(1e-9, 0.004, 0), gain(1e-5, 0.5, 1)]), 1);
        // Not sure yet: then there is no `none` either.
        let unclear = [gain(0.4, 0.004, 0), gain(0.01, 0.5, 1)];
        assert_eq!(decides(&unclear), 1);
        assert!(unclear[1].is_unclear(&Thresholds::default()));
        // All rows show an edge, or the group is too weak.
        assert_eq!(decides(&[gain(1e-4, 0.5, 0), gain(1e-9, 0.5, 1)]), 0);
        assert_eq!(decides(&[gain(0.3, 0.5, 0), gain(1e-9, 0.004, 1)]), 0);
    }

    #[test]
    fn of_several_elements_one_decides_with_its_own_p_and_strength() {
        let thresholds = Thresholds::default();
        let (weak, strong) = (gain(1e-9, 0.002, 0), gain(0.009, 0.5, 0));
        assert_eq!(weak.or(strong, &thresholds), strong);
        assert_eq!(strong.or(weak, &thresholds), strong);
        let slow = Gain { is_slow: true, ..gain(1.0, 0.0, 0) };
        assert!(slow.or(strong, &thresholds).is_slow);
    }
}

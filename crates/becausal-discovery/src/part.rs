//! What the held-out rows say, in all rows and in those of a group.
//!
//! A craft that stands for four fifths of a log shows nothing there, and what it shows in the air drowns in it. So
//! rows that agree in all flags and labels of the state are also tested by themselves, with the models of all rows.

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
    /// The place of the rows among the parts.
    pub part: usize,
}

impl Gain {
    /// None, in all rows.
    pub(super) const NOTHING: Self =
        Self { p: 1.0, size: 0.0, strength: 0.0, most: 0.0, is_slow: false, part: 0 };

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
pub(super) struct Part {
    /// The mean squared error with all allowed inputs.
    pub loss: f64,
    /// The variance of the target.
    pub variance: f64,
    pub gains: Vec<Gain>,
}

/// Products with the direction of a drop, summed by unit.
#[derive(Debug, Clone)]
pub(super) struct Products {
    /// Of the residual without the inputs of the drop.
    pub reduced: Vec<f64>,
    /// Of the residual with all inputs.
    pub full: Vec<f64>,
}

/// Sums over the held-out rows of one fold, or those of a group.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    /// By unit: the number of rows.
    pub sizes: Vec<f64>,
    /// The target and its square.
    pub values: [f64; 2],
    /// By drop: the products for the mean, and for the spread.
    pub mean: Vec<Products>,
    pub spread: Vec<Products>,
    /// The losses with all inputs: plain, in units of the noise, and clipped.
    pub losses: [f64; 3],
    /// By unit: the loss in units of the noise, in rows whose noise cannot be told from the model's own
    /// error.
    pub own_losses: Vec<f64>,
    /// The losses without the inputs of each drop.
    pub without: Vec<[f64; 3]>,
    /// The loss of the size of the residual.
    pub spread_loss: f64,
}

impl Sums {
    pub(super) fn new(units: usize, drops: usize, has_spread: bool) -> Self {
        let products = Products { reduced: vec![0.0; units], full: vec![0.0; units] };
        Self {
            sizes: vec![0.0; units],
            values: [0.0; 2],
            mean: vec![products.clone(); drops],
            spread: vec![products; if has_spread { drops } else { 0 }],
            losses: [0.0; 3],
            own_losses: vec![0.0; units],
            without: vec![[0.0; 3]; drops],
            spread_loss: 0.0,
        }
    }

    /// The number of rows, at least 1.
    pub(super) fn rows(&self) -> f64 {
        self.sizes.iter().sum::<f64>().max(1.0)
    }

    /// The number of units that have rows.
    pub(super) fn units(&self) -> usize {
        self.sizes.iter().filter(|size| **size > 0.0).count()
    }

    /// Adds the sums of other rows.
    pub(super) fn add(&mut self, other: &Self) {
        let add = |to: &mut [f64], from: &[f64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        };
        add(&mut self.sizes, &other.sizes);
        add(&mut self.values, &other.values);
        add(&mut self.losses, &other.losses);
        add(&mut self.own_losses, &other.own_losses);
        let products = self.mean.iter_mut().chain(&mut self.spread);
        for (to, from) in products.zip(other.mean.iter().chain(&other.spread)) {
            add(&mut to.reduced, &from.reduced);
            add(&mut to.full, &from.full);
        }
        for (to, from) in self.without.iter_mut().zip(&other.without) {
            add(to, from);
        }
        self.spread_loss += other.spread_loss;
    }
}

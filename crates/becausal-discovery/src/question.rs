//! The test of a target: does it depend on an input, given the others?
//!
//! A projected covariance (Lundborg et al. 2024), cross-fitted. On one fold three functions are learned:
//! `full`, the target from all inputs; `reduced`, the target without the input in question; and
//! `expected`, what the other inputs say about `full - reduced`. On the other fold the *direction*
//! `full - reduced - expected` is multiplied with the residual of `reduced`. Without an influence the
//! mean product is 0, because the direction has mean 0 given the other inputs, and errors of the two
//! models only matter as their product. With an influence it is the mean square that the input explains.
//! Both factors are in standard deviations of the row's noise ([`Scale`](super::scale::Scale)), and clipped.
//! A one-sided t test over the units follows.

use super::bins::Bins;
use super::extremes::Extremes;
use super::fold::Fold;
use super::frame::Frame;
use super::gains::{Gain, Gains};
use super::model::Model;
use super::sums::{Products, Sums};
use super::target::Target;
use super::units::UnitSums;
use becausal_core::progress::Tracker;
use ndarray::Array2;

/// The share of the error rate that the test of the spread gets; the test of the mean gets the rest.
const SPREAD_WEIGHT: f64 = 0.1;

/// The share of the error rate that the groups of rows share; all rows get the rest.
const GROUPS_WEIGHT: f64 = 0.5;

/// A question about a target: which inputs help to predict it?
pub(super) struct Question<'a> {
    pub frame: &'a Frame,
    pub folds: &'a [Fold; 2],
    pub bins: &'a Bins,
    pub target: &'a Target,
    /// The target's index among those that the folds were made with.
    pub index: usize,
    /// The inputs that it may be predicted from.
    pub allowed: &'a [usize],
    /// The drops: each leaves out one or more inputs together.
    pub drops: &'a [Vec<usize>],
    /// A split of a tree must remove more than this many residual variances from the sum of squares.
    pub min_split_gain: f64,
    /// Predictions are clamped to this range.
    pub range: (f64, f64),
    /// The rows whose residuals without each drop are kept.
    pub extremes: &'a Extremes,
    /// `[group][input]`: what varies in the groups of rows.
    pub varied: &'a [Vec<bool>],
    /// Hears that the work goes on: with many rows one question takes seconds.
    pub watch: &'a Tracker<'a>,
}

/// The gains of all drops, and the residuals.
pub(super) struct Answer {
    /// All rows, then the groups of rows, if there are any.
    pub parts: Vec<Gains>,
    /// The mean squared error with all allowed inputs as a share of the target's usual change.
    pub unexplained: f64,
    /// Where errors are clipped, if they are.
    pub clip: Option<f64>,
    /// The residual of each row with all inputs.
    pub residuals: Vec<f64>,
    /// The residuals without the inputs of each drop, for the rows of the extremes.
    pub without: Vec<Vec<f64>>,
}

impl Answer {
    /// Whether the target is predicted so well that the residual may be the model's own error.
    pub(super) fn is_own_error(&self, frame: &Frame) -> bool {
        self.unexplained < frame.thresholds.model_error
    }
}

impl Question<'_> {
    /// Learns on each fold and tests on the other.
    ///
    /// Mean and spread are combined by Bonferroni's rule, with weights.
    pub(super) fn answer(&self) -> Answer {
        let fit = |fold| self.heard(self.fit(fold));
        let (one, other) = rayon::join(|| fit(&self.folds[0]), || fit(&self.folds[1]));
        let models = [one, other];
        let mut residuals = vec![0.0; self.frame.rows()];
        let mut without = vec![vec![0.0; self.extremes.rows().len()]; self.drops.len()];
        let tested = models.each_ref().map(|model| self.test(model, &mut residuals, &mut without));
        let least = models.iter().map(|model| model.scale.least).fold(f64::INFINITY, f64::min);
        let whole = tested.each_ref().map(|groups| {
            let mut whole = groups[0].clone();
            for group in &groups[1..] {
                whole.add(group);
            }
            whole
        });
        let min_units = self.frame.thresholds.min_pieces / 2.0;
        let is_tested = |group: usize, drop: &[usize]| {
            self.frame.groups > 1
                && tested.iter().any(|sums| sums[group].units() as f64 >= min_units)
                && drop.iter().any(|&input| self.varied[group][input])
        };
        // The share of the error rate of each drop in the groups and, last, in all rows.
        let weights = self.drops.iter().map(|drop| {
            let groups = || (0..self.frame.groups).map(|group| is_tested(group, drop));
            let count = groups().filter(|&is_tested| is_tested).count() as f64;
            let all = if count > 0.0 { 1.0 - GROUPS_WEIGHT } else { 1.0 };
            let of_group = |tested: bool| if tested { GROUPS_WEIGHT / count } else { 0.0 };
            groups().map(of_group).chain([all]).collect()
        });
        let weights: Vec<Vec<f64>> = weights.collect();
        let change = self.target.usual_change(self.frame);
        let mut parts = vec![self.gains(&whole, [least, change], &weights, None)];
        if self.frame.groups > 1 {
            parts.extend((0..self.frame.groups).map(|group| {
                let sums = tested.each_ref().map(|sums| sums[group].clone());
                self.gains(&sums, [least, change], &weights, Some(group))
            }));
        }
        let clip = models[0].clip.zip(models[1].clip).map(|(one, other)| one.max(other));
        let unexplained = if change > 0.0 { parts[0].loss / change } else { 0.0 };
        Answer { parts, unexplained, clip, residuals, without }
    }

    /// The gains of all drops in a group or in all rows, whose sums these are. `least` is the smallest deviation of
    /// the noise, `change` the variance of the usual change, and `weights` the shares of the error rate.
    fn gains(
        &self,
        tested: &[Sums; 2],
        [least, change]: [f64; 2],
        weights: &[Vec<f64>],
        group: Option<usize>,
    ) -> Gains {
        let rows = tested.iter().flat_map(|sums| &sums.sizes).sum::<f64>().max(1.0);
        let total = |of: &dyn Fn(&Sums) -> f64| tested.iter().map(of).sum::<f64>() / rows;
        let losses = [0, 1, 2].map(|which| total(&|sums| sums.losses[which]));
        let [mean, square] = [0, 1].map(|power| total(&|sums| sums.values[power]));
        let spread_loss = total(&|sums| sums.spread_loss);
        let floor = self.floor();
        // Flags and labels have no smallest noise: their errors are not scaled.
        let standard_floor = if least > 0.0 { floor / (least * least) } else { floor };
        let min_gain = self.frame.thresholds.min_gain;
        // A smaller error, or a smaller gain of clipped losses, may be the model's own, which a bystander may reduce.
        let own_error = self.frame.thresholds.model_error * change;
        let spread_margin = self.frame.thresholds.min_special_strength * spread_loss;
        let has_spread =
            losses[2] >= own_error && tested.iter().all(|sums| !sums.spread.is_empty());
        let share = |gain: f64, loss: f64| (gain / (gain + loss + floor)).clamp(0.0, 1.0);
        let gains = (0..self.drops.len()).map(|drop| {
            let weight = weights[drop][group.unwrap_or(self.frame.groups)];
            if weight == 0.0 {
                return Gain::NOTHING;
            }
            let without = |which: usize| total(&|sums| sums.without[drop][which]);
            let shares = tested.iter().map(|sums| {
                let of = |which: usize, least: f64| {
                    let gain = (sums.without[drop][which] - sums.losses[which]) / sums.rows();
                    share((gain - least).max(0.0), sums.losses[which] / sums.rows())
                };
                of(0, 0.0).max(of(2, own_error))
            });
            // Both folds must agree.
            let mut strength = shares.fold(1.0, f64::min);
            let of_mean = self.p_value(tested, standard_floor, |sums| (&sums.mean[drop], min_gain));
            let mut p = of_mean.unwrap_or(1.0);
            if has_spread {
                let of_spread =
                    self.p_value(tested, spread_margin, |sums| (&sums.spread[drop], 0.0));
                let of_spread = of_spread.unwrap_or(1.0);
                if of_spread / SPREAD_WEIGHT < p / (1.0 - SPREAD_WEIGHT) {
                    let gain = total(&|sums| sums.spread[drop].reduced.iter().sum()).max(0.0);
                    strength = strength.max(share(gain, spread_loss));
                }
                p = (p / (1.0 - SPREAD_WEIGHT)).min(of_spread / SPREAD_WEIGHT);
            }
            // A loss difference is about twice the product, and so is its standard error.
            let squares = tested.iter().flat_map(|sums| &sums.mean[drop].reduced);
            let error = squares.map(|sum| sum * sum).sum::<f64>().sqrt() / rows;
            let most = (without(1) - losses[1] + 4.0 * error) / (losses[1] + standard_floor);
            Gain {
                p: (p / weight).min(1.0),
                size: (without(0) - losses[0]).max(0.0),
                strength,
                most,
                // A group that is too slow leaves the test of all rows.
                is_slow: of_mean.is_none() && group.is_none(),
                part: group.map_or(0, |group| 1 + group),
            }
        });
        Gains { loss: losses[0], variance: square - mean * mean, of_drops: gains.collect() }
    }

    /// The p-value of the hypothesis that the products on the held-out rows are at most what is to be
    /// subtracted, on average: `margin` for each row, and a share of the losses that may be the model's own.
    /// `of` gives the products and that share. `None` if too few pieces are independent.
    fn p_value<'s>(
        &self,
        tested: &'s [Sums; 2],
        margin: f64,
        of: impl Fn(&'s Sums) -> (&'s Products, f64),
    ) -> Option<f64> {
        let folds = tested.each_ref().map(|sums| {
            let (products, own) = of(sums);
            let mut of_units = UnitSums::default();
            for (unit, &size) in sums.sizes.iter().enumerate().filter(|(_, size)| **size > 0.0) {
                let margin = margin * size + own * sums.own_losses[unit];
                of_units.push(unit, [products.reduced[unit], margin, products.full[unit]]);
            }
            of_units
        });
        self.frame.units.p_value(&folds, &self.frame.thresholds)
    }

    /// The sums over the held-out rows, for each group of rows.
    fn test(
        &self,
        model: &Model<'_>,
        residuals: &mut [f64],
        without: &mut [Vec<f64>],
    ) -> Vec<Sums> {
        let (frame, fold, drops) = (self.frame, model.fold, self.drops.len());
        let (low, high) = self.range;
        let directions = self.directions(model);
        let spread = self.spread(model);
        // Columns: full, without each drop, what is expected of each drop with trees, then the spread.
        let mut coefficients = vec![model.coefficients.view()];
        let expected: Vec<_> = directions.iter().flatten().map(|d| d.expected.view()).collect();
        coefficients.extend(expected);
        let spread_from = 1 + drops + directions.iter().flatten().count();
        if let Some(spread) = &spread {
            coefficients.push(spread.view());
        }
        let coefficients =
            ndarray::concatenate(ndarray::Axis(1), &coefficients).expect("rows alike");
        let units = frame.units.count();
        let mut groups = vec![Sums::new(units, drops, spread.is_some()); frame.groups];
        fold.predict(frame, &fold.held_out, &coefficients, |rows, predicted: &Array2<f64>| {
            let all_trees = model.trees.predict(self.bins, rows);
            let deviations = model.scale.deviations(self.bins, rows);
            let own_trees: Vec<Option<[Vec<f64>; 2]>> =
                directions.iter().map(|d| Some(d.as_ref()?.trees(self.bins, rows))).collect();
            for (at, (&row, predicted)) in rows.iter().zip(predicted.rows()).enumerate() {
                let row = row as usize;
                let unit = frame.units.of_row[row] as usize;
                let value = self.target.value(frame, row);
                let sums = &mut groups[usize::from(frame.group[row])];
                sums.sizes[unit] += 1.0;
                sums.values[0] += value;
                sums.values[1] += value * value;
                let trees = all_trees[at];
                let full = (predicted[0] + trees).clamp(low, high);
                let residual = value - full;
                residuals[row] = residual;
                sums.losses[0] += residual * residual;
                let deviation = deviations[at];
                let noise = model.scale.standard(residual, deviation);
                sums.losses[1] += noise * noise;
                sums.losses[2] += model.clipped(residual).powi(2);
                if deviation <= model.scale.least {
                    sums.own_losses[unit] += noise * noise;
                }
                let place = self.extremes.place(row);
                let mut next = 1 + drops;
                for (drop, own_trees) in own_trees.iter().enumerate() {
                    let (reduced, expected) = if let Some([of_reduced, of_expected]) = own_trees {
                        next += 1;
                        let expected = predicted[next - 1] + of_expected[at];
                        (predicted[1 + drop] + of_reduced[at], expected)
                    } else {
                        (predicted[1 + drop] + trees, 0.0)
                    };
                    let reduced = reduced.clamp(low, high);
                    let error = value - reduced;
                    let standard = model.scale.standard(error, deviation);
                    sums.without[drop][0] += error * error;
                    sums.without[drop][1] += standard * standard;
                    sums.without[drop][2] += model.clipped(error).powi(2);
                    let added = model.scale.standard(full - reduced, deviation);
                    sums.mean[drop].reduced[unit] += standard * (added - expected);
                    sums.mean[drop].full[unit] += noise * (added - expected);
                    if let Some(place) = place {
                        without[drop][place] = error;
                    }
                }
                if spread.is_some() {
                    let size = model.clipped(residual).abs();
                    sums.spread_loss += (size - predicted[spread_from]).powi(2);
                    let full = predicted[spread_from];
                    for (drop, products) in sums.spread.iter_mut().enumerate() {
                        let reduced = predicted[spread_from + 1 + drop];
                        products.reduced[unit] += (size - reduced) * (full - reduced);
                        products.full[unit] += (size - full) * (full - reduced);
                    }
                }
            }
        });
        groups
    }

    /// Passes on a part of the answer, and lets hear that the work goes on.
    pub(super) fn heard<T>(&self, part: T) -> T {
        self.watch.advance(0.0, "");
        part
    }

    /// Whether the target is a column of a continuous output.
    pub(super) fn is_number(&self) -> bool {
        self.target.is_number(self.frame)
    }

    /// Whether all inputs are allowed.
    pub(super) fn has_all(&self) -> bool {
        self.allowed.len() == self.frame.inputs.len()
    }

    /// Whether a feature depends on allowed inputs only.
    pub(super) fn is_allowed(&self, fold: &Fold, feature: usize) -> bool {
        let mut inputs = fold.basis.inputs_of(feature).into_iter().flatten();
        inputs.all(|input| self.allowed.contains(&input))
    }

    /// The loss that rounding alone can cause.
    pub(super) fn floor(&self) -> f64 {
        let inputs =
            self.columns(self.allowed).into_iter().map(|column| self.frame.u[column].rounding);
        let rounding = inputs.fold(0.0, f64::max) + self.target.rounding(self.frame);
        self.frame.thresholds.arithmetic_error + rounding
    }

    /// The columns of some inputs.
    pub(super) fn columns(&self, inputs: &[usize]) -> Vec<usize> {
        inputs.iter().flat_map(|&input| self.frame.inputs[input].columns.iter().copied()).collect()
    }
}

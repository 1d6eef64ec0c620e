//! The model of a target on one fold: a regression, and trees on its residuals.

use std::borrow::Cow;

use ndarray::{Array2, Axis};

use super::boost::{Ensemble, Growth};
use super::fold::{Fold, LEVELS};
use super::question::Question;
use super::ridge::{Gram, Solver};

/// A model without some inputs uses the higher level of features only if its loss is below this share of
/// the lower level's: a choice between nearly equal levels would be random.
const MAX_LOSS_RATIO: f64 = 0.8;

/// A drop gets trees of its own if its part in the full model, on the training rows, is more than this
/// share of the smallest strength of an edge.
const NOTABLE: f64 = 0.1;

/// The model of a target on one fold.
pub(super) struct Model<'a> {
    pub fold: &'a Fold,
    /// The level of the features without each drop: an effect that is linear in a proxy may be far from
    /// linear in what the proxy stands for.
    /// And whether the models without it need trees of their own.
    pub levels: Vec<(usize, bool)>,
    /// A column with all allowed inputs, then one without those of each drop.
    pub coefficients: Array2<f64>,
    pub trees: Ensemble,
    /// Errors are clipped here; `None` for targets whose errors are not clipped.
    pub clip: Option<f64>,
    /// The residuals of the rows that the trees were grown on.
    pub residuals: Vec<f64>,
}

impl Model<'_> {
    /// An error, clipped.
    pub(super) fn clipped(&self, error: f64) -> f64 {
        self.clip.map_or(error, |clip| error.clamp(-clip, clip))
    }
}

impl Question<'_> {
    /// Fits a regression with all inputs and without each drop, and trees on the residuals of the
    /// first.
    pub(super) fn fit<'a>(&self, fold: &'a Fold) -> Model<'a> {
        let level = self.level(fold);
        let sums = fold.gram.target(self.index);
        let solver = self.solver(fold, &fold.gram, &fold.solvers, level);
        let own = self.target.own_input();
        let levels = self.levels_without(fold, level);
        let mut coefficients = if own.is_some() {
            // An input's own target: the other inputs only, and no drops.
            let without = |_: usize, feature: usize| fold.basis.touches(feature, own);
            solver.coefficients(&sums, 1, without).select(Axis(1), &[1])
        } else {
            let dropped = |drop: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
            solver.coefficients(&sums, self.drops.len(), dropped)
        };
        for drop in (0..self.drops.len()).filter(|&drop| levels[drop] != level) {
            let solver = self.solver(fold, &fold.gram, &fold.solvers, levels[drop]);
            let dropped = |_: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
            let both = solver.coefficients(&sums, 1, dropped);
            coefficients.column_mut(1 + drop).assign(&both.column(1));
        }
        let first = coefficients.select(Axis(1), &[0]);
        let mut residuals = self.residuals_of_one(fold, &fold.tree_rows, &first);
        let trees = self.trees(&fold.tree_rows, &mut residuals, &[], &self.growth);
        let clip = self.clip(&residuals);
        let parts = self.parts(fold, &coefficients, &trees);
        let loss = residuals.iter().map(|residual| residual * residual).sum::<f64>();
        let notable = NOTABLE * self.frame.thresholds.min_strength * loss;
        let levels = levels
            .into_iter()
            .zip(parts)
            .map(|(without, part)| (without, without != level || part > notable))
            .collect();
        Model { fold, levels, coefficients, trees, clip, residuals }
    }

    /// The part of each drop in the predictions of the rows that trees are grown on: the sum of squares
    /// that its features add to the regression, and that its columns removed in the trees.
    fn parts(&self, fold: &Fold, coefficients: &Array2<f64>, trees: &Ensemble) -> Vec<f64> {
        if trees.is_empty() {
            return vec![0.0; self.drops.len()];
        }
        let columns = self.drops.iter().map(|drop| self.columns(drop));
        let mut parts: Vec<f64> = columns.map(|columns| trees.gained(&columns)).collect();
        fold.predict(self.frame, &fold.tree_rows, coefficients, |_, predicted| {
            for predicted in predicted.rows() {
                for (part, without) in parts.iter_mut().zip(predicted.iter().skip(1)) {
                    *part += (predicted[0] - without) * (predicted[0] - without);
                }
            }
        });
        parts
    }

    /// Where errors are clipped: only continuous outputs have a typical error.
    fn clip(&self, errors: &[f64]) -> Option<f64> {
        if !self.is_number() || errors.is_empty() {
            return None;
        }
        let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
        let middle = sizes.len() / 2;
        let (_, median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
        Some(self.frame.thresholds.outlier_medians * median.max(self.floor().sqrt()))
    }

    /// The regression up to a level on the allowed inputs. An input's own target uses the solver that
    /// all targets share.
    pub(super) fn solver<'a>(
        &self,
        fold: &Fold,
        gram: &Gram,
        shared: &'a [Solver; LEVELS],
        level: usize,
    ) -> Cow<'a, Solver> {
        if self.has_all() || self.target.own_input().is_some() {
            return Cow::Borrowed(&shared[level]);
        }
        let part =
            |feature: usize| fold.basis.level(feature) <= level && self.is_allowed(fold, feature);
        Cow::Owned(Solver::new(gram, part))
    }

    /// The level of features that, with trees on the residuals, predicts best on held-out rows of the
    /// same fold. Polynomials suit smooth dynamics but not jumps.
    fn level(&self, fold: &Fold) -> usize {
        let lower = self.trial(fold, 0);
        let held_out = fold.tree_rows.len() - fold.trial_rows;
        let is_exact = lower <= self.floor() * held_out as f64;
        usize::from(!is_exact && self.trial(fold, 1) < lower)
    }

    /// The level without each drop: the higher one where the drop does notable harm that the higher level
    /// mends, without trees.
    fn levels_without(&self, fold: &Fold, level: usize) -> Vec<usize> {
        let mut levels = vec![level; self.drops.len()];
        if level + 1 == LEVELS || self.drops.is_empty() {
            return levels;
        }
        let (low, high) = self.range;
        let held_out = &fold.tree_rows[fold.trial_rows..];
        let losses = [level, LEVELS - 1].map(|level| {
            let solver = self.solver(fold, &fold.trial_gram, &fold.trials, level);
            let sums = fold.trial_gram.target(self.index);
            let dropped = |drop: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
            let coefficients = solver.coefficients(&sums, self.drops.len(), dropped);
            let mut losses = vec![0.0; 1 + self.drops.len()];
            fold.predict(self.frame, held_out, &coefficients, |rows, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let value = self.target.value(self.frame, row as usize);
                    for (loss, predicted) in losses.iter_mut().zip(predicted) {
                        *loss += (value - predicted.clamp(low, high)).powi(2);
                    }
                }
            });
            losses
        });
        for (drop, level) in levels.iter_mut().enumerate() {
            let (with, without) = (losses[0][0], losses[0][1 + drop]);
            let higher = losses[1][1 + drop];
            if with.max(higher) < MAX_LOSS_RATIO * without {
                *level = LEVELS - 1;
            }
        }
        levels
    }

    /// The loss of a level in a trial: trained on the first part of `tree_rows`, evaluated on the rest.
    fn trial(&self, fold: &Fold, level: usize) -> f64 {
        let own: Vec<usize> = self.target.own_input().into_iter().collect();
        let growth = Growth { trees: self.growth.trees / 2, ..self.growth };
        let (low, high) = self.range;
        let mut loss = 0.0;
        let (training, held_out) = fold.tree_rows.split_at(fold.trial_rows);
        let solver = self.solver(fold, &fold.trial_gram, &fold.trials, level);
        let dropped = |_: usize, feature: usize| fold.touches(feature, &own);
        let coefficients = solver
            .coefficients(&fold.trial_gram.target(self.index), 1, dropped)
            .select(Axis(1), &[1]);
        let mut residuals = self.residuals_of_one(fold, training, &coefficients);
        let trees = self.trees(training, &mut residuals, &own, &growth);
        fold.predict(self.frame, held_out, &coefficients, |rows, predicted| {
            for (&row, predicted) in rows.iter().zip(predicted.column(0)) {
                let added = trees.predict(self.bins.row(row as usize));
                let value = self.target.value(self.frame, row as usize);
                let error = value - (predicted + added).clamp(low, high);
                loss += error * error;
            }
        });
        loss
    }

    /// The residuals of the target for a single column of coefficients.
    fn residuals_of_one(&self, fold: &Fold, rows: &[u32], coefficients: &Array2<f64>) -> Vec<f64> {
        self.residuals(fold, rows, coefficients).pop().unwrap_or_default()
    }

    /// The residuals of the target for each column of coefficients.
    pub(super) fn residuals(
        &self,
        fold: &Fold,
        rows: &[u32],
        coefficients: &Array2<f64>,
    ) -> Vec<Vec<f64>> {
        let mut residuals = vec![Vec::with_capacity(rows.len()); coefficients.ncols()];
        fold.predict(self.frame, rows, coefficients, |rows, predicted| {
            for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                let value = self.target.value(self.frame, row as usize);
                for (residuals, predicted) in residuals.iter_mut().zip(predicted) {
                    residuals.push(value - predicted);
                }
            }
        });
        residuals
    }

    /// Grows trees on the residuals of a regression, without the columns of some inputs.
    pub(super) fn trees(
        &self,
        rows: &[u32],
        residuals: &mut [f64],
        without: &[usize],
        growth: &Growth,
    ) -> Ensemble {
        let square = residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len().max(1) as f64;
        if square < self.floor() {
            return Ensemble::default();
        }
        let mut allowed = vec![false; self.frame.u.len()];
        for column in self.columns(self.allowed) {
            allowed[column] = true;
        }
        for column in self.columns(without) {
            allowed[column] = false;
        }
        Ensemble::grow(self.bins, rows, residuals, &allowed, growth)
    }
}

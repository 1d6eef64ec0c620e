//! The model of a target on one fold: a regression, and trees on its residuals.

use std::borrow::Cow;

use ndarray::{Array2, Axis};

use super::boost::{Ensemble, Growth};
use super::fold::{Fold, LEVELS};
use super::question::Question;
use super::ridge::{Gram, Solver};
use super::target::Target;
use becausal_core::schema::Kind;

/// A model without some inputs uses another level of features only if its loss is below this share of
/// the usual level's loss. A choice between nearly equal levels would be random and add noise to the
/// gain.
const MAX_LEVEL_LOSS_RATIO: f64 = 0.8;

/// Errors are clipped at this many times the median training error.
const OUTLIER_MEDIANS: f64 = 5.0;

/// The model of a target on one fold.
pub(super) struct Model<'a> {
    pub fold: &'a Fold,
    /// A column with all allowed inputs, then one without those of each drop.
    pub coefficients: Array2<f64>,
    /// The increase of the regression's mean training loss by each drop.
    pub increases: Vec<f64>,
    pub trees: Ensemble,
    /// Errors are clipped here; `None` for targets whose errors are not clipped.
    pub clip: Option<f64>,
    /// The mean training losses, plain and clipped.
    pub training_losses: [f64; 2],
}

impl Model<'_> {
    /// The square of an error, plain and clipped.
    pub(super) fn losses(&self, error: f64) -> [f64; 2] {
        let square = error * error;
        [square, self.clip.map_or(0.0, |clip| square.min(clip * clip))]
    }
}

impl Question<'_> {
    /// Fits a regression with all inputs and without each drop, and trees on the residuals of the
    /// first.
    pub(super) fn fit<'a>(&self, fold: &'a Fold, level: usize) -> Model<'a> {
        let sums = fold.gram.target(self.index);
        let solver = self.solver(fold, &fold.gram, &fold.solvers, level);
        let own = self.target.own_input();
        let (coefficients, increases) = if own.is_some() {
            // An input's own target: the other inputs only, and no drops.
            let without = |_: usize, feature: usize| fold.basis.touches(feature, own);
            (solver.coefficients(&sums, 1, without).select(Axis(1), &[1]), Vec::new())
        } else {
            let dropped = |drop: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
            solver.coefficients_and_increases(&sums, self.drops.len(), dropped)
        };
        let increases = increases.into_iter().map(|sum| sum / fold.gram.rows()).collect();
        let first = coefficients.select(Axis(1), &[0]);
        let mut residuals = self.residuals_of_one(fold, &fold.tree_rows, &first);
        let trees = self.trees(&fold.tree_rows, &mut residuals, &[], &self.growth);
        let clip = self.clip(&residuals);
        let mut model =
            Model { fold, coefficients, increases, trees, clip, training_losses: [0.0; 2] };
        for which in 0..2 {
            let sum: f64 = residuals.iter().map(|&error| model.losses(error)[which]).sum();
            model.training_losses[which] = sum / residuals.len().max(1) as f64;
        }
        model
    }

    /// Where errors are clipped: only continuous outputs have a typical error.
    fn clip(&self, errors: &[f64]) -> Option<f64> {
        if crate::rules::off(3) { return None; }
        let Target::Output(column) = *self.target else { return None };
        let mut outputs = self.frame.outputs.iter();
        let output = outputs.find(|output| output.columns.contains(&column))?;
        if !matches!(output.kind, Kind::Continuous(_)) || errors.is_empty() {
            return None;
        }
        let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
        let middle = sizes.len() / 2;
        let (_, median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
        Some(OUTLIER_MEDIANS * median.max(self.floor().sqrt()))
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
    pub(super) fn level(&self) -> usize {
        if crate::rules::off(1) { return 1; }
        let own: Vec<usize> = self.target.own_input().into_iter().collect();
        best(std::array::from_fn(|level| self.trial(level, &own)))
    }

    /// The best level without the inputs of each of some drops; `level` is the one with all inputs.
    ///
    /// An effect that is linear in a proxy may be far from linear in what the proxy stands for.
    pub(super) fn levels_without(&self, drops: &[usize], level: usize) -> Vec<usize> {
        if crate::rules::off(2) { return vec![level; drops.len()]; }
        let losses = self.regression_trials(drops);
        let choose = |(&drop, losses): (&usize, &[f64; LEVELS])| {
            let other = best(*losses);
            if losses[other] >= MAX_LEVEL_LOSS_RATIO * losses[level] {
                return level;
            }
            let trial = |level: usize| self.trial(level, &self.drops[drop]);
            if trial(other) < MAX_LEVEL_LOSS_RATIO * trial(level) { other } else { level }
        };
        drops.iter().zip(&losses).map(choose).collect()
    }

    /// The loss of a level in a trial on both folds: trained on the first part of `tree_rows`,
    /// evaluated on the rest.
    fn trial(&self, level: usize, without: &[usize]) -> f64 {
        let growth = Growth { trees: self.growth.trees / 2, ..self.growth };
        let (low, high) = self.range;
        let mut loss = 0.0;
        for fold in self.folds {
            let (training, held_out) = fold.tree_rows.split_at(fold.trial_rows);
            let solver = self.solver(fold, &fold.trial_gram, &fold.trials, level);
            let dropped = |_: usize, feature: usize| fold.touches(feature, without);
            let coefficients = solver
                .coefficients(&fold.trial_gram.target(self.index), 1, dropped)
                .select(Axis(1), &[1]);
            let mut residuals = self.residuals_of_one(fold, training, &coefficients);
            let trees = self.trees(training, &mut residuals, without, &growth);
            fold.predict(self.frame, held_out, &coefficients, |rows, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.column(0)) {
                    let added = trees.predict(self.bins.row(row as usize));
                    let value = self.target.value(self.frame, row as usize);
                    let error = value - (predicted + added).clamp(low, high);
                    loss += error * error;
                }
            });
        }
        loss
    }

    /// The losses of such trials without trees, for each drop and level.
    fn regression_trials(&self, drops: &[usize]) -> Vec<[f64; LEVELS]> {
        let (low, high) = self.range;
        let mut losses = vec![[0.0; LEVELS]; drops.len()];
        for fold in self.folds {
            let sums = fold.trial_gram.target(self.index);
            let dropped =
                |drop: usize, feature: usize| fold.touches(feature, &self.drops[drops[drop]]);
            for level in 0..LEVELS {
                let solver = self.solver(fold, &fold.trial_gram, &fold.trials, level);
                let coefficients = solver.coefficients(&sums, drops.len(), dropped);
                let held_out = &fold.tree_rows[fold.trial_rows..];
                fold.predict(self.frame, held_out, &coefficients, |rows, predicted| {
                    for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                        let value = self.target.value(self.frame, row as usize);
                        for (losses, predicted) in losses.iter_mut().zip(predicted.iter().skip(1)) {
                            let error = value - predicted.clamp(low, high);
                            losses[level] += error * error;
                        }
                    }
                });
            }
        }
        losses
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
        if square < self.floor() || crate::rules::off(13) {
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

/// The level with the smallest loss; of equals the lowest.
fn best(losses: [f64; LEVELS]) -> usize {
    (1..LEVELS).fold(0, |best, level| if losses[level] < losses[best] { level } else { best })
}

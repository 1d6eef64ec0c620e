//! The model of a target on one fold: a regression, and trees on its residuals.

use std::borrow::Cow;

use ndarray::{Array2, Axis};

use super::boost::{Ensemble, Growth, TREES};
use super::fold::{Fold, Level, Regression};
use super::question::Question;
use super::ridge::{Solver, TargetSums};
use super::scale::Scale;
use super::student::typical;

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
    pub levels: Vec<(Level, bool)>,
    /// A column with all allowed inputs, then one without those of each drop.
    pub coefficients: Array2<f64>,
    pub trees: Ensemble,
    /// Errors are clipped here; `None` for targets whose errors are not clipped.
    pub clip: Option<f64>,
    /// The residuals of the rows that the trees were grown on.
    pub residuals: Vec<f64>,
    /// The noise in each row.
    pub scale: Scale,
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
        let sums = fold.all.gram.target(self.index);
        let levels = self.levels_without(fold, level);
        let mut coefficients = self.coefficients(fold, &fold.all, &sums, level, self.drops);
        for drop in (0..self.drops.len()).filter(|&drop| levels[drop] != level) {
            let drops = &self.drops[drop..=drop];
            let own = self.coefficients(fold, &fold.all, &sums, levels[drop], drops);
            coefficients.column_mut(1 + drop).assign(&own.column(1));
        }
        let first = coefficients.select(Axis(1), &[0]);
        let mut residuals = self.residuals_of_one(fold, &fold.tree_rows, &first);
        let trees = self.trees(&fold.tree_rows, &mut residuals, &[], TREES);
        let clip = self.clip(&residuals);
        let parts = self.parts(fold, &coefficients, &trees);
        let loss = residuals.iter().map(|residual| residual * residual).sum::<f64>();
        let notable = NOTABLE * self.frame.thresholds.min_strength * loss;
        let levels = levels
            .into_iter()
            .zip(parts)
            .map(|(without, part)| (without, without != level || part > notable))
            .collect();
        let scale = self.scale(&fold.tree_rows, &residuals);
        Model { fold, levels, coefficients, trees, clip, residuals, scale }
    }

    /// How large the noise is: known of numbers only.
    fn scale(&self, rows: &[u32], residuals: &[f64]) -> Scale {
        if !self.is_number() {
            return Scale::one();
        }
        let thresholds = &self.frame.thresholds;
        let least = self.target.least_deviation(self.frame).max(self.floor().sqrt());
        Scale::of(residuals, least, thresholds.max_deviations, |sizes| {
            self.trees(rows, sizes, &[], TREES)
        })
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
        let deviation = typical(errors.iter().copied());
        Some(self.frame.thresholds.max_deviations * deviation.max(self.floor().sqrt()))
    }

    /// The regression up to a level on the allowed inputs. An input's own target uses the solver that
    /// all targets share.
    pub(super) fn solver<'a>(
        &self,
        fold: &Fold,
        regression: &'a Regression,
        level: Level,
    ) -> Cow<'a, Solver> {
        if self.has_all() || self.target.own_input().is_some() {
            return Cow::Borrowed(&regression.solvers[usize::from(level != Level::Linear)]);
        }
        let part = |feature: usize| {
            (level != Level::Linear || fold.basis.level(feature) == 0)
                && self.is_allowed(fold, feature)
        };
        Cow::Owned(Solver::new(&regression.gram, part))
    }

    /// Coefficients in columns: with all allowed inputs, then without those of each drop.
    pub(super) fn coefficients(
        &self,
        fold: &Fold,
        regression: &Regression,
        sums: &TargetSums,
        level: Level,
        drops: &[Vec<usize>],
    ) -> Array2<f64> {
        if level != Level::Selected {
            let solver = self.solver(fold, regression, level);
            let own = self.target.own_input();
            let shared = own.is_some().then(|| vec![own.into_iter().collect()]);
            let sets = shared.as_deref().unwrap_or(drops);
            let dropped = |drop: usize, feature: usize| fold.touches(feature, &sets[drop]);
            let all = solver.coefficients(&sums.products, sets.len(), dropped);
            // An input's own target: the other inputs only, and no drops.
            return if own.is_some() { all.select(Axis(1), &[1]) } else { all };
        }
        let width = fold.basis.width();
        let mut coefficients = Array2::zeros((width, 1 + drops.len()));
        let none: Vec<usize> = Vec::new();
        let thresholds = &self.frame.thresholds;
        let min_gain = thresholds.min_screening_score.powi(2);
        for (place, drop) in std::iter::once(&none).chain(drops).enumerate() {
            let allowed: Vec<bool> = (0..width)
                .map(|feature| self.is_allowed(fold, feature) && !fold.touches(feature, drop))
                .collect();
            let linear = |feature: usize| fold.basis.level(feature) == 0;
            let gram = &regression.gram;
            let chosen = gram.select(sums, &allowed, linear, min_gain, self.floor());
            let solver = Solver::new(gram, |feature| chosen[feature]);
            let column = solver.coefficients(&sums.products, 0, |_, _| false);
            coefficients.column_mut(place).assign(&column.column(0));
        }
        coefficients
    }

    /// The level of features that, with trees on the residuals, predicts best on held-out rows of the
    /// same fold. Polynomials suit smooth dynamics but not jumps. Errors are clipped as in the test:
    /// otherwise a few rows with much noise choose the model of all others.
    fn level(&self, fold: &Fold) -> Level {
        let linear = self.trial(fold, Level::Linear);
        let plain: f64 = linear.iter().map(|error| error * error).sum();
        if plain <= self.floor() * linear.len() as f64 {
            return Level::Linear;
        }
        let levels = [Level::Linear, Level::Selected, Level::All];
        let trials = [linear, self.trial(fold, Level::Selected), self.trial(fold, Level::All)];
        let most = if self.is_number() {
            let deviations = trials.iter().map(|errors| typical(errors.iter().copied()));
            let least = self.target.least_deviation(self.frame);
            self.frame.thresholds.max_deviations * deviations.fold(0.0, f64::max).max(least)
        } else {
            f64::INFINITY
        };
        let loss = |errors: &[f64]| -> f64 {
            errors.iter().map(|error| error.clamp(-most, most).powi(2)).sum()
        };
        let losses = levels.into_iter().zip(trials.iter().map(|errors| loss(errors)));
        let best = losses.min_by(|one, other| one.1.total_cmp(&other.1));
        best.map_or(Level::Linear, |(level, _)| level)
    }

    /// The level without each drop: the higher one where the drop does notable harm that the higher level
    /// mends, without trees.
    fn levels_without(&self, fold: &Fold, level: Level) -> Vec<Level> {
        let mut levels = vec![level; self.drops.len()];
        if level == Level::All || self.drops.is_empty() {
            return levels;
        }
        let (low, high) = self.range;
        let held_out = &fold.tree_rows[fold.trial_rows..];
        let losses = [level, Level::All].map(|level| {
            let sums = fold.trial.gram.target(self.index);
            let coefficients = self.coefficients(fold, &fold.trial, &sums, level, self.drops);
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
                *level = Level::All;
            }
        }
        levels
    }

    /// The errors of a level in a trial: trained on the first part of `tree_rows`, evaluated on the rest.
    fn trial(&self, fold: &Fold, level: Level) -> Vec<f64> {
        let own: Vec<usize> = self.target.own_input().into_iter().collect();
        let (low, high) = self.range;
        let (training, held_out) = fold.tree_rows.split_at(fold.trial_rows);
        let sums = fold.trial.gram.target(self.index);
        let coefficients = self.coefficients(fold, &fold.trial, &sums, level, &[]);
        let mut residuals = self.residuals_of_one(fold, training, &coefficients);
        let trees = self.trees(training, &mut residuals, &own, TREES / 2);
        let mut errors = Vec::with_capacity(held_out.len());
        fold.predict(self.frame, held_out, &coefficients, |rows, predicted| {
            let added = trees.predict(self.bins, rows);
            for ((&row, predicted), added) in rows.iter().zip(predicted.column(0)).zip(added) {
                let value = self.target.value(self.frame, row as usize);
                errors.push(value - (predicted + added).clamp(low, high));
            }
        });
        errors
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
        trees: usize,
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
        let min_gain = self.min_split_gain;
        Ensemble::grow(self.bins, rows, residuals, &allowed, &Growth { trees, min_gain })
    }
}

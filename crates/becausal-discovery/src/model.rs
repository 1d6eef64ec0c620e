//! What is learned about a target on one fold: a regression, and trees on what it leaves over.

use std::borrow::Cow;

use ndarray::{Array2, Axis};

use super::boost::{Ensemble, Growth};
use super::fold::{Fold, LEVELS};
use super::question::Question;
use super::ridge::{Gram, Solver};
use super::target::Target;
use becausal_core::schema::Kind;

/// Without some inputs another level of features is taken where it leaves less than this share of
/// what the usual one leaves: the choice between equals is chance, and would blur the gain.
const NOTABLY: f64 = 0.8;

/// Errors are cut where they exceed this many times the median error of learning.
const CUT: f64 = 5.0;

/// What was learned on one fold.
pub(super) struct Model<'a> {
    pub fold: &'a Fold,
    /// With all allowed inputs, then without those of each drop.
    pub coefficients: Array2<f64>,
    /// By how much each drop worsens the regression in learning, a row.
    pub increases: Vec<f64>,
    pub trees: Ensemble,
    /// Errors are cut here, where cutting makes sense.
    pub cut: Option<f64>,
    /// The mean loss of learning, as it is and cut.
    pub learned: [f64; 2],
}

impl Model<'_> {
    /// The square of an error, as it is and cut.
    pub(super) fn losses(&self, error: f64) -> [f64; 2] {
        let square = error * error;
        [square, self.cut.map_or(0.0, |cut| square.min(cut * cut))]
    }
}

impl Question<'_> {
    /// A regression with and without each drop, and trees on what the first leaves over.
    pub(super) fn learn<'a>(&self, fold: &'a Fold, level: usize) -> Model<'a> {
        let sums = fold.gram.target(self.index);
        let solver = self.solver(fold, &fold.gram, &fold.solvers, level);
        let own = self.target.own_input();
        let (coefficients, increases) = if own.is_some() {
            // The other inputs alone; there is nothing else to drop.
            let without = |_: usize, feature: usize| fold.basis.touches(feature, own);
            (solver.coefficients(&sums, 1, without).select(Axis(1), &[1]), Vec::new())
        } else {
            let dropped = |drop: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
            solver.coefficients_and_increases(&sums, self.drops.len(), dropped)
        };
        let increases = increases.into_iter().map(|sum| sum / fold.gram.rows()).collect();
        let first = coefficients.select(Axis(1), &[0]);
        let mut rest = self.rest(fold, &fold.grown, &first);
        let trees = self.trees(&fold.grown, &mut rest, &[], &self.growth);
        let cut = self.cut(&rest);
        let mut model = Model { fold, coefficients, increases, trees, cut, learned: [0.0; 2] };
        for which in 0..2 {
            let sum: f64 = rest.iter().map(|&error| model.losses(error)[which]).sum();
            model.learned[which] = sum / rest.len().max(1) as f64;
        }
        model
    }

    /// Where errors are cut: only numbers that vary continuously have a usual error.
    fn cut(&self, errors: &[f64]) -> Option<f64> {
        let Target::Output(column) = *self.target else { return None };
        let mut outputs = self.frame.outputs.iter();
        let output = outputs.find(|output| output.columns.contains(&column))?;
        if !matches!(output.kind, Kind::Continuous(_)) || errors.is_empty() {
            return None;
        }
        let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
        let middle = sizes.len() / 2;
        let (_, median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
        Some(CUT * median.max(self.floor().sqrt()))
    }

    /// The regression up to a level on the allowed inputs; of an input's own target the solver
    /// that it shares with the others.
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

    /// The level of features that, with trees on what they leave over, predicts best on rows of
    /// the same fold that were not learned from. Polynomials are right for smooth dynamics and
    /// wrong for jumps.
    pub(super) fn level(&self) -> usize {
        let own: Vec<usize> = self.target.own_input().into_iter().collect();
        best(std::array::from_fn(|level| self.trial(level, &own)))
    }

    /// The same without what each of some drops leaves out; `level` is that with all inputs.
    ///
    /// What is linear in a stand-in may be anything but linear in what it stands for.
    pub(super) fn levels_without(&self, drops: &[usize], level: usize) -> Vec<usize> {
        let losses = self.regression_trials(drops);
        let choose = |(&drop, losses): (&usize, &[f64; LEVELS])| {
            let other = best(*losses);
            if losses[other] >= NOTABLY * losses[level] {
                return level;
            }
            let trial = |level: usize| self.trial(level, &self.drops[drop]);
            if trial(other) < NOTABLY * trial(level) { other } else { level }
        };
        drops.iter().zip(&losses).map(choose).collect()
    }

    /// The loss of a level on the last part of the rows of either fold, learned from the first.
    fn trial(&self, level: usize, without: &[usize]) -> f64 {
        let growth = Growth { trees: self.growth.trees / 2, ..self.growth };
        let (low, high) = self.range;
        let mut loss = 0.0;
        for fold in self.folds {
            let (learned, judged) = fold.grown.split_at(fold.tried);
            let solver = self.solver(fold, &fold.trial_gram, &fold.trials, level);
            let dropped = |_: usize, feature: usize| fold.touches(feature, without);
            let coefficients = solver
                .coefficients(&fold.trial_gram.target(self.index), 1, dropped)
                .select(Axis(1), &[1]);
            let mut rest = self.rest(fold, learned, &coefficients);
            let trees = self.trees(learned, &mut rest, without, &growth);
            fold.predict(self.frame, judged, &coefficients, |rows, predicted| {
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

    /// The same without trees, for each drop and level.
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
                let judged = &fold.grown[fold.tried..];
                fold.predict(self.frame, judged, &coefficients, |rows, predicted| {
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

    /// What one column of coefficients leaves over of the target.
    fn rest(&self, fold: &Fold, rows: &[u32], coefficients: &Array2<f64>) -> Vec<f64> {
        self.rests(fold, rows, coefficients).pop().unwrap_or_default()
    }

    /// What each column of coefficients leaves over of the target.
    pub(super) fn rests(
        &self,
        fold: &Fold,
        rows: &[u32],
        coefficients: &Array2<f64>,
    ) -> Vec<Vec<f64>> {
        let mut rests = vec![Vec::with_capacity(rows.len()); coefficients.ncols()];
        fold.predict(self.frame, rows, coefficients, |rows, predicted| {
            for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                let value = self.target.value(self.frame, row as usize);
                for (rest, predicted) in rests.iter_mut().zip(predicted) {
                    rest.push(value - predicted);
                }
            }
        });
        rests
    }

    /// Trees on what a regression left over, without the columns of some inputs.
    pub(super) fn trees(
        &self,
        rows: &[u32],
        rest: &mut [f64],
        without: &[usize],
        growth: &Growth,
    ) -> Ensemble {
        let square = rest.iter().map(|r| r * r).sum::<f64>() / rest.len().max(1) as f64;
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
        Ensemble::grow(self.bins, rows, rest, &allowed, growth)
    }
}

/// The level of the least loss; of equals the lowest.
fn best(losses: [f64; LEVELS]) -> usize {
    (1..LEVELS).fold(0, |best, level| if losses[level] < losses[best] { level } else { best })
}

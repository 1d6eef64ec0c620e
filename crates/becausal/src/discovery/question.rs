//! How much worse a target is predicted without each input, and how sure that is.

use std::borrow::Cow;

use ndarray::{Array1, Array2, Axis};

use super::bins::Bins;
use super::boost::{Ensemble, Growth};
use super::fold::{Fold, LEVELS};
use super::frame::Frame;
use super::ridge::{Gram, Solver};
use super::target::Target;
use crate::schema::Kind;

/// A gain below this share of the loss is no effect: a wrong model leaves as much to a bystander.
const MARGIN: f64 = 0.004;

/// The same for the size of the residual, which a wrong model of the mean disturbs more.
const SPREAD_MARGIN: f64 = 0.01;

/// What arithmetic leaves of a target that is predicted exactly, in units of its variance.
const ARITHMETIC: f64 = 3e-10;

/// Rounding errors of inputs add up and are amplified by the dynamics.
const AMPLIFICATION: f64 = 16.0;

/// Errors are cut where they exceed this many times the median error of learning.
const CUT: f64 = 5.0;

/// A gain of cut losses below this share of them is no effect...
const CUT_MARGIN: f64 = 0.02;

/// ...nor below this share of the target's variance: where nothing is random, the usual error is the
/// model's own, and a bystander may mend it.
const CUT_LEAST: f64 = 1e-4;

/// A drop that looks this harmless with the trees of the full model needs no trees of its own.
const HARMLESS: f64 = 0.25;

/// What is asked about a target.
pub(super) struct Question<'a> {
    pub frame: &'a Frame,
    pub folds: &'a [Fold; 2],
    pub bins: &'a Bins,
    /// Rows in each unit.
    pub sizes: &'a [f64],
    pub target: &'a Target,
    /// The target's place among those that the folds were made with.
    pub index: usize,
    /// The inputs it may be predicted from.
    pub allowed: &'a [usize],
    /// Each drop leaves out some inputs together.
    pub drops: &'a [Vec<usize>],
    /// What predictions of the target are kept in.
    pub range: (f64, f64),
}

/// How much an input, or some together, help to predict a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gain {
    /// Under the hypothesis that they do not.
    pub p: f64,
    /// Loss without them less loss with them, a row, in units of the target's variance.
    pub size: f64,
    /// The share of the loss without them that they take away, from 0 to 1.
    pub strength: f64,
}

/// All gains of a target.
pub(super) struct Answer {
    pub gains: Vec<Gain>,
    /// Mean square error with all allowed inputs, relative to the target's variance.
    pub unexplained: f64,
    /// What the model with all inputs left over in each row.
    residuals: Vec<f64>,
}

/// What was learned on one fold.
struct Model<'a> {
    fold: &'a Fold,
    solver: Cow<'a, Solver>,
    level: usize,
    /// With all allowed inputs, then without those of each drop.
    coefficients: Array2<f64>,
    trees: Ensemble,
    /// Errors are cut here, where cutting makes sense.
    cut: Option<f64>,
}

impl Model<'_> {
    /// The square of an error, as it is and cut.
    fn losses(&self, error: f64) -> [f64; 2] {
        let square = error * error;
        [square, self.cut.map_or(0.0, |cut| square.min(cut * cut))]
    }
}

/// Sums over units for each drop, of losses as they are and of losses cut.
///
/// A few rows with huge errors, as when a craft touches the ground, drown what all the other rows
/// say. Cut losses hear the others.
type Sums = Vec<Vec<[f64; 2]>>;

impl Question<'_> {
    /// Learns with and without, on either fold, and judges on the other.
    pub(super) fn answer(&self) -> Answer {
        let frame = self.frame;
        let growth = Growth::for_columns(frame.u.len());
        let level = self.level(&growth);
        let models = self.folds.each_ref().map(|fold| self.learn(fold, level, &growth));
        let mut residuals = vec![0.0; frame.rows()];
        let mut sums = self.no_sums(self.drops.len());
        let mut total = [0.0; 2];
        let (low, high) = self.range;
        for model in &models {
            let fold = model.fold;
            fold.predict(frame, &fold.judged, &model.coefficients, |rows, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let row = row as usize;
                    let value = self.target.value(frame, row);
                    let added = model.trees.predict(self.bins.row(row));
                    let within = |predicted: f64| (predicted + added).clamp(low, high);
                    let residual = value - within(predicted[0]);
                    residuals[row] = residual;
                    let with = model.losses(residual);
                    add(&mut total, with, [0.0; 2]);
                    let unit = frame.units.of_row[row] as usize;
                    for (sums, predicted) in sums.iter_mut().zip(predicted.iter().skip(1)) {
                        let without = model.losses(value - within(*predicted));
                        add(&mut sums[unit], without, with);
                    }
                }
            });
        }
        let losses = total.map(|sum| sum / frame.rows().max(1) as f64);
        let loss = losses[0];
        let cut = models.iter().all(|model| model.cut.is_some());
        let gain = |sums: &Vec<[f64; 2]>| -> [Gain; 2] {
            let one = |which: usize| {
                let sums: Vec<f64> = sums.iter().map(|sum| sum[which]).collect();
                let margin = if which == 0 {
                    MARGIN
                } else {
                    CUT_MARGIN + CUT_LEAST / losses[1].max(f64::MIN_POSITIVE)
                };
                self.gain(&sums, self.sizes, losses[which], margin)
            };
            if cut { [one(0), one(1)] } else { [one(0); 2] }
        };
        let doubts = |gains: &[Gain; 2]| gains[0].p.min(gains[1].p) <= HARMLESS;
        let mut gains: Vec<[Gain; 2]> = sums.iter().map(gain).collect();
        // What the trees gained by an input in learning, they will hardly exceed in judging.
        let uses = |drop: usize| {
            let columns = self.columns(&self.drops[drop]);
            let margin = |model: &Model<'_>| MARGIN * loss * model.fold.grown.len() as f64;
            models.iter().any(|model| model.trees.gained(&columns) > margin(model))
        };
        let doubtful: Vec<usize> =
            (0..self.drops.len()).filter(|&drop| doubts(&gains[drop]) || uses(drop)).collect();
        if !doubtful.is_empty() {
            let (reduced, losses) = self.without(&models, &doubtful, &residuals, &growth);
            for (&drop, sums) in doubtful.iter().zip(&losses) {
                gains[drop] = gain(sums);
            }
            let found: Vec<usize> =
                (0..doubtful.len()).filter(|&place| doubts(&gains[doubtful[place]])).collect();
            let innovations = self.innovations(&models, &doubtful, &reduced, &found, &growth);
            for (&place, sums) in found.iter().zip(&innovations) {
                for (one, other) in gains[doubtful[place]].iter_mut().zip(gain(sums)) {
                    one.p = one.p.max(other.p);
                }
            }
        }
        let variance = self.variance();
        let unexplained = if variance > 0.0 { loss / variance } else { 0.0 };
        let gains = gains.iter().map(|gains| if cut { either(gains) } else { gains[0] }).collect();
        Answer { gains, unexplained, residuals }
    }

    fn no_sums(&self, count: usize) -> Sums {
        vec![vec![[0.0; 2]; self.frame.units.count()]; count]
    }

    /// A regression with and without each drop, and trees on what the first leaves over.
    fn learn<'a>(&self, fold: &'a Fold, level: usize, growth: &Growth) -> Model<'a> {
        let sums = fold.gram.target(self.index);
        let solver = self.solver(fold, &fold.gram, &fold.solvers, level);
        let own = self.target.own_input();
        let coefficients = if own.is_some() {
            // The other inputs alone; there is nothing else to drop.
            let without = |_: usize, feature: usize| fold.basis.touches(feature, own);
            solver.coefficients(&sums, 1, without).select(Axis(1), &[1])
        } else {
            let dropped = |drop: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
            solver.coefficients(&sums, self.drops.len(), dropped)
        };
        let first = coefficients.select(Axis(1), &[0]);
        let mut rest = self.rest(fold, &fold.grown, &first);
        let trees = self.trees(&fold.grown, &mut rest, &[], growth);
        Model { fold, solver, level, coefficients, trees, cut: self.cut(rest) }
    }

    /// Where errors are cut: only numbers that vary continuously have a usual error.
    fn cut(&self, errors: Vec<f64>) -> Option<f64> {
        let Target::Output(column) = *self.target else { return None };
        let mut outputs = self.frame.outputs.iter();
        let output = outputs.find(|output| output.columns.contains(&column))?;
        if !matches!(output.kind, Kind::Continuous(_)) || errors.is_empty() {
            return None;
        }
        let mut sizes: Vec<f64> = errors.into_iter().map(f64::abs).collect();
        let middle = sizes.len() / 2;
        let (_, median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
        Some(CUT * median.max(self.floor().sqrt()))
    }

    /// The regression up to a level on the allowed inputs; of an input's own target the solver
    /// that it shares with the others.
    fn solver<'a>(
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
    fn level(&self, growth: &Growth) -> usize {
        let growth = Growth { trees: growth.trees / 2, ..*growth };
        let mut losses = [0.0; LEVELS];
        for fold in self.folds {
            for (level, loss) in losses.iter_mut().enumerate() {
                *loss += self.trial(fold, level, &growth);
            }
        }
        let mut best = 0;
        for level in 1..LEVELS {
            if losses[level] < losses[best] {
                best = level;
            }
        }
        best
    }

    /// The loss of a level on the last part of the rows of a fold, learned from the first.
    fn trial(&self, fold: &Fold, level: usize, growth: &Growth) -> f64 {
        let (learned, judged) = fold.grown.split_at(fold.tried);
        let own = self.target.own_input();
        let (low, high) = self.range;
        let solver = self.solver(fold, &fold.trial_gram, &fold.trials, level);
        let without = |_: usize, feature: usize| fold.basis.touches(feature, own);
        let coefficients = solver
            .coefficients(&fold.trial_gram.target(self.index), 1, without)
            .select(Axis(1), &[1]);
        let mut rest = self.rest(fold, learned, &coefficients);
        let trees = self.trees(learned, &mut rest, &[], growth);
        let mut loss = 0.0;
        fold.predict(self.frame, judged, &coefficients, |rows, predicted| {
            for (&row, predicted) in rows.iter().zip(predicted.column(0)) {
                let added = trees.predict(self.bins.row(row as usize));
                let value = self.target.value(self.frame, row as usize);
                let error = value - (predicted + added).clamp(low, high);
                loss += error * error;
            }
        });
        loss
    }

    /// What one column of coefficients leaves over of the target.
    fn rest(&self, fold: &Fold, rows: &[u32], coefficients: &Array2<f64>) -> Vec<f64> {
        self.rests(fold, rows, coefficients).pop().unwrap_or_default()
    }

    /// What each column of coefficients leaves over of the target.
    fn rests(&self, fold: &Fold, rows: &[u32], coefficients: &Array2<f64>) -> Vec<Vec<f64>> {
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

    /// Whether all inputs are allowed.
    fn has_all(&self) -> bool {
        self.allowed.len() == self.frame.inputs.len()
    }

    /// Whether a feature is a function of allowed inputs only.
    fn is_allowed(&self, fold: &Fold, feature: usize) -> bool {
        let mut inputs = fold.basis.inputs_of(feature).into_iter().flatten();
        inputs.all(|input| self.allowed.contains(&input))
    }

    /// For each fold and doubtful drop trees that never saw what is dropped, and for each such drop
    /// the sums of losses without it less losses with it.
    fn without(
        &self,
        models: &[Model<'_>; 2],
        doubtful: &[usize],
        residuals: &[f64],
        growth: &Growth,
    ) -> ([Vec<Ensemble>; 2], Sums) {
        let frame = self.frame;
        let (low, high) = self.range;
        let mut losses = self.no_sums(doubtful.len());
        let reduced = models.each_ref().map(|model| {
            let fold = model.fold;
            let columns: Vec<usize> = doubtful.iter().map(|drop| drop + 1).collect();
            let coefficients = model.coefficients.select(Axis(1), &columns);
            let rests = self.rests(fold, &fold.grown, &coefficients);
            let trees: Vec<Ensemble> = doubtful
                .iter()
                .zip(rests)
                .map(|(&drop, mut rest)| {
                    self.trees(&fold.grown, &mut rest, &self.drops[drop], growth)
                })
                .collect();
            fold.predict(frame, &fold.judged, &coefficients, |rows, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let row = row as usize;
                    let value = self.target.value(frame, row);
                    let unit = frame.units.of_row[row] as usize;
                    let with = model.losses(residuals[row]);
                    for ((sums, trees), predicted) in losses.iter_mut().zip(&trees).zip(predicted) {
                        let predicted = predicted + trees.predict(self.bins.row(row));
                        let without = model.losses(value - predicted.clamp(low, high));
                        add(&mut sums[unit], without, with);
                    }
                }
            });
            trees
        });
        (reduced, losses)
    }

    /// Sums of the products of what the reduced model leaves over with the *innovation*: what the
    /// dropped inputs add to the prediction beyond what the others could have told of that
    /// addition (a projected covariance). It estimates the same gain as the difference of losses. Where an
    /// imperfect model of the others lets a bystander help, the losses are deceived; this is not,
    /// unless the bystander's part is mistaken in the same way.
    fn innovations(
        &self,
        models: &[Model<'_>; 2],
        doubtful: &[usize],
        reduced: &[Vec<Ensemble>; 2],
        found: &[usize],
        growth: &Growth,
    ) -> Sums {
        let frame = self.frame;
        let (low, high) = self.range;
        let mut sums = self.no_sums(found.len());
        for (model, reduced) in models.iter().zip(reduced) {
            let fold = model.fold;
            let mut coefficients = Array2::zeros((fold.basis.width(), 1 + 2 * found.len()));
            coefficients.column_mut(0).assign(&model.coefficients.column(0));
            let mut expected = Vec::with_capacity(found.len());
            for (index, &place) in found.iter().enumerate() {
                let drop = doubtful[place];
                let (terms, trees) = self.expected(model, drop, &reduced[place], growth);
                let column = 1 + 2 * index;
                coefficients.column_mut(column).assign(&model.coefficients.column(drop + 1));
                coefficients.column_mut(column + 1).assign(&terms);
                expected.push(trees);
            }
            fold.predict(frame, &fold.judged, &coefficients, |rows, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let row = row as usize;
                    let bins = self.bins.row(row);
                    let value = self.target.value(frame, row);
                    let unit = frame.units.of_row[row] as usize;
                    let full = (predicted[0] + model.trees.predict(bins)).clamp(low, high);
                    for (index, &place) in found.iter().enumerate() {
                        let column = 1 + 2 * index;
                        let partial =
                            (predicted[column] + reduced[place].predict(bins)).clamp(low, high);
                        let told = predicted[column + 1] + expected[index].predict(bins);
                        let (error, innovation) = (value - partial, full - partial - told);
                        let cut = model.cut.map_or(0.0, |cut| error.clamp(-cut, cut));
                        add(
                            &mut sums[index][unit],
                            [error * innovation, cut * innovation],
                            [0.0; 2],
                        );
                    }
                }
            });
        }
        sums
    }

    /// What the other inputs tell of that which the dropped ones add to the prediction.
    fn expected(
        &self,
        model: &Model<'_>,
        drop: usize,
        reduced: &Ensemble,
        growth: &Growth,
    ) -> (Array1<f64>, Ensemble) {
        let fold = model.fold;
        let inputs = &self.drops[drop];
        let both = model.coefficients.select(Axis(1), &[0, drop + 1]);
        let mut added = Vec::with_capacity(fold.grown.len());
        fold.predict(self.frame, &fold.grown, &both, |rows, predicted| {
            for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                let bins = self.bins.row(row as usize);
                let full = predicted[0] + model.trees.predict(bins);
                added.push(full - predicted[1] - reduced.predict(bins));
            }
        });
        let part = |feature: usize| fold.basis.level(feature) <= model.level;
        let sums = fold.sums(self.frame, &fold.grown, &added, part);
        let dropped = |_: usize, feature: usize| fold.touches(feature, inputs);
        let solver = self.solver(fold, fold.grown_gram(), fold.grown_solvers(), model.level);
        let both = solver.coefficients(&sums, 1, dropped);
        let terms = both.select(Axis(1), &[1]);
        let mut rest = Vec::with_capacity(added.len());
        fold.predict(self.frame, &fold.grown, &terms, |_, predicted| {
            let added = added[rest.len()..].iter();
            rest.extend(added.zip(predicted.column(0)).map(|(added, expected)| added - expected));
        });
        let trees = self.trees(&fold.grown, &mut rest, inputs, growth);
        (terms.column(0).to_owned(), trees)
    }

    /// Trees on what a regression left over, without the columns of some inputs.
    fn trees(
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

    /// Whether the size of the residual depends on the inputs, where the mean does not tell.
    ///
    /// `None` where it would tell nothing: labels and booleans, whose variance follows from their
    /// mean, and what is predicted so well that the residual is the model's own error.
    pub(super) fn spread(&self, answer: &Answer) -> Option<Vec<Gain>> {
        const OWN_ERROR: f64 = 1e-3;
        let frame = self.frame;
        let Target::Output(column) = *self.target else { return None };
        let boolean = frame
            .outputs
            .iter()
            .any(|output| output.columns.contains(&column) && output.kind == Kind::Boolean);
        if boolean || answer.unexplained < OWN_ERROR {
            return None;
        }
        let size = |row: usize| answer.residuals[row].abs();
        let mut sums = vec![vec![0.0; frame.units.count()]; self.drops.len()];
        let mut loss = 0.0;
        let mut sizes = vec![0.0; frame.units.count()];
        for fold in self.folds {
            let values: Vec<f64> = fold.grown.iter().map(|&row| size(row as usize)).collect();
            let sums_of =
                fold.sums(frame, &fold.grown, &values, |feature| fold.basis.is_main(feature));
            let mains =
                |feature: usize| fold.basis.is_main(feature) && self.is_allowed(fold, feature);
            let solver = if self.has_all() {
                Cow::Borrowed(&fold.mains)
            } else {
                Cow::Owned(Solver::new(fold.grown_gram(), mains))
            };
            let dropped = |drop: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
            let coefficients = solver.coefficients(&sums_of, self.drops.len(), dropped);
            let most = fold.judged.len().min(fold.grown.len().max(4096) * 2);
            fold.predict(frame, &fold.judged[..most], &coefficients, |rows, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let value = size(row as usize);
                    let with = (value - predicted[0]) * (value - predicted[0]);
                    loss += with;
                    let unit = frame.units.of_row[row as usize] as usize;
                    sizes[unit] += 1.0;
                    for (sums, predicted) in sums.iter_mut().zip(predicted.iter().skip(1)) {
                        sums[unit] += (value - predicted) * (value - predicted) - with;
                    }
                }
            });
        }
        loss /= sizes.iter().sum::<f64>().max(1.0);
        Some(sums.iter().map(|sums| self.gain(sums, &sizes, loss, SPREAD_MARGIN)).collect())
    }

    fn gain(&self, sums: &[f64], sizes: &[f64], loss: f64, margin: f64) -> Gain {
        let floor = self.floor();
        let least = margin * loss + floor;
        let beyond: Vec<f64> =
            sums.iter().zip(sizes).map(|(sum, size)| sum - least * size).collect();
        let p = self.frame.units.p_value(&beyond, sizes);
        let rows: f64 = sizes.iter().sum();
        let gain = (sums.iter().sum::<f64>() / rows.max(1.0)).max(0.0);
        Gain { p, size: gain, strength: (gain / (gain + loss + floor)).clamp(0.0, 1.0) }
    }

    /// The loss that rounding alone can cause.
    fn floor(&self) -> f64 {
        let inputs =
            self.columns(self.allowed).into_iter().map(|column| self.frame.u[column].rounding);
        let rounding = inputs.fold(0.0, f64::max) + self.target.rounding(self.frame);
        ARITHMETIC + AMPLIFICATION * rounding
    }

    fn variance(&self) -> f64 {
        let rows = self.frame.rows();
        let values = (0..rows).map(|row| self.target.value(self.frame, row));
        let mean = values.clone().sum::<f64>() / rows.max(1) as f64;
        values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / rows.max(1) as f64
    }

    fn columns(&self, inputs: &[usize]) -> Vec<usize> {
        inputs.iter().flat_map(|&input| self.frame.inputs[input].columns.iter().copied()).collect()
    }
}

/// Adds the difference of two losses to a sum.
fn add(sum: &mut [f64; 2], without: [f64; 2], with: [f64; 2]) {
    for ((sum, without), with) in sum.iter_mut().zip(without).zip(with) {
        *sum += without - with;
    }
}

/// The better of two tests, times two.
fn either(gains: &[Gain; 2]) -> Gain {
    Gain {
        p: (2.0 * gains[0].p.min(gains[1].p)).min(1.0),
        size: gains[0].size,
        strength: gains[0].strength.max(gains[1].strength),
    }
}

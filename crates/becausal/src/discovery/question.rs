//! How much worse a target is predicted without each input, and how sure that is.

use std::borrow::Cow;

use ndarray::{Array1, Array2, Axis};

use super::bins::Bins;
use super::boost::{Ensemble, Growth};
use super::fold::Fold;
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
}

/// How much an input, or some together, help to predict a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gain {
    /// Under the hypothesis that they do not.
    pub p: f64,
    /// Loss without them less loss with them, a row, in units of the target's variance.
    pub gain: f64,
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

/// What was learned on one fold without some inputs.
struct Reduced {
    trees: Ensemble,
    /// Coefficients that predict, from the others, what the dropped inputs add.
    expected: Array1<f64>,
    /// Trees on what these leave over.
    expected_trees: Ensemble,
}

/// What was learned on one fold.
struct Model<'a> {
    fold: &'a Fold,
    solver: Cow<'a, Solver>,
    /// With all allowed inputs, then without those of each drop.
    coefficients: Array2<f64>,
    trees: Ensemble,
}

/// Sums over units for each drop.
type Sums = Vec<Vec<f64>>;

impl Question<'_> {
    /// Learns with and without, on either fold, and judges on the other.
    pub(super) fn answer(&self) -> Answer {
        let frame = self.frame;
        let growth = Growth::for_columns(frame.u.len());
        let models = self.folds.each_ref().map(|fold| self.learn(fold, &growth));
        let mut residuals = vec![0.0; frame.rows()];
        let mut sums = self.no_sums(self.drops.len());
        let (low, high) = self.range();
        for model in &models {
            let fold = model.fold;
            fold.predict(frame, &fold.judged, &model.coefficients, |rows, _, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let row = row as usize;
                    let value = self.target.value(frame, row);
                    let added = model.trees.predict(self.bins.row(row));
                    let within = |predicted: f64| (predicted + added).clamp(low, high);
                    let residual = value - within(predicted[0]);
                    residuals[row] = residual;
                    let unit = frame.units.of_row[row] as usize;
                    for (sums, predicted) in sums.iter_mut().zip(predicted.iter().skip(1)) {
                        let without = value - within(*predicted);
                        sums[unit] += without * without - residual * residual;
                    }
                }
            });
        }
        let loss = residuals.iter().map(|r| r * r).sum::<f64>() / frame.rows().max(1) as f64;
        let gain = |sums: &Vec<f64>| self.gain(sums, self.sizes, loss, MARGIN);
        let mut gains: Vec<Gain> = sums.iter().map(gain).collect();
        let uses = |drop: usize| {
            let columns = self.columns(&self.drops[drop]);
            models.iter().any(|model| model.trees.uses(&columns))
        };
        let doubtful: Vec<usize> = (0..self.drops.len())
            .filter(|&drop| gains[drop].p <= HARMLESS || uses(drop))
            .collect();
        if !doubtful.is_empty() {
            let (losses, innovations) = self.without(&models, &doubtful, &residuals, &growth);
            for (place, &drop) in doubtful.iter().enumerate() {
                let (by_loss, by_innovation) = (gain(&losses[place]), gain(&innovations[place]));
                gains[drop] = Gain { p: by_loss.p.max(by_innovation.p), ..by_loss };
            }
        }
        let variance = self.variance();
        let unexplained = if variance > 0.0 { loss / variance } else { 0.0 };
        Answer { gains, unexplained, residuals }
    }

    fn no_sums(&self, count: usize) -> Sums {
        vec![vec![0.0; self.frame.units.count()]; count]
    }

    /// A regression with and without each drop, and trees on what the first leaves over.
    fn learn<'a>(&self, fold: &'a Fold, growth: &Growth) -> Model<'a> {
        let sums = fold.gram.target(self.index);
        let (solver, coefficients) = if let Some(own) = self.target.own_input() {
            // The other inputs alone; there is nothing else to drop.
            let without = |_: usize, feature: usize| fold.touches(feature, &[own]);
            let both = fold.solver.coefficients(&sums, 1, without);
            (Cow::Borrowed(&fold.solver), both.select(Axis(1), &[1]))
        } else {
            let solver = if self.allowed.len() == self.frame.inputs.len() {
                Cow::Borrowed(&fold.solver)
            } else {
                Cow::Owned(Solver::new(&fold.gram, |feature| self.is_allowed(fold, feature)))
            };
            let dropped = |drop: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
            let coefficients = solver.coefficients(&sums, self.drops.len(), dropped);
            (solver, coefficients)
        };
        let mut rest = Vec::with_capacity(fold.grown.len());
        let first = coefficients.select(Axis(1), &[0]);
        fold.predict(self.frame, &fold.grown, &first, |rows, _, predicted| {
            self.leave_over(rows, predicted.column(0).iter().copied(), &mut rest);
        });
        let trees = self.trees(fold, &mut rest, &[], growth);
        Model { fold, solver, coefficients, trees }
    }

    /// Whether a feature is a function of allowed inputs only.
    fn is_allowed(&self, fold: &Fold, feature: usize) -> bool {
        let mut inputs = fold.basis.inputs_of(feature).into_iter().flatten();
        inputs.all(|input| self.allowed.contains(&input))
    }

    fn leave_over(&self, rows: &[u32], predicted: impl Iterator<Item = f64>, rest: &mut Vec<f64>) {
        let values = rows.iter().map(|&row| self.target.value(self.frame, row as usize));
        rest.extend(values.zip(predicted).map(|(value, predicted)| value - predicted));
    }

    /// Sums for the doubtful drops, each with trees that never saw what is dropped.
    ///
    /// First, losses without less losses with. Second, the products of what the reduced model leaves
    /// over with the *innovation*: what the dropped inputs add to the prediction beyond what the
    /// others could have told of that addition (a projected covariance). Where an imperfect model
    /// of the others lets a bystander help, the first is deceived; the second is not, unless the
    /// bystander's part is mistaken in the same way.
    fn without(
        &self,
        models: &[Model<'_>; 2],
        doubtful: &[usize],
        residuals: &[f64],
        growth: &Growth,
    ) -> (Sums, Sums) {
        let frame = self.frame;
        let mut losses = self.no_sums(doubtful.len());
        let mut innovations = self.no_sums(doubtful.len());
        let (low, high) = self.range();
        for model in models {
            let fold = model.fold;
            let reduced: Vec<Reduced> =
                doubtful.iter().map(|&drop| self.reduce(model, drop, growth)).collect();
            let mut coefficients = Array2::zeros((fold.basis.width(), 1 + 2 * doubtful.len()));
            coefficients.column_mut(0).assign(&model.coefficients.column(0));
            for (place, (&drop, reduced)) in doubtful.iter().zip(&reduced).enumerate() {
                let column = 1 + 2 * place;
                coefficients.column_mut(column).assign(&model.coefficients.column(drop + 1));
                coefficients.column_mut(column + 1).assign(&reduced.expected);
            }
            fold.predict(frame, &fold.judged, &coefficients, |rows, _, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let row = row as usize;
                    let bins = self.bins.row(row);
                    let value = self.target.value(frame, row);
                    let unit = frame.units.of_row[row] as usize;
                    let full = (predicted[0] + model.trees.predict(bins)).clamp(low, high);
                    for (place, reduced) in reduced.iter().enumerate() {
                        let column = 1 + 2 * place;
                        let partial =
                            (predicted[column] + reduced.trees.predict(bins)).clamp(low, high);
                        let without = value - partial;
                        losses[place][unit] += without * without - residuals[row] * residuals[row];
                        let expected =
                            predicted[column + 1] + reduced.expected_trees.predict(bins);
                        innovations[place][unit] += without * (full - partial - expected);
                    }
                }
            });
        }
        (losses, innovations)
    }

    /// What is learned without the inputs of a drop: the target, and what they add to it.
    fn reduce(&self, model: &Model<'_>, drop: usize, growth: &Growth) -> Reduced {
        let fold = model.fold;
        let inputs = &self.drops[drop];
        let both = model.coefficients.select(Axis(1), &[0, drop + 1]);
        let mut rest = Vec::with_capacity(fold.grown.len());
        fold.predict(self.frame, &fold.grown, &both, |rows, _, predicted| {
            self.leave_over(rows, predicted.column(1).iter().copied(), &mut rest);
        });
        let trees = self.trees(fold, &mut rest, inputs, growth);
        let mut added = Vec::with_capacity(fold.grown.len());
        let mut sums = Array1::zeros(fold.basis.width());
        fold.predict(self.frame, &fold.grown, &both, |rows, features, predicted| {
            let from = added.len();
            for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                let bins = self.bins.row(row as usize);
                let full = predicted[0] + model.trees.predict(bins);
                added.push(full - predicted[1] - trees.predict(bins));
            }
            sums += &features.t().dot(&Array1::from_vec(added[from..].to_vec()));
        });
        let dropped = |_: usize, feature: usize| fold.touches(feature, inputs);
        let both = match &fold.grown_gram {
            Some(gram) => Solver::new(gram, |feature| self.is_allowed(fold, feature))
                .coefficients(&sums, 1, dropped),
            None => model.solver.coefficients(&sums, 1, dropped),
        };
        let expected = both.select(Axis(1), &[1]);
        let mut rest = Vec::with_capacity(added.len());
        fold.predict(self.frame, &fold.grown, &expected, |_, _, predicted| {
            let added = added[rest.len()..].iter();
            rest.extend(added.zip(predicted.column(0)).map(|(added, expected)| added - expected));
        });
        let expected_trees = self.trees(fold, &mut rest, inputs, growth);
        Reduced { trees, expected: expected.column(0).to_owned(), expected_trees }
    }

    /// Trees on what a regression left over, without the columns of some inputs.
    fn trees(
        &self,
        fold: &Fold,
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
        Ensemble::grow(self.bins, &fold.grown, rest, &allowed, growth)
    }

    /// Whether the size of the residual depends on the inputs, where the mean does not tell.
    ///
    /// `None` where it would tell nothing: labels and booleans, whose variance follows from their
    /// mean, and what is predicted so well that the residual is the model's own error.
    pub(super) fn spread(&self, answer: &Answer) -> Option<Vec<Gain>> {
        const OWN_ERROR: f64 = 1e-3;
        let frame = self.frame;
        let Target::Output(column) = *self.target else { return None };
        if std::env::var_os("NOSPREAD").is_some() { return None; }
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
            let gram = Gram::of(frame, &fold.basis, &fold.grown, 1, &|_, row| size(row));
            let mains = |feature: usize| {
                fold.basis.inputs_of(feature)[1].is_none() && self.is_allowed(fold, feature)
            };
            let solver = Solver::new(&gram, mains);
            let dropped = |drop: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
            let coefficients = solver.coefficients(&gram.target(0), self.drops.len(), dropped);
            let most = fold.judged.len().min(fold.grown.len().max(4096) * 2);
            fold.predict(frame, &fold.judged[..most], &coefficients, |rows, _, predicted| {
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
        if std::env::var_os("GAINS").is_some() {
            eprintln!("{:?} p {p:.1e} gain {gain:.1e} loss {loss:.1e} floor {floor:.1e}", self.target);
        }
        Gain { p, gain, strength: (gain / (gain + loss + floor)).clamp(0.0, 1.0) }
    }

    /// The loss that rounding alone can cause.
    fn floor(&self) -> f64 {
        let inputs = self.columns(self.allowed).into_iter().map(|column| self.frame.u[column].rounding);
        let rounding = inputs.fold(0.0, f64::max) + self.target.rounding(self.frame);
        ARITHMETIC + AMPLIFICATION * rounding
    }

    /// No prediction goes far beyond what the target ever was: polynomials do, out of sight.
    fn range(&self) -> (f64, f64) {
        let values = (0..self.frame.rows()).map(|row| self.target.value(self.frame, row));
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(start, |(low, high), v| (low.min(v), high.max(v)));
        let slack = 0.1 * (high - low).max(0.0);
        (low - slack, high + slack)
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

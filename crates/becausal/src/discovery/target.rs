//! One number to be predicted, and how much worse it is predicted without each input.

use ndarray::Array2;

use super::bins::Bins;
use super::boost::{Ensemble, Growth};
use super::fold::Fold;
use super::frame::Frame;
use super::ridge::{Gram, Solver};
use crate::schema::Kind;

/// Standardised targets beyond this are cut off: one outlier must not decide.
const CUT: f64 = 12.0;

/// A gain below this share of the loss is no effect: a wrong model leaves as much to a bystander.
const MARGIN: f64 = 0.002;

/// The same for the size of the residual, which a wrong model of the mean disturbs more.
const SPREAD_MARGIN: f64 = 0.01;

/// What arithmetic leaves of a target that is predicted exactly, in units of its variance.
const ARITHMETIC: f64 = 1e-12;

/// Rounding errors of inputs add up and are amplified by the dynamics.
const AMPLIFICATION: f64 = 16.0;

/// A drop that looks this harmless with the trees of the full model needs no trees of its own.
const HARMLESS: f64 = 0.25;

/// A number to be predicted.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    /// A column of an output, standardised.
    Output(usize),
    /// Whether a column of an output has this label.
    OutputLabel(usize, f64),
    /// A column of an input, to be predicted from the other inputs.
    Input { input: usize, column: usize },
    /// Whether a column of an input has this label.
    InputLabel { input: usize, column: usize, label: f64 },
}

impl Target {
    /// The targets that stand for some columns of a kind.
    pub(super) fn of_output(frame: &Frame, output: usize) -> Vec<Self> {
        let factor = &frame.outputs[output];
        let mut targets = Vec::new();
        for &column in factor.columns.iter().filter(|&&column| !frame.v[column].constant) {
            match &factor.kind {
                Kind::Categorical(labels) => {
                    let met = met(&frame.v[column].values, labels.len());
                    targets.extend(met.into_iter().map(|label| Self::OutputLabel(column, label)));
                }
                _ => targets.push(Self::Output(column)),
            }
        }
        targets
    }

    /// The same for an input.
    pub(super) fn of_input(frame: &Frame, input: usize) -> Vec<Self> {
        let factor = &frame.inputs[input];
        let mut targets = Vec::new();
        for &column in factor.columns.iter().filter(|&&column| !frame.u[column].constant) {
            match &factor.kind {
                Kind::Categorical(labels) => {
                    let met = met(&frame.u[column].values, labels.len());
                    let target = |label| Self::InputLabel { input, column, label };
                    targets.extend(met.into_iter().map(target));
                }
                _ => targets.push(Self::Input { input, column }),
            }
        }
        targets
    }

    /// Its value in a row.
    pub(super) fn value(&self, frame: &Frame, row: usize) -> f64 {
        let (series, label) = match *self {
            Self::Output(column) => (&frame.v[column], None),
            Self::Input { column, .. } => (&frame.u[column], None),
            Self::OutputLabel(column, label) => (&frame.v[column], Some(label)),
            Self::InputLabel { column, label, .. } => (&frame.u[column], Some(label)),
        };
        match label {
            None => ((series.values[row] - series.mean) / series.scale).clamp(-CUT, CUT),
            Some(label) => f64::from(u8::from(series.values[row] == label)),
        }
    }

    /// The input that it is a column of.
    pub(super) fn own_input(&self) -> Option<usize> {
        match *self {
            Self::Input { input, .. } | Self::InputLabel { input, .. } => Some(input),
            Self::Output(_) | Self::OutputLabel(..) => None,
        }
    }

    fn rounding(&self, frame: &Frame) -> f64 {
        match *self {
            Self::Output(column) => frame.v[column].rounding,
            Self::Input { column, .. } => frame.u[column].rounding,
            _ => 0.0,
        }
    }
}

/// The labels met in a column; of two, one tells it all.
fn met(values: &[f64], labels: usize) -> Vec<f64> {
    let mut counts = vec![0_usize; labels];
    for &value in values {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        if let Some(count) = counts.get_mut(value as usize) {
            *count += 1;
        }
    }
    let mut met: Vec<f64> =
        (0..labels).filter(|&label| counts[label] > 0).map(|label| label as f64).collect();
    if met.len() == 2 {
        met.pop();
    }
    met
}

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

impl Question<'_> {
    /// Learns with and without, on either fold, and judges on the other.
    pub(super) fn answer(&self) -> Answer {
        let frame = self.frame;
        let everything =
            self.allowed.len() == frame.inputs.len() || self.target.own_input().is_some();
        let growth = Growth::for_columns(frame.u.len());
        let mut residuals = vec![0.0; frame.rows()];
        let mut sums = vec![vec![0.0; frame.units.count()]; self.drops.len()];
        let mut own_trees = vec![false; self.drops.len()];
        let mut models = Vec::new();
        for fold in self.folds {
            let narrowed;
            let solver = if everything {
                &fold.solver
            } else {
                let part = |feature: usize| {
                    let (first, second) = fold.basis.inputs_of(feature);
                    [first, second].into_iter().flatten().all(|input| self.allowed.contains(&input))
                };
                narrowed = Solver::new(&fold.gram, part);
                &narrowed
            };
            let dropped = |drop: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
            let sums_with = fold.gram.target(self.index);
            let coefficients = match self.target.own_input() {
                // The other inputs alone; there is nothing else to drop.
                Some(own) => {
                    let without = |_: usize, feature: usize| fold.touches(feature, &[own]);
                    let both = fold.solver.coefficients(&sums_with, 1, without);
                    both.select(ndarray::Axis(1), &[1])
                }
                None => solver.coefficients(&sums_with, self.drops.len(), dropped),
            };
            let trees = self.trees(fold, &coefficients, 0, &[], &growth);
            for (drop, own) in own_trees.iter_mut().enumerate() {
                *own |= trees.uses(&self.columns(&self.drops[drop]));
            }
            fold.predict(frame, &fold.judged, &coefficients, |rows, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let row = row as usize;
                    let rest = self.target.value(frame, row) - trees.predict(self.bins.row(row));
                    let residual = rest - predicted[0];
                    residuals[row] = residual;
                    let unit = frame.units.of_row[row] as usize;
                    for (sums, predicted) in sums.iter_mut().zip(predicted.iter().skip(1)) {
                        let without = rest - predicted;
                        sums[unit] += without * without - residual * residual;
                    }
                }
            });
            models.push(coefficients);
        }
        let loss = residuals.iter().map(|r| r * r).sum::<f64>() / frame.rows().max(1) as f64;
        let mut gains: Vec<Gain> = sums.iter().map(|sums| self.gain(sums, self.sizes, loss, MARGIN)).collect();
        let doubtful: Vec<usize> = (0..self.drops.len())
            .filter(|&drop| own_trees[drop] || gains[drop].p <= HARMLESS)
            .collect();
        if !doubtful.is_empty() {
            let sums = self.without(&models, &doubtful, &residuals, &growth);
            for (&drop, sums) in doubtful.iter().zip(&sums) {
                gains[drop] = self.gain(sums, self.sizes, loss, MARGIN);
            }
        }
        let variance = self.variance();
        let unexplained = if variance > 0.0 { loss / variance } else { 0.0 };
        Answer { gains, unexplained, residuals }
    }

    /// The sums of the doubtful drops, each with trees that never saw what is dropped.
    fn without(
        &self,
        models: &[Array2<f64>],
        doubtful: &[usize],
        residuals: &[f64],
        growth: &Growth,
    ) -> Vec<Vec<f64>> {
        let frame = self.frame;
        let mut sums = vec![vec![0.0; frame.units.count()]; doubtful.len()];
        for (fold, coefficients) in self.folds.iter().zip(models) {
            let trees: Vec<Ensemble> = doubtful
                .iter()
                .map(|&drop| self.trees(fold, coefficients, drop + 1, &self.drops[drop], growth))
                .collect();
            let columns: Vec<usize> = doubtful.iter().map(|drop| drop + 1).collect();
            let coefficients = coefficients.select(ndarray::Axis(1), &columns);
            fold.predict(frame, &fold.judged, &coefficients, |rows, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let row = row as usize;
                    let value = self.target.value(frame, row);
                    let unit = frame.units.of_row[row] as usize;
                    let loss = residuals[row] * residuals[row];
                    for ((sums, trees), predicted) in sums.iter_mut().zip(&trees).zip(predicted) {
                        let without = value - predicted - trees.predict(self.bins.row(row));
                        sums[unit] += without * without - loss;
                    }
                }
            });
        }
        sums
    }

    /// Trees on what one column of coefficients leaves over, without the columns of some inputs.
    fn trees(
        &self,
        fold: &Fold,
        coefficients: &Array2<f64>,
        column: usize,
        without: &[usize],
        growth: &Growth,
    ) -> Ensemble {
        let mut rest = Vec::with_capacity(fold.grown.len());
        let one = coefficients.select(ndarray::Axis(1), &[column]);
        fold.predict(self.frame, &fold.grown, &one, |rows, predicted| {
            let values = rows.iter().map(|&row| self.target.value(self.frame, row as usize));
            rest.extend(values.zip(predicted.column(0)).map(|(value, predicted)| value - predicted));
        });
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
        Ensemble::grow(self.bins, &fold.grown, &mut rest, &allowed, growth)
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
            let gram = Gram::of(frame, &fold.basis, &fold.grown, 1, &|_, row| size(row));
            let mains = |feature: usize| {
                let (first, second) = fold.basis.inputs_of(feature);
                second.is_none() && first.is_none_or(|input| self.allowed.contains(&input))
            };
            let solver = Solver::new(&gram, mains);
            let dropped = |drop: usize, feature: usize| fold.touches(feature, &self.drops[drop]);
            let coefficients = solver.coefficients(&gram.target(0), self.drops.len(), dropped);
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
        Gain { p, gain, strength: (gain / (gain + loss + floor)).clamp(0.0, 1.0) }
    }

    /// The loss that rounding alone can cause.
    fn floor(&self) -> f64 {
        let inputs = self.columns(self.allowed).into_iter().map(|column| self.frame.u[column].rounding);
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

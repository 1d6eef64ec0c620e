//! How much worse a target is predicted without each input, and how sure that is.

use ndarray::Axis;

use super::bins::Bins;
use super::boost::Growth;
use super::extremes::Extremes;
use super::fold::Fold;
use super::frame::Frame;
use super::model::Model;
use super::target::Target;

/// A gain below this share of the loss is no effect: a wrong model leaves as much to a bystander.
const MARGIN: f64 = 0.004;

/// What arithmetic leaves of a target that is predicted exactly, in units of its variance.
const ARITHMETIC: f64 = 3e-10;

/// Rounding errors of inputs add up and are amplified by the dynamics.
const AMPLIFICATION: f64 = 16.0;

/// A gain of cut losses below this share of them is no effect...
const CUT_MARGIN: f64 = 0.02;

/// ...nor below this share of the target's variance: where nothing is random, the usual error is the
/// model's own, and a bystander may mend it.
const CUT_LEAST: f64 = 1e-4;

/// Below this share of the variance the residual is the model's own error.
const OWN_ERROR: f64 = 1e-3;

/// A drop that looks this harmless with the trees of the full model needs no trees of its own.
const HARMLESS: f64 = 0.25;

/// An input whose part in the regression is below this share of the margin, in learning, is not
/// looked at in judging.
const PROMISING: f64 = 0.1;

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
    /// How trees are grown.
    pub growth: Growth,
    /// Rows in which it is kept what each drop leaves over.
    pub extremes: &'a Extremes,
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
    /// Mean square error with all allowed inputs.
    pub loss: f64,
    /// The same relative to the target's variance.
    pub unexplained: f64,
    /// Where errors are cut, if they are.
    pub cut: Option<f64>,
    /// What the model with all inputs left over in each row.
    pub residuals: Vec<f64>,
    /// What the model without the inputs of each drop left over in each row of the extremes.
    pub without: Vec<Vec<f64>>,
}

/// Sums over units for each drop, of losses as they are and of losses cut.
///
/// A few rows with huge errors, as when a craft touches the ground, drown what all the other rows
/// say. Cut losses hear the others.
pub(super) type Sums = Vec<Vec<[f64; 2]>>;

impl Answer {
    /// Whether the target is predicted so well that what is left over is the model's own error.
    pub(super) fn is_own_error(&self) -> bool {
        self.unexplained < OWN_ERROR
    }
}

/// What judging found.
struct Judged {
    /// Mean losses with all inputs, as they are and cut.
    losses: [f64; 2],
    residuals: Vec<f64>,
    /// Losses without each drop less losses with it.
    sums: Sums,
    without: Vec<Vec<f64>>,
}

impl Gain {
    /// The model has no use for it.
    const NOTHING: Self = Self { p: 1.0, size: 0.0, strength: 0.0 };
}

impl Question<'_> {
    /// Learns with and without, on either fold, and judges on the other.
    pub(super) fn answer(&self) -> Answer {
        let level = self.level();
        let models = self.folds.each_ref().map(|fold| self.learn(fold, level));
        let promising: Vec<usize> =
            (0..self.drops.len()).filter(|&drop| self.promises(&models, drop)).collect();
        let mut judged = self.judge(&models, &promising);
        let mut gains = vec![[Gain::NOTHING; 2]; self.drops.len()];
        for (&drop, sums) in promising.iter().zip(&judged.sums) {
            gains[drop] = self.gains(sums, &models, &judged.losses);
        }
        let doubts = |gains: &[Gain; 2]| gains[0].p.min(gains[1].p) <= HARMLESS;
        let doubtful: Vec<usize> = (0..self.drops.len())
            .filter(|&drop| doubts(&gains[drop]) || self.uses(&models, drop, judged.losses[0]))
            .collect();
        if !doubtful.is_empty() {
            let levels = self.levels_without(&doubtful, level);
            let reduced = self.reduced(&models, &doubtful, level, &levels);
            let (without, extremes) = (&mut judged.without, self.extremes);
            let keep = |place: usize, row: usize, rest: f64| {
                if let Some(kept) = extremes.place(row) {
                    without[doubtful[place]][kept] = rest;
                }
            };
            let sums = self.losses_without(&models, &reduced, &judged.residuals, keep);
            for (&drop, sums) in doubtful.iter().zip(&sums) {
                gains[drop] = self.gains(sums, &models, &judged.losses);
            }
            let found: Vec<usize> =
                (0..doubtful.len()).filter(|&place| doubts(&gains[doubtful[place]])).collect();
            let higher: Vec<usize> = levels.iter().map(|&other| other.max(level)).collect();
            let innovations = self.innovations(&models, &reduced, &doubtful, &found, &higher);
            for (&place, sums) in found.iter().zip(&innovations) {
                let other = self.gains(sums, &models, &judged.losses);
                for (one, other) in gains[doubtful[place]].iter_mut().zip(other) {
                    one.p = one.p.max(other.p);
                }
            }
        }
        let variance = self.target.variance(self.frame);
        let unexplained = if variance > 0.0 { judged.losses[0] / variance } else { 0.0 };
        let cut = models[0].cut.zip(models[1].cut).map(|(one, other)| one.max(other));
        let gains = gains
            .iter()
            .map(|gains| if cut.is_some() { either(gains) } else { gains[0] })
            .collect();
        Answer {
            gains,
            loss: judged.losses[0],
            unexplained,
            cut,
            residuals: judged.residuals,
            without: judged.without,
        }
    }

    /// The loss with all inputs, and the loss without those of each drop, each of models that
    /// never saw them.
    pub(super) fn losses(&self) -> (f64, Vec<f64>) {
        let level = self.level();
        let models = self.folds.each_ref().map(|fold| self.learn(fold, level));
        let judged = self.judge(&models, &[]);
        let drops: Vec<usize> = (0..self.drops.len()).collect();
        let levels = self.levels_without(&drops, level);
        let reduced = self.reduced(&models, &drops, level, &levels);
        let sums = self.losses_without(&models, &reduced, &judged.residuals, |_, _, _| ());
        let rows = self.frame.rows().max(1) as f64;
        let more = |sums: &Vec<[f64; 2]>| sums.iter().map(|sum| sum[0]).sum::<f64>() / rows;
        let loss = judged.losses[0];
        (loss, sums.iter().map(|sums| loss + more(sums)).collect())
    }

    /// Judges the models with all inputs, and those without each of the drops with the same trees.
    fn judge(&self, models: &[Model<'_>; 2], drops: &[usize]) -> Judged {
        let (frame, (low, high)) = (self.frame, self.range);
        let mut residuals = vec![0.0; frame.rows()];
        let mut sums = self.no_sums(drops.len());
        let mut without = vec![vec![0.0; self.extremes.rows().len()]; self.drops.len()];
        let mut total = [0.0; 2];
        let columns: Vec<usize> = std::iter::once(0).chain(drops.iter().map(|d| d + 1)).collect();
        for model in models {
            let coefficients = model.coefficients.select(Axis(1), &columns);
            model.fold.predict(frame, &model.fold.judged, &coefficients, |rows, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let row = row as usize;
                    let value = self.target.value(frame, row);
                    let added = model.trees.predict(self.bins.row(row));
                    let rest = |predicted: f64| value - (predicted + added).clamp(low, high);
                    let residual = rest(predicted[0]);
                    residuals[row] = residual;
                    let with = model.losses(residual);
                    add(&mut total, with, [0.0; 2]);
                    let unit = frame.units.of_row[row] as usize;
                    for (sums, predicted) in sums.iter_mut().zip(predicted.iter().skip(1)) {
                        add(&mut sums[unit], model.losses(rest(*predicted)), with);
                    }
                    if let Some(kept) = self.extremes.place(row) {
                        for rests in &mut without {
                            rests[kept] = residual;
                        }
                        for (&drop, predicted) in drops.iter().zip(predicted.iter().skip(1)) {
                            without[drop][kept] = rest(*predicted);
                        }
                    }
                }
            });
        }
        let losses = total.map(|sum| sum / frame.rows().max(1) as f64);
        Judged { losses, residuals, sums, without }
    }

    /// Whether the part that a drop has in the regression is worth a look.
    fn promises(&self, models: &[Model<'_>; 2], drop: usize) -> bool {
        models.iter().any(|model| {
            let increase = model.increases[drop];
            let plain = MARGIN * model.learned[0] + self.floor();
            let cut = CUT_MARGIN * model.learned[1] + CUT_LEAST;
            increase > PROMISING * plain || (model.cut.is_some() && increase > PROMISING * cut)
        })
    }

    /// Whether the trees gained by an input: what they gained in learning, they will hardly exceed
    /// in judging.
    fn uses(&self, models: &[Model<'_>; 2], drop: usize, loss: f64) -> bool {
        let columns = self.columns(&self.drops[drop]);
        let margin = |model: &Model<'_>| MARGIN * loss * model.fold.grown.len() as f64;
        models.iter().any(|model| model.trees.gained(&columns) > margin(model))
    }

    /// The gains of losses as they are and, where that makes sense, cut.
    fn gains(&self, sums: &[[f64; 2]], models: &[Model<'_>; 2], losses: &[f64; 2]) -> [Gain; 2] {
        let one = |which: usize| {
            let sums: Vec<f64> = sums.iter().map(|sum| sum[which]).collect();
            let margin = if which == 0 {
                MARGIN
            } else {
                CUT_MARGIN + CUT_LEAST / losses[1].max(f64::MIN_POSITIVE)
            };
            self.gain(&sums, self.sizes, losses[which], margin)
        };
        if is_cut(models) { [one(0), one(1)] } else { [one(0); 2] }
    }

    /// Whether all inputs are allowed.
    pub(super) fn has_all(&self) -> bool {
        self.allowed.len() == self.frame.inputs.len()
    }

    /// Whether a feature is a function of allowed inputs only.
    pub(super) fn is_allowed(&self, fold: &Fold, feature: usize) -> bool {
        let mut inputs = fold.basis.inputs_of(feature).into_iter().flatten();
        inputs.all(|input| self.allowed.contains(&input))
    }

    pub(super) fn no_sums(&self, count: usize) -> Sums {
        vec![vec![[0.0; 2]; self.frame.units.count()]; count]
    }

    pub(super) fn gain(&self, sums: &[f64], sizes: &[f64], loss: f64, margin: f64) -> Gain {
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
    pub(super) fn floor(&self) -> f64 {
        let inputs =
            self.columns(self.allowed).into_iter().map(|column| self.frame.u[column].rounding);
        let rounding = inputs.fold(0.0, f64::max) + self.target.rounding(self.frame);
        ARITHMETIC + AMPLIFICATION * rounding
    }

    pub(super) fn columns(&self, inputs: &[usize]) -> Vec<usize> {
        inputs.iter().flat_map(|&input| self.frame.inputs[input].columns.iter().copied()).collect()
    }
}

/// Adds the difference of two losses to a sum.
pub(super) fn add(sum: &mut [f64; 2], without: [f64; 2], with: [f64; 2]) {
    for ((sum, without), with) in sum.iter_mut().zip(without).zip(with) {
        *sum += without - with;
    }
}

/// Whether errors are cut as well.
fn is_cut(models: &[Model<'_>; 2]) -> bool {
    models.iter().all(|model| model.cut.is_some())
}

/// The better of two tests, times two.
fn either(gains: &[Gain; 2]) -> Gain {
    Gain {
        p: (2.0 * gains[0].p.min(gains[1].p)).min(1.0),
        size: gains[0].size,
        strength: gains[0].strength.max(gains[1].strength),
    }
}

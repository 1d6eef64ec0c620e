//! How much worse a target is predicted without each input, with a p-value.

use ndarray::Axis;

use super::bins::Bins;
use super::boost::Growth;
use super::extremes::Extremes;
use super::fold::Fold;
use super::frame::Frame;
use super::model::Model;
use super::target::Target;
use becausal_core::progress::Tracker;

/// A gain below this share of the loss does not count: with an imperfect model, a bystander can gain
/// as much. Chosen on seeds 0 to 9 of AimTest and CartPole and on the probes; see docs/discovery.md.
const MARGIN: f64 = 0.004;

/// The loss that floating-point arithmetic leaves of a target that is predicted exactly, in units of
/// its variance. Chosen in the same way.
const ARITHMETIC_LOSS: f64 = 3e-10;

/// The factor on the rounding variance of single-precision columns: rounding errors of inputs add up
/// and are amplified by the dynamics.
const ROUNDING_FACTOR: f64 = 16.0;

/// The margin of clipped losses, as a share of the loss. Chosen on the development set and on
/// LunarLander data.
const CLIPPED_MARGIN: f64 = 0.02;

/// Added to the margin of clipped losses, as a share of the target's variance. In a deterministic
/// environment the typical error is the model's own, and a bystander may reduce it. Chosen in the same
/// way.
const CLIPPED_MARGIN_OF_VARIANCE: f64 = 1e-4;

/// Below this share of the variance the residual is the model's own error.
const MODEL_ERROR_SHARE: f64 = 1e-3;

/// A drop with a larger p-value, with the trees of the full model, gets no trees of its own.
const MAX_SUSPECT_P: f64 = 0.25;

/// An input whose part in the regression is below this share of the margin on the training rows is not
/// evaluated on the held-out rows.
const MIN_SHARE_OF_MARGIN: f64 = 0.1;

/// A question about a target: which inputs help to predict it?
pub(super) struct Question<'a> {
    pub frame: &'a Frame,
    pub folds: &'a [Fold; 2],
    pub bins: &'a Bins,
    /// Rows in each unit.
    pub sizes: &'a [f64],
    pub target: &'a Target,
    /// The target's index among those that the folds were made with.
    pub index: usize,
    /// The inputs that it may be predicted from.
    pub allowed: &'a [usize],
    /// The drops: each leaves out one or more inputs together.
    pub drops: &'a [Vec<usize>],
    /// Predictions are clamped to this range.
    pub range: (f64, f64),
    /// How trees are grown.
    pub growth: Growth,
    /// The rows whose residuals without each drop are kept.
    pub extremes: &'a Extremes,
    /// Hears that the work goes on: with many rows one question takes seconds.
    pub watch: &'a Tracker<'a>,
}

/// How much one or more inputs help to predict a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gain {
    /// The p-value of the hypothesis that they do not help.
    pub p: f64,
    /// The mean loss without them minus the mean loss with them, in units of the target's variance.
    pub size: f64,
    /// The share of the loss without them that they remove, from 0 to 1.
    pub strength: f64,
}

/// The gains of all drops, and the residuals.
pub(super) struct Answer {
    pub gains: Vec<Gain>,
    /// The mean squared error with all allowed inputs.
    pub loss: f64,
    /// The same as a share of the target's variance.
    pub unexplained: f64,
    /// Where errors are clipped, if they are.
    pub clip: Option<f64>,
    /// The residual of each row with all inputs.
    pub residuals: Vec<f64>,
    /// The residuals without the inputs of each drop, for the rows of the extremes.
    pub without: Vec<Vec<f64>>,
}

/// Sums by drop and unit, of plain and of clipped losses.
///
/// A few rows with huge errors, as when a craft touches the ground, can dominate plain losses. Clipped
/// losses show what the other rows say.
pub(super) type Sums = Vec<Vec<[f64; 2]>>;

impl Answer {
    /// Whether the target is predicted so well that the residual is the model's own error.
    pub(super) fn is_own_error(&self) -> bool {
        self.unexplained < MODEL_ERROR_SHARE
    }
}

/// The results on the held-out rows.
struct HeldOut {
    /// The mean losses with all inputs, plain and clipped.
    losses: [f64; 2],
    residuals: Vec<f64>,
    /// The losses without the inputs of each drop minus the losses with them.
    sums: Sums,
    without: Vec<Vec<f64>>,
}

impl Gain {
    /// No gain.
    const NOTHING: Self = Self { p: 1.0, size: 0.0, strength: 0.0 };
}

impl Question<'_> {
    /// Fits models with and without the inputs of each drop on each fold, and evaluates them on the
    /// other.
    pub(super) fn answer(&self) -> Answer {
        let level = self.level();
        let models = self.folds.each_ref().map(|fold| self.heard(self.fit(fold, level)));
        let promising: Vec<usize> =
            (0..self.drops.len()).filter(|&drop| self.is_promising(&models, drop)).collect();
        let mut held_out = self.heard(self.evaluate(&models, &promising));
        let mut gains = vec![[Gain::NOTHING; 2]; self.drops.len()];
        for (&drop, sums) in promising.iter().zip(&held_out.sums) {
            gains[drop] = self.gains(sums, &models, &held_out.losses);
        }
        let is_suspect = |gains: &[Gain; 2]| gains[0].p.min(gains[1].p) <= MAX_SUSPECT_P;
        let suspects: Vec<usize> = (0..self.drops.len())
            .filter(|&drop| {
                crate::rules::off(23) || is_suspect(&gains[drop]) || self.trees_use(&models, drop, held_out.losses[0])
            })
            .collect();
        if !suspects.is_empty() {
            let levels = self.heard(self.levels_without(&suspects, level));
            let reduced = self.heard(self.reduced(&models, &suspects, level, &levels));
            let (without, extremes) = (&mut held_out.without, self.extremes);
            let keep = |place: usize, row: usize, residual: f64| {
                if let Some(kept) = extremes.place(row) {
                    without[suspects[place]][kept] = residual;
                }
            };
            let sums =
                self.heard(self.losses_without(&models, &reduced, &held_out.residuals, keep));
            for (&drop, sums) in suspects.iter().zip(&sums) {
                gains[drop] = self.gains(sums, &models, &held_out.losses);
            }
            let found: Vec<usize> =
                (0..suspects.len()).filter(|&place| !crate::rules::off(5) && is_suspect(&gains[suspects[place]])).collect();
            let higher: Vec<usize> = levels.iter().map(|&other| other.max(level)).collect();
            let innovations =
                self.heard(self.innovations(&models, &reduced, &suspects, &found, &higher));
            for (&place, sums) in found.iter().zip(&innovations) {
                let other = self.gains(sums, &models, &held_out.losses);
                for (one, other) in gains[suspects[place]].iter_mut().zip(other) {
                    one.p = one.p.max(other.p);
                }
            }
        }
        let variance = self.target.variance(self.frame);
        let unexplained = if variance > 0.0 { held_out.losses[0] / variance } else { 0.0 };
        let clip = models[0].clip.zip(models[1].clip).map(|(one, other)| one.max(other));
        let gains = gains
            .iter()
            .map(|gains| if clip.is_some() { better_of_two(gains) } else { gains[0] })
            .collect();
        Answer {
            gains,
            loss: held_out.losses[0],
            unexplained,
            clip,
            residuals: held_out.residuals,
            without: held_out.without,
        }
    }

    /// The loss with all inputs, and the loss without those of each drop, by models trained without
    /// them.
    pub(super) fn losses(&self) -> (f64, Vec<f64>) {
        let level = self.level();
        let models = self.folds.each_ref().map(|fold| self.heard(self.fit(fold, level)));
        let held_out = self.heard(self.evaluate(&models, &[]));
        let drops: Vec<usize> = (0..self.drops.len()).collect();
        let levels = self.heard(self.levels_without(&drops, level));
        let reduced = self.heard(self.reduced(&models, &drops, level, &levels));
        let sums = self.losses_without(&models, &reduced, &held_out.residuals, |_, _, _| ());
        let rows = self.frame.rows().max(1) as f64;
        let increase = |sums: &Vec<[f64; 2]>| sums.iter().map(|sum| sum[0]).sum::<f64>() / rows;
        let loss = held_out.losses[0];
        (loss, sums.iter().map(|sums| loss + increase(sums)).collect())
    }

    /// Passes on a part of the answer, and lets hear that the work goes on.
    pub(super) fn heard<T>(&self, part: T) -> T {
        self.watch.advance(0.0, "");
        part
    }

    /// Evaluates, on the held-out rows, the models with all inputs, and those without each of the drops
    /// but with the same trees.
    fn evaluate(&self, models: &[Model<'_>; 2], drops: &[usize]) -> HeldOut {
        let (frame, (low, high)) = (self.frame, self.range);
        let mut residuals = vec![0.0; frame.rows()];
        let mut sums = self.no_sums(drops.len());
        let mut without = vec![vec![0.0; self.extremes.rows().len()]; self.drops.len()];
        let mut total = [0.0; 2];
        let columns: Vec<usize> = std::iter::once(0).chain(drops.iter().map(|d| d + 1)).collect();
        for model in models {
            let coefficients = model.coefficients.select(Axis(1), &columns);
            model.fold.predict(frame, &model.fold.held_out, &coefficients, |rows, predicted| {
                for (&row, predicted) in rows.iter().zip(predicted.rows()) {
                    let row = row as usize;
                    let value = self.target.value(frame, row);
                    let added = model.trees.predict(self.bins.row(row));
                    let residual_of = |predicted: f64| value - (predicted + added).clamp(low, high);
                    let residual = residual_of(predicted[0]);
                    residuals[row] = residual;
                    let with = model.losses(residual);
                    add(&mut total, with, [0.0; 2]);
                    let unit = frame.units.of_row[row] as usize;
                    for (sums, predicted) in sums.iter_mut().zip(predicted.iter().skip(1)) {
                        add(&mut sums[unit], model.losses(residual_of(*predicted)), with);
                    }
                    if let Some(kept) = self.extremes.place(row) {
                        for residuals in &mut without {
                            residuals[kept] = residual;
                        }
                        for (&drop, predicted) in drops.iter().zip(predicted.iter().skip(1)) {
                            without[drop][kept] = residual_of(*predicted);
                        }
                    }
                }
            });
        }
        let losses = total.map(|sum| sum / frame.rows().max(1) as f64);
        HeldOut { losses, residuals, sums, without }
    }

    /// Whether the part of a drop in the regression is large enough to be evaluated.
    fn is_promising(&self, models: &[Model<'_>; 2], drop: usize) -> bool {
        if crate::rules::off(22) { return true; }
        models.iter().any(|model| {
            let increase = model.increases[drop];
            let plain = margin0() * model.training_losses[0] + self.floor();
            let clipped = CLIPPED_MARGIN * model.training_losses[1] + CLIPPED_MARGIN_OF_VARIANCE;
            increase > MIN_SHARE_OF_MARGIN * plain
                || (model.clip.is_some() && increase > MIN_SHARE_OF_MARGIN * clipped)
        })
    }

    /// Whether the trees gained more than the margin by the inputs of a drop, on the training rows. On
    /// the held-out rows they will hardly gain more.
    fn trees_use(&self, models: &[Model<'_>; 2], drop: usize, loss: f64) -> bool {
        let columns = self.columns(&self.drops[drop]);
        let margin = |model: &Model<'_>| margin0() * loss * model.fold.tree_rows.len() as f64;
        models.iter().any(|model| model.trees.gained(&columns) > margin(model))
    }

    /// The gains of the plain losses and, if errors are clipped, of the clipped losses.
    fn gains(&self, sums: &[[f64; 2]], models: &[Model<'_>; 2], losses: &[f64; 2]) -> [Gain; 2] {
        let one = |which: usize| {
            let sums: Vec<f64> = sums.iter().map(|sum| sum[which]).collect();
            let margin = if which == 0 {
                margin0()
            } else {
                CLIPPED_MARGIN + CLIPPED_MARGIN_OF_VARIANCE / losses[1].max(f64::MIN_POSITIVE)
            };
            self.gain(&sums, self.sizes, losses[which], margin)
        };
        if is_clipped(models) { [one(0), one(1)] } else { [one(0); 2] }
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

    /// Sums of 0 for some drops.
    pub(super) fn no_sums(&self, count: usize) -> Sums {
        vec![vec![[0.0; 2]; self.frame.units.count()]; count]
    }

    /// The gain from the sums of loss differences by unit; `sizes` are the rows of each unit.
    pub(super) fn gain(&self, sums: &[f64], sizes: &[f64], loss: f64, margin: f64) -> Gain {
        let floor = self.floor();
        let min_gain = margin * loss + floor;
        let beyond: Vec<f64> =
            sums.iter().zip(sizes).map(|(sum, size)| sum - min_gain * size).collect();
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
        if crate::rules::off(11) { return 1e-30; }
        ARITHMETIC_LOSS + ROUNDING_FACTOR * rounding
    }

    /// The columns of some inputs.
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

/// Whether errors are clipped too.
fn is_clipped(models: &[Model<'_>; 2]) -> bool {
    models.iter().all(|model| model.clip.is_some())
}

/// Combines two tests: the smaller p-value, times two.
fn better_of_two(gains: &[Gain; 2]) -> Gain {
    Gain {
        p: (2.0 * gains[0].p.min(gains[1].p)).min(1.0),
        size: gains[0].size,
        strength: gains[0].strength.max(gains[1].strength),
    }
}

fn margin0() -> f64 {
    if crate::rules::off(10) { 0.0 } else { MARGIN }
}

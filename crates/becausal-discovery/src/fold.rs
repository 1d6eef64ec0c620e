//! Cross-fitting: models are trained on one of two folds and evaluated on the other.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, Axis, s};

use super::basis::Basis;
use super::block::{BLOCK, Block};
use super::candidates::Candidates;
use super::frame::Frame;
use super::ridge::{Gram, Solver};
use super::student::typical;
use super::target::Target;
use becausal_core::progress::Tracker;

/// The most features besides the functions of single columns with [`Effort::Thorough`], which tries
/// waves too.
const MAX_PRODUCTS_AND_WAVES: usize = 400;

/// Waves are tried if the inputs have at most this many columns.
const MAX_WAVE_COLUMNS: usize = 16;

/// Products of degree three and more are tried if the inputs have at most this many columns.
const MAX_CUBIC_COLUMNS: usize = 12;

/// The features of a regression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Linear terms and indicators.
    Linear,
    /// These, and the features that the target needs.
    Selected,
    /// All features.
    All,
}

/// How much a model learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// From a quarter of the rows.
    Quarter,
    /// From all rows.
    Usual,
    /// From all rows, with more features.
    Thorough,
}

impl Effort {
    /// The share of the rows.
    fn share(self) -> f64 {
        if self == Self::Quarter { 0.25 } else { 1.0 }
    }
}

/// A basis, the regressions on it, and the training and held-out rows.
pub(super) struct Fold {
    pub basis: Basis,
    /// The regressions on all training rows.
    pub all: Regression,
    /// The regressions on a part of the rows, for trials of the levels.
    pub trial: Regression,
    /// The first rows of `tree_rows`, on which a trial is trained; the others are held out.
    pub trial_rows: usize,
    /// The regressions on `tree_rows`, if these are not all training rows.
    on_tree_rows: Option<Regression>,
    /// The rows that trees are grown on.
    pub tree_rows: Vec<u32>,
    /// The rows of the other fold.
    pub held_out: Vec<u32>,
}

impl Fold {
    /// About how many rows are read for a fold, each as often as it is read.
    pub(super) fn rows_read(frame: &Frame, effort: Effort) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of them"
        )]
        let training = (frame.rows() as f64 / 2.0 * effort.share()) as usize;
        let on_trees = training.min(frame.thresholds.max_tree_rows);
        let again = if on_trees < training { on_trees } else { 0 };
        let rounds = if frame.u.len() <= MAX_CUBIC_COLUMNS { 4 } else { 3 };
        // The regression of a round, its residuals, and its candidates.
        rounds * 3 * on_trees + training + on_trees * 2 / 3 + again
    }

    /// Trains on the units of fold `number`, or on a part of them, and holds out the others. `watch`
    /// hears of every row that is read.
    pub(super) fn new(
        frame: &Frame,
        targets: &[Target],
        number: u8,
        effort: Effort,
        watch: &Tracker<'_>,
    ) -> Self {
        let units = &frame.units;
        let in_training: Vec<bool> = units.fold.iter().map(|&fold| fold == number).collect();
        let rows = 0..u32::try_from(frame.rows()).expect("rows fit 32 bits");
        let (training, held_out): (Vec<u32>, Vec<u32>) =
            rows.partition(|&row| in_training[units.of_row[row as usize] as usize]);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of them"
        )]
        let training =
            whole_units(frame, &training, (training.len() as f64 * effort.share()) as usize);
        let tree_rows = whole_units(frame, &training, frame.thresholds.max_tree_rows);
        let basis = choose(frame, targets, &tree_rows, training.len(), effort, watch);
        let value = |target: usize, row: usize| targets[target].value(frame, row);
        let of = |rows: &[u32], targets: usize| {
            Regression::new(Gram::of(frame, &basis, rows, targets, &value, watch), &basis)
        };
        let all = of(&training, targets.len());
        let trial_rows = whole_units(frame, &tree_rows, tree_rows.len() * 2 / 3).len();
        let trial = of(&tree_rows[..trial_rows], targets.len());
        let on_tree_rows = (tree_rows.len() < training.len()).then(|| of(&tree_rows, 0));
        Self { basis, all, trial, trial_rows, on_tree_rows, tree_rows, held_out }
    }

    /// The regressions on the rows that trees are grown on.
    pub(super) fn on_tree_rows(&self) -> &Regression {
        self.on_tree_rows.as_ref().unwrap_or(&self.all)
    }

    /// Whether a feature depends on one of these inputs.
    pub(super) fn touches(&self, feature: usize, inputs: &[usize]) -> bool {
        let mut touched = self.basis.inputs_of(feature).into_iter().flatten();
        touched.any(|input| inputs.contains(&input))
    }

    /// Calls `work` with blocks of rows and their predictions, a column for each column of
    /// `coefficients`.
    pub(super) fn predict(
        &self,
        frame: &Frame,
        rows: &[u32],
        coefficients: &Array2<f64>,
        mut work: impl FnMut(&[u32], &Array2<f64>),
    ) {
        // A model of the lower level does not use most features.
        let used: Vec<usize> = (0..self.basis.width())
            .filter(|&feature| coefficients.row(feature).iter().any(|&weight| weight != 0.0))
            .collect();
        let coefficients = coefficients.select(Axis(0), &used);
        let mut block = Block::of(&self.basis, used);
        for rows in rows.chunks(BLOCK) {
            work(rows, &block.fill(frame, rows).dot(&coefficients));
        }
    }

    /// The sums over some rows of the products of all features with some values. `values` has a
    /// vector for each column of the result, with a value for each row.
    pub(super) fn sums(&self, frame: &Frame, rows: &[u32], values: &[Vec<f64>]) -> Array2<f64> {
        let mut sums = Array2::zeros((self.basis.width(), values.len()));
        let mut block = Block::all(&self.basis);
        for (index, rows) in rows.chunks(BLOCK).enumerate() {
            let from = index * BLOCK;
            let part = Array2::from_shape_fn((rows.len(), values.len()), |(row, column)| {
                values[column][from + row]
            });
            general_mat_mul(1.0, &block.fill(frame, rows).t(), &part, 1.0, &mut sums);
        }
        sums
    }
}

/// Sums over some rows, and the regressions on the features up to each level.
pub(super) struct Regression {
    pub gram: Gram,
    /// With linear terms only, and with all features.
    pub solvers: [Solver; 2],
}

impl Regression {
    pub(super) fn new(gram: Gram, basis: &Basis) -> Self {
        let solvers = std::array::from_fn(|level| {
            Solver::new(&gram, |feature| basis.level(feature) <= level)
        });
        Self { gram, solvers }
    }
}

/// About the first `max_rows` rows, without dividing a unit if possible.
fn whole_units(frame: &Frame, rows: &[u32], max_rows: usize) -> Vec<u32> {
    let max_rows = max_rows.max(1);
    if rows.len() <= max_rows {
        return rows.to_vec();
    }
    let unit = |index: usize| frame.units.of_row[rows[index] as usize];
    let mut end = max_rows;
    while end > max_rows / 2 && unit(end) == unit(end - 1) {
        end -= 1;
    }
    if end <= max_rows / 2 { rows[..max_rows].to_vec() } else { rows[..end].to_vec() }
}

/// Chooses a basis: functions of single columns, and the products that correlate with their
/// residuals.
fn choose(
    frame: &Frame,
    targets: &[Target],
    rows: &[u32],
    training: usize,
    effort: Effort,
    watch: &Tracker<'_>,
) -> Basis {
    let mut basis = Basis::mains(frame);
    let waves = effort == Effort::Thorough && frame.u.len() <= MAX_WAVE_COLUMNS;
    let max_products = if waves { MAX_PRODUCTS_AND_WAVES } else { frame.thresholds.max_products };
    let mut left = max_products.min((training / 15).saturating_sub(basis.width()));
    let small = frame.u.len() <= MAX_CUBIC_COLUMNS;
    // Under every label another linear law may hold, which uneven noise hides.
    let gated = basis.gated_candidates();
    let mut rounds = Vec::new();
    if 2 * gated.len() <= left {
        left -= gated.len();
        basis.add(&gated, &(0..gated.len()).collect::<Vec<_>>());
    } else {
        rounds.push(gated);
    }
    rounds.push(basis.candidates(small));
    if small {
        rounds.push(basis.further_candidates());
    }
    rounds.push(basis.step_candidates());
    if waves {
        rounds.push(basis.wave_candidates());
    }
    for candidates in rounds {
        if candidates.len() > 0 && left > 0 {
            let chosen = {
                let mut lean = basis.clone();
                lean.compact();
                screen(frame, targets, rows, &lean, &candidates, left, watch)
            };
            left -= chosen.len();
            basis.add(&candidates, &chosen);
        }
    }
    basis.compact();
    basis
}

/// The candidates that correlate with the residuals of any target after a regression on `basis`; at
/// most `max_chosen`, the best ones. Where a target is nearly exact, all of them if there is room.
fn screen(
    frame: &Frame,
    targets: &[Target],
    rows: &[u32],
    basis: &Basis,
    candidates: &Candidates,
    max_chosen: usize,
    watch: &Tracker<'_>,
) -> Vec<usize> {
    let mut residuals = residuals(frame, targets, rows, basis, watch);
    if 2 * candidates.len() <= max_chosen && is_nearly_exact(frame, targets, &residuals) {
        return (0..candidates.len()).collect();
    }
    for (target, mut residuals) in targets.iter().zip(residuals.columns_mut()) {
        if target.is_number(frame) {
            let most = typical(residuals.iter().copied()).max(target.least_deviation(frame))
                * frame.thresholds.max_deviations;
            residuals.mapv_inplace(|residual| residual.clamp(-most, most));
        }
    }
    let products = candidates.basis();
    let mut sums = Array2::<f64>::zeros((products.width(), targets.len()));
    let mut means = vec![0.0; products.width()];
    let mut squares = vec![0.0; products.width()];
    let mut block = Block::all(products);
    for (index, part) in rows.chunks(BLOCK).enumerate() {
        let block = block.fill(frame, part);
        let from = index * BLOCK;
        sums += &block.t().dot(&residuals.slice(s![from..from + part.len(), ..]));
        for (feature, values) in block.columns().into_iter().enumerate() {
            for value in values {
                means[feature] += value;
                squares[feature] += value * value;
            }
        }
        watch.advance(part.len() as f64, "");
    }
    let count = rows.len() as f64;
    let powers: Vec<f64> =
        residuals.columns().into_iter().map(|r| r.iter().map(|v| v * v).sum::<f64>()).collect();
    let mut scored: Vec<(f64, usize)> = (1..products.width())
        .filter_map(|feature| {
            let variance = squares[feature] - means[feature] * means[feature] / count;
            let score = (0..targets.len())
                .filter(|&target| !products.touches(feature, targets[target].own_input()))
                .map(|target| sums[[feature, target]].abs() / (variance * powers[target]).sqrt())
                .filter(|score| score.is_finite())
                .fold(0.0, f64::max)
                * count.sqrt();
            (score > frame.thresholds.min_screening_score && variance > 1e-9 * squares[feature])
                .then_some((score, feature - 1))
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.truncate(max_chosen);
    let mut chosen: Vec<usize> = scored.into_iter().map(|(_, feature)| feature).collect();
    chosen.sort_unstable();
    chosen
}

/// Whether a target has so little noise that its residuals are the model's own error.
///
/// Then a correlation with them says little: a large term that is missing hides the small ones, and
/// a bystander that goes with these would be taken for a cause.
fn is_nearly_exact(frame: &Frame, targets: &[Target], residuals: &Array2<f64>) -> bool {
    targets.iter().zip(residuals.columns()).any(|(target, residuals)| {
        let loss = residuals.dot(&residuals) / residuals.len().max(1) as f64;
        target.is_number(frame)
            && loss > frame.thresholds.arithmetic_error
            && loss < target.least_deviation(frame).powi(2)
    })
}

/// The residuals of a regression on `basis`, a column for each target.
fn residuals(
    frame: &Frame,
    targets: &[Target],
    rows: &[u32],
    basis: &Basis,
    watch: &Tracker<'_>,
) -> Array2<f64> {
    let value = |target: usize, row: usize| targets[target].value(frame, row);
    let gram = Gram::of(frame, basis, rows, targets.len(), &value, watch);
    let solver = Solver::new(&gram, |_| true);
    let mut coefficients = Array2::zeros((basis.width(), targets.len()));
    for (index, target) in targets.iter().enumerate() {
        let without = |_: usize, feature: usize| basis.touches(feature, target.own_input());
        let both = solver.coefficients(&gram.target(index).products, 1, without);
        coefficients.column_mut(index).assign(&both.column(1));
    }
    let mut residuals = Array2::zeros((rows.len(), targets.len()));
    let mut block = Block::all(basis);
    for (index, part) in rows.chunks(BLOCK).enumerate() {
        let predicted = block.fill(frame, part).dot(&coefficients);
        for (offset, &row) in part.iter().enumerate() {
            for target in 0..targets.len() {
                residuals[[index * BLOCK + offset, target]] =
                    value(target, row as usize) - predicted[[offset, target]];
            }
        }
        watch.advance(part.len() as f64, "");
    }
    residuals
}

//! One of the two halves: what is learned on one fold is judged on the other.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, Axis, s};

use super::basis::Basis;
use super::block::{BLOCK, Block};
use super::candidates::Candidates;
use super::frame::Frame;
use super::ridge::{Gram, Solver};
use super::target::Target;

/// Rows from which products are chosen and, times three, trees are grown; regressions use all.
const SCREENED: usize = 20_000;

/// Rows that trees are grown on, at most, and where only a comparison is wanted.
const GROWN: usize = 65_536;
const GROWN_TO_COMPARE: usize = 20_000;

/// Features beyond the functions of single inputs, at most.
const PRODUCTS: usize = 200;

/// The same where as much as can be is to be learned, and waves are tried as well.
const PRODUCTS_AND_WAVES: usize = 400;

/// Waves are tried up to this many columns.
const WAVED: usize = 16;

/// Squares of inputs times other inputs are tried up to this many columns.
const CUBIC: usize = 12;

/// Linear terms and indicators; everything.
pub(super) const LEVELS: usize = 2;

/// How much is to be learned.
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

    /// The rows that trees are grown on, at most.
    fn grown(self) -> usize {
        if self == Self::Usual { GROWN } else { GROWN_TO_COMPARE }
    }
}

/// A basis, the regression on it, and the rows to learn from and to judge by.
pub(super) struct Fold {
    pub basis: Basis,
    pub gram: Gram,
    /// The regressions on the features up to each level.
    pub solvers: [Solver; LEVELS],
    /// The regressions on a part of the rows, by which a level is tried.
    pub trials: [Solver; LEVELS],
    pub trial_gram: Gram,
    /// The rows of `grown` that a trial learns from; the others judge it.
    pub tried: usize,
    /// The sums over the rows that trees are grown on, where these are fewer, and the regressions
    /// on them.
    pub fewer: Option<(Gram, [Solver; LEVELS])>,
    /// The regression on functions of single inputs, over the rows that trees are grown on.
    pub mains: Solver,
    /// Rows that trees are grown on.
    pub grown: Vec<u32>,
    /// Rows that judge.
    pub judged: Vec<u32>,
}

impl Fold {
    /// Learns on the units of fold `number`, or on a part of them, and judges on the others.
    pub(super) fn new(frame: &Frame, targets: &[Target], number: u8, effort: Effort) -> Self {
        let units = &frame.units;
        let mine: Vec<bool> = units.fold.iter().map(|&fold| fold == number).collect();
        let rows = 0..u32::try_from(frame.rows()).expect("rows fit 32 bits");
        let (learned, judged): (Vec<u32>, Vec<u32>) =
            rows.partition(|&row| mine[units.of_row[row as usize] as usize]);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of them"
        )]
        let learned =
            whole_units(frame, &learned, (learned.len() as f64 * effort.share()) as usize);
        let grown = whole_units(frame, &learned, effort.grown());
        let screened = whole_units(frame, &learned, SCREENED);
        let basis = choose(frame, targets, &screened, learned.len(), effort);
        let value = |target: usize, row: usize| targets[target].value(frame, row);
        let gram = Gram::of(frame, &basis, &learned, targets.len(), &value);
        let solvers = levels(&gram, &basis);
        let tried = whole_units(frame, &grown, grown.len() * 2 / 3).len();
        let trial_gram = Gram::of(frame, &basis, &grown[..tried], targets.len(), &value);
        let trials = levels(&trial_gram, &basis);
        let fewer = (grown.len() < learned.len()).then(|| {
            let gram = Gram::of(frame, &basis, &grown, 0, &|_, _| 0.0);
            let solvers = levels(&gram, &basis);
            (gram, solvers)
        });
        let grown_gram = fewer.as_ref().map_or(&gram, |(gram, _)| gram);
        let mains = Solver::new(grown_gram, |feature| basis.is_main(feature));
        Self { basis, gram, solvers, trials, trial_gram, tried, fewer, mains, grown, judged }
    }

    /// The sums over the rows that trees are grown on.
    pub(super) fn grown_gram(&self) -> &Gram {
        self.fewer.as_ref().map_or(&self.gram, |(gram, _)| gram)
    }

    /// The regressions over the rows that trees are grown on, up to each level.
    pub(super) fn grown_solvers(&self) -> &[Solver; LEVELS] {
        self.fewer.as_ref().map_or(&self.solvers, |(_, solvers)| solvers)
    }

    /// Whether a feature is a function of one of these inputs.
    pub(super) fn touches(&self, feature: usize, inputs: &[usize]) -> bool {
        let mut touched = self.basis.inputs_of(feature).into_iter().flatten();
        touched.any(|input| inputs.contains(&input))
    }

    /// Calls `work` with blocks of rows and their predictions, one column for each column of
    /// `coefficients`.
    pub(super) fn predict(
        &self,
        frame: &Frame,
        rows: &[u32],
        coefficients: &Array2<f64>,
        mut work: impl FnMut(&[u32], &Array2<f64>),
    ) {
        // A model of a lower level has no use for most features.
        let used: Vec<usize> = (0..self.basis.width())
            .filter(|&feature| coefficients.row(feature).iter().any(|&weight| weight != 0.0))
            .collect();
        let coefficients = coefficients.select(Axis(0), &used);
        let mut block = Block::of(&self.basis, used);
        for rows in rows.chunks(BLOCK) {
            work(rows, &block.fill(frame, rows).dot(&coefficients));
        }
    }

    /// The sums of the products of all features with some values, one of each for each of some
    /// rows; a column for each.
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

fn levels(gram: &Gram, basis: &Basis) -> [Solver; LEVELS] {
    std::array::from_fn(|level| Solver::new(gram, |feature| basis.level(feature) <= level))
}

/// The first rows, about `most` of them, without dividing a unit where that can be avoided.
fn whole_units(frame: &Frame, rows: &[u32], most: usize) -> Vec<u32> {
    let most = most.max(1);
    if rows.len() <= most {
        return rows.to_vec();
    }
    let unit = |index: usize| frame.units.of_row[rows[index] as usize];
    let mut end = most;
    while end > most / 2 && unit(end) == unit(end - 1) {
        end -= 1;
    }
    if end <= most / 2 { rows[..most].to_vec() } else { rows[..end].to_vec() }
}

/// Functions of single inputs, and those products that correlate with what they leave over.
fn choose(
    frame: &Frame,
    targets: &[Target],
    rows: &[u32],
    learned: usize,
    effort: Effort,
) -> Basis {
    let mut basis = Basis::mains(frame);
    let waves = effort == Effort::Thorough && frame.u.len() <= WAVED;
    let most = if waves { PRODUCTS_AND_WAVES } else { PRODUCTS };
    let mut most = most.min((learned / 15).saturating_sub(basis.width()));
    let small = frame.u.len() <= CUBIC;
    let mut rounds = vec![basis.candidates(small)];
    if small {
        rounds.push(basis.further_candidates());
    }
    rounds.push(basis.step_candidates());
    if waves {
        rounds.push(basis.wave_candidates());
    }
    for candidates in rounds {
        if candidates.len() > 0 && most > 0 {
            let chosen = {
                let mut lean = basis.clone();
                lean.compact();
                screen(frame, targets, rows, &lean, &candidates, most)
            };
            most -= chosen.len();
            basis.add(&candidates, &chosen);
        }
    }
    basis.compact();
    basis
}

/// The candidates that correlate notably with what a regression on `basis` leaves over of any
/// target; of too many the best.
fn screen(
    frame: &Frame,
    targets: &[Target],
    rows: &[u32],
    basis: &Basis,
    candidates: &Candidates,
    most: usize,
) -> Vec<usize> {
    // |correlation| times the root of the rows that chance reaches once in 15,000 times.
    const NOTABLE: f64 = 4.0;
    let residuals = residuals(frame, targets, rows, basis);
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
            (score > NOTABLE && variance > 1e-9 * squares[feature]).then_some((score, feature - 1))
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.truncate(most);
    let mut chosen: Vec<usize> = scored.into_iter().map(|(_, feature)| feature).collect();
    chosen.sort_unstable();
    chosen
}

/// What a regression on `basis` leaves over, a column for each target.
fn residuals(frame: &Frame, targets: &[Target], rows: &[u32], basis: &Basis) -> Array2<f64> {
    let value = |target: usize, row: usize| targets[target].value(frame, row);
    let gram = Gram::of(frame, basis, rows, targets.len(), &value);
    let solver = Solver::new(&gram, |_| true);
    let mut coefficients = Array2::zeros((basis.width(), targets.len()));
    for (index, target) in targets.iter().enumerate() {
        let without = |_: usize, feature: usize| basis.touches(feature, target.own_input());
        let both = solver.coefficients(&gram.target(index), 1, without);
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
    }
    residuals
}

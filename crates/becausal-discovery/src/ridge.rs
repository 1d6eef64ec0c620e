//! Ridge regression of all targets on one basis, with one Gram matrix and one factorisation.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use rayon::prelude::*;

use super::basis::Basis;
use super::block::{BLOCK, Block};
use super::frame::Frame;
use becausal_core::progress::Tracker;

/// The rows are summed in this many chunks, so that the sum does not depend on the number of threads.
const CHUNKS: usize = 8;

/// The penalty on standardised features. It keeps the matrix invertible if features are collinear.
const PENALTY: f64 = 1e-9;

/// Sums over the training rows of the products of features with features and with targets.
#[derive(Debug, Clone)]
pub(super) struct Gram {
    features: Array2<f64>,
    targets: Array2<f64>,
    /// The squares of the targets.
    squares: Array1<f64>,
}

impl Gram {
    /// Sums over `rows`; `target(t, row)` is the value of target `t`.
    pub(super) fn of(
        frame: &Frame,
        basis: &Basis,
        rows: &[u32],
        targets: usize,
        target: &(impl Fn(usize, usize) -> f64 + Sync),
        watch: &Tracker<'_>,
    ) -> Self {
        let width = basis.width();
        let size = rows.len().div_ceil(CHUNKS).max(1);
        let parts: Vec<Self> = rows
            .par_chunks(size)
            .map(|rows| {
                let mut sums = Self {
                    features: Array2::zeros((width, width)),
                    targets: Array2::zeros((width, targets)),
                    squares: Array1::zeros(targets),
                };
                let mut block = Block::all(basis);
                let mut values = Array2::zeros((BLOCK, targets));
                for rows in rows.chunks(BLOCK) {
                    let block = block.fill(frame, rows);
                    for (&row, mut into) in rows.iter().zip(values.axis_iter_mut(Axis(0))) {
                        for (index, value) in into.iter_mut().enumerate() {
                            *value = target(index, row as usize);
                        }
                    }
                    let values = values.slice(s![..rows.len(), ..]);
                    add_squares(&block, &mut sums.features);
                    general_mat_mul(1.0, &block.t(), &values, 1.0, &mut sums.targets);
                    for (square, values) in sums.squares.iter_mut().zip(values.columns()) {
                        *square += values.dot(&values);
                    }
                    watch.advance(rows.len() as f64, "");
                }
                sums
            })
            .collect();
        let mut parts = parts.into_iter();
        let mut total = parts.next().unwrap_or_else(|| Self {
            features: Array2::zeros((width, width)),
            targets: Array2::zeros((width, targets)),
            squares: Array1::zeros(targets),
        });
        for part in parts {
            total.features += &part.features;
            total.targets += &part.targets;
            total.squares += &part.squares;
        }
        for row in 0..width {
            for column in 0..row {
                total.features[[row, column]] = total.features[[column, row]];
            }
        }
        total
    }

    /// The sums with one target.
    pub(super) fn target(&self, target: usize) -> TargetSums {
        TargetSums {
            products: self.targets.column(target).to_owned(),
            square: self.squares[target],
        }
    }

    /// The features that a target needs: the `given` ones, and those `allowed` that remove more than
    /// `min_gain` mean squared residuals from the sum of squares, one after the other, the best first; until
    /// the mean is at most `floor`.
    pub(super) fn select(
        &self,
        target: &TargetSums,
        allowed: &[bool],
        given: impl Fn(usize) -> bool,
        min_gain: f64,
        floor: f64,
    ) -> Vec<bool> {
        let rows = self.features[[0, 0]];
        let mut selection = Selection::new(self, target, allowed);
        let mut chosen = vec![false; allowed.len()];
        for feature in (0..allowed.len()).filter(|&feature| allowed[feature] && given(feature)) {
            chosen[feature] = true;
            selection.take(feature);
        }
        while selection.square > floor * rows {
            let gains = selection.left.iter().map(|&place| (selection.gain(place), place));
            let best = gains.max_by(|one, other| one.0.total_cmp(&other.0));
            let Some((gain, place)) = best else { break };
            if gain <= min_gain * selection.square / rows {
                break;
            }
            let feature = selection.features[place];
            chosen[feature] = true;
            selection.take(feature);
        }
        chosen
    }
}

/// What is left of features and of a target after a regression on the features taken so far: the Cholesky
/// factor of the products of the features, row by row as they are taken. A feature costs a row of products and
/// its corrections, not the whole matrix.
struct Selection<'a> {
    gram: &'a Gram,
    features: Vec<usize>,
    /// The factors that scale the features to squares of 1.
    scale: Vec<f64>,
    /// The places in `features` of those that are not taken.
    left: Vec<usize>,
    /// The rows of the factor, each with a value for each feature.
    rows: Vec<Vec<f64>>,
    /// What is left of each feature's square, and of its product with the target.
    own: Vec<f64>,
    products: Vec<f64>,
    /// What is left of the target's square.
    square: f64,
}

impl<'a> Selection<'a> {
    fn new(gram: &'a Gram, target: &TargetSums, allowed: &[bool]) -> Self {
        let square = |feature: usize| gram.features[[feature, feature]];
        let features: Vec<usize> = (0..allowed.len())
            .filter(|&feature| allowed[feature] && square(feature) > 0.0)
            .collect();
        let scale: Vec<f64> =
            features.iter().map(|&feature| 1.0 / square(feature).sqrt()).collect();
        let products = features.iter().zip(&scale);
        let products = products.map(|(&feature, scale)| target.products[feature] * scale).collect();
        Self {
            gram,
            left: (0..features.len()).collect(),
            rows: Vec::new(),
            own: vec![1.0; features.len()],
            products,
            square: target.square,
            features,
            scale,
        }
    }

    /// What a feature would remove from the sum of squares; 0 if the others nearly determine it.
    fn gain(&self, place: usize) -> f64 {
        const MIN_OWN_SHARE: f64 = 1e-6;
        let own = self.own[place];
        if own < MIN_OWN_SHARE { 0.0 } else { self.products[place].powi(2) / own }
    }

    /// Takes a feature into the regression.
    fn take(&mut self, feature: usize) {
        let found = self.left.iter().position(|&place| self.features[place] == feature);
        let Some(place) = found.map(|at| self.left.remove(at)) else { return };
        let gain = self.gain(place);
        if gain <= 0.0 {
            return;
        }
        self.square = (self.square - gain).max(0.0);
        let products = self.gram.features.row(feature);
        let scaled = self.features.iter().zip(&self.scale);
        let own_scale = self.scale[place];
        let mut row: Vec<f64> =
            scaled.map(|(&other, scale)| products[other] * own_scale * scale).collect();
        for before in &self.rows {
            let factor = before[place];
            row.iter_mut().zip(before).for_each(|(value, before)| *value -= factor * before);
        }
        let pivot = self.own[place].sqrt();
        for value in &mut row {
            *value /= pivot;
        }
        let product = self.products[place] / pivot;
        for ((own, products), value) in self.own.iter_mut().zip(&mut self.products).zip(&row) {
            *own -= value * value;
            *products -= value * product;
        }
        self.rows.push(row);
    }
}

/// Adds the products of a block's features with each other, those of a feature with an earlier one only as far
/// as they share a stripe: the matrix is symmetric.
fn add_squares(block: &ArrayView2<'_, f64>, into: &mut Array2<f64>) {
    /// Features of a stripe. Narrower ones save more products and cost more calls.
    const STRIPE: usize = 48;
    let width = block.ncols();
    for from in (0..width).step_by(STRIPE) {
        let to = (from + STRIPE).min(width);
        let stripe = block.slice(s![.., from..to]);
        let later = block.slice(s![.., from..]);
        general_mat_mul(1.0, &stripe.t(), &later, 1.0, &mut into.slice_mut(s![from..to, from..]));
    }
}

/// The sums of the products of one target with all features, and its square.
#[derive(Debug, Clone)]
pub(super) struct TargetSums {
    pub products: Array1<f64>,
    pub square: f64,
}

/// A factorised regression on some of the features, ready for any target.
#[derive(Debug, Clone)]
pub(super) struct Solver {
    /// The features used.
    chosen: Vec<usize>,
    /// The number of all features, used or not.
    width: usize,
    /// The factor that standardises each chosen feature.
    scale: Array1<f64>,
    inverse: Array2<f64>,
}

impl Solver {
    /// For the features for which `uses` holds.
    pub(super) fn new(gram: &Gram, uses: impl Fn(usize) -> bool) -> Self {
        let width = gram.features.nrows();
        let chosen: Vec<usize> = (0..width).filter(|&feature| uses(feature)).collect();
        let scale: Array1<f64> = chosen
            .iter()
            .map(|&feature| {
                let square = gram.features[[feature, feature]];
                if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 }
            })
            .collect();
        let mut matrix = Array2::zeros((chosen.len(), chosen.len()));
        for (row, &one) in chosen.iter().enumerate() {
            for (column, &other) in chosen.iter().enumerate() {
                matrix[[row, column]] = gram.features[[one, other]] * scale[row] * scale[column];
            }
            matrix[[row, row]] += PENALTY;
        }
        let inverse = inverse(&matrix);
        Self { chosen, width, scale, inverse }
    }

    /// The coefficients of the chosen features, standardised, for a target's sums.
    fn solve(&self, target: &Array1<f64>) -> Array1<f64> {
        let scaled: Array1<f64> = self
            .chosen
            .iter()
            .zip(&self.scale)
            .map(|(&feature, scale)| target[feature] * scale)
            .collect();
        self.inverse.dot(&scaled)
    }

    /// Coefficients in columns: with all features, then without those of each drop.
    ///
    /// Leaving out a set S needs no new factorisation: b - A[:, S] A[S, S]^-1 b[S], with A the
    /// inverse, is the exact solution without S.
    pub(super) fn coefficients(
        &self,
        target: &Array1<f64>,
        drops: usize,
        dropped: impl Fn(usize, usize) -> bool,
    ) -> Array2<f64> {
        let full = self.solve(target);
        let mut all = Array2::zeros((self.width, drops + 1));
        self.write(&full, &mut all, 0);
        for drop in 0..drops {
            let set: Vec<usize> =
                (0..self.chosen.len()).filter(|&index| dropped(drop, self.chosen[index])).collect();
            let mut corner = Array2::zeros((set.len(), set.len()));
            for (row, &one) in set.iter().enumerate() {
                for (column, &other) in set.iter().enumerate() {
                    corner[[row, column]] = self.inverse[[one, other]];
                }
            }
            let part: Array1<f64> = set.iter().map(|&index| full[index]).collect();
            let weights = inverse(&corner).dot(&part);
            let mut reduced = full.clone();
            for (&index, &weight) in set.iter().zip(&weights) {
                reduced.scaled_add(-weight, &self.inverse.column(index));
            }
            for &index in &set {
                reduced[index] = 0.0;
            }
            self.write(&reduced, &mut all, drop + 1);
        }
        all
    }

    /// Writes the coefficients of the chosen features into a column, in the units of the features.
    fn write(&self, values: &Array1<f64>, into: &mut Array2<f64>, column: usize) {
        for ((&feature, value), scale) in self.chosen.iter().zip(values).zip(&self.scale) {
            into[[feature, column]] = value * scale;
        }
    }
}

/// The coefficients of a linear regression of `values` on `features`, each a column of as many rows.
/// The penalty is only large enough for collinear features.
///
/// # Panics
/// When a feature has fewer rows than `values`.
#[must_use]
pub fn regress(features: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let (count, rows) = (features.len(), values.len());
    let by_feature = Array2::from_shape_fn((count, rows), |(feature, row)| features[feature][row]);
    let target = ArrayView2::from_shape((rows, 1), values).expect("a column");
    let squares = Array1::zeros(1);
    let targets = by_feature.dot(&target);
    let gram = Gram { features: by_feature.dot(&by_feature.t()), targets, squares };
    let products = gram.target(0).products;
    let coefficients = Solver::new(&gram, |_| true).coefficients(&products, 0, |_, _| false);
    coefficients.column(0).to_vec()
}

/// The inverse of a symmetric positive matrix, by Cholesky's factorisation.
///
/// A pivot that rounding made negligible is replaced by a huge one, which leaves out its direction.
fn inverse(matrix: &Array2<f64>) -> Array2<f64> {
    let size = matrix.nrows();
    if size == 0 {
        return Array2::zeros((0, 0));
    }
    // The lower factor, then its inverse. Rows are contiguous, because these are the inner loops.
    let mut lower: Vec<f64> = matrix.iter().copied().collect();
    for row in 0..size {
        let (above, own) = lower.split_at_mut(row * size);
        for column in 0..=row {
            let other =
                if column < row { &above[column * size..][..=column] } else { &own[..=row] };
            let dot = ArrayView1::from(&own[..column]).dot(&ArrayView1::from(&other[..column]));
            let (difference, pivot) = (own[column] - dot, other[column]);
            own[column] = if column < row {
                difference / pivot
            } else if difference > 1e-14 * matrix[[row, row]].abs() {
                difference.sqrt()
            } else {
                1e150
            };
        }
    }
    let mut inverted = Array2::<f64>::zeros((size, size));
    for (row, lower) in lower.chunks_exact(size).enumerate() {
        let pivot = 1.0 / lower[row];
        let (above, mut own) = inverted.view_mut().split_at(Axis(0), row);
        let own = own.as_slice_mut().expect("rows are contiguous");
        for (k, (&factor, above)) in lower.iter().zip(above.rows()).enumerate() {
            let above = above.to_slice().expect("rows are contiguous");
            for (sum, value) in own[..=k].iter_mut().zip(above) {
                *sum += factor * value;
            }
        }
        for sum in &mut own[..row] {
            *sum *= -pivot;
        }
        own[row] = pivot;
    }
    inverted.t().dot(&inverted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use becausal_core::Stream;

    fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
        let mut stream = Stream::new(seed);
        Array2::from_shape_fn((rows, columns), |_| stream.normal())
    }

    #[test]
    fn a_regression_finds_the_coefficients_and_shares_them_among_copies() {
        let x: Vec<f64> = (0..50).map(f64::from).collect();
        let z: Vec<f64> = (0..50).map(|at| f64::from(at * at % 7)).collect();
        let y: Vec<f64> = x.iter().zip(&z).map(|(x, z)| 3.0 + 0.5 * x - 2.0 * z).collect();
        let close = |found: &[f64], expected: &[f64]| {
            found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-3)
        };
        let found = regress(&[vec![1.0; 50], x.clone(), z.clone()], &y);
        assert!(close(&found, &[3.0, 0.5, -2.0]), "{found:?}");
        let found = regress(&[vec![1.0; 50], x.clone(), x, z], &y);
        assert!(close(&[found[0], found[1] + found[2], found[3]], &[3.0, 0.5, -2.0]), "{found:?}");
    }

    #[test]
    fn the_inverse_times_the_matrix_is_the_identity() {
        let data = random(50, 8, 1);
        let matrix = data.t().dot(&data);
        let product = inverse(&matrix).dot(&matrix);
        let distance = (&product - &Array2::<f64>::eye(8)).mapv(f64::abs).sum();
        assert!(distance < 1e-9, "{distance}");
        assert_eq!(inverse(&Array2::zeros((0, 0))).len(), 0);
    }

    #[test]
    fn a_target_gets_the_features_it_needs() {
        let data = random(500, 8, 4);
        let noise = random(500, 1, 5);
        let mut target = 0.5 * &noise;
        let made = 2.0 * &data.column(3) - data.column(6);
        target.column_mut(0).scaled_add(1.0, &made);
        // The first feature is the constant.
        let mut data = data;
        data.column_mut(0).fill(1.0);
        let squares = target.columns().into_iter().map(|column| column.dot(&column)).collect();
        let gram = Gram { features: data.t().dot(&data), targets: data.t().dot(&target), squares };
        let select = |allowed: [bool; 8]| {
            let chosen = gram.select(&gram.target(0), &allowed, |feature| feature == 0, 16.0, 0.0);
            (0..8).filter(|&feature| chosen[feature]).collect::<Vec<_>>()
        };
        assert_eq!(select([true; 8]), [0, 3, 6]);
        let mut allowed = [true; 8];
        allowed[3] = false;
        assert_eq!(select(allowed), [0, 6]);
    }

    #[test]
    fn leaving_features_out_is_a_regression_without_them() {
        let data = random(200, 6, 2);
        let target = random(200, 1, 3);
        let squares = Array1::zeros(1);
        let gram = Gram { features: data.t().dot(&data), targets: data.t().dot(&target), squares };
        let all = Solver::new(&gram, |_| true);
        let sums = gram.target(0).products;
        let dropped =
            |drop: usize, feature: usize| if drop == 0 { feature == 2 } else { feature > 3 };
        let coefficients = all.coefficients(&sums, 2, dropped);
        for drop in 0..2 {
            let fewer = Solver::new(&gram, |feature| !dropped(drop, feature));
            let expected = fewer.coefficients(&sums, 0, |_, _| false);
            let distance =
                (&coefficients.column(drop + 1) - &expected.column(0)).mapv(f64::abs).sum();
            assert!(distance < 1e-9, "{distance}");
        }
    }
}

//! Matrix products.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};

use super::math::simd;
use super::wide_product::{self, Onto};

/// Whether a matrix is transposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transposed {
    /// It is used as it is stored.
    No,
    /// Its rows are used as columns.
    Yes,
}

/// A matrix in a slice: its numbers, its rows and columns as stored, and whether it is transposed.
pub type Matrix<'a> = (&'a [f32], usize, usize, Transposed);

/// `into = left * right`, all in row-major order.
///
/// # Panics
/// When the shapes do not match.
pub fn product(left: Matrix<'_>, right: Matrix<'_>, into: &mut [f32]) {
    if !wide_product::multiply(left, right, Onto::Nothing, into) {
        multiply(left, right, 0.0, into);
    }
}

/// `into += left * right`.
///
/// # Panics
/// When the shapes do not match.
pub fn add_product(left: Matrix<'_>, right: Matrix<'_>, into: &mut [f32]) {
    if !wide_product::multiply(left, right, Onto::Itself, into) {
        multiply(left, right, 1.0, into);
    }
}

/// `into = left * right`, plus `row` in every row.
pub(super) fn product_plus_row(left: Matrix<'_>, right: Matrix<'_>, row: &[f32], into: &mut [f32]) {
    if wide_product::multiply(left, right, Onto::Row(row), into) {
        return;
    }
    multiply(left, right, 0.0, into);
    simd(
        #[inline(always)]
        || {
            for line in into.chunks_exact_mut(row.len().max(1)) {
                line.iter_mut().zip(row).for_each(|(value, add)| *value += add);
            }
        },
    );
}

/// The product by `matrixmultiply`, on any processor.
pub(super) fn multiply(left: Matrix<'_>, right: Matrix<'_>, keep: f32, into: &mut [f32]) {
    let (left, right) = (view(left), view(right));
    let into = ArrayViewMut2::from_shape((left.nrows(), right.ncols()), into);
    let mut into = into.expect("`into` must have the shape of the product");
    general_mat_mul(1.0, &left, &right, keep, &mut into);
}

fn view((values, rows, columns, transposed): Matrix<'_>) -> ArrayView2<'_, f32> {
    let view =
        ArrayView2::from_shape((rows, columns), values).expect("a matrix must fill its slice");
    match transposed {
        Transposed::No => view,
        Transposed::Yes => view.reversed_axes(),
    }
}

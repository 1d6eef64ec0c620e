//! Linear regression.

use ndarray::{Array1, Array2};

/// The coefficients of a linear regression, with a ridge just large enough for collinear features.
pub(super) fn regress(features: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let count = features.len();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut gram = Array2::zeros((count, count));
    let mut right = Array1::zeros(count);
    for i in 0..count {
        for j in 0..count {
            gram[[i, j]] = dot(&features[i], &features[j]);
        }
        gram[[i, i]] += 1e-6 * values.len() as f64;
        right[i] = dot(&features[i], values);
    }
    // Gauss-Jordan elimination; the matrix is positive definite.
    for pivot in 0..count {
        for row in (0..count).filter(|&row| row != pivot) {
            let factor = gram[[row, pivot]] / gram[[pivot, pivot]];
            for column in pivot..count {
                gram[[row, column]] -= factor * gram[[pivot, column]];
            }
            right[row] -= factor * right[pivot];
        }
    }
    (0..count).map(|at| right[at] / gram[[at, at]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_finds_the_coefficients() {
        let x: Vec<f64> = (0..50).map(f64::from).collect();
        let z: Vec<f64> = (0..50).map(|at| f64::from(at * at % 7)).collect();
        let y: Vec<f64> = x.iter().zip(&z).map(|(x, z)| 3.0 + 0.5 * x - 2.0 * z).collect();
        let found = regress(&[vec![1.0; 50], x, z], &y);
        for (found, expected) in found.iter().zip([3.0, 0.5, -2.0]) {
            assert!((found - expected).abs() < 1e-3, "{found} {expected}");
        }
    }
}

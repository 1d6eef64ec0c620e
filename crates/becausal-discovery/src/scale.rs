//! How large the noise of a target is, in each row.
//!
//! A craft in the air moves exactly as its engines push it; touching the ground it is thrown about. A row says
//! the more about an influence the less noise there is, and an error counts in units of the noise.

use super::bins::Bins;
use super::boost::Ensemble;

/// exp(E ln |z|) of a standard normal z: what the geometric mean of errors must be divided by to be a standard
/// deviation.
const GEOMETRIC_MEAN: f64 = 0.5298;

/// The standard deviation of a target's noise, learned from the sizes of residuals.
pub(super) struct Scale {
    /// The mean of the logarithms, and trees that predict the difference from it.
    typical: f64,
    trees: Ensemble,
    /// Less noise cannot be told from the model's own error.
    pub least: f64,
    /// Errors are clipped at this many standard deviations.
    most_deviations: f64,
}

impl Scale {
    /// For a target whose errors are not scaled.
    pub(super) fn one() -> Self {
        Self {
            typical: 0.0,
            trees: Ensemble::default(),
            least: 0.0,
            most_deviations: f64::INFINITY,
        }
    }

    /// From residuals, with `grow` to learn the logarithms of their sizes.
    pub(super) fn of(
        residuals: &[f64],
        least: f64,
        most_deviations: f64,
        grow: impl FnOnce(&mut [f64]) -> Ensemble,
    ) -> Self {
        // Logarithms need a smallest size.
        let smallest = 0.1 * least;
        let mut sizes: Vec<f64> = residuals
            .iter()
            .map(|residual| (residual.abs().max(smallest) / GEOMETRIC_MEAN).ln())
            .collect();
        let typical = sizes.iter().sum::<f64>() / sizes.len().max(1) as f64;
        for size in &mut sizes {
            *size -= typical;
        }
        Self { typical, trees: grow(&mut sizes), least, most_deviations }
    }

    /// The standard deviation of the noise in each of some rows.
    pub(super) fn deviations(&self, bins: &Bins, rows: &[u32]) -> Vec<f64> {
        let mut deviations = self.trees.predict(bins, rows);
        for size in &mut deviations {
            *size = (self.typical + *size).exp().max(self.least);
        }
        deviations
    }

    /// An error in standard deviations, clipped.
    pub(super) fn standard(&self, error: f64, deviation: f64) -> f64 {
        (error / deviation).clamp(-self.most_deviations, self.most_deviations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::{Growth, TREES};
    use becausal_core::Stream;

    #[test]
    fn the_noise_of_each_half_is_learned_and_errors_are_counted_in_it() {
        let mut stream = Stream::new(6);
        let column: Vec<f64> = (0..4000).map(|_| stream.uniform(-1.0, 1.0)).collect();
        let noise = |value: f64| if value > 0.0 { 0.1 } else { 2.0 };
        let residuals: Vec<f64> = column.iter().map(|&x| noise(x) * stream.normal()).collect();
        let bins = Bins::of_columns(&[&column]);
        let rows: Vec<u32> = (0..4000).collect();
        let growth = Growth { trees: TREES, min_gain: 16.0 };
        let scale = Scale::of(&residuals, 1e-3, 3.0, |sizes| {
            Ensemble::grow(&bins, &rows, sizes, &[true], &growth)
        });
        for (deviation, &value) in scale.deviations(&bins, &rows[..100]).iter().zip(&column) {
            let ratio = deviation / noise(value);
            assert!((0.5..2.0).contains(&ratio), "{value} {ratio}");
        }
        assert_eq!(scale.standard(5.0, 2.0), 2.5);
        assert_eq!(scale.standard(-5.0, 0.1), -3.0);
        assert_eq!(Scale::one().standard(5.0, Scale::one().deviations(&bins, &[0])[0]), 5.0);
    }

    #[test]
    fn noise_below_the_least_counts_as_the_least() {
        let scale = Scale::of(&[0.0; 50], 0.01, 3.0, |_| Ensemble::default());
        assert_eq!(scale.deviations(&Bins::of_columns(&[&[1.0]]), &[0]), [0.01]);
    }
}

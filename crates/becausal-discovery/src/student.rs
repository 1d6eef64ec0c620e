//! Student's t distribution, and the correction for multiple tests.

/// The probability that a t variable with `freedom` degrees of freedom exceeds `t`.
///
/// Small probabilities are relatively precise.
pub(super) fn upper_tail(t: f64, freedom: f64) -> f64 {
    if t.is_nan() || freedom <= 0.0 {
        return 1.0;
    }
    if t == f64::INFINITY {
        return 0.0;
    }
    let half = 0.5 * incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t));
    if t >= 0.0 { half } else { 1.0 - half }
}

/// The one-sided p-value of the hypothesis that the mean of `values` is at most 0.
///
/// If all values are equal, the p-value is 0 if they are above 0, and 1 otherwise.
pub(super) fn mean_above_zero(values: &[f64]) -> f64 {
    mean_above(values, values, values.len() as f64)
}

/// The same where the variance is that of other values, which are worth this many independent ones.
pub(super) fn mean_above(values: &[f64], varying: &[f64], pieces: f64) -> f64 {
    if values.len() < 2 {
        return 1.0;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let middle = varying.iter().sum::<f64>() / count;
    let squares = varying.iter().map(|v| (v - middle) * (v - middle)).sum::<f64>();
    let variance = squares / (count - 1.0);
    if !mean.is_finite() || !variance.is_finite() {
        return 1.0;
    }
    if variance == 0.0 {
        return if mean > 0.0 { 0.0 } else { 1.0 };
    }
    upper_tail(mean / (variance / pieces).sqrt(), pieces - 1.0)
}

/// The standard deviation of most errors: that of normal errors with the same median.
pub(super) fn typical(errors: impl Iterator<Item = f64>) -> f64 {
    /// The median of the absolute value of a standard normal number.
    const MEDIAN: f64 = 0.6745;
    let mut sizes: Vec<f64> = errors.map(f64::abs).collect();
    if sizes.is_empty() {
        return 0.0;
    }
    let middle = sizes.len() / 2;
    let (_, median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
    *median / MEDIAN
}

/// The adjusted p-values of Benjamini and Hochberg: rejecting those of at most `q` keeps the false
/// discovery rate at or below `q`.
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let count = p_values.len() as f64;
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut smallest = 1.0_f64;
    for (rank, &index) in order.iter().enumerate().rev() {
        smallest = smallest.min(p_values[index] * count / (rank + 1) as f64);
        adjusted[index] = smallest;
    }
    adjusted
}

/// The logarithm of the gamma function (Lanczos, about 15 digits) for positive arguments.
fn log_gamma(x: f64) -> f64 {
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        let pi = std::f64::consts::PI;
        return (pi / (pi * x).sin()).ln() - log_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let base = x + 7.5;
    let sum = TERMS[0]
        + TERMS[1..].iter().enumerate().map(|(k, term)| term / (x + k as f64 + 1.0)).sum::<f64>();
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * base.ln() - base + sum.ln()
}

/// The regularised incomplete beta function `I_x(a, b)`, by Lentz's continued fraction.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

#[expect(clippy::many_single_char_names, reason = "the letters of the formula")]
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let guard = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guard(1.0 + even * d);
        c = guard(1.0 + even / c);
        result *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guard(1.0 + odd * d);
        c = guard(1.0 + odd / c);
        let change = d * c;
        result *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_match_scipy() {
        // scipy.stats.t.sf
        let cases = [
            (0.0, 7.0, 0.5),
            (1.894_578_605_061_305, 7.0, 0.05),
            (-1.894_578_605_061_305, 7.0, 0.95),
            (3.0, 7.0, 0.009_971_063_139_399_42),
            (12.0, 40.0, 3.912_085_652_127_9e-15),
            (2.0, 1e6, 0.022_750_266_929_442_1),
        ];
        for (t, freedom, expected) in cases {
            let got = upper_tail(t, freedom);
            assert!((got - expected).abs() < 1e-6 * expected, "{t}, {freedom}: {got}");
        }
    }

    #[test]
    fn equal_values_are_evidence_only_if_they_are_positive() {
        assert_eq!(mean_above_zero(&[0.0; 8]), 1.0);
        assert_eq!(mean_above_zero(&[-1.0; 8]), 1.0);
        assert_eq!(mean_above_zero(&[2.0; 8]), 0.0);
        assert_eq!(mean_above_zero(&[f64::NAN, 1.0]), 1.0);
        assert_eq!(mean_above_zero(&[5.0]), 1.0);
    }

    #[test]
    fn the_correction_matches_the_textbook() {
        let adjusted = benjamini_hochberg(&[0.01, 0.04, 0.03, 0.5]);
        let expected = [0.04, 0.053_333_333, 0.053_333_333, 0.5];
        for (got, expected) in adjusted.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-8);
        }
        assert!(benjamini_hochberg(&[]).is_empty());
    }
}

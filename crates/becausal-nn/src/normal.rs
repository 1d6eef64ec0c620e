//! Functions of the normal distribution.

use std::f64::consts::{LN_2, PI};

/// ln of the complementary error function at `z` >= 0, with a relative error of 1.2e-7 in erfc.
///
/// This is the rational Chebyshev fit of Numerical Recipes (`erfcc`) as a logarithm, so it is also
/// accurate in the tail, where erfc itself vanishes.
fn log_erfc(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.5 * z);
    let terms = [
        0.170_872_77,
        -0.822_152_23,
        1.488_515_87,
        -1.135_203_98,
        0.278_868_07,
        -0.186_288_06,
        0.096_784_18,
        0.374_091_96,
        1.000_023_68,
        -1.265_512_23,
    ];
    t.ln() - z * z + terms.iter().fold(0.0, |sum, term| sum * t + term)
}

/// ln of the probability that a standard normal number is below `x`.
#[must_use]
pub fn log_normal_cdf(x: f64) -> f64 {
    let tail = log_erfc(x.abs() / 2.0_f64.sqrt()) - LN_2;
    if x < 0.0 { tail } else { (-tail.exp()).ln_1p() }
}

/// The probability that a standard normal number is below `x`.
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    log_normal_cdf(x).exp()
}

/// ln of the standard normal density.
#[must_use]
pub fn log_normal_density(x: f64) -> f64 {
    -0.5 * (x * x + (2.0 * PI).ln())
}

/// ln of the probability that a standard normal number is between `a` and `b`, and its derivatives
/// with respect to `a` and `b`.
#[must_use]
pub fn log_normal_between(a: f64, b: f64) -> (f64, f64, f64) {
    let wide = b - a;
    let middle = 0.5 * (a + b);
    if wide < 0.05 {
        // The density is nearly linear here; a difference of probabilities would lose precision.
        let bend = (middle * middle - 1.0) * wide * wide / 24.0;
        let value = log_normal_density(middle) + wide.ln() + bend;
        let by_middle = -middle + middle * wide * wide / 12.0;
        let by_width = 1.0 / wide + (middle * middle - 1.0) * wide / 12.0;
        return (value, 0.5 * by_middle - by_width, 0.5 * by_middle + by_width);
    }
    // In the upper half the mirror image is used, where the logarithms keep their precision.
    let (low, high) = if middle > 0.0 { (-b, -a) } else { (a, b) };
    let (log_low, log_high) = (log_normal_cdf(low), log_normal_cdf(high));
    let value = log_high + (-(log_low - log_high).exp()).ln_1p();
    let by = |x: f64| (log_normal_density(x) - value).exp();
    (value, -by(a), by(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_function_has_its_known_values() {
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 3e-7, "{a} {b}");
        close(normal_cdf(0.0), 0.5);
        close(normal_cdf(1.0), 0.841_344_746_068_543);
        close(normal_cdf(-1.96), 0.024_997_895_148_220_4);
        close(log_normal_cdf(-10.0), -53.231_285_151_247_1);
        close(log_normal_cdf(-40.0), -804.608_442_013_754);
    }

    #[test]
    fn the_probability_of_an_interval_is_smooth_and_has_exact_derivatives() {
        for (a, b) in
            [(-0.3, 0.4), (3.0, 3.02), (-5.0, 2.0), (8.0, 9.0), (-1.0, -0.96), (-30.0, -29.0)]
        {
            let (value, by_a, by_b) = log_normal_between(a, b);
            let step = 1e-4;
            let at = |a, b| log_normal_between(a, b).0;
            let difference = (at(a + step, b) - at(a - step, b)) / (2.0 * step);
            assert!(
                (by_a - difference).abs() < 1e-2 * (1.0 + by_a.abs()),
                "{a} {b}: {by_a} {difference}"
            );
            let difference = (at(a, b + step) - at(a, b - step)) / (2.0 * step);
            assert!(
                (by_b - difference).abs() < 1e-2 * (1.0 + by_b.abs()),
                "{a} {b}: {by_b} {difference}"
            );
            assert!(value < 0.0);
        }
        let (narrow, wide) = (log_normal_between(1.0, 1.0499).0, log_normal_between(1.0, 1.0501).0);
        assert!((wide - narrow - (0.0501_f64 / 0.0499).ln()).abs() < 1e-3, "both formulas agree");
    }
}

//! Sine, cosine and hyperbolic tangent of 64-bit numbers, the same on every processor and system.
//!
//! Gymnasium computes the engines and the wind with the mathematical library of the system, whose
//! last bit differs between systems. These functions may also differ by a few units in the last
//! place. The physics only gets the results rounded to 32 bits, where that is almost never visible.

/// A quarter turn in three parts. The first two have 33 bits each, so that their multiples up to
/// 2^20 are exact.
const QUARTER: [f64; 3] =
    [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];

/// The natural logarithm of two in two parts; the first has 32 bits.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// The sine and the cosine of an angle in radians. The angle must be below a million.
pub(super) fn sine_cosine(angle: f64) -> (f64, f64) {
    let quarters = (angle * std::f64::consts::FRAC_2_PI).round_ties_even();
    let near = angle - quarters * QUARTER[0];
    let (rest, error) = difference(near, quarters * QUARTER[1]);
    let error = error - quarters * QUARTER[2];
    let high = rest + error;
    let low = (rest - high) + error;
    let (sine, cosine) = (sine_series(high, low), cosine_series(high, low));
    match (quarters as i64).rem_euclid(4) {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// The sine of an angle in radians.
pub(super) fn sine(angle: f64) -> f64 {
    sine_cosine(angle).0
}

/// The hyperbolic tangent.
pub(super) fn hyperbolic_tangent(x: f64) -> f64 {
    let size = x.abs();
    let value = if size > 22.0 {
        1.0
    } else if size >= 1.0 {
        1.0 - 2.0 / (exponential_minus_one(2.0 * size) + 2.0)
    } else {
        let less = exponential_minus_one(2.0 * size);
        less / (less + 2.0)
    };
    value.copysign(x)
}

/// The difference of two numbers and its rounding error.
fn difference(a: f64, b: f64) -> (f64, f64) {
    let result = a - b;
    let back = result - a;
    (result, (a - (result - back)) - (b + back))
}

/// The sum of `1/first! - x/(first + 2)! + ...`, of `terms` terms.
fn alternating(x: f64, first: u32, terms: u32) -> f64 {
    let mut sum = 1.0;
    for term in (1..terms).rev() {
        let n = first + 2 * term;
        sum = 1.0 - sum * x / f64::from(n * (n - 1));
    }
    sum / (2..=first).map(f64::from).product::<f64>()
}

/// The sine of `high + low`, within an eighth of a turn.
fn sine_series(high: f64, low: f64) -> f64 {
    let square = high * high;
    let tail = high * square * alternating(square, 3, 8);
    high + (low * (1.0 - 0.5 * square) - tail)
}

/// The cosine of `high + low`, within an eighth of a turn.
fn cosine_series(high: f64, low: f64) -> f64 {
    let square = high * high;
    let half = 0.5 * square;
    let head = 1.0 - half;
    let lost = (1.0 - head) - half;
    head + (lost + (square * square * alternating(square, 4, 8) - high * low))
}

/// The exponential function minus one, for arguments between -700 and 700.
fn exponential_minus_one(x: f64) -> f64 {
    // Near zero the series alone is more accurate.
    let doublings =
        if x.abs() <= 1.0 { 0.0 } else { (x * std::f64::consts::LOG2_E).round_ties_even() };
    let rest = (x - doublings * LN_2[0]) - doublings * LN_2[1];
    let mut series = 1.0;
    for n in (2..22).rev() {
        series = 1.0 + series * rest / f64::from(n);
    }
    let power = 2.0_f64.powi(doublings as i32);
    power * (rest * series) + (power - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units in the last place between two numbers.
    fn units(a: f64, b: f64) -> u64 {
        (a.to_bits().cast_signed() - b.to_bits().cast_signed()).unsigned_abs()
    }

    #[test]
    fn the_functions_agree_with_the_system_up_to_the_last_places() {
        for step in -200_000..200_000_i32 {
            let x = f64::from(step) * 0.001_618;
            let (sine, cosine) = sine_cosine(x);
            assert!(units(sine, x.sin()) <= 1, "sine of {x}");
            assert!(units(cosine, x.cos()) <= 1, "cosine of {x}");
            let small = f64::from(step) * 1.1e-5;
            assert!(units(hyperbolic_tangent(small), small.tanh()) <= 3, "tanh of {small}");
        }
    }

    #[test]
    fn zero_and_large_arguments_are_exact() {
        assert_eq!(sine_cosine(0.0), (0.0, 1.0));
        assert_eq!(hyperbolic_tangent(0.0), 0.0);
        assert_eq!(hyperbolic_tangent(40.0), 1.0);
        assert_eq!(hyperbolic_tangent(-40.0), -1.0);
    }
}

//! Elementary functions in plain arithmetic, so that loops over them are vectorised.

/// Runs a loop with the widest vector instructions that this processor has.
///
/// The results are the same as without them: no operation is fused or reordered.
#[inline]
pub fn simd<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// The exponential function, accurate to about a unit in the last place.
#[inline(always)]
#[must_use]
#[expect(clippy::inline_always, reason = "compiled with the vector width of the caller")]
#[expect(clippy::excessive_precision, reason = "as published")]
pub fn exp(x: f32) -> f32 {
    // 2^k * e^r with |r| <= ln(2)/2; the polynomial is that of the Cephes library.
    let x = x.clamp(-87.0, 88.0);
    // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the lowest bits.
    let shifted = x * std::f32::consts::LOG2_E + 12_582_912.0;
    let k = shifted - 12_582_912.0;
    let r = x - k * 0.693_359_375 - k * -2.121_944_4e-4;
    let mut p = 1.987_569_15e-4;
    p = p * r + 1.398_199_95e-3;
    p = p * r + 8.333_451_907e-3;
    p = p * r + 4.166_579_59e-2;
    p = p * r + 1.666_666_55e-1;
    p = p * r + 5.000_000_12e-1;
    let value = p * r * r + r + 1.0;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    value * power
}

/// Gradients smaller than this become 0. It is far below the rounding error of a sum with any gradient
/// that matters, and far above 1e-38, below which every product costs a hundred times more.
const NEGLIGIBLE_GRADIENT: f32 = 1e-20;

/// The gradient, or 0 if it is negligible.
///
/// A value that is predicted with near certainty has a gradient that hardly exists. Numbers too small
/// for the usual format (denormals) made half of all time in training without this.
#[inline(always)]
#[must_use]
#[expect(clippy::inline_always, reason = "compiled with the vector width of the caller")]
pub fn flush(gradient: f32) -> f32 {
    if gradient.abs() < NEGLIGIBLE_GRADIENT { 0.0 } else { gradient }
}

/// 1 / (1 + e^-x).
#[inline(always)]
#[must_use]
#[expect(clippy::inline_always, reason = "compiled with the vector width of the caller")]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// The hyperbolic tangent.
#[inline(always)]
#[must_use]
#[expect(clippy::inline_always, reason = "compiled with the vector width of the caller")]
pub fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (1.0 + exp(2.0 * x))
}

/// ln(1 + e^x), without overflow.
#[must_use]
pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// The sum of products of two slices, eight at a time in a fixed order.
#[inline(always)]
#[must_use]
#[expect(clippy::inline_always, reason = "compiled with the vector width of the caller")]
pub fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 8];
    let (left_chunks, right_chunks) = (left.chunks_exact(8), right.chunks_exact(8));
    let rest = left_chunks.remainder().iter().zip(right_chunks.remainder());
    let tail: f32 = rest.map(|(a, b)| a * b).sum();
    for (a, b) in left_chunks.zip(right_chunks) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let halves: [f32; 4] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + 4]);
    (halves[0] + halves[1]) + (halves[2] + halves[3]) + tail
}

/// `into += factor * values`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled with the vector width of the caller")]
pub fn add_scaled(into: &mut [f32], factor: f32, values: &[f32]) {
    for (into, value) in into.iter_mut().zip(values) {
        *into += factor * value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_are_close_to_the_exact_ones() {
        for step in -800..=800 {
            let x = step as f32 / 10.0;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 3e-7, "exp({x})");
            assert!((f64::from(tanh(x)) - f64::from(x).tanh()).abs() < 3e-7, "tanh({x})");
            let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
            assert!((f64::from(sigmoid(x)) - exact).abs() < 2e-7, "sigmoid({x})");
        }
        assert!(exp(-1000.0) < 1e-37 && exp(1000.0).is_finite());
        assert_eq!(softplus(800.0), 800.0);
    }

    #[test]
    fn a_dot_product_includes_the_elements_after_the_last_full_chunk() {
        let left: Vec<f32> = (0..19).map(|i| i as f32).collect();
        assert_eq!(dot(&left, &left), (0..19).map(|i| (i * i) as f32).sum::<f32>());
    }
}

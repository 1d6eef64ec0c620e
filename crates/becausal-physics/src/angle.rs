//! Sine and cosine of a 32-bit angle, the same on every processor and system.
//!
//! The reference trajectories were computed with `sincosf` of the GNU C library. Its method is
//! public: reduce the angle by multiples of a quarter turn in 64-bit floats, evaluate one minimax
//! polynomial for the sine and one for the cosine, round once. This file does the same with plain
//! 64-bit multiplications and additions, so that no system library is called.
//!
//! Compared with version 2.36 of that library over all 2^32 bit patterns: no result differs from
//! its variant without fused multiply-add; 34 differ from its variant with it, by one unit in the
//! last place, all of angles beyond 17 radians.

/// Quarter turns per radian, times 2^24, so that a shift gives the nearest whole number.
const QUARTERS_PER_RADIAN: f64 = 10_680_707.430_881_744;

/// A quarter turn in radians.
const QUARTER: f64 = std::f64::consts::FRAC_PI_2;

/// Radians per unit when a full turn is 2^64.
const RADIANS_PER_UNIT: f64 = QUARTER / (1_u64 << 62) as f64;

/// The bits of 4 / pi. Each word starts one byte after the previous one.
const FOUR_OVER_PI: [u32; 24] = [
    0x0000_00a2,
    0x0000_a2f9,
    0x00a2_f983,
    0xa2f9_836e,
    0xf983_6e4e,
    0x836e_4e44,
    0x6e4e_4415,
    0x4e44_1529,
    0x4415_29fc,
    0x1529_fc27,
    0x29fc_2757,
    0xfc27_57d1,
    0x2757_d1f5,
    0x57d1_f534,
    0xd1f5_34dd,
    0xf534_ddc0,
    0x34dd_c0db,
    0xddc0_db62,
    0xc0db_6295,
    0xdb62_9599,
    0x6295_993c,
    0x9599_3c43,
    0x993c_4390,
    0x3c43_9041,
];

/// The sine and the cosine of an angle in radians; both NaN if the angle is not finite.
pub(crate) fn sine_cosine(angle: f32) -> (f32, f32) {
    let bits = angle.to_bits();
    let magnitude = f32::from_bits(bits & 0x7fff_ffff);
    // The comparisons below use only the exponent and the three highest bits of the fraction.
    let top = (bits >> 20) & 0x7ff;
    if top < 0x3f4 {
        if top < 0x398 {
            return (angle, 1.0);
        }
        let (sine, cosine) = quarter_polynomials(f64::from(angle));
        return (sine as f32, cosine as f32);
    }
    if !magnitude.is_finite() {
        return (f32::NAN, f32::NAN);
    }
    let (rest, quarters) = if top < 0x42f { reduce_near(angle) } else { reduce_far(bits) };
    let (sine, cosine) = quarter_polynomials(rest);
    let (sine, cosine) = match quarters & 3 {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    };
    (sine as f32, cosine as f32)
}

/// The remainder of an angle below 120 radians after whole quarter turns, and their number.
#[inline]
fn reduce_near(angle: f32) -> (f64, i32) {
    let angle = f64::from(angle);
    let quarters = ((angle * QUARTERS_PER_RADIAN) as i32 + 0x80_0000) >> 24;
    (angle - f64::from(quarters) * QUARTER, quarters)
}

/// The same for any finite angle of at least 2: multiplies by as many bits of 4 / pi as the
/// exponent requires, in fixed point.
#[cold]
fn reduce_far(bits: u32) -> (f64, i32) {
    let first = ((bits >> 26) & 15) as usize;
    let fraction = ((bits & 0x7f_ffff) | 0x80_0000) << ((bits >> 23) & 7);
    let high = u64::from(fraction.wrapping_mul(FOUR_OVER_PI[first]));
    let middle = u64::from(fraction) * u64::from(FOUR_OVER_PI[first + 4]);
    let low = u64::from(fraction) * u64::from(FOUR_OVER_PI[first + 8]);
    let turn = ((high << 32) | (low >> 32)).wrapping_add(middle);
    let quarters = turn.wrapping_add(1 << 61) >> 62;
    let rest = turn.wrapping_sub(quarters << 62).cast_signed();
    let rest = rest as f64 * RADIANS_PER_UNIT;
    let quarters = quarters as i32;
    if bits >> 31 == 0 { (rest, quarters) } else { (-rest, -quarters) }
}

/// Sine and cosine within an eighth of a turn of zero.
#[inline]
fn quarter_polynomials(x: f64) -> (f64, f64) {
    let square = x * x;
    let cube = square * x;
    let fourth = square * square;
    let sine_tail = 0.008_332_178_146_138_854 + square * -0.000_195_172_989_813_857_25;
    let cosine_tail = -0.001_388_676_379_437_604 + square * 2.439_045_070_356_454_2e-5;
    let sine_head = x + cube * -0.166_666_549_437_010_84;
    let cosine_head =
        (1.0 + square * -0.499_999_997_251_082_24) + fourth * 0.041_666_623_324_344_516;
    (sine_head + (cube * square) * sine_tail, cosine_head + (fourth * square) * cosine_tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_and_cosine_are_within_one_unit_in_the_last_place() {
        for bits in (0..0x7f80_0000_u32).step_by(65_537) {
            for angle in [f32::from_bits(bits), -f32::from_bits(bits)] {
                let (sine, cosine) = sine_cosine(angle);
                let exact = f64::from(angle).sin_cos();
                for (got, wanted) in [(sine, exact.0 as f32), (cosine, exact.1 as f32)] {
                    let units = got.to_bits().abs_diff(wanted.to_bits());
                    assert!(units <= 1, "{angle}: {got} instead of {wanted}");
                }
            }
        }
    }

    /// Values of `sincosf` of the GNU C library 2.36.
    #[test]
    fn sine_and_cosine_agree_with_recorded_values() {
        let recorded = [
            (0x38d1_b717, 0x38d1_b717, 0x3f80_0000),
            (0x3d4c_cccd, 0x3d4c_b6f5, 0x3f7f_ae19),
            (0xbf33_3333, 0xbf24_eb73, 0x3f43_ccb3),
            (0x3f4c_cccd, 0x3f37_a4a6, 0x3f32_5b5f),
            (0x3fcc_cccd, 0x3f7f_e40e, 0xbcef_33e3),
            (0x4020_0000, 0x3f19_3578, 0xbf4d_17bf),
            (0xc040_0000, 0xbe10_81c3, 0xbf7d_7026),
            (0x40a0_0000, 0xbf75_7c10, 0x3e91_3c2c),
            (0x4144_cccd, 0xbe86_c64b, 0x3f76_f8b8),
            (0xc188_0000, 0x3f76_1e25, 0xbe8c_e236),
            (0x42c8_0000, 0xbf01_a12e, 0x3f5c_c0ee),
            (0x42ef_cccd, 0x3efe_2bff, 0x3f5e_3a4d),
            (0x42f2_0000, 0x3f7f_b25b, 0xbd47_537e),
            (0xc59c_4000, 0x3f7c_eb5e, 0x3e1e_6165),
            (0x4e6e_6b28, 0x3f0b_bc65, 0x3f56_7fc6),
            (0x7f61_b1e6, 0x3f5f_f9c4, 0xbef7_f57c),
        ];
        for (angle, sine, cosine) in recorded {
            let (got_sine, got_cosine) = sine_cosine(f32::from_bits(angle));
            assert_eq!((got_sine.to_bits(), got_cosine.to_bits()), (sine, cosine));
        }
    }

    #[test]
    fn sine_and_cosine_of_a_non_finite_angle_are_nan() {
        for angle in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let (sine, cosine) = sine_cosine(angle);
            assert!(sine.is_nan() && cosine.is_nan());
        }
    }
}

//! Adding the same number many times, rounded every time, without doing so.
//!
//! Within a binade, the numbers from one power of two to the next, all numbers are equally far apart. So as long as a sum
//! stays in its binade, adding the same number changes it by the same multiple of that distance, and many additions are
//! one. The result is the same to the last bit.

/// The explicit bits of the mantissa of a single-precision number.
const MANTISSA_BITS: u32 = 23;

/// The lowest exponent, with its bias, of numbers that are not subnormal.
const LOWEST_EXPONENT: u32 = 1;

/// The highest exponent of finite numbers, with its bias.
const HIGHEST_EXPONENT: u32 = 0xfe;

/// With fewer additions left, adding is quicker than finding out.
const FEW: usize = 4;

/// `start` after `addend` was added `times` times, rounded to single precision each time.
pub(crate) fn repeated_sum(start: f32, addend: f32, times: usize) -> f32 {
    let (mut sum, mut left) = (start, times);
    while left > 0 {
        let next = sum + addend;
        left -= 1;
        if next == sum {
            // Nothing is left of the addend; it may still have made 0 of -0.
            return next;
        }
        sum = next;
        if left >= FEW {
            let (later, skipped) = skip(sum, addend, left);
            (sum, left) = (later, left - skipped);
        }
    }
    sum
}

/// The sum after some of the additions, at most `left`, that change it by the same amount, and how many these are.
fn skip(sum: f32, addend: f32, left: usize) -> (f32, usize) {
    let exponent = (sum.to_bits() >> MANTISSA_BITS) & 0xff;
    if !(LOWEST_EXPONENT + MANTISSA_BITS..HIGHEST_EXPONENT).contains(&exponent) {
        return (sum, 0);
    }
    // The lowest number of the binade, and the distance of its numbers.
    let lowest = f64::from(f32::from_bits(exponent << MANTISSA_BITS));
    let distance = f64::from(f32::from_bits((exponent - MANTISSA_BITS) << MANTISSA_BITS));
    let share = f64::from(addend) / distance;
    let rounded = share.round();
    // A tie is rounded to the even neighbour, which alternates.
    if (share - rounded).abs() == 0.5 {
        return (sum, 0);
    }
    let change = rounded * distance;
    let size = f64::from(sum.abs());
    let room = if (change < 0.0) == (sum < 0.0) { 2.0 * lowest - size } else { size - lowest };
    // One less than there is room for: the sum before it is rounded has to be in the binade, too.
    let fits = room / change.abs() - 1.0;
    if change == 0.0 || fits < 1.0 {
        return (sum, 0);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 2^24")]
    let count = (fits as usize).min(left);
    #[expect(clippy::cast_possible_truncation, reason = "a number of the binade")]
    let later = (f64::from(sum) + count as f64 * change) as f32;
    (later, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(start: f32, addend: f32, times: usize) -> f32 {
        (0..times).fold(start, |sum, _| sum + addend)
    }

    #[test]
    fn it_is_what_adding_gives() {
        // A generator of Lehmer's: any bits will do.
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        };
        for _ in 0..300_000 {
            // Exponents near each other, so that sums cross binades, zero and ties.
            let mut number = |spread: u32| {
                let exponent = 127 - spread / 2 + next() % spread;
                let mantissa =
                    if next() % 3 == 0 { next() & 0x0070_0000 } else { next() & 0x007f_ffff };
                f32::from_bits((next() & 1) << 31 | exponent << 23 | mantissa)
            };
            let (start, addend) = (number(16), number(60));
            let times = (next() % 200) as usize;
            let (quick, slow) = (repeated_sum(start, addend, times), added(start, addend, times));
            assert_eq!(quick.to_bits(), slow.to_bits(), "{start:e} + {times} * {addend:e}");
        }
    }

    #[test]
    fn zeros_and_extremes_are_no_exception() {
        let numbers = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f32::MIN_POSITIVE,
            -f32::MIN_POSITIVE,
            1e-45,
            f32::MAX,
            -f32::MAX,
            f32::INFINITY,
            0.1,
            1.999_999_9,
            1.0 - f32::EPSILON / 2.0,
        ]; // rustfmt would put one number on a line
        for start in numbers {
            for addend in numbers {
                let (quick, slow) = (repeated_sum(start, addend, 150), added(start, addend, 150));
                assert!(
                    quick.to_bits() == slow.to_bits() || (quick.is_nan() && slow.is_nan()),
                    "{start:e}, {addend:e}"
                );
            }
        }
    }
}

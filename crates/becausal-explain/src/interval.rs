//! The middle nine in ten of what a number may be, made wider or narrower.

/// The middle nine in ten of what a number may be, as possible courses have it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// One in twenty is below.
    pub low: f64,
    /// Half is below.
    pub median: f64,
    /// One in twenty is above.
    pub high: f64,
}

impl Interval {
    /// Its ends when it is stretched. A factor above 1 moves both ends outwards by the same amount, so that the width grows
    /// by the factor. One below 1 moves each end towards the median: of an interval that reaches far on one side,
    /// the half where most courses are is kept.
    #[must_use]
    pub fn stretched(self, factor: f64) -> [f64; 2] {
        let Self { low, median, high } = self;
        if factor < 1.0 {
            return [median - factor * (median - low), median + factor * (high - median)];
        }
        let outwards = (factor - 1.0) * 0.5 * self.width();
        [low - outwards, high + outwards]
    }

    /// By what factor it has to be stretched to reach a number: at most 1 if it holds the number, infinite if it has no
    /// width and does not.
    #[must_use]
    pub fn stretch_to(self, number: f64) -> f64 {
        let Self { low, median, high } = self;
        let share = |part: f64, whole: f64| if part == 0.0 { 0.0 } else { part / whole };
        match number {
            below if below < low => 1.0 + (low - below) / (0.5 * self.width()),
            above if above > high => 1.0 + (above - high) / (0.5 * self.width()),
            left if left < median => share(median - left, median - low),
            right => share(right - median, high - median),
        }
    }

    /// How far its ends are apart.
    #[must_use]
    pub fn width(self) -> f64 {
        self.high - self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKEWED: Interval = Interval { low: -8.0, median: 1.0, high: 2.0 };

    #[test]
    fn a_stretched_interval_just_holds_what_it_was_stretched_to() {
        for number in [-20.0, -8.0, -3.0, 1.0, 1.5, 2.0, 2.5, 40.0] {
            let factor = SKEWED.stretch_to(number);
            let [low, high] = SKEWED.stretched(factor);
            assert!(low <= number + 1e-9 && number <= high + 1e-9, "{number}: {low} {high}");
            let [low, high] = SKEWED.stretched(0.99 * factor);
            let leaves_out = number < low || high < number;
            assert!(leaves_out || number == SKEWED.median, "{number}: {low} {high}");
        }
    }

    #[test]
    fn a_narrower_interval_keeps_the_side_of_most_courses() {
        assert_eq!(SKEWED.stretched(1.0), [-8.0, 2.0]);
        assert_eq!(SKEWED.stretched(0.1), [1.0 - 0.9, 1.1]);
        assert_eq!(SKEWED.stretched(2.0), [-13.0, 7.0]);
    }

    #[test]
    fn courses_that_agree_on_what_is_wrong_cannot_be_mended() {
        let point = Interval { low: 2.0, median: 2.0, high: 2.0 };
        assert_eq!(point.stretch_to(2.0), 0.0);
        assert_eq!(point.stretch_to(2.1), f64::INFINITY);
        assert_eq!(point.stretch_to(1.9), f64::INFINITY);
        assert_eq!(point.stretched(5.0), [2.0, 2.0]);
    }
}

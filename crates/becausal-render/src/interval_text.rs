//! Intervals in words.

use super::words::{number, without_zeros};

/// Numbers with more decimals are written with an exponent.
const MAX_DECIMALS: usize = 8;

/// The ends of an interval, to two digits of its width.
pub(super) fn ends([low, high]: [f64; 2]) -> [String; 2] {
    let width = high - low;
    if width <= 0.0 || !width.is_finite() {
        return [low, high].map(|end| number(end, 3));
    }
    #[expect(clippy::cast_possible_truncation, reason = "the exponent of a number")]
    let decimals = 1 - width.log10().floor() as i32;
    [low, high].map(|end| match usize::try_from(decimals) {
        Ok(decimals) if decimals <= MAX_DECIMALS => {
            let text = without_zeros(format!("{end:.decimals$}"));
            if text == "-0" { "0".to_owned() } else { text }
        }
        Ok(_) => number(end, 3),
        Err(_) => number(end.round(), 3),
    })
}

/// `2.1 to 6.3`.
pub(super) fn between(interval: [f64; 2]) -> String {
    ends(interval).join(" to ")
}

/// ` (2.1 to 6.3)`; nothing where an interval is one point, or there is none.
pub(super) fn in_brackets(interval: Option<[f64; 2]>) -> String {
    let wide = interval.filter(|[low, high]| number(*low, 3) != number(*high, 3));
    wide.map_or_else(String::new, |interval| format!(" ({})", between(interval)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_two_digits_of_its_width() {
        let cases = [
            ([17.39, 17.573], "17.39 to 17.57"),
            ([-4.9, 18.1], "-5 to 18"),
            ([-38.2, 1540.0], "-38 to 1540"),
            ([-0.0004, 0.31], "0 to 0.31"),
            ([2.0, 2.0], "2 to 2"),
        ];
        for (interval, words) in cases {
            assert_eq!(between(interval), words);
        }
        assert_eq!(in_brackets(Some([2.0, 2.0])), "");
        assert_eq!(in_brackets(None), "");
        assert_eq!(in_brackets(Some([2.0, 3.1])), " (2 to 3.1)");
    }
}

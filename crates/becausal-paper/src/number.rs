//! Numbers as people read them.

pub use becausal::render::thousands as count;

/// A count with its noun: 1 episode, 3 episodes.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A measurement to four significant digits: 0.02, 21.43, 1.2e-7.
pub fn brief(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let size = number.abs();
    if !(1e-4..1e7).contains(&size) {
        return format!("{number:.3e}");
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -4 and 6")]
    let digits = 3 - size.log10().floor() as i32;
    let text = format!("{number:.*}", usize::try_from(digits).unwrap_or(0));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A share as a percentage: 99.3 %.
pub fn percent(share: f64) -> String {
    format!("{} %", brief(100.0 * share))
}

/// The mean and the (population) standard deviation; both 0 without any values.
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    (mean, (squares / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(counted(1, "episode"), "1 episode");
        assert_eq!(counted(2000, "episode"), "2,000 episodes");
        let cases = [
            (0.0, "0"),
            (21.428_571, "21.43"),
            (-0.05, "-0.05"),
            (1.0, "1"),
            (1234.5678, "1235"),
            (1_234_567.0, "1234567"),
            (1.2e-7, "1.200e-7"),
            (0.999_99, "1"),
        ];
        for (number, text) in cases {
            assert_eq!(brief(number), text);
        }
        assert_eq!(percent(0.9925), "99.25 %");
    }

    #[test]
    fn a_mean_comes_with_its_deviation() {
        assert_eq!(mean_and_deviation(&[1.0, 3.0]), (2.0, 1.0));
        assert_eq!(mean_and_deviation(&[]), (0.0, 0.0));
    }
}

//! Numbers as people read them.

pub use becausal_core::text::{counted, thousands as count};

/// A measurement to four significant digits: 0.02, 21.43, 1.2e-7.
#[must_use]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(1), "1");
        assert_eq!(count(1_234_567), "1,234,567");
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
    }
}

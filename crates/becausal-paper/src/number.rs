//! Numbers as people read them.

pub use becausal::render::number::{brief, count, counted};

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
    fn a_mean_comes_with_its_deviation() {
        assert_eq!(percent(0.9925), "99.25 %");
        assert_eq!(mean_and_deviation(&[1.0, 3.0]), (2.0, 1.0));
        assert_eq!(mean_and_deviation(&[]), (0.0, 0.0));
    }
}

//! Values of a distribution that come from a standard normal number, and parameters that give a deviation.

use super::distribution::Distribution;
use super::normal::normal_cdf;

impl Distribution {
    /// The label at a standard normal number: labels follow each other, each as wide as it is likely. Of other
    /// distributions, the value with this noise.
    #[must_use]
    pub fn label_at(&self, parameters: &[f32], normal: f64) -> f64 {
        let share = normal_cdf(normal);
        match *self {
            Self::Bernoulli => f64::from(u8::from(1.0 - share < self.mean(parameters))),
            Self::Categorical(labels) => {
                let mut below = 0.0;
                let reached = (0..labels - 1).find(|&label| {
                    below += self.chance(parameters, label as f64).unwrap_or(0.0);
                    share < below
                });
                reached.unwrap_or(labels - 1) as f64
            }
            _ => self.value(parameters, &[normal]),
        }
    }

    /// The raw scale that gives this standard deviation, or one just above the minimum; 0 for labels.
    #[must_use]
    pub fn raw_scale(&self, deviation: f32) -> f32 {
        match *self {
            Self::Normal { floor }
            | Self::Tailed { floor }
            | Self::Cut { floor, .. }
            | Self::Rounded { floor, .. }
            | Self::Bounded { floor } => {
                // The inverse of softplus.
                let above = (f64::from(deviation) - floor).max(1e-6);
                #[expect(clippy::cast_possible_truncation, reason = "single precision")]
                let raw = (above + (-(-above).exp_m1()).ln()) as f32;
                raw
            }
            Self::Bernoulli | Self::Categorical(_) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becausal_core::Stream;

    #[test]
    fn labels_come_as_often_as_they_are_likely() {
        let mut stream = Stream::new(1);
        let draws: Vec<f64> = (0..40_000).map(|_| stream.normal()).collect();
        let cases: [(Distribution, &[f32]); 2] =
            [(Distribution::Bernoulli, &[-0.7]), (Distribution::Categorical(3), &[0.3, -1.0, 1.2])];
        for (distribution, parameters) in cases {
            for label in [0.0, 1.0, 2.0].into_iter().take(parameters.len().max(2)) {
                let expected = distribution.chance(parameters, label).unwrap();
                let is = |normal: &&f64| distribution.label_at(parameters, **normal) == label;
                let share = draws.iter().filter(is).count() as f64 / draws.len() as f64;
                assert!((share - expected).abs() < 0.01, "{distribution:?} {label}: {share}");
            }
        }
    }

    #[test]
    fn a_raw_scale_gives_back_its_deviation() {
        let distribution = Distribution::Tailed { floor: 0.02 };
        for deviation in [0.021_f32, 0.1, 1.0, 3.0, 20.0] {
            let raw = distribution.raw_scale(deviation);
            let back = distribution.deviation(&[0.0, raw]).unwrap();
            assert!((back - f64::from(deviation)).abs() < 1e-4, "{deviation}: {back}");
        }
        let least = distribution.deviation(&[0.0, distribution.raw_scale(0.0)]).unwrap();
        assert!((least - 0.02).abs() < 1e-4, "{least}");
    }
}

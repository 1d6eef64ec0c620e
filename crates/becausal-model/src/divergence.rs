//! How far two predictions are apart.

use becausal_nn::Distribution;

use super::probe::TOLERANCE;
use super::target::Target;

/// A prediction, as two of them are compared.
pub(super) enum Predicted {
    /// A number and its deviation, with what is negligible in it.
    Number { mean: f64, deviation: f64 },
    /// How likely the flag is.
    Flag(f64),
    /// How likely each label is.
    Labels(Vec<f64>),
}

impl Predicted {
    /// A prediction from the parameters of its distribution.
    pub fn of(distribution: &Distribution, parameters: &[f32]) -> Self {
        match distribution {
            Distribution::Normal { .. }
            | Distribution::Tailed { .. }
            | Distribution::Cut { .. }
            | Distribution::Rounded { .. }
            | Distribution::Bounded { .. } => {
                let own: f64 = distribution.deviation(parameters).unwrap_or(1.0);
                let deviation = own.hypot(TOLERANCE);
                // Rounding to whole numbers is noise too: uniform within half a step.
                let deviation = match distribution {
                    Distribution::Rounded { half, .. } => deviation.hypot(half / 3.0_f64.sqrt()),
                    _ => deviation,
                };
                let mean = match distribution {
                    // Beyond a bound the number is what the bound is.
                    Distribution::Cut { .. } => distribution.mean(parameters),
                    _ => f64::from(parameters[0]),
                };
                Self::Number { mean, deviation }
            }
            Distribution::Bernoulli => {
                let share = 1.0 / (1.0 + (-f64::from(parameters[0])).exp());
                Self::Flag(share.clamp(1e-6, 1.0 - 1e-6))
            }
            Distribution::Categorical(labels) => {
                let top = parameters.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
                let raw: Vec<f64> =
                    parameters[..*labels].iter().map(|p| f64::from(p - top).exp()).collect();
                let total: f64 = raw.iter().sum();
                Self::Labels(raw.iter().map(|raw| (raw / total).max(1e-6)).collect())
            }
        }
    }

    /// How much less probable a label is in another prediction of the same target; for a flag, how much less probable it is.
    /// Nothing for numbers.
    pub fn loses_to(&self, other: &Self, label: usize) -> f64 {
        match (self, other) {
            (Self::Flag(p), Self::Flag(q)) => p - q,
            (Self::Labels(here), Self::Labels(there)) => here[label] - there[label],
            _ => 0.0,
        }
    }

    /// The label that is most likely by some predictions together; 0 where there are none.
    pub fn likeliest(predictions: &[Self]) -> usize {
        let Some(Self::Labels(first)) = predictions.first() else { return 0 };
        let total = |label: usize| -> f64 {
            let of = |prediction: &Self| match prediction {
                Self::Labels(shares) => shares[label],
                _ => 0.0,
            };
            predictions.iter().map(of).sum()
        };
        (0..first.len()).max_by(|&a, &b| total(a).total_cmp(&total(b))).unwrap_or(0)
    }

    /// The Kullback-Leibler divergence from another prediction of the same target, in nats.
    pub fn divergence(&self, other: &Self, target: &Target) -> f64 {
        match (self, other) {
            (Self::Number { mean, deviation: a }, Self::Number { mean: there, deviation: b }) => {
                let moved = target.error(*mean, *there);
                (b / a).ln() + (a * a + moved * moved) / (2.0 * b * b) - 0.5
            }
            (Self::Flag(p), Self::Flag(q)) => {
                p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln()
            }
            (Self::Labels(here), Self::Labels(there)) => {
                here.iter().zip(there).map(|(p, q)| p * (p / q).ln()).sum()
            }
            _ => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use becausal_core::schema::Schema;

    use super::*;
    use crate::target::{Scale, layout};

    #[test]
    fn numbers_on_both_sides_of_the_end_of_a_circle_are_near() {
        let number = |mean: f64| Predicted::Number { mean, deviation: 1.0 };
        for (kind, apart) in [("circular\", period = 36", 2.0), ("continuous\"", 34.0)] {
            let text = format!(
                "name = \"Dial\"\n[state]\nx = {{ kind = \"{kind} }}\n[action]\na = {{ kind = \"boolean\" }}\n"
            );
            let schema = Schema::parse(&text).expect("a schema");
            // A turn is 18 on the target's scale.
            let targets = layout(&schema, false, |_, _, _| (Scale { mean: 0.0, scale: 2.0 }, 1.0));
            let divergence = number(-8.5).divergence(&number(8.5), &targets[0]);
            let moved: f64 = apart / 2.0;
            assert!((divergence - moved * moved / 2.0).abs() < 1e-9, "{kind}: {divergence}");
        }
    }

    #[test]
    fn a_label_loses_what_another_one_gains() {
        let flag = |p: f64| Predicted::Flag(p);
        // Two that were on both sides of a half and agree about what follows move in the same direction.
        let moved = [0.45, 0.55].map(|p| flag(p).loses_to(&flag(0.9), 0));
        assert!(moved.iter().all(|moved| *moved < -0.3), "{moved:?}");
        let labels = |p: [f64; 3]| Predicted::Labels(p.to_vec());
        let here = [labels([0.2, 0.7, 0.1]), labels([0.5, 0.4, 0.1])];
        assert_eq!(Predicted::likeliest(&here), 1);
        let lost = here[0].loses_to(&labels([0.5, 0.3, 0.2]), 1);
        assert!((lost - 0.4).abs() < 1e-12, "{lost}");
    }
}

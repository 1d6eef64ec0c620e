//! How far two predictions are apart.

use becausal_nn::Distribution;

use super::probe::TOLERANCE;

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
            | Distribution::Rounded { .. }
            | Distribution::Bounded { .. } => {
                let own: f64 = distribution.deviation(parameters).unwrap_or(1.0);
                let deviation = own.hypot(TOLERANCE);
                // Rounding to whole numbers is noise too: uniform within half a step.
                let deviation = match distribution {
                    Distribution::Rounded { half, .. } => deviation.hypot(half / 3.0_f64.sqrt()),
                    _ => deviation,
                };
                Self::Number { mean: f64::from(parameters[0]), deviation }
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

    /// The Kullback-Leibler divergence from another prediction of the same variable, in nats.
    pub fn divergence(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::Number { mean, deviation: a }, Self::Number { mean: there, deviation: b }) => {
                let moved = mean - there;
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

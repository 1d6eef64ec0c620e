//! The actions of an agent as probability distributions.

use becausal_core::Stream;
use becausal_core::env::EnvironmentError;
use becausal_core::schema::{Kind, Schema};
use becausal_nn::{Distribution, Head};

/// The smallest standard deviation of a continuous action, before the tanh that maps it to -1 to 1.
/// It keeps the policy from becoming deterministic.
const MIN_DEVIATION: f64 = 0.02;

/// The most values of an integer action: each value is a category.
const MAX_CATEGORIES: f64 = 256.0;

/// A distribution for every action slot of a schema: categories, flags and numbers in any mix.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionSpace {
    heads: Vec<Head>,
    meanings: Vec<Meaning>,
}

/// How a number drawn from a distribution becomes the value of an action.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meaning {
    /// The number plus this offset.
    Offset(f64),
    /// The number, from -1 to 1, mapped linearly to these bounds.
    Between(f64, f64),
}

impl ActionSpace {
    /// The actions of a schema.
    ///
    /// # Errors
    /// When a continuous or integer action has no bounds, or an integer action too many values.
    pub fn of(schema: &Schema) -> Result<Self, EnvironmentError> {
        let mut space = Self { heads: Vec::new(), meanings: Vec::new() };
        let mut column = 0;
        for slot in schema.action_slots() {
            let refuse = |message: String| {
                Err(EnvironmentError::Action {
                    environment: schema.name().to_owned(),
                    message: format!(
                        "a policy cannot choose `{}`: {message}",
                        schema.slots()[slot].name
                    ),
                })
            };
            let (distribution, meaning) = match &schema.variable_of(slot).kind {
                Kind::Boolean => (Distribution::Bernoulli, Meaning::Offset(0.0)),
                Kind::Categorical(labels) => {
                    (Distribution::Categorical(labels.len()), Meaning::Offset(0.0))
                }
                kind @ (Kind::Continuous(bounds) | Kind::Integer(bounds)) => {
                    let (Some(low), Some(high)) = (bounds.low, bounds.high) else {
                        return refuse(
                            "it has no bounds (set low and high in the schema)".to_owned(),
                        );
                    };
                    if matches!(kind, Kind::Continuous(_)) {
                        (
                            Distribution::Bounded { floor: MIN_DEVIATION },
                            Meaning::Between(low, high),
                        )
                    } else {
                        let (low, high) = (low.ceil(), high.floor());
                        let values = high - low + 1.0;
                        if !(1.0..=MAX_CATEGORIES).contains(&values) {
                            return refuse(format!(
                                "it has {values} values, expected 1 to {MAX_CATEGORIES} (declare \
                                 it continuous)"
                            ));
                        }
                        #[expect(
                            clippy::cast_possible_truncation,
                            clippy::cast_sign_loss,
                            reason = "from 1 to 256"
                        )]
                        (Distribution::Categorical(values as usize), Meaning::Offset(low))
                    }
                }
            };
            space.heads.push(Head { group: 0, column, distribution });
            space.meanings.push(meaning);
            column += distribution.parameters();
        }
        Ok(space)
    }

    /// The distribution of every action slot.
    #[must_use]
    pub fn heads(&self) -> &[Head] {
        &self.heads
    }

    /// The number of network outputs for one action.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.heads.iter().map(|head| head.distribution.parameters()).sum()
    }

    /// Draws an action from the outputs of a network, `[columns]`. Writes the numbers drawn,
    /// `[slots]`, and returns their log-probability.
    pub fn draw(&self, outputs: &[f32], stream: &mut Stream, numbers: &mut [f64]) -> f64 {
        let mut noise = [0.0; 256];
        for (head, number) in self.heads.iter().zip(numbers.iter_mut()) {
            head.distribution.draw(stream, &mut noise);
            let own = &outputs[head.column..][..head.distribution.parameters()];
            *number = head.distribution.value(own, &noise);
        }
        self.log_probability(outputs, numbers)
    }

    /// Writes the most likely numbers, `[slots]`, for the outputs of a network, `[columns]`.
    pub fn mode(&self, outputs: &[f32], numbers: &mut [f64]) {
        for (head, number) in self.heads.iter().zip(numbers) {
            let own = &outputs[head.column..][..head.distribution.parameters()];
            *number = head.distribution.mode(own);
        }
    }

    /// The log-probability (for continuous actions, log-density) of the numbers of an action.
    #[must_use]
    pub fn log_probability(&self, outputs: &[f32], numbers: &[f64]) -> f64 {
        let mut slopes = [0.0; 256];
        let of = |(head, &number): (&Head, &f64)| {
            let own = &outputs[head.column..][..head.distribution.parameters()];
            head.distribution.log_likelihood(own, number, &mut slopes)
        };
        self.heads.iter().zip(numbers).map(of).sum()
    }

    /// Converts the numbers of the distributions to an action, slot by slot.
    pub fn action(&self, numbers: &[f64], action: &mut [f64]) {
        for ((meaning, &number), value) in self.meanings.iter().zip(numbers).zip(action) {
            *value = match *meaning {
                Meaning::Offset(low) => low + number,
                Meaning::Between(low, high) => {
                    (low + 0.5 * (number + 1.0) * (high - low)).clamp(low, high)
                }
            };
        }
    }
}

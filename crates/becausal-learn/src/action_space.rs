//! What an agent can do, as distributions.

use becausal_core::Stream;
use becausal_core::env::EnvironmentError;
use becausal_core::schema::{Kind, Schema};
use becausal_nn::{Distribution, Head};

/// The smallest deviation of a bounded number: a policy never becomes quite certain of one.
const FLOOR: f64 = 0.02;

/// Whole numbers with more values than this cannot be chosen one by one.
const LARGEST_CHOICE: f64 = 256.0;

/// A distribution for every action slot of a schema: categories, flags and numbers in any mix.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionSpace {
    heads: Vec<Head>,
    meanings: Vec<Meaning>,
}

/// What the number that a distribution draws stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meaning {
    /// The value is that much more.
    From(f64),
    /// -1 and 1 are these bounds.
    Between(f64, f64),
}

impl ActionSpace {
    /// The actions of a schema.
    ///
    /// # Errors
    /// When a number has no bounds, or a whole number too many values.
    pub fn of(schema: &Schema) -> Result<Self, EnvironmentError> {
        let mut space = Self { heads: Vec::new(), meanings: Vec::new() };
        let mut column = 0;
        for slot in schema.action_slots() {
            let refuse = |message: &str| {
                Err(EnvironmentError::Action {
                    environment: schema.name().to_owned(),
                    message: format!(
                        "a policy cannot choose `{}`: {message}",
                        schema.slots()[slot].name
                    ),
                })
            };
            let (distribution, meaning) = match &schema.variable_of(slot).kind {
                Kind::Boolean => (Distribution::Bernoulli, Meaning::From(0.0)),
                Kind::Categorical(labels) => {
                    (Distribution::Categorical(labels.len()), Meaning::From(0.0))
                }
                kind @ (Kind::Continuous(bounds) | Kind::Integer(bounds)) => {
                    let (Some(low), Some(high)) = (bounds.low, bounds.high) else {
                        return refuse("it has no bounds (give it low and high in the schema)");
                    };
                    if matches!(kind, Kind::Continuous(_)) {
                        (Distribution::Bounded { floor: FLOOR }, Meaning::Between(low, high))
                    } else {
                        let (low, high) = (low.ceil(), high.floor());
                        let values = high - low + 1.0;
                        if !(1.0..=LARGEST_CHOICE).contains(&values) {
                            return refuse("it has too many values (declare it continuous)");
                        }
                        #[expect(
                            clippy::cast_possible_truncation,
                            clippy::cast_sign_loss,
                            reason = "from 1 to 256"
                        )]
                        (Distribution::Categorical(values as usize), Meaning::From(low))
                    }
                }
            };
            space.heads.push(Head { group: 0, column, distribution });
            space.meanings.push(meaning);
            column += distribution.parameters();
        }
        Ok(space)
    }

    /// A distribution for every action slot.
    #[must_use]
    pub fn heads(&self) -> &[Head] {
        &self.heads
    }

    /// How many numbers a network says about an action.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.heads.iter().map(|head| head.distribution.parameters()).sum()
    }

    /// Draws an action from what a network says, `[columns]`: writes the numbers of the
    /// distributions, `[slots]`, and gives their log-probability.
    pub fn draw(&self, said: &[f32], stream: &mut Stream, numbers: &mut [f64]) -> f64 {
        let mut noise = [0.0; 256];
        for (head, number) in self.heads.iter().zip(numbers.iter_mut()) {
            head.distribution.draw(stream, &mut noise);
            let said = &said[head.column..][..head.distribution.parameters()];
            *number = head.distribution.value(said, &noise);
        }
        self.log_probability(said, numbers)
    }

    /// The most likely numbers.
    pub fn mode(&self, said: &[f32], numbers: &mut [f64]) {
        for (head, number) in self.heads.iter().zip(numbers) {
            let said = &said[head.column..][..head.distribution.parameters()];
            *number = head.distribution.mode(said);
        }
    }

    /// ln of the probability (density) of the numbers of an action.
    #[must_use]
    pub fn log_probability(&self, said: &[f32], numbers: &[f64]) -> f64 {
        let mut slopes = [0.0; 256];
        let of = |(head, &number): (&Head, &f64)| {
            let said = &said[head.column..][..head.distribution.parameters()];
            head.distribution.log_likelihood(said, number, &mut slopes)
        };
        self.heads.iter().zip(numbers).map(of).sum()
    }

    /// The action that the numbers of the distributions stand for, slot by slot.
    pub fn action(&self, numbers: &[f64], action: &mut [f64]) {
        for ((meaning, &number), value) in self.meanings.iter().zip(numbers).zip(action) {
            *value = match *meaning {
                Meaning::From(low) => low + number,
                Meaning::Between(low, high) => {
                    (low + 0.5 * (number + 1.0) * (high - low)).clamp(low, high)
                }
            };
        }
    }
}

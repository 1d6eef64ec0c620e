//! The actions of an agent as probability distributions.

use becausal_core::Stream;
use becausal_core::env::EnvironmentError;
use becausal_core::schema::{Kind, Schema};
use becausal_nn::{Distribution, Head};

/// The smallest standard deviation of a continuous action, before the tanh that maps it to -1 to 1.
/// It keeps the policy from becoming deterministic, and the divergence of a small change of the mean finite: with 0.02
/// single steps of the optimiser had divergences of hundreds.
const MIN_DEVIATION: f64 = 0.1;

/// The most values of an integer action: each value is a category.
const MAX_CATEGORIES: f64 = 256.0;

/// Actions of up to this many categories need no memory from the heap for a draw.
const STACK_CATEGORIES: usize = 256;

/// Room for the numbers of the widest distribution.
fn buffer<'a, T: Clone + Default>(
    size: usize,
    few: &'a mut [T; STACK_CATEGORIES],
    many: &'a mut Vec<T>,
) -> &'a mut [T] {
    if size <= STACK_CATEGORIES {
        return few;
    }
    many.resize(size, T::default());
    many
}

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
                Kind::Circular(circle) => (
                    Distribution::Bounded { floor: MIN_DEVIATION },
                    Meaning::Between(circle.low, circle.low + circle.period),
                ),
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

    /// The number of network outputs of the widest action slot.
    fn widest(&self) -> usize {
        self.heads.iter().map(|head| head.distribution.parameters()).max().unwrap_or(0)
    }

    /// The number of network outputs for one action.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.heads.iter().map(|head| head.distribution.parameters()).sum()
    }

    /// Draws an action from the outputs of a network, `[columns]`. Writes the numbers drawn,
    /// `[slots]`, and returns their log-probability.
    pub fn draw(&self, outputs: &[f32], stream: &mut Stream, numbers: &mut [f64]) -> f64 {
        let mut few = [0.0; STACK_CATEGORIES];
        let mut many = Vec::new();
        let noise = buffer(self.widest(), &mut few, &mut many);
        for (head, number) in self.heads.iter().zip(numbers.iter_mut()) {
            head.distribution.draw(stream, noise);
            let own = &outputs[head.column..][..head.distribution.parameters()];
            *number = head.distribution.value(own, noise);
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
        let mut few = [0.0; STACK_CATEGORIES];
        let mut many = Vec::new();
        let slopes = buffer(self.widest(), &mut few, &mut many);
        let of = |(head, &number): (&Head, &f64)| {
            let own = &outputs[head.column..][..head.distribution.parameters()];
            head.distribution.log_likelihood(own, number, slopes)
        };
        self.heads.iter().zip(numbers).map(of).sum()
    }

    /// The probability of an action given the outputs of a network, `[columns]`; `None` where a slot is a
    /// continuous number, which has a density instead.
    #[must_use]
    pub fn probability(&self, outputs: &[f32], action: &[f64]) -> Option<f64> {
        let numbers: Option<Vec<f64>> = self
            .meanings
            .iter()
            .zip(action)
            .map(|(meaning, value)| match *meaning {
                Meaning::Offset(low) => Some(value - low),
                Meaning::Between(..) => None,
            })
            .collect();
        Some(self.log_probability(outputs, &numbers?).exp())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_of_a_thousand_labels_is_drawn() {
        let labels: Vec<String> = (0..1000).map(|label| format!("\"l{label}\"")).collect();
        let text = format!(
            "name = \"Many\"\n[state]\nx = {{ kind = \"continuous\" }}\n[action]\n\
             a = {{ kind = \"categorical\", labels = [{}] }}\n",
            labels.join(", ")
        );
        let schema = Schema::parse(&text).expect("a schema");
        let space = ActionSpace::of(&schema).expect("its actions");
        let mut outputs = vec![0.0_f32; space.columns()];
        outputs[777] = 30.0;
        let mut numbers = [0.0];
        let probability = space.draw(&outputs, &mut Stream::new(1), &mut numbers);
        assert_eq!(numbers, [777.0]);
        assert!(probability > -1e-3, "{probability}");
    }
}

//! What an agent sees: a state as standardised numbers.

use becausal_core::schema::{Circle, Kind, Role, Schema};
use becausal_nn::{Block, Shape};

/// Observations are clipped to this many standard deviations from the mean.
const CLIP_DEVIATIONS: f64 = 10.0;

/// The running count, mean and sum of squared differences of some numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Running {
    /// The count of the numbers.
    pub count: f64,
    /// Their mean.
    pub mean: f64,
    /// The sum of their squared differences from the mean.
    pub squares: f64,
}

impl Running {
    /// Adds a number (Welford's algorithm).
    pub fn add(&mut self, number: f64) {
        self.count += 1.0;
        let difference = number - self.mean;
        self.mean += difference / self.count;
        self.squares += difference * (number - self.mean);
    }

    /// The standard deviation; 1 if there is none yet or the numbers are constant.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let deviation = (self.squares / self.count.max(1.0)).sqrt();
        if deviation > 1e-8 { deviation } else { 1.0 }
    }
}

/// Encodes states as inputs of a policy's networks. Numbers are standardised by their running mean and
/// standard deviation, booleans stay as they are, categories are one-hot encoded.
///
/// The scale only changes when [`watch`](Self::watch) is called, between two updates.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    slots: Vec<Encoding>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Encoding {
    Number(Running),
    /// Its sine and its cosine.
    Turn(Circle),
    Flag,
    OneHot(usize),
}

impl Observation {
    /// For the states of a schema, not scaled yet.
    #[must_use]
    pub fn of(schema: &Schema) -> Self {
        let encoding = |kind: &Kind| match kind {
            Kind::Continuous(_) | Kind::Integer(_) => Encoding::Number(Running::default()),
            Kind::Circular(circle) => Encoding::Turn(*circle),
            Kind::Boolean => Encoding::Flag,
            Kind::Categorical(labels) => Encoding::OneHot(labels.len()),
        };
        let variables = schema.of_role(Role::State);
        let slots = variables.flat_map(|v| std::iter::repeat_n(encoding(&v.kind), v.elements()));
        Self { slots: slots.collect() }
    }

    /// The number of inputs that a state becomes.
    #[must_use]
    pub fn features(&self) -> usize {
        let inputs = |encoding: &Encoding| match encoding {
            Encoding::OneHot(labels) => *labels,
            Encoding::Turn(_) => 2,
            _ => 1,
        };
        self.slots.iter().map(inputs).sum()
    }

    /// Updates the scale by some states `[rows, state slots]`.
    pub fn watch(&mut self, states: &[f64]) {
        for state in states.chunks_exact(self.slots.len()) {
            for (encoding, &value) in self.slots.iter_mut().zip(state) {
                if let Encoding::Number(running) = encoding {
                    running.add(value);
                }
            }
        }
    }

    /// Encodes states `[rows, state slots]` as inputs `[1, rows, features]`.
    #[must_use]
    pub fn encode(&self, states: &[f64]) -> Block {
        let rows = states.len() / self.slots.len();
        let scales: Vec<(f64, f64)> = self
            .slots
            .iter()
            .map(|encoding| match encoding {
                Encoding::Number(running) => (running.mean, 1.0 / running.deviation()),
                _ => (0.0, 1.0),
            })
            .collect();
        let mut values = Vec::with_capacity(rows * self.features());
        for state in states.chunks_exact(self.slots.len()) {
            for ((encoding, &value), (mean, factor)) in self.slots.iter().zip(state).zip(&scales) {
                #[expect(clippy::cast_possible_truncation, reason = "single precision")]
                let number =
                    ((value - mean) * factor).clamp(-CLIP_DEVIATIONS, CLIP_DEVIATIONS) as f32;
                match encoding {
                    Encoding::OneHot(labels) => values.extend(
                        (0..*labels).map(|label| if value == label as f64 { 1.0 } else { 0.0 }),
                    ),
                    Encoding::Turn(circle) => {
                        let angle = circle.angle(value, 0.0);
                        #[expect(clippy::cast_possible_truncation, reason = "single precision")]
                        values.extend([angle.sin() as f32, angle.cos() as f32]);
                    }
                    _ => values.push(number),
                }
            }
        }
        Block::new(Shape::new(1, rows, self.features()), values)
    }

    /// The running scales of the numbers, slot by slot.
    #[must_use]
    pub fn scales(&self) -> Vec<Running> {
        let of = |encoding: &Encoding| match encoding {
            Encoding::Number(running) => *running,
            _ => Running::default(),
        };
        self.slots.iter().map(of).collect()
    }

    /// Restores saved scales; false if their number is not that of the slots.
    #[must_use]
    pub fn restore(&mut self, scales: &[Running]) -> bool {
        for (encoding, saved) in self.slots.iter_mut().zip(scales) {
            if let Encoding::Number(running) = encoding {
                *running = *saved;
            }
        }
        scales.len() == self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_standardised_and_labels_one_hot_encoded() {
        let schema = Schema::parse(
            "name = \"T\"\n[state]\nx = { kind = \"continuous\" }\nb = { kind = \"boolean\" }\n\
             c = { kind = \"categorical\", labels = [\"p\", \"q\", \"r\"] }\n\
             [action]\na = { kind = \"boolean\" }\n[reward]\nr = \"x'\"\n",
        )
        .expect("a schema");
        let mut observation = Observation::of(&schema);
        assert_eq!(observation.features(), 5);
        observation.watch(&[1.0, 0.0, 0.0, 3.0, 1.0, 2.0]);
        let encoded = observation.encode(&[3.0, 1.0, 2.0]);
        assert_eq!(encoded.values, [1.0, 1.0, 0.0, 0.0, 1.0]);
    }
}

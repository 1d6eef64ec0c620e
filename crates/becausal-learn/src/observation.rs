//! What an agent sees: a state as numbers of a common scale.

use becausal_core::schema::{Kind, Role, Schema};
use becausal_nn::{Block, Shape};

/// Scaled numbers beyond this are cut off.
const FARTHEST: f64 = 10.0;

/// Count, mean and sum of squared differences from it, of numbers that come in portions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Running {
    /// How many numbers there were.
    pub count: f64,
    /// Their mean.
    pub mean: f64,
    /// The sum of their squared differences from the mean.
    pub squares: f64,
}

impl Running {
    /// One number more (Welford).
    pub fn add(&mut self, number: f64) {
        self.count += 1.0;
        let off = number - self.mean;
        self.mean += off / self.count;
        self.squares += off * (number - self.mean);
    }

    /// The standard deviation; 1 where there is none yet.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let deviation = (self.squares / self.count.max(1.0)).sqrt();
        if deviation > 1e-8 { deviation } else { 1.0 }
    }
}

/// From states to the inputs of a policy's networks: numbers standardised by a running mean and
/// deviation, flags as they are, a column for each label of a category.
///
/// The scale only moves when [`watch`](Self::watch) is called, between two updates.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    slots: Vec<Seen>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Seen {
    Number(Running),
    Flag,
    Label(usize),
}

impl Observation {
    /// Of the states of a schema, unscaled yet.
    #[must_use]
    pub fn of(schema: &Schema) -> Self {
        let seen = |kind: &Kind| match kind {
            Kind::Continuous(_) | Kind::Integer(_) => Seen::Number(Running::default()),
            Kind::Boolean => Seen::Flag,
            Kind::Categorical(labels) => Seen::Label(labels.len()),
        };
        let variables = schema.of_role(Role::State);
        let slots = variables.flat_map(|v| std::iter::repeat_n(seen(&v.kind), v.elements()));
        Self { slots: slots.collect() }
    }

    /// How many numbers a state becomes.
    #[must_use]
    pub fn features(&self) -> usize {
        self.slots.iter().map(|seen| if let Seen::Label(labels) = seen { *labels } else { 1 }).sum()
    }

    /// Takes some states `[rows, state slots]` into the scale.
    pub fn watch(&mut self, states: &[f64]) {
        for state in states.chunks_exact(self.slots.len()) {
            for (seen, &value) in self.slots.iter_mut().zip(state) {
                if let Seen::Number(running) = seen {
                    running.add(value);
                }
            }
        }
    }

    /// `[rows, state slots]` to `[1, rows, features]`.
    #[must_use]
    pub fn encode(&self, states: &[f64]) -> Block {
        let rows = states.len() / self.slots.len();
        let scales: Vec<(f64, f64)> = self
            .slots
            .iter()
            .map(|seen| match seen {
                Seen::Number(running) => (running.mean, 1.0 / running.deviation()),
                _ => (0.0, 1.0),
            })
            .collect();
        let mut values = Vec::with_capacity(rows * self.features());
        for state in states.chunks_exact(self.slots.len()) {
            for ((seen, &value), (mean, factor)) in self.slots.iter().zip(state).zip(&scales) {
                #[expect(clippy::cast_possible_truncation, reason = "single precision")]
                let number = ((value - mean) * factor).clamp(-FARTHEST, FARTHEST) as f32;
                match seen {
                    Seen::Label(labels) => values.extend(
                        (0..*labels).map(|label| if value == label as f64 { 1.0 } else { 0.0 }),
                    ),
                    _ => values.push(number),
                }
            }
        }
        Block::new(Shape::new(1, rows, self.features()), values)
    }

    /// The running scales of the numbers, slot by slot.
    #[must_use]
    pub fn scales(&self) -> Vec<Running> {
        let of = |seen: &Seen| match seen {
            Seen::Number(running) => *running,
            _ => Running::default(),
        };
        self.slots.iter().map(of).collect()
    }

    /// Takes up kept scales; false when there are not as many as slots.
    #[must_use]
    pub fn restore(&mut self, scales: &[Running]) -> bool {
        for (seen, kept) in self.slots.iter_mut().zip(scales) {
            if let Seen::Number(running) = seen {
                *running = *kept;
            }
        }
        scales.len() == self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_standardised_and_labels_have_columns() {
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

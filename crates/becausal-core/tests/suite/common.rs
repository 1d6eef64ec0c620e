//! Transitions with every kind of variable, shared by several tests.

use std::sync::Arc;

use becausal_core::data::Row;
use becausal_core::schema::Kind;
use becausal_core::{Schema, Stream, Transitions};

/// The extensions of the file formats.
pub const ENDINGS: [&str; 3] = ["csv", "parquet", "npz"];

/// A schema with every kind, scalar and vector, and labels that are hard to store.
pub fn mixed_schema() -> Arc<Schema> {
    let text = r#"
        name = "Mixed"
        [state]
        x = { kind = "continuous" }
        wind = { kind = "continuous", size = 3 }
        count = { kind = "integer" }
        legs = { kind = "boolean", size = 2 }
        mode = { kind = "categorical", labels = ["7", "3", "-1"] }
        cells = { kind = "categorical", labels = ["a, b", "grün", "c'"], size = 2 }
        [action]
        engine = { kind = "categorical", labels = ["none", "left", "main"] }
        thrust = { kind = "continuous", low = -1.0, high = 1.0 }
        [outcome]
        crash = { kind = "boolean" }
        fuel = { kind = "continuous" }
        [reward]
        total = "x' - x + fuel + if(legs[0] && engine == main, 10, wind'[2])"
    "#;
    Arc::new(Schema::parse(text).unwrap_or_else(|error| panic!("{error}")))
}

/// Random transitions in episodes of `length` rows.
pub fn mixed(rows: usize, length: usize, seed: u64) -> Transitions {
    // Doubles that files easily lose.
    const SPECIAL: [f64; 6] = [0.1, -0.0, 5e-324, 1.797e308, -1e-300, 123_456_789.123_456_79];
    let schema = mixed_schema();
    let mut stream = Stream::new(seed);
    let mut transitions = Transitions::new(Arc::clone(&schema));
    let mut draw = |slots: std::ops::Range<usize>| -> Vec<f64> {
        slots
            .map(|slot| match &schema.variable_of(slot).kind {
                Kind::Boolean => stream.below(2) as f64,
                Kind::Categorical(labels) => stream.below(labels.len()) as f64,
                Kind::Integer(_) => stream.below(1000) as f64 - 500.0,
                Kind::Continuous(bounds) if bounds.low.is_some() => stream.uniform(-1.0, 1.0),
                Kind::Continuous(_) if stream.below(10) == 0 && slot > 0 => {
                    SPECIAL[stream.below(SPECIAL.len())]
                }
                Kind::Continuous(_) => stream.normal(),
            })
            .collect()
    };
    for row in 0..rows {
        if row % length == 0 {
            transitions.begin_episode();
        }
        let last = (row + 1) % length == 0 || row + 1 == rows;
        transitions.push(&Row {
            state: &draw(schema.state_slots()),
            action: &draw(schema.action_slots()),
            outcomes: &draw(schema.outcome_slots()),
            next: &draw(schema.next_slots()),
            reward: row as f64 / 3.0,
            terminated: last && row % 2 == 0,
            truncated: last && row % 2 == 1,
        });
    }
    transitions
}

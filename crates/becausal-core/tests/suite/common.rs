//! Transitions with every kind of variable, and logs written by hand, shared by several tests.

use std::sync::Arc;

use becausal_core::data::{Missing, ReadOptions, Recording, Row, read};
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
        heading = { kind = "circular", period = 360.0 }
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
                Kind::Circular(_) => stream.uniform(-500.0, 500.0),
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

/// A schema of a few variables, for logs written by hand.
pub const HOVER: &str = r#"name = "Hover"
[state]
height = { kind = "continuous" }
on = { kind = "boolean" }
[action]
engine = { kind = "categorical", labels = ["off", "up"] }
[reward]
"height" = "height' - height"
[termination]
when = "height' >= 100"
"#;

/// Reads a log of this schema; the error is without the path.
pub fn hover(text: &str) -> Result<Recording, String> {
    hover_with(text, Missing::Refuse)
}

/// The same, with a choice for empty cells.
pub fn hover_with(text: &str, missing: Missing) -> Result<Recording, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.csv");
    std::fs::write(&path, text).expect("written");
    let schema = Some(Arc::new(Schema::parse(HOVER).expect("a valid schema")));
    let shorten = |text: String| text.replace(&format!("{}: ", path.display()), "");
    read(&path, &ReadOptions { schema, missing, ..ReadOptions::default() })
        .map_err(|error| shorten(error.to_string()))
}

/// The numbers of a column.
pub fn numbers(transitions: &Transitions, name: &str) -> Vec<f64> {
    let slots = transitions.schema().slots();
    let slot = slots.iter().position(|slot| slot.name == name).expect(name);
    transitions.column(slot).to_numbers()
}

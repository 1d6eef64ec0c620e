//! Expressions: reward terms and terminations over the variables of a schema.

#![no_main]

use std::fmt::Write;

use becausal::Schema;
use becausal::schema::Expression;
use becausal_fuzz::{bounded, text};
use libfuzzer_sys::fuzz_target;

/// Few variables: most of the time goes into reading them.
const VARIABLES: &str = r#"name = "e"
[state]
x = { kind = "continuous" }
on = { kind = "boolean" }
mode = { kind = "categorical", labels = ["up", "down"] }
legs = { kind = "integer", size = 2 }
[action]
push = { kind = "categorical", labels = ["-1", "1"] }
"#;

/// Transitions: x, on, mode, legs, push, x', on', mode', legs'.
const ROWS: [[f64; 11]; 2] = [
    [0.5, 1.0, 1.0, 3.0, -1.0, 1.0, -7.5, 0.0, 0.0, 2.0, 1e9],
    [-1e300, 0.0, 0.0, 0.0, 1.0, 0.0, -0.0, 1.0, 1.0, -9e15, 1.0],
];

fuzz_target!(|input: &[u8]| {
    let source = text(input);
    bounded(64 << 20, || {
        let quoted = quoted(source);
        if let Ok(schema) = Schema::parse(&format!("{VARIABLES}[reward]\nterm = {quoted}\n")) {
            return check(&schema, &schema.rewards()[0].expression, source);
        }
        if let Ok(schema) = Schema::parse(&format!("{VARIABLES}[termination]\nwhen = {quoted}\n")) {
            let when = schema.termination().expect("a termination");
            check(&schema, when, source);
            assert!(ROWS.iter().all(|row| [0.0, 1.0].contains(&when.value(row))));
        }
    });
});

/// Nothing but its parents changes the value of an expression.
fn check(schema: &Schema, expression: &Expression, source: &str) {
    assert_eq!(expression.source(), source);
    for row in &ROWS {
        let mut other = ROWS[0];
        for (slot, value) in other.iter_mut().enumerate() {
            let place = &schema.slots()[slot];
            let read = |parent: &becausal::schema::Parent| {
                (parent.variable, parent.next) == (place.variable, place.next)
            };
            if expression.parents().iter().any(read) {
                *value = row[slot];
            }
        }
        let (value, again) = (expression.value(row), expression.value(&other));
        assert!(value == again || (value.is_nan() && again.is_nan()), "{value} {again}");
    }
}

/// A text as a string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

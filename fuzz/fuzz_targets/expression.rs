//! Expressions: reward terms and terminations over the variables of a schema.

#![no_main]

use std::fmt::Write;

use becausal::Schema;
use becausal::schema::Expression;
use becausal_fuzz::fixtures::EVERY_KIND;
use becausal_fuzz::{bounded, text};
use libfuzzer_sys::fuzz_target;

/// Two transitions of the schema with every kind of variable.
const ROWS: [[f64; 18]; 2] = [
    [0.5, 0.25, 3.0, 1.0, 2.0, 0.0, 1.0, 1.0, 0.5, -1.0, 7.5, -3.0, 0.0, 4.0, 0.0, 1.0, 1.0, 0.0],
    [-1e9, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 0.0, 1.0, -0.0, 1e300, 1.0, 9.0, 1.0, 2.0, 0.0, 0.0],
];

fuzz_target!(|input: &[u8]| {
    let source = text(input);
    bounded(64 << 20, || {
        let (variables, _) = EVERY_KIND.split_once("[reward]").expect("variables first");
        let quoted = quoted(source);
        let number = Schema::parse(&format!("{variables}[reward]\nterm = {quoted}\n"));
        let flag = Schema::parse(&format!("{variables}[termination]\nwhen = {quoted}\n"));
        if let Ok(schema) = number {
            check(&schema, &schema.rewards()[0].expression, source);
        }
        if let Ok(schema) = flag {
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

//! Schemas: TOML with expressions in it.

#![no_main]

use becausal::Schema;
use becausal_fuzz::{bounded, text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = text(input);
    bounded(64 << 20, || match Schema::parse(text) {
        Ok(schema) => {
            let written = schema.to_toml();
            assert_eq!(Schema::parse(&written).as_ref(), Ok(&schema), "{written}");
        }
        Err(error) => {
            assert!(!error.mistakes.is_empty());
            for mistake in &error.mistakes {
                assert!(text.get(mistake.span.clone()).is_some(), "{mistake:?}");
            }
        }
    });
});

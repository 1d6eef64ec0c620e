//! Configurations: the `config.toml` of a run, settings of a training, and where a log comes from.

#![no_main]

use becausal::Record;
use becausal::data::Origin;
use becausal::learn::Settings;
use becausal_fuzz::{bounded, text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = text(input);
    bounded(64 << 20, || {
        match Record::parse(text) {
            Ok(record) => {
                let written = record.to_toml();
                assert_eq!(Record::parse(&written).as_ref(), Ok(&record), "{written}");
            }
            Err(error) => assert!(!error.is_empty()),
        }
        let mut settings = Settings::default();
        match settings.change(text, "input") {
            Ok(()) => {
                let mut again = Settings::default();
                again.change(&settings.to_toml(), "again").expect("its own text");
                assert_eq!(again, settings);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        if let Some(origin) = Origin::parse(text) {
            assert_eq!(Origin::parse(&origin.to_toml()), Some(origin));
        }
    });
});

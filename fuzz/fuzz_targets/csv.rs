//! Logs in CSV files.

#![no_main]

use std::sync::LazyLock;

use becausal::data::{ReadOptions, read};
use becausal_fuzz::fixtures::{assert_survives, every_kind, greenhouse};
use becausal_fuzz::{InputFile, bounded};
use libfuzzer_sys::fuzz_target;

static FILE: LazyLock<InputFile> = LazyLock::new(|| InputFile::new("input.csv"));
static AGAIN: LazyLock<InputFile> = LazyLock::new(|| InputFile::new("again.csv"));
/// Of a log with every kind of variable, and of the greenhouse, which has times first.
static OPTIONS: LazyLock<[ReadOptions; 2]> = LazyLock::new(|| {
    let ignore = vec!["timestamp".to_owned()];
    [
        ReadOptions { schema: Some(every_kind()), ..ReadOptions::default() },
        ReadOptions { schema: Some(greenhouse()), ignore, ..ReadOptions::default() },
    ]
});

fuzz_target!(|input: &[u8]| {
    let path = FILE.put(input);
    let options = &OPTIONS[usize::from(input.starts_with(b"timestamp"))];
    match bounded((16 << 20) + 1000 * input.len(), || read(path, options)) {
        // Writing makes several files: one in sixteen is enough.
        Ok(recording) if input.len() % 16 == 0 => assert_survives(&recording.transitions, &AGAIN),
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

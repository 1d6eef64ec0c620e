//! Logs in Parquet files, with the schema in the file.

#![no_main]

use std::sync::LazyLock;

use becausal::data::{Problem, ReadOptions, read};
use becausal_fuzz::fixtures::{assert_survives, every_kind};
use becausal_fuzz::{InputFile, allow_panics_of_the_parquet_decoder, bounded};
use libfuzzer_sys::fuzz_target;

static FILE: LazyLock<InputFile> = LazyLock::new(|| InputFile::new("input.parquet"));
static AGAIN: LazyLock<InputFile> = LazyLock::new(|| InputFile::new("again.parquet"));
static GIVEN: LazyLock<ReadOptions> =
    LazyLock::new(|| ReadOptions { schema: Some(every_kind()), ..ReadOptions::default() });

fuzz_target!(|input: &[u8]| {
    allow_panics_of_the_parquet_decoder();
    let path = FILE.put(input);
    let recording = bounded(256 << 20, || {
        let own = read(path, &ReadOptions::default());
        match &own {
            Err(error) if matches!(error.problem, Problem::NoSchema { .. }) => read(path, &GIVEN),
            _ => own,
        }
    });
    match recording {
        // Writing makes several files: one in sixteen is enough.
        Ok(recording) if input.len() % 16 == 0 => assert_survives(&recording.transitions, &AGAIN),
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

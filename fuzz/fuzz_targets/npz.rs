//! Logs in NPZ files: ZIP archives of NumPy arrays.

#![no_main]

use std::sync::LazyLock;

use becausal::data::{ReadOptions, read};
use becausal_fuzz::fixtures::{assert_survives, every_kind};
use becausal_fuzz::{InputFile, bounded};
use libfuzzer_sys::fuzz_target;

static FILE: LazyLock<InputFile> = LazyLock::new(|| InputFile::new("input.npz"));
static AGAIN: LazyLock<InputFile> = LazyLock::new(|| InputFile::new("again.npz"));
static OPTIONS: LazyLock<ReadOptions> =
    LazyLock::new(|| ReadOptions { schema: Some(every_kind()), ..ReadOptions::default() });

/// How much memory a byte of input may need: deflate makes at most 1032 bytes of one, each of which
/// may be a number of 8 bytes in two columns that grow by doubling.
const BYTES_PER_BYTE: usize = 1032 * 8 * 2 * 2;

fuzz_target!(|input: &[u8]| {
    let path = FILE.put(input);
    let limit = (16 << 20) + BYTES_PER_BYTE * input.len();
    match bounded(limit, || read(path, &OPTIONS)) {
        // Writing makes several files: one in sixteen is enough.
        Ok(recording) if input.len() % 16 == 0 => assert_survives(&recording.transitions, &AGAIN),
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

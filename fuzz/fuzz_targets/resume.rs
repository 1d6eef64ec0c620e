//! The name of the last checkpoint of a training: `checkpoint.json`. The run around it is that in
//! `fixtures`.

#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use becausal::MemoryLimit;
use becausal::run::{Saved, TrainingRun};
use becausal_fuzz::{InputFile, bounded, fixtures};
use libfuzzer_sys::fuzz_target;

static RUN: LazyLock<PathBuf> = LazyLock::new(|| {
    let run = fixtures::run();
    assert!(TrainingRun::resume(&run, None, MemoryLimit::default()).is_ok(), "run `scripts/fuzz.sh seeds` again");
    run
});
static FILE: LazyLock<InputFile> = LazyLock::new(|| InputFile::at(&RUN.join("checkpoint.json")));

fuzz_target!(|input: &[u8]| {
    FILE.put(input);
    let _ = Saved::read(&RUN);
    if let Err(error) = bounded(64 << 20, || TrainingRun::resume(&RUN, None, MemoryLimit::default())) {
        assert!(!error.to_string().is_empty());
    }
});

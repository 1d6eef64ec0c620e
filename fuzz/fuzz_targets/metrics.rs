//! The curves of a training: `metrics.csv`.

#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use becausal::run::Metrics;
use becausal_fuzz::{InputFile, bounded, scratch};
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(scratch);
static FILE: LazyLock<InputFile> = LazyLock::new(|| InputFile::new("metrics.csv"));

fuzz_target!(|input: &[u8]| {
    FILE.put(input);
    match bounded((1 << 20) + 1000 * input.len(), || Metrics::read(&FOLDER)) {
        Ok(metrics) => {
            let metrics = metrics.expect("there is a file");
            assert!(metrics.curve("eval/mean_reward").len() <= metrics.epochs());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

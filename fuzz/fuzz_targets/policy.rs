//! The manifest of a policy. The weights beside it are those of the run in `fixtures`.

#![no_main]

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use becausal::learn::ActorCritic;
use becausal::{Policy, Schema};
use becausal_fuzz::fixtures::{cart_pole, checkpoint, run};
use becausal_fuzz::{InputFile, bounded};
use libfuzzer_sys::fuzz_target;

static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(cart_pole);
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = checkpoint(&run()).join("agent");
    ActorCritic::load(&folder, &SCHEMA).expect("run `scripts/fuzz.sh seeds` again");
    folder
});
static FILE: LazyLock<InputFile> = LazyLock::new(|| InputFile::at(&FOLDER.join("manifest.json")));

fuzz_target!(|input: &[u8]| {
    FILE.put(input);
    match bounded(64 << 20, || ActorCritic::load(&FOLDER, &SCHEMA)) {
        Ok(agent) => assert_eq!(agent.mode(&[0.0; 4]).len(), 1),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

//! The manifest of a world model. The weights beside it are those of the run in `fixtures`.

#![no_main]

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use becausal::Schema;
use becausal::model::{Dynamics, Noise, WorldModel};
use becausal_fuzz::fixtures::{cart_pole, checkpoint, run};
use becausal_fuzz::{InputFile, bounded};
use libfuzzer_sys::fuzz_target;

static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(cart_pole);
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = checkpoint(&run()).join("world-model");
    WorldModel::load(&folder, &SCHEMA).expect("run `scripts/fuzz.sh seeds` again");
    folder
});
static FILE: LazyLock<InputFile> = LazyLock::new(|| InputFile::at(&FOLDER.join("manifest.json")));

fuzz_target!(|input: &[u8]| {
    FILE.put(input);
    match bounded(64 << 20, || WorldModel::load(&FOLDER, &SCHEMA)) {
        Ok(model) => {
            let step = model.step(&[0.0; 4], &[1.0], &Noise::most_likely());
            assert_eq!(step.next.len(), 4);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

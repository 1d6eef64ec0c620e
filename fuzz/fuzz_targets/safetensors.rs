//! Weights: safetensors files, alone and as the weights of a world model.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use becausal::Schema;
use becausal::model::{Dynamics, Noise, WorldModel, fingerprint};
use becausal_fuzz::fixtures::{cart_pole, checkpoint, run};
use becausal_fuzz::{InputFile, bounded};
use becausal_nn::{from_safetensors, to_safetensors};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

struct Model {
    folder: PathBuf,
    manifest: Value,
    manifest_file: InputFile,
    weights_file: InputFile,
    schema: Arc<Schema>,
}

static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let folder = checkpoint(&run()).join("world-model");
    let path = folder.join("manifest.json");
    let text = fs::read(&path).expect("run `scripts/fuzz.sh seeds` first");
    let mut manifest: Value = serde_json::from_slice(&text).expect("a manifest");
    manifest["weights"] = "input.safetensors".into();
    // A checksum of the other fields and the weights, where there is one.
    manifest.as_object_mut().expect("an object").remove("fields_checksum");
    Model {
        manifest,
        manifest_file: InputFile::at(&path),
        weights_file: InputFile::at(&folder.join("input.safetensors")),
        folder,
        schema: cart_pole(),
    }
});

fuzz_target!(|input: &[u8]| {
    let blocks = bounded((1 << 20) + 1000 * input.len(), || from_safetensors(input));
    let Ok(blocks) = blocks else { return };
    let written = to_safetensors(blocks.iter().map(|(name, block)| (name.clone(), block)));
    let again = from_safetensors(&written).expect("its own file");
    assert_eq!(again.len(), blocks.len());
    for ((name, block), (known, as_read)) in again.iter().zip(&blocks) {
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<u32>>();
        assert_eq!((name, block.shape), (known, as_read.shape));
        assert_eq!(bits(&block.values), bits(&as_read.values));
    }
    let model = &*MODEL;
    let mut manifest = model.manifest.clone();
    manifest["checksum"] = fingerprint(input).into();
    model.manifest_file.put(manifest.to_string().as_bytes());
    model.weights_file.put(input);
    if let Ok(model) = bounded(64 << 20, || WorldModel::load(&model.folder, &model.schema)) {
        let step = model.step(&[0.0; 4], &[1.0], &Noise::most_likely());
        assert_eq!(step.next.len(), 4);
    }
});

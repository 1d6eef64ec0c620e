//! Schemas and folders that the targets read their inputs with.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use becausal::Schema;
use becausal::data::{self, ReadOptions, Transitions};
use becausal::env::find;
use becausal::learn::{Imagination, Settings};

use crate::{InputFile, scratch};

/// A schema with every kind of variable.
pub const EVERY_KIND: &str = include_str!("every-kind.toml");

/// The schema with every kind of variable.
///
/// # Panics
/// When its text is not a schema.
#[must_use]
pub fn every_kind() -> Arc<Schema> {
    Arc::new(Schema::parse(EVERY_KIND).unwrap_or_else(|error| panic!("{error}")))
}

/// The schema of the greenhouse, whose log has no next states.
///
/// # Panics
/// When its text is not a schema.
#[must_use]
pub fn greenhouse() -> Arc<Schema> {
    let text = include_str!("../../examples/greenhouse/schema.toml");
    Arc::new(Schema::parse(text).unwrap_or_else(|error| panic!("{error}")))
}

/// The schema of the run in `fixtures/run`.
///
/// # Panics
/// When there is no such environment.
#[must_use]
pub fn cart_pole() -> Arc<Schema> {
    find("CartPole-v1").unwrap_or_else(|error| panic!("{error}")).schema()
}

/// How the run in `fixtures/run` was trained: a network of two units that is trained for a moment.
#[must_use]
pub fn settings() -> Settings {
    Settings {
        model: Imagination::None,
        steps: 40,
        warm_up: 20,
        epoch_steps: 20,
        samples: 20,
        batch: 20,
        passes: 1,
        rounds: 1,
        copies: 2,
        members: 1,
        model_width: 2,
        policy_widths: vec![2],
        evaluation_episodes: 1,
        ..Settings::default()
    }
}

/// A folder of this crate.
#[must_use]
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A copy of `fixtures/run` in memory: a run of a training, with a checkpoint that has all parts.
///
/// # Panics
/// When it cannot be copied.
#[must_use]
pub fn run() -> PathBuf {
    let copy = scratch().join("run");
    copy_folder(&folder("fixtures/run"), &copy);
    copy
}

/// The checkpoint of a [`run`].
#[must_use]
pub fn checkpoint(run: &Path) -> PathBuf {
    run.join("checkpoints/epoch-000001")
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder in /dev/shm");
    for entry in fs::read_dir(from).expect("run `scripts/fuzz.sh seeds` first") {
        let entry = entry.expect("an entry of a folder");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_folder(&from, &to);
        } else {
            fs::copy(&from, &to).expect("a copy in /dev/shm");
        }
    }
}

/// Checks that transitions that are written into this file read the same.
///
/// # Panics
/// When they do not.
pub fn assert_survives(transitions: &Transitions, file: &InputFile) {
    let path = file.put(b"");
    data::write(path, transitions).unwrap_or_else(|error| panic!("{error}"));
    let schema = Some(Arc::clone(transitions.schema()));
    let again = data::read(path, &ReadOptions { schema, ..ReadOptions::default() });
    let again = again.unwrap_or_else(|error| panic!("{error}")).transitions;
    assert!(again == *transitions, "{again:?}\n{transitions:?}");
}

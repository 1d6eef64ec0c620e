//! Running the program and reading what it says.

#![allow(dead_code, reason = "no test file needs all of it")]

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

/// Runs `becausal-paper` with these arguments in a folder.
pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("becausal-paper").expect("the program");
    command.current_dir(folder).args(arguments).output().expect("it runs")
}

/// What a successful run prints.
pub fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// What a run that fails with `code` says. It never panics and prints no result.
pub fn fails(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = run(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed a result");
    errors
}

/// An empty folder that is deleted with the test.
pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

//! Running the program and reading what it says.

#![allow(dead_code, reason = "no test file needs all of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

/// A schema of two variables.
pub const SCHEMA: &str = r#"name = "Hover"

[state]
height = { kind = "continuous", unit = "m" }

[action]
engine = { kind = "categorical", labels = ["off", "up"] }

[reward]
"rise" = "height' - height"
"#;

/// Runs the program with these arguments in a folder.
pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin(crate::PROGRAM).expect("the program");
    command.current_dir(folder).args(arguments).output().expect("it runs")
}

/// What a successful run prints.
pub fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// What a run that fails with `code` says. It never panics and prints no result.
pub fn refused(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = run(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed a result");
    errors
}

/// An empty folder that goes away with the test.
pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Compares with a file under `tests/golden`; `UPDATE_GOLDEN=1 cargo test` writes it anew.
pub fn assert_golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).expect("written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "differs from {}", path.display());
}

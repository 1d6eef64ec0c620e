//! Comparison with golden files.

use std::fs;
use std::path::PathBuf;

/// Compares with a file under `tests/golden`; `UPDATE_GOLDEN=1 cargo test` rewrites it.
pub fn assert_golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).expect("written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "differs from {}:\n{text}", path.display());
}

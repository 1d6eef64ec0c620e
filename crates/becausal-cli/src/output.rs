//! Where a file is to be written.

use std::path::Path;

use crate::failure::Failure;

/// Says that a file cannot be written before it is worked for, not after.
pub fn refuse_unwritable(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let problem = if path.is_dir() {
        "there is a folder of this name; give the name of a file"
    } else if folder.is_some_and(|folder| !folder.is_dir()) {
        "the folder does not exist; make it first, or give another name"
    } else {
        return Ok(());
    };
    Err(Failure::failed(format!("{}: cannot write: {problem}", path.display())))
}

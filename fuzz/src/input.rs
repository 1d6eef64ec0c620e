//! Inputs for readers that take a path: files in memory.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A folder of this process in `/dev/shm`, which is memory; the script removes those left behind.
///
/// # Panics
/// When the folder cannot be made.
#[must_use]
pub fn scratch() -> PathBuf {
    let folder = PathBuf::from(format!("/dev/shm/becausal-fuzz/{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder in /dev/shm");
    folder
}

/// A file that holds one input after another.
pub struct InputFile {
    path: PathBuf,
    file: File,
}

impl InputFile {
    /// A file of this name in the scratch folder; its ending decides how it is read.
    ///
    /// # Panics
    /// When the file cannot be made.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self::at(&scratch().join(name))
    }

    /// A file at this path.
    ///
    /// # Panics
    /// When the file cannot be made.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        let file = OpenOptions::new().create(true).truncate(true).write(true).open(path);
        Self { path: path.to_owned(), file: file.expect("a file in /dev/shm") }
    }

    /// Replaces the content, and returns the path.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn put(&self, input: &[u8]) -> &Path {
        self.file.set_len(0).expect("an empty file");
        self.file.write_all_at(input, 0).expect("a file in /dev/shm");
        &self.path
    }
}

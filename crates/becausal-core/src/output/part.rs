//! Part files: what is written before it has its name.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

const PREFIX: &str = ".becausal-";
const SUFFIX: &str = ".part";

/// How often a part file is begun anew because another process swept it away before it was locked.
const ATTEMPTS: usize = 16;

/// Creates a part file, locked by this process: `.becausal-PROCESS-RANDOM.part`.
pub(super) fn create_in(folder: &Path) -> io::Result<NamedTempFile> {
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The usual permissions of a new file; temporary files are private by default.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    for _ in 0..ATTEMPTS {
        let part = builder.tempfile_in(folder)?;
        let locked = match part.as_file().try_lock() {
            // Where files cannot be locked, nobody sweeps them away either.
            Ok(()) | Err(TryLockError::Error(_)) => true,
            Err(TryLockError::WouldBlock) => false,
        };
        if locked && part.path().exists() {
            return Ok(part);
        }
    }
    Err(io::Error::other("other processes keep removing the temporary file"))
}

/// Removes the part files in a folder whose processes are gone. What cannot be removed stays.
pub(super) fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(is_part_name)
            && entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_ours {
            continue;
        }
        // The lock is held until the file is gone, so that nobody takes it in between.
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether this is the name of a part file.
#[must_use]
pub fn is_part_name(name: &str) -> bool {
    let middle = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    let Some((process, random)) = middle.and_then(|middle| middle.split_once('-')) else {
        return false;
    };
    let is_number = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = !random.is_empty() && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_number && is_word
}

/// The system's message without the name of the temporary file.
pub(super) fn plain(error: &io::Error, folder: &Path) -> String {
    let folder = folder.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("no file can be made in the folder {folder}"),
        io::ErrorKind::PermissionDenied => {
            format!("permission denied: no file may be made in the folder {folder}")
        }
        io::ErrorKind::ReadOnlyFilesystem => format!("the folder {folder} is read-only"),
        _ => {
            let text = error.to_string();
            text.split(" at path").next().unwrap_or(&text).to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Output, write_atomically};

    #[test]
    fn part_files_of_killed_processes_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        let living = Output::create(&at.join("living")).expect("begun");
        let is_left = |name: &str| at.join(name).exists();
        let left_over = ".becausal-4711-a1B2c3.part";
        let foreign =
            [".becausal-notes.part", ".becausal-4711-.part", ".part", "becausal-1-a.part"];
        for name in foreign.iter().chain([&left_over]) {
            fs::write(at.join(name), "content").expect("written");
        }
        fs::create_dir(at.join(".becausal-1-a.part")).expect("a folder");
        write_atomically(&at.join("file"), b"new").expect("written");
        assert!(!is_left(left_over), "nobody holds it");
        assert!(foreign.iter().all(|name| is_left(name)), "they are not ours");
        assert!(is_left(".becausal-1-a.part"), "a folder is not ours");
        living.finish().expect("its part file was left alone");
        assert!(is_left("living"));
    }

    #[test]
    fn many_writers_in_one_folder_lose_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let at = folder.path();
                scope.spawn(move || {
                    for file in 0..25 {
                        let path = at.join(format!("{writer}-{file}"));
                        write_atomically(&path, b"content").expect("written");
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 200);
    }
}

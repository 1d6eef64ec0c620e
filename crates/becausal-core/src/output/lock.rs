//! A lock on a place, which names who holds it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How every lock file begins.
const MAGIC: &str = "becausal lock\n";

/// How much of a lock file is read, and how much of a command is written into one, in bytes.
const MAX_BYTES: u64 = 1000;

/// How often a lock is tried anew because its last holder removed the file in the meantime.
const ATTEMPTS: usize = 100;

/// A lock that this process holds. Dropping it removes its file. The system releases it when the
/// process ends, however it ends; the file that then stays is taken over by the next holder.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
}

/// A lock that cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else holds it.
    #[error("is in use by {holder}")]
    Held {
        /// The process and its command.
        holder: String,
    },
    /// There is another file of this name.
    #[error("{} is in the way: it is not a lock file of becausal", .0.display())]
    Foreign(PathBuf),
    /// The system does not permit it.
    #[error("cannot be locked: {0}")]
    System(#[from] io::Error),
}

impl Lock {
    /// Takes the lock of this file at once, or says who holds it.
    ///
    /// # Errors
    /// When another process holds it, something else has the name, or nothing can be written there.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        for _ in 0..ATTEMPTS {
            let foreign = || LockError::Foreign(path.to_owned());
            match fs::symlink_metadata(path) {
                Ok(metadata) if !metadata.is_file() => return Err(foreign()),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::Held { holder: holder(&mut file) });
                }
                // Better without a lock than not at all, where the file system has none.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            if !is_at(&file, path) {
                continue;
            }
            let text = read(&mut file)?;
            if !text.is_empty() && !text.starts_with(MAGIC) {
                return Err(foreign());
            }
            let lock = Self { path: path.to_owned(), file };
            lock.describe()?;
            return Ok(lock);
        }
        Err(io::Error::other("its lock file keeps changing").into())
    }

    /// Writes who holds it.
    fn describe(&self) -> io::Result<()> {
        let mut file = &self.file;
        let arguments = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let mut words: Vec<String> = arguments.collect();
        if let Some(program) = words.first_mut() {
            let name = Path::new(&*program).file_name();
            *program = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        }
        let command = printable(&words.join(" "));
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(format!("{MAGIC}process {}: {command}\n", std::process::id()).as_bytes())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The lock is still held, so no other holder loses the file.
        if is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Who holds a lock, as its file says.
fn holder(file: &mut File) -> String {
    let text = read(file).unwrap_or_default();
    let line = text.strip_prefix(MAGIC).and_then(|rest| rest.lines().next()).unwrap_or_default();
    if line.is_empty() { "another process".to_owned() } else { printable(line) }
}

fn read(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// One line of at most a screen's width or two, without control characters.
fn printable(text: &str) -> String {
    const MAX_LETTERS: usize = 160;
    let letter = |letter: char| if letter.is_control() { '?' } else { letter };
    let short: String = text.chars().take(MAX_LETTERS).map(letter).collect();
    if text.chars().nth(MAX_LETTERS).is_some() { format!("{short}…") } else { short }
}

/// Whether a path still leads to this open file.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let here = file.metadata().map(place).ok();
        here.is_some() && here == fs::symlink_metadata(path).map(place).ok()
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.is_file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_holds_a_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(".run.lock");
        let lock = Lock::take(&path).expect("free");
        let text = Lock::take(&path).expect_err("held").to_string();
        let process = std::process::id();
        assert!(text.starts_with(&format!("is in use by process {process}: ")), "{text}");
        drop(lock);
        assert!(!path.exists());
        // As a killed process leaves it.
        fs::write(&path, format!("{MAGIC}process 1: becausal fit\n")).expect("written");
        let lock = Lock::take(&path).expect("nobody holds it");
        drop(lock);
        fs::write(&path, "").expect("killed before it wrote its name");
        Lock::take(&path).expect("nobody holds it");
    }

    #[test]
    fn what_is_no_lock_file_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notes");
        fs::write(&path, "my notes").expect("written");
        assert!(matches!(Lock::take(&path), Err(LockError::Foreign(_))));
        assert_eq!(fs::read_to_string(&path).expect("a file"), "my notes");
        assert!(matches!(Lock::take(folder.path()), Err(LockError::Foreign(_))));
    }

    #[test]
    fn only_one_of_many_holds_a_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let inside = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        if let Ok(_lock) = Lock::take(&path) {
                            let others = inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                            assert_eq!(others, 0, "two hold it");
                            inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn a_holder_is_one_printable_line() {
        assert_eq!(printable("a\u{1b}[31m\nb"), "a?[31m?b");
        assert_eq!(printable(&"x".repeat(1000)).chars().count(), 161);
    }
}

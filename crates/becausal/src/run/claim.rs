//! The place of a run, for one process at a time.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use becausal_core::output::{Lock, LockError};

use super::contents::{BEGUN, INNER_LOCK, foreign, is_run};
use super::directory::RunError;

/// How long a reader waits for a run that another process is just putting in place: this often,
/// [`PAUSE`] each time.
const WAITS: usize = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// A folder that this process alone may write a run into while it holds the claim. Other processes
/// are told who holds it. The claim ends when it is dropped, and when the process ends, however it
/// ends.
#[derive(Debug)]
pub struct Claim {
    /// As it was given, for messages.
    path: PathBuf,
    /// Without symbolic links: they are written through.
    folder: PathBuf,
    /// Whether the lock is inside the folder, because nothing can be written beside it.
    is_inner: bool,
    /// Held for as long as the claim is.
    lock: Option<Lock>,
    /// The folders above it that were made for it.
    made: Vec<PathBuf>,
}

impl Claim {
    /// Claims a folder for a run that is written whole. It is a new or empty folder, or one with the
    /// run of an earlier fit and nothing else in it, which will be replaced.
    ///
    /// # Errors
    /// When something else is there, another process holds it, or it cannot be written.
    pub fn to_replace(path: &Path) -> Result<Self, RunError> {
        let claim = Self::take(path)?;
        claim.restore()?;
        claim.refuse_others()?;
        if claim.is_inner {
            return Err(claim.refused("cannot be replaced: nothing can be written beside it"));
        }
        if is_mount_point(&claim.folder) {
            return Err(claim.refused(
                "is a mount point, which cannot be replaced; give the name of a folder in it",
            ));
        }
        for left_over in [claim.beside("part"), claim.beside("old")] {
            claim.remove_left_over(&left_over)?;
        }
        Ok(claim)
    }

    /// Claims a new or empty folder for a training, or one in which a training was ended before its
    /// first checkpoint.
    ///
    /// # Errors
    /// When something else is there, another process holds it, or it cannot be written.
    pub(super) fn to_train(path: &Path) -> Result<Self, RunError> {
        let claim = Self::take(path)?;
        claim.restore()?;
        let folder = &claim.folder;
        if folder.join("checkpoint.json").exists() && is_run(folder) {
            return Err(claim.refused("holds a training already; resume it, or give another name"));
        }
        let begun = folder.join(BEGUN);
        if !begun.exists() && is_run(folder) {
            return Err(claim.refused("holds a run already; give another name"));
        }
        claim.refuse_others()?;
        let cannot = |error: io::Error| claim.refused(&format!("cannot make the folder: {error}"));
        fs::create_dir_all(folder).map_err(cannot)?;
        // The mark first, then the rest: a kill in between leaves a folder that is known to be ours.
        if !begun.exists() {
            fs::write(&begun, "").map_err(|error| {
                claim.refused(&format!("cannot write into the folder: {error}"))
            })?;
        }
        for entry in fs::read_dir(folder).map_err(cannot)?.flatten() {
            if entry.file_name() != BEGUN && entry.file_name() != INNER_LOCK {
                remove(&entry.path()).map_err(|error| claim.stuck(&error))?;
            }
        }
        Ok(claim)
    }

    /// Claims the folder of a run that is there.
    ///
    /// # Errors
    /// When another process holds it, or it cannot be written.
    pub(super) fn to_resume(path: &Path) -> Result<Self, RunError> {
        let claim = Self::take(path)?;
        claim.restore()?;
        Ok(claim)
    }

    /// Refuses an input that the run would replace.
    ///
    /// # Errors
    /// When the input is in the folder.
    pub fn refuse_input(&self, input: &Path) -> Result<(), RunError> {
        match fs::canonicalize(input) {
            Ok(real) if real.starts_with(&self.folder) => Err(self.refused(&format!(
                "holds the input {}, which would be lost; give another name for the run",
                input.display()
            ))),
            _ => Ok(()),
        }
    }

    /// The folder, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder itself, where symbolic links lead to it.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A hidden name beside the folder.
    pub(super) fn beside(&self, ending: &str) -> PathBuf {
        beside(&self.folder, ending)
    }

    /// Says what is in the folder that a run must not replace.
    ///
    /// # Errors
    /// When there is something.
    pub(super) fn refuse_others(&self) -> Result<(), RunError> {
        let folder = &self.folder;
        let unreadable = |error: io::Error| self.refused(&format!("cannot be read: {error}"));
        let mut entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unreadable(error)),
        };
        let Some(first) = entries
            .find(|entry| entry.as_ref().map_or(true, |entry| entry.file_name() != INNER_LOCK))
        else {
            return Ok(());
        };
        let first = first.map_err(unreadable)?.file_name();
        let found = foreign(folder).map_err(unreadable)?;
        let is_run = is_run(folder);
        let problem = match (found, is_run) {
            (Some(other), true) => format!(
                "is a run with something else in it: {} is not part of a run and would be lost; move it away, or give another name",
                other.display()
            ),
            (Some(other), false) => format!(
                "is a folder with something else in it ({}); give another name",
                other.display()
            ),
            (None, true) if folder.join("policy").exists() => {
                "holds a trained policy, which this run would replace; give another name".to_owned()
            }
            (None, true) if folder.join("checkpoint.json").exists() => {
                "holds a training, which this run would replace; give another name".to_owned()
            }
            (None, true) => return Ok(()),
            (None, false) if folder.join(BEGUN).exists() => return Ok(()),
            (None, false) => format!(
                "is a folder with something else in it ({}, but no config.toml of a run); give another name",
                first.display()
            ),
        };
        Err(self.refused(&problem))
    }

    /// Waits for, or restores, a run that is missing because its replacement is just being put in
    /// place, or was killed at that moment.
    pub(super) fn recover(path: &Path) -> Result<(), RunError> {
        let Some(folder) = real_folder(path) else {
            return Ok(());
        };
        let old = beside(&folder, "old");
        for _ in 0..WAITS {
            if folder.exists() || !old.exists() {
                return Ok(());
            }
            if let Ok(claim) = Self::take(path) {
                return claim.restore();
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Takes the lock of a folder, whatever is in it.
    fn take(path: &Path) -> Result<Self, RunError> {
        let refuse = |problem: String| RunError { path: path.to_owned(), problem };
        match fs::metadata(path) {
            Ok(metadata) if !metadata.is_dir() => {
                return Err(refuse("is a file; give the name of a folder for the run".to_owned()));
            }
            Err(_) if path.is_symlink() => {
                return Err(refuse(
                    "is a symbolic link that leads nowhere; give another name".to_owned(),
                ));
            }
            _ => {}
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut claim = Self {
            path: path.to_owned(),
            folder: PathBuf::new(),
            is_inner: false,
            lock: None,
            made: Vec::new(),
        };
        if let Some(parent) = parent
            && !path.exists()
        {
            claim.make(parent).map_err(|error| {
                refuse(format!("cannot make the folder {}: {error}", parent.display()))
            })?;
        }
        let folder = real_folder(path).filter(|folder| folder.file_name().is_some());
        claim.folder = folder.ok_or_else(|| {
            refuse("is not the name of a folder; give one for the run".to_owned())
        })?;
        let taken = match Lock::take(&claim.beside("lock")) {
            Err(LockError::System(error)) if is_forbidden(&error) && claim.folder.is_dir() => {
                claim.is_inner = true;
                Lock::take(&claim.folder.join(INNER_LOCK))
            }
            taken => taken,
        };
        claim.lock = Some(taken.map_err(|error| match error {
            LockError::Held { .. } => {
                refuse(format!("{error}; wait until it ends, or give another name"))
            }
            LockError::Foreign(_) => refuse(format!("{error}; move it away, or give another name")),
            LockError::System(error) => refuse(format!("cannot write there: {error}")),
        })?);
        Ok(claim)
    }

    /// Makes a folder and those above it, and remembers which.
    fn make(&mut self, folder: &Path) -> io::Result<()> {
        let missing = folder.ancestors().take_while(|above| {
            !above.as_os_str().is_empty() && fs::symlink_metadata(above).is_err()
        });
        let missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        fs::create_dir_all(folder)?;
        self.made = missing;
        Ok(())
    }

    /// Puts a run back whose replacement was killed between its two renamings.
    fn restore(&self) -> Result<(), RunError> {
        let old = self.beside("old");
        if old.exists() && !self.folder.exists() {
            fs::rename(&old, &self.folder)
                .map_err(|error| self.refused(&format!("cannot restore what was here: {error}")))?;
        }
        Ok(())
    }

    /// Removes what a killed process left beside the run.
    fn remove_left_over(&self, left_over: &Path) -> Result<(), RunError> {
        if fs::symlink_metadata(left_over).is_err() {
            return Ok(());
        }
        let found =
            if left_over.is_symlink() { Ok(Some(PathBuf::new())) } else { foreign(left_over) };
        match found {
            Ok(None) => remove(left_over).map_err(|error| self.stuck(&error)),
            Ok(Some(other)) => Err(self.refused(&format!(
                "cannot be replaced: {} is in the way and is not ours; move it away, or give another name",
                left_over.join(other).display()
            ))),
            Err(error) => Err(self.stuck(&error)),
        }
    }

    pub(super) fn refused(&self, problem: &str) -> RunError {
        RunError { path: self.path.clone(), problem: problem.to_owned() }
    }

    fn stuck(&self, error: &io::Error) -> RunError {
        self.refused(&format!("cannot remove the remains of an earlier attempt: {error}"))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.lock = None;
        for folder in &self.made {
            // Only what is still empty goes.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Marks that the first checkpoint of a training is saved.
pub(super) fn begun_is_over(folder: &Path) {
    let _ = fs::remove_file(folder.join(BEGUN));
}

/// A folder without symbolic links in its path, whether it is there or not; `None` without a name.
fn real_folder(path: &Path) -> Option<PathBuf> {
    if let Ok(folder) = fs::canonicalize(path) {
        return Some(folder);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Some(fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()?.join(path.file_name()?))
}

fn beside(folder: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(".");
    name.push(ending);
    folder.with_file_name(name)
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

#[cfg(unix)]
fn is_mount_point(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| fs::metadata(path).map(|metadata| metadata.dev()).ok();
    let above = folder.parent().and_then(device);
    device(folder).is_some_and(|here| above.is_some_and(|above| above != here))
}

#[cfg(not(unix))]
fn is_mount_point(_: &Path) -> bool {
    false
}

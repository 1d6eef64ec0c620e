//! What stands where a file is to be written.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::data::Problem;

/// How many symbolic links are followed one after the other; Linux follows 40.
const MAX_LINKS: usize = 40;

/// What is in the way of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// A folder has the name.
    #[error("there is a folder of this name; give the name of a file")]
    Folder,
    /// The folder of the file is not there.
    #[error("the folder does not exist; make it first, or give another name")]
    NoFolder,
    /// A folder in the path is a file.
    #[error("a part of its path is a file, not a folder; give another name")]
    NotAFolder,
    /// The path ends without a name.
    #[error("there is no name of a file in it; give one")]
    NoName,
    /// The file may not be written.
    #[error("the file is write-protected; permit writing, or give another name")]
    WriteProtected,
    /// A disk.
    #[error("is a block device, which is never written to; give the name of a file")]
    BlockDevice,
    /// A socket.
    #[error("is a socket, which cannot be written to like a file; give the name of a file")]
    Socket,
    /// Symbolic links that lead nowhere.
    #[error("its symbolic links lead in a circle; give another name")]
    Circle,
    /// The same file is read.
    #[error("is also an input, which would be lost; give another name for the output")]
    Input,
    /// Something took the name during the work.
    #[error("something else has taken this name in the meantime; move it away and try again")]
    Changed,
}

/// Where an output goes.
pub(super) enum Place {
    /// To a regular file, or a new one; links are resolved.
    File(PathBuf),
    /// To whoever reads there.
    Stream(Stream),
}

/// A FIFO, a character device or an open descriptor.
pub(super) enum Stream {
    /// To be opened by its path.
    Path,
    /// One of the standard streams, which keeps its position.
    #[cfg(unix)]
    Open(File),
}

impl Stream {
    pub(super) fn open(self, path: &Path) -> io::Result<File> {
        match self {
            Self::Path => OpenOptions::new().write(true).open(path),
            #[cfg(unix)]
            Self::Open(file) => Ok(file),
        }
    }
}

impl Place {
    /// Looks at a path without changing anything.
    pub(super) fn of(path: &Path) -> Result<Self, Problem> {
        let refuse = |obstacle| Err(Problem::Output(obstacle));
        if path.is_dir() {
            return refuse(Obstacle::Folder);
        }
        if path.file_name().is_none() || ends_with_separator(path) {
            return refuse(Obstacle::NoName);
        }
        match fs::metadata(path) {
            Ok(metadata) => Self::of_existing(path, &metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let target = end_of_links(path)?;
                if !folder(&target).is_dir() {
                    return refuse(Obstacle::NoFolder);
                }
                if target.file_name().is_none() || ends_with_separator(&target) {
                    return refuse(Obstacle::NoName);
                }
                Ok(Self::File(target))
            }
            Err(error) => match error.kind() {
                io::ErrorKind::NotADirectory => refuse(Obstacle::NotAFolder),
                _ => Err(Problem::system("write", error)),
            },
        }
    }

    #[cfg_attr(not(unix), expect(clippy::unnecessary_wraps, reason = "streams are of Unix"))]
    fn of_existing(path: &Path, metadata: &fs::Metadata) -> Result<Self, Problem> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt;
            let kind = metadata.file_type();
            if kind.is_block_device() {
                return Err(Problem::Output(Obstacle::BlockDevice));
            }
            if kind.is_socket() {
                return Err(Problem::Output(Obstacle::Socket));
            }
            if let Some(open) = open_descriptor(path, metadata) {
                return Ok(Self::Stream(open));
            }
            if kind.is_fifo() || kind.is_char_device() {
                return Ok(Self::Stream(Stream::Path));
            }
        }
        if metadata.permissions().readonly() {
            return Err(Problem::Output(Obstacle::WriteProtected));
        }
        let target = if path.is_symlink() {
            fs::canonicalize(path).map_err(|error| Problem::system("write", error))?
        } else {
            path.to_owned()
        };
        Ok(Self::File(target))
    }
}

/// `/dev/stdout`, `/dev/fd/3` and their like: to rename a file over what they stand for would take
/// it away from those who have it open.
#[cfg(unix)]
fn open_descriptor(path: &Path, metadata: &fs::Metadata) -> Option<Stream> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let mut at = path.to_owned();
    for _ in 0..MAX_LINKS {
        let parent = fs::canonicalize(folder(&at)).ok()?;
        let names: Vec<Component> = parent.components().collect();
        let in_proc = names.get(1) == Some(&Component::Normal("proc".as_ref()));
        if (in_proc || names.get(1) == Some(&Component::Normal("dev".as_ref())))
            && names.last() == Some(&Component::Normal("fd".as_ref()))
        {
            let (out, errors) = (io::stdout(), io::stderr());
            for standard in [out.as_fd(), errors.as_fd()] {
                let file = File::from(standard.try_clone_to_owned().ok()?);
                let same = file.metadata().is_ok_and(|other| {
                    (other.dev(), other.ino()) == (metadata.dev(), metadata.ino())
                });
                if same {
                    return Some(Stream::Open(file));
                }
            }
            return Some(Stream::Path);
        }
        at = folder(&at).join(fs::read_link(&at).ok()?);
    }
    None
}

/// Where a chain of symbolic links ends, with nothing there.
fn end_of_links(path: &Path) -> Result<PathBuf, Problem> {
    let mut at = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&at) {
            Ok(next) => at = folder(&at).join(next),
            Err(_) => return Ok(at),
        }
    }
    Err(Problem::Output(Obstacle::Circle))
}

/// Whether two paths are the same regular file: by their real paths, or as hard links.
#[must_use]
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let (Ok(first), Ok(second)) = (fs::metadata(one), fs::metadata(other)) else {
        return false;
    };
    if !first.is_file() || !second.is_file() {
        return false;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if (first.dev(), first.ino()) == (second.dev(), second.ino()) {
            return true;
        }
    }
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

/// The folder of a file.
pub(super) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn ends_with_separator(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    text.last().is_some_and(|&last| std::path::is_separator(char::from(last)))
}

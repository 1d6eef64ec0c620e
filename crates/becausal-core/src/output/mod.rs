//! Files as they are written: whole or not at all, and never over what this program should leave
//! alone.
//!
//! | place | what happens |
//! |---|---|
//! | a regular file, or nothing yet | a hidden part file beside it takes its place when it is complete |
//! | a symbolic link to one | the same at the end of the link; the link stays |
//! | a FIFO, a character device, an open descriptor (`/dev/stdout`) | written to directly, when the content is complete |
//! | a folder, a block device, a socket, a write-protected file | refused, before the work |
//!
//! A part file is locked while its process lives. So the part files of processes that were killed
//! are told apart and removed when something is next written to the same folder.

mod lock;
mod part;
mod place;

pub use lock::{Lock, LockError};
pub use part::is_part_name;
pub use place::{Obstacle, is_same_file};

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::data::{DataError, Problem};
use place::Place;

/// A file that is being written. It appears under its name when it is [finished](Self::finish);
/// dropped before, it leaves nothing.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// Beside the file whose place it will take.
    Part { part: NamedTempFile, target: PathBuf },
    /// Kept apart until it is complete, then copied.
    Gathered(File),
}

impl Output {
    /// Begins a file. Part files beside it that killed processes left are removed.
    ///
    /// # Errors
    /// When the file cannot be written there.
    pub fn create(path: &Path) -> Result<Self, DataError> {
        let failed = |source| Problem::system("write", source).of(path);
        let content = match Place::of(path).map_err(|problem| problem.of(path))? {
            Place::File(target) => {
                let folder = place::folder(&target);
                part::sweep(folder);
                let part = part::create_in(folder).map_err(|error| {
                    failed(io::Error::new(error.kind(), part::plain(&error, folder)))
                })?;
                Content::Part { part, target }
            }
            Place::Stream(_) => Content::Gathered(tempfile::tempfile().map_err(failed)?),
        };
        Ok(Self { path: path.to_owned(), content })
    }

    /// Finds out before long work whether a file can be written, and leaves nothing.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check(path: &Path) -> Result<(), DataError> {
        Self::create(path).map(drop)
    }

    /// Refuses an output that is also an input: by its real path, or as another hard link of the
    /// same file.
    ///
    /// # Errors
    /// When it is one of the `inputs`.
    pub fn refuse_inputs<'a>(
        path: &Path,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<(), DataError> {
        match inputs.into_iter().find(|input| is_same_file(path, input)) {
            Some(_) => Err(Problem::Output(Obstacle::Input).of(path)),
            None => Ok(()),
        }
    }

    /// A folder for further temporary files of the same output.
    #[must_use]
    pub fn scratch_folder(&self) -> PathBuf {
        match &self.content {
            Content::Part { target, .. } => place::folder(target).to_owned(),
            Content::Gathered(_) => std::env::temp_dir(),
        }
    }

    /// Gives the file its name, replacing an older one, or hands the content over.
    ///
    /// # Errors
    /// When that fails. An older file then stays as it was.
    pub fn finish(self) -> Result<(), DataError> {
        let path = self.path;
        match self.content {
            Content::Part { part, target } => put_in_place(part, &target),
            Content::Gathered(content) => hand_over(content, &path),
        }
        .map_err(|problem| problem.of(&path))
    }

    fn file(&mut self) -> &mut File {
        match &mut self.content {
            // Bypasses the wrapper, whose errors name the temporary file.
            Content::Part { part, .. } => part.as_file_mut(),
            Content::Gathered(file) => file,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl Read for Output {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.file().read(bytes)
    }
}

impl Seek for Output {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file().seek(position)
    }
}

/// Writes a small file completely or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write_atomically(path: &Path, content: &[u8]) -> Result<(), DataError> {
    let mut output = Output::create(path)?;
    let written = output.write_all(content);
    written.map_err(|source| Problem::system("write", source).of(path))?;
    output.finish()
}

fn put_in_place(part: NamedTempFile, target: &Path) -> Result<(), Problem> {
    let failed = |source| Problem::system("write", source);
    if let Ok(metadata) = std::fs::symlink_metadata(target) {
        // Something else may have taken the name while the work went on.
        if !metadata.is_file() {
            return Err(Problem::Output(Obstacle::Changed));
        }
        // A private file stays private.
        part.as_file().set_permissions(metadata.permissions()).map_err(failed)?;
    }
    part.as_file().sync_all().map_err(failed)?;
    part.persist(target).map(drop).map_err(|error| failed(error.error))
}

fn hand_over(mut content: File, path: &Path) -> Result<(), Problem> {
    let failed = |source| Problem::system("write", source);
    let Place::Stream(stream) = Place::of(path)? else {
        return Err(Problem::Output(Obstacle::Changed));
    };
    let mut stream = stream.open(path).map_err(failed)?;
    content.seek(SeekFrom::Start(0)).map_err(failed)?;
    io::copy(&mut content, &mut stream).map_err(failed)?;
    stream.flush().map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn refusal(path: &Path) -> String {
        write_atomically(path, b"new").expect_err("refused").to_string()
    }

    #[test]
    fn a_file_appears_whole_and_a_dropped_one_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let mut output = Output::create(&path).expect("begun");
        output.write_all(b"half").expect("written");
        assert!(!path.exists());
        drop(output);
        assert_eq!(names(folder.path()), [""; 0]);
        write_atomically(&path, b"whole").expect("written");
        assert_eq!(fs::read(&path).expect("a file"), b"whole");
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn what_is_no_place_for_a_file_is_refused_in_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        fs::write(at.join("file"), "a file").expect("written");
        let cases = [
            (at.to_owned(), "there is a folder of this name"),
            (at.join("no/file"), "the folder does not exist"),
            (at.join("file/more"), "a part of its path is a file"),
            (at.join("new/"), "there is no name of a file in it"),
            (PathBuf::new(), "there is no name of a file in it"),
            (at.join("x".repeat(300)), "cannot write"),
        ];
        for (path, words) in cases {
            let text = refusal(&path);
            assert!(text.contains(words), "{}: {text}", path.display());
            assert!(Output::check(&path).is_err(), "{}", path.display());
        }
        assert_eq!(names(at), ["file"]);
    }

    #[test]
    fn an_output_is_no_input() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        let log = at.join("log.csv");
        fs::write(&log, "a log").expect("written");
        fs::hard_link(&log, at.join("other.csv")).expect("a link");
        fs::create_dir(at.join("inner")).expect("a folder");
        for name in ["log.csv", "other.csv", "./log.csv", "inner/../log.csv"] {
            let text = Output::refuse_inputs(&at.join(name), [&*log]).expect_err(name).to_string();
            assert!(text.contains("is also an input"), "{text}");
        }
        Output::refuse_inputs(&at.join("new.csv"), [&*log]).expect("another file");
        Output::refuse_inputs(Path::new("/dev/null"), [Path::new("/dev/null")]).expect("a device");
    }

    #[cfg(unix)]
    mod unix {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
        use std::os::unix::net::UnixListener;
        use std::process::Command;

        use super::*;

        #[test]
        fn a_link_is_written_through() {
            let folder = tempfile::tempdir().expect("a folder");
            let at = folder.path();
            fs::create_dir(at.join("far")).expect("a folder");
            symlink("far/file", at.join("link")).expect("a link");
            symlink("link", at.join("second")).expect("a link");
            symlink("loop", at.join("loop")).expect("a link");
            // The first time nothing is at the end of the link.
            for content in ["one", "two"] {
                write_atomically(&at.join("second"), content.as_bytes()).expect("written");
                assert_eq!(fs::read_to_string(at.join("far/file")).expect("a file"), content);
            }
            assert!(at.join("link").is_symlink() && at.join("second").is_symlink());
            assert_eq!(names(&at.join("far")), ["file"]);
            assert!(refusal(&at.join("loop")).contains("cannot write"));
            assert!(at.join("loop").is_symlink());
        }

        #[test]
        fn a_fifo_and_a_device_are_written_to_and_stay() {
            let folder = tempfile::tempdir().expect("a folder");
            let fifo = folder.path().join("fifo");
            assert!(Command::new("mkfifo").arg(&fifo).status().expect("`mkfifo`").success());
            Output::check(&fifo).expect("a place, and nobody waits for a reader");
            let reader = std::thread::spawn({
                let fifo = fifo.clone();
                move || fs::read_to_string(fifo)
            });
            write_atomically(&fifo, b"through").expect("written");
            assert_eq!(reader.join().expect("a reader").expect("read"), "through");
            assert!(fs::metadata(&fifo).expect("it is there").file_type().is_fifo());
            write_atomically(Path::new("/dev/null"), b"nothing").expect("written");
            let null = fs::metadata("/dev/null").expect("it is there").file_type();
            assert!(null.is_char_device());
        }

        #[test]
        fn sockets_and_write_protected_files_are_refused() {
            let folder = tempfile::tempdir().expect("a folder");
            let socket = folder.path().join("socket");
            let _listener = UnixListener::bind(&socket).expect("a socket");
            assert!(refusal(&socket).contains("is a socket"));
            let file = folder.path().join("file");
            fs::write(&file, "old").expect("written");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).expect("protected");
            assert!(refusal(&file).contains("the file is write-protected"));
            assert_eq!(fs::read_to_string(&file).expect("a file"), "old");
        }

        #[test]
        fn a_private_file_stays_private() {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("file");
            fs::write(&file, "old").expect("written");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("private");
            write_atomically(&file, b"new").expect("written");
            let mode = fs::metadata(&file).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}

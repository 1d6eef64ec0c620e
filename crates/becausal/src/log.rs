//! A log: recorded transitions, and where they come from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use becausal_core::data::{
    self, MAX_SCHEMA_BYTES, Missing, Origin, ReadOptions, Recording, Values, Writer,
};
use becausal_core::progress::{Listener, Progress};
use becausal_core::text::read_text;
use becausal_core::{MemoryLimit, Schema, Transitions};
use becausal_envs::find;

use crate::error::Error;

/// How to read a log.
#[derive(Debug, Clone, Default)]
pub struct ReadParams {
    schema: Option<Arc<Schema>>,
    schema_source: Option<String>,
    ignore: Vec<String>,
    missing: Missing,
    memory: MemoryLimit,
    progress: Listener,
}

impl ReadParams {
    /// The columns mean this. Without it, the schema that the file carries counts.
    #[must_use]
    pub fn schema(self, schema: Arc<Schema>) -> Self {
        Self { schema: Some(schema), schema_source: None, ..self }
    }

    /// The columns mean what a schema file (TOML) says; the id of a built-in environment will do.
    ///
    /// # Errors
    /// When the file cannot be read or is wrong, with every mistake at its line and column.
    pub fn schema_file(self, file: impl AsRef<Path>) -> Result<Self, Error> {
        let source = file.as_ref().display().to_string();
        let schema = Arc::new(read_schema(file)?);
        Ok(Self { schema: Some(schema), schema_source: Some(source), ..self })
    }

    /// How much memory the rows may take; more is refused before they are read.
    #[must_use]
    pub fn memory(self, memory: MemoryLimit) -> Self {
        Self { memory, ..self }
    }

    /// Who hears how much is read, and may stop it.
    #[must_use]
    pub fn progress(self, progress: impl Progress + 'static) -> Self {
        Self { progress: Listener::new(progress), ..self }
    }

    /// Leaves out a column that the schema does not have.
    #[must_use]
    pub fn ignore(mut self, column: impl Into<String>) -> Self {
        self.ignore.push(column.into());
        self
    }

    fn options(&self) -> ReadOptions {
        ReadOptions {
            schema: self.schema.clone(),
            ignore: self.ignore.clone(),
            missing: self.missing,
            memory: self.memory,
            progress: self.progress.clone(),
        }
    }

    /// What to do with cells that are empty or NaN. Without it, such a file is refused.
    #[must_use]
    pub fn missing(self, missing: Missing) -> Self {
        Self { missing, ..self }
    }
}

/// Reads a schema from a file (TOML), or takes that of a built-in environment by its id.
///
/// # Errors
/// When it cannot be read or is wrong, with every mistake at its line and column.
pub fn read_schema(file: impl AsRef<Path>) -> Result<Schema, Error> {
    let name = file.as_ref().display().to_string();
    match read_text(file.as_ref(), MAX_SCHEMA_BYTES) {
        Ok(text) => Schema::parse(&text).map_err(|error| Error::Schema { file: name, error }),
        Err(error) => match find(&name) {
            Ok(entry) => Ok(Arc::unwrap_or_clone(entry.schema())),
            Err(_) => Err(Error::File(format!(
                "{name}: cannot read the schema: {error} (expected a TOML file, or the id of an \
                 environment)"
            ))),
        },
    }
}

/// Recorded transitions, what had to be inferred about them, and where they come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    transitions: Transitions,
    notes: Vec<String>,
    origin: Option<Origin>,
    pub(crate) source: Source,
}

/// The files and choices that a log was read with, as a command would name them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Source {
    pub data: Option<PathBuf>,
    pub schema: Option<String>,
    pub ignore: Vec<String>,
    pub missing: Missing,
}

/// Reads `.csv`, `.parquet` or `.npz`, by the ending of its name.
///
/// # Errors
/// When the file cannot be read, is damaged, or does not fit the schema; with row and column.
pub fn read(path: impl AsRef<Path>, params: &ReadParams) -> Result<Log, Error> {
    let path = path.as_ref();
    let recording = data::read(path, &params.options())?;
    Ok(Log::of(recording, Some(path), params))
}

/// Makes a log of columns in memory, under the rules for files. The parameters must have a schema.
///
/// ```
/// use becausal::data::Values;
/// use becausal::{ReadParams, Schema, assemble};
///
/// let text = "name = \"Hover\"\n[state]\nheight = { kind = \"continuous\" }\n\
///             [action]\nengine = { kind = \"boolean\" }\n";
/// let schema = Schema::parse(text).expect("a schema").into();
/// let columns = [
///     ("height".to_owned(), Values::Numbers(vec![0.0, 1.0, 3.0])),
///     ("engine".to_owned(), Values::Flags(vec![true, true, false])),
///     ("episode".to_owned(), Values::Whole(vec![0, 0, 0])),
/// ];
/// let log = assemble(&columns, &ReadParams::default().schema(schema))?;
/// assert_eq!(log.transitions().row(1), [1.0, 1.0, 3.0], "height, engine, height'");
/// # Ok::<(), becausal::Error>(())
/// ```
///
/// # Errors
/// When the columns do not fit the schema; with row and column.
pub fn assemble(columns: &[(String, Values)], params: &ReadParams) -> Result<Log, Error> {
    let recording = data::assemble(columns, &params.options())?;
    Ok(Log::of(recording, None, params))
}

impl Log {
    fn of(recording: Recording, path: Option<&Path>, params: &ReadParams) -> Self {
        Self {
            transitions: recording.transitions,
            notes: recording.notes,
            origin: recording.origin,
            source: Source {
                data: path.map(Path::to_owned),
                schema: params.schema_source.clone(),
                ignore: params.ignore.clone(),
                missing: params.missing,
            },
        }
    }

    /// The same log, which says where it was recorded.
    #[must_use]
    pub fn recorded_in(self, origin: Origin) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// Writes the log with its schema and origin: `.csv`, `.parquet` or `.npz`, by the ending of the name.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let has_reward = self.transitions.reward().is_some();
        let mut writer =
            Writer::create_of(path.as_ref(), self.schema(), has_reward, self.origin.as_ref())?;
        writer.append(&self.transitions)?;
        Ok(writer.finish()?)
    }

    /// A log of transitions that are in memory already.
    #[must_use]
    pub fn new(transitions: Transitions, origin: Option<Origin>) -> Self {
        Self { transitions, notes: Vec::new(), origin, source: Source::default() }
    }

    /// What was recorded.
    #[must_use]
    pub fn transitions(&self) -> &Transitions {
        &self.transitions
    }

    /// What the columns mean.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        self.transitions.schema()
    }

    /// What the file did not say and had to be inferred, in sentences.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The environment that was recorded, where the file says so.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }
}

impl From<Transitions> for Log {
    fn from(transitions: Transitions) -> Self {
        Self::new(transitions, None)
    }
}

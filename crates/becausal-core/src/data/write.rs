//! Writes transitions to a file, completely or not at all.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::csv::CsvWriter;
use super::error::{DataError, Problem};
#[cfg(feature = "npz")]
use super::npz::NpzWriter;
use super::origin::Origin;
#[cfg(feature = "parquet")]
use super::parquet::ParquetWriter;
use super::read::{name_of, schema_path};
use super::transitions::Transitions;
use crate::output::{Output, write_atomically};
use crate::progress::{Listener, Tracker};
use crate::schema::Schema;

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated text.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// NumPy's archive of arrays.
    Npz,
}

impl Format {
    /// The name of the format, which is also the name of its feature.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Npz => "npz",
        }
    }

    /// The format of a file, by its extension.
    ///
    /// # Errors
    /// When the extension is not `.csv`, `.parquet` or `.npz`.
    pub fn of(path: &Path) -> Result<Self, DataError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
        match ending.as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("parquet") => Ok(Self::Parquet),
            Some("npz") => Ok(Self::Npz),
            _ => Err(Problem::UnknownFormat.of(path)),
        }
    }
}

/// Writes transitions in pieces. The file appears under its name only when it is complete: until
/// [`Writer::finish`] it is a temporary file beside it, which is removed if the writer is dropped.
pub struct Writer {
    path: PathBuf,
    schema: Arc<Schema>,
    with_reward: bool,
    origin: Option<Origin>,
    rows: RowWriter,
}

type Buffered = BufWriter<Output>;

enum RowWriter {
    Csv(Box<CsvWriter<Buffered>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter<Buffered>>),
    #[cfg(feature = "npz")]
    Npz(Box<NpzWriter<Buffered>>),
}

impl Writer {
    /// Starts a file. `with_reward` says whether the environment's own reward is written.
    ///
    /// # Errors
    /// When the format is unknown or the file cannot be created.
    pub fn create(path: &Path, schema: &Arc<Schema>, with_reward: bool) -> Result<Self, DataError> {
        Self::create_of(path, schema, with_reward, None)
    }

    /// Begins a file that says where its data come from.
    ///
    /// # Errors
    /// When the format is unknown or nothing can be written there.
    pub fn create_of(
        path: &Path,
        schema: &Arc<Schema>,
        with_reward: bool,
        origin: Option<&Origin>,
    ) -> Result<Self, DataError> {
        let format = Format::of(path)?;
        let problem = |problem: Problem| problem.of(path);
        if matches!(format, Format::Csv | Format::Npz) {
            let beside = schema_path(path);
            Output::check(&beside)?;
            // Without data beside it, it may be of another file, and written by hand.
            let is_other = |text: String| !text.starts_with(&schema.to_toml());
            if !path.exists() && std::fs::read_to_string(&beside).is_ok_and(is_other) {
                return Err(problem(Problem::OtherSchema { beside }));
            }
        }
        let output = Output::create(path)?;
        #[cfg(feature = "npz")]
        let scratch = output.scratch_folder();
        let file = BufWriter::with_capacity(1 << 16, output);
        let rows = match format {
            Format::Csv => CsvWriter::new(file, &column_names(schema, with_reward))
                .map(|writer| RowWriter::Csv(Box::new(writer))),
            #[cfg(feature = "parquet")]
            Format::Parquet => ParquetWriter::new(file, schema, with_reward, origin)
                .map(|writer| RowWriter::Parquet(Box::new(writer))),
            #[cfg(feature = "npz")]
            Format::Npz => NpzWriter::new(file, &scratch, schema, with_reward)
                .map(|writer| RowWriter::Npz(Box::new(writer))),
            #[cfg(not(all(feature = "npz", feature = "parquet")))]
            other => Err(Problem::NotBuilt { format: other.name() }),
        };
        Ok(Self {
            path: path.to_owned(),
            schema: Arc::clone(schema),
            with_reward,
            origin: origin.cloned(),
            rows: rows.map_err(problem)?,
        })
    }

    /// Adds transitions; their first row starts an episode.
    ///
    /// # Errors
    /// When they cannot be written, for instance because the disk is full.
    ///
    /// # Panics
    /// When their schema is not that of the file, or they have a reward but the file does not, or
    /// the other way round.
    pub fn append(&mut self, transitions: &Transitions) -> Result<(), DataError> {
        self.append_watched(transitions, &Tracker::unheard())
    }

    #[cfg_attr(not(feature = "parquet"), expect(unused_variables, reason = "the others are quick"))]
    fn append_watched(
        &mut self,
        transitions: &Transitions,
        watch: &Tracker<'_>,
    ) -> Result<(), DataError> {
        assert_eq!(self.schema, *transitions.schema(), "expected the schema of the file");
        assert_eq!(
            self.with_reward,
            transitions.reward().is_some(),
            "either all rows have a reward or none"
        );
        match &mut self.rows {
            RowWriter::Csv(writer) => writer.append(transitions),
            #[cfg(feature = "parquet")]
            RowWriter::Parquet(writer) => writer.append(transitions, watch),
            #[cfg(feature = "npz")]
            RowWriter::Npz(writer) => writer.append(transitions),
        }
        .map_err(|problem| problem.of(&self.path))
    }

    /// Completes the file and gives it its name, replacing an older one.
    ///
    /// # Errors
    /// When it cannot be written. Then an older file stays as it was.
    pub fn finish(self) -> Result<(), DataError> {
        self.finish_watched(&Tracker::unheard())
    }

    #[cfg_attr(not(feature = "parquet"), expect(unused_variables, reason = "the others are quick"))]
    fn finish_watched(self, watch: &Tracker<'_>) -> Result<(), DataError> {
        let path = self.path;
        let (file, beside) = match self.rows {
            RowWriter::Csv(writer) => (writer.finish(), true),
            #[cfg(feature = "parquet")]
            RowWriter::Parquet(writer) => (writer.finish(watch), false),
            #[cfg(feature = "npz")]
            RowWriter::Npz(writer) => (writer.finish(), true),
        };
        let file = file.map_err(|problem| problem.of(&path))?;
        if beside {
            let origin =
                self.origin.map_or_else(String::new, |origin| format!("\n{}", origin.to_toml()));
            let text = format!("{}{origin}", self.schema.to_toml());
            write_atomically(&schema_path(&path), text.as_bytes())?;
        }
        let file = file
            .into_inner()
            .map_err(|error| Problem::system("write", error.into_error()).of(&path))?;
        file.finish()
    }
}

/// Writes transitions to a file.
///
/// # Errors
/// When the format is unknown or the file cannot be written.
pub fn write(path: &Path, transitions: &Transitions) -> Result<(), DataError> {
    write_heard(path, transitions, &Listener::NOBODY)
}

/// The same; a listener hears how much of a Parquet file is written. It cannot stop it.
///
/// # Errors
/// As [`write()`].
pub fn write_heard(
    path: &Path,
    transitions: &Transitions,
    listener: &Listener,
) -> Result<(), DataError> {
    let with_reward = transitions.reward().is_some();
    let mut writer = Writer::create(path, transitions.schema(), with_reward)?;
    let columns = column_names(transitions.schema(), with_reward).len();
    let name = name_of(path);
    let values = columns * transitions.len();
    let watch = Tracker::begin(listener, &name, "values written", values);
    writer.append_watched(transitions, &watch)?;
    writer.finish_watched(&watch)
}

/// The columns of a file in order.
fn column_names(schema: &Schema, with_reward: bool) -> Vec<String> {
    let slots = schema.slots().iter().map(|slot| slot.name.clone());
    let reward = with_reward.then(|| "reward".to_owned());
    std::iter::once("episode".to_owned())
        .chain(slots)
        .chain(reward)
        .chain(["terminated".to_owned(), "truncated".to_owned()])
        .collect()
}

/// Converts a whole number exactly. Readers and environments reject numbers beyond 2^53.
#[cfg(any(feature = "npz", feature = "parquet"))]
#[expect(clippy::cast_possible_truncation, reason = "a whole number up to 2^53")]
pub(super) fn whole(value: f64) -> i64 {
    value as i64
}

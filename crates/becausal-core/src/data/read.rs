//! Reads transitions from a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::assemble::Assembly;
use super::cell::Cell;
use super::csv;
use super::error::{DataError, Problem};
use super::header::Header;
use super::missing::Missing;
#[cfg(feature = "npz")]
use super::npz;
use super::origin::Origin;
#[cfg(feature = "parquet")]
use super::parquet;
use super::transitions::Transitions;
use super::write::Format;
use crate::memory::MemoryLimit;
use crate::progress::{Listener, Tracker};
use crate::schema::Schema;
use crate::text::{counted, read_text, shown, thousands};

/// How to read a file.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The schema; `None` to use the one in the file or beside it.
    pub schema: Option<Arc<Schema>>,
    /// Columns to ignore. Any other column that is not in the schema is an error.
    pub ignore: Vec<String>,
    /// What to do with cells that are empty or NaN.
    pub missing: Missing,
    /// How much memory the rows may take. Checked before they are read where the file says how many
    /// there are, and while they are read.
    pub memory: MemoryLimit,
    /// Who hears how much is read, and may stop it.
    pub progress: Listener,
}

/// Maximum size of a schema in bytes. The largest that people write have some hundred lines.
pub const MAX_SCHEMA_BYTES: u64 = 16 << 20;

/// Maximum length of the name of a column in bytes.
const MAX_NAME_BYTES: usize = 1000;

/// Maximum number of columns of a file.
const MAX_COLUMNS: usize = 1_000_000;

/// Transitions read from a file, and what had to be inferred.
#[derive(Debug)]
pub struct Recording {
    /// The transitions.
    pub transitions: Transitions,
    /// Sentences that say what was inferred and how.
    pub notes: Vec<String>,
    /// Where it was recorded, where the file says so.
    pub origin: Option<Origin>,
}

/// Reads a `.csv`, `.parquet` or `.npz` file; the extension decides.
///
/// # Errors
/// When the file cannot be read, is damaged, or does not fit the schema; with row and column.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Recording, DataError> {
    let problem = |problem: Problem| problem.of(path);
    let beside = |mut recording: Recording| {
        let text = read_text(&schema_path(path), MAX_SCHEMA_BYTES).ok();
        recording.origin = text.and_then(|text| Origin::parse(&text));
        recording
    };
    match Format::of(path)? {
        Format::Csv => csv::read(path, options).map(beside).map_err(problem),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(path, options).map_err(problem),
        #[cfg(feature = "npz")]
        Format::Npz => npz::read(path, options).map(beside).map_err(problem),
        #[cfg(not(all(feature = "npz", feature = "parquet")))]
        other => Err(problem(Problem::NotBuilt { format: other.name() })),
    }
}

/// The values of a column in memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Numbers, NaN where one is missing.
    Numbers(Vec<f64>),
    /// Whole numbers.
    Whole(Vec<i64>),
    /// True or false.
    Flags(Vec<bool>),
    /// Labels, or numbers as text; empty where one is missing.
    Texts(Vec<String>),
}

impl Values {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Flags(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Self::Numbers(values) => Cell::Number(values[row]),
            Self::Whole(values) => Cell::Whole(values[row]),
            Self::Flags(values) => Cell::Flag(values[row]),
            Self::Texts(values) => Cell::Text(&values[row]),
        }
    }
}

/// Makes transitions of columns in memory, under the rules for files: the same names, the same notes, the
/// same errors. The options must have a schema.
///
/// # Errors
/// When the columns do not fit the schema; with row and column.
pub fn assemble(columns: &[(String, Values)], options: &ReadOptions) -> Result<Recording, Problem> {
    let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let schema = options.schema.clone().ok_or(Problem::SchemaNeeded)?;
    check_names(&names)?;
    let header = Header::resolve(&schema, names, &options.ignore).map_err(Problem::Columns)?;
    let mut assembly = Assembly::new(schema, header, options.missing);
    let rows = columns.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    if rows == 0 {
        return Err(Problem::Columns(vec!["there are no rows".into()]));
    }
    check_memory(&assembly, rows, options.memory)?;
    let watch = Tracker::begin(&options.progress, "read", "columns", columns.len());
    for (index, (name, values)) in columns.iter().enumerate() {
        for row in 0..values.len() {
            assembly.put(index, values.cell(row)).map_err(|message| Problem::Cell {
                row,
                line: None,
                column: name.clone(),
                message,
            })?;
        }
        advance(&watch, 1.0)?;
    }
    assembly.finish()
}

/// Finds the schema of a file and the places of its columns. `embedded` is the schema in the file
/// itself.
pub(super) fn assembly(
    path: &Path,
    options: &ReadOptions,
    embedded: Option<&str>,
    names: impl FnOnce(&Schema) -> Result<Vec<String>, Problem>,
) -> Result<Assembly, Problem> {
    let schema = match (&options.schema, embedded) {
        (Some(schema), _) => Arc::clone(schema),
        (None, Some(text)) => Arc::new(Schema::parse(text).map_err(Problem::Schema)?),
        (None, None) => Arc::new(schema_beside(path)?),
    };
    let names = names(&schema)?;
    check_names(&names)?;
    let header = Header::resolve(&schema, names, &options.ignore).map_err(Problem::Columns)?;
    Ok(Assembly::new(schema, header, options.missing))
}

/// Refuses names and numbers of columns that no table has, before they are looked up.
fn check_names(names: &[String]) -> Result<(), Problem> {
    if names.len() > MAX_COLUMNS {
        return Err(Problem::Columns(vec![format!(
            "there are {}, expected at most {}",
            counted(names.len(), "column"),
            thousands(MAX_COLUMNS)
        )]));
    }
    match names.iter().enumerate().find(|(_, name)| name.len() > MAX_NAME_BYTES) {
        Some((index, name)) => Err(Problem::Columns(vec![format!(
            "the name of column {} is too long, expected at most {}: {}",
            index + 1,
            counted(MAX_NAME_BYTES, "byte"),
            shown(name)
        )])),
        None => Ok(()),
    }
}

/// Refuses rows that take more memory than they may.
pub(super) fn check_memory(
    assembly: &Assembly,
    rows: usize,
    limit: MemoryLimit,
) -> Result<(), Problem> {
    let needed = assembly.row_bytes().saturating_mul(rows as u64);
    limit.check(needed).map_err(|error| Problem::Memory { rows, error })
}

/// Values of a file of columns between two reports of progress.
#[cfg(any(feature = "npz", feature = "parquet"))]
pub(super) const REPORTED_VALUES: usize = 1 << 16;

/// The name by which the progress of reading a file is shown.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// So much more is read. The listener may stop it.
pub(super) fn advance(watch: &Tracker<'_>, units: f64) -> Result<(), Problem> {
    watch.advance(units, "");
    if watch.is_stopped() { Err(Problem::Stopped) } else { Ok(()) }
}

/// Where the schema beside a file is: `data.schema.toml` for `data.csv`.
#[must_use]
pub fn schema_path(path: &Path) -> PathBuf {
    path.with_extension("schema.toml")
}

fn schema_beside(path: &Path) -> Result<Schema, Problem> {
    let beside = schema_path(path);
    match read_text(&beside, MAX_SCHEMA_BYTES) {
        Ok(text) => Schema::parse(&text).map_err(Problem::Schema),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Problem::NoSchema { beside })
        }
        Err(source) => Err(Problem::System { action: "read the schema beside it", source }),
    }
}

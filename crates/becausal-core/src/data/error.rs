//! What can be wrong with a file of transitions.

use std::path::{Path, PathBuf};

use crate::schema::SchemaError;

/// A file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct DataError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: Problem,
}

/// What is wrong with a file of transitions.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The operating system says no.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// Its answer.
        source: std::io::Error,
    },
    /// The name ends in none of the known formats.
    #[error("unknown format: expected a name that ends in .csv, .parquet or .npz")]
    UnknownFormat,
    /// The format is known, but this build leaves it out.
    #[error("this build reads and writes no {format} files: build it with the feature `{format}`")]
    NotBuilt {
        /// The name of the format and of its feature.
        format: &'static str,
    },
    /// The file is not what its name says, or part of it is missing.
    #[error("damaged or not a {format} file: {message}")]
    Damaged {
        /// CSV, Parquet or NPZ.
        format: &'static str,
        /// What was met.
        message: String,
    },
    /// Nothing in it.
    #[error("the file has no rows of data")]
    Empty,
    /// No schema was given and the file carries none.
    #[error(
        "the file carries no schema: give one, or put it beside the file as {}",
        beside.display()
    )]
    NoSchema {
        /// Where it was looked for.
        beside: PathBuf,
    },
    /// The schema in or beside the file is wrong.
    #[error("its schema is wrong: {0}")]
    Schema(SchemaError),
    /// Columns are missing, unknown or there twice.
    #[error("the columns do not fit the schema:\n  {}", .0.join("\n  "))]
    Columns(Vec<String>),
    /// A value that its variable cannot take.
    #[error("{}, column `{column}`: {message}", place(*.row, *.line))]
    Cell {
        /// Row of data, from 0.
        row: usize,
        /// Line of a text file, from 1.
        line: Option<u64>,
        /// The column's name.
        column: String,
        /// What was expected and found.
        message: String,
    },
    /// Rows that do not form episodes.
    #[error("{}: {message}", place(*.row, None))]
    Episode {
        /// Row of data, from 0.
        row: usize,
        /// What was expected and found.
        message: String,
    },
}

/// Rows are counted from 1 for people; lines and indices stand beside, as tools show them.
fn place(row: usize, line: Option<u64>) -> String {
    match line {
        Some(line) => format!("row {} (line {line})", row + 1),
        None => format!("row {} (index {row})", row + 1),
    }
}

impl Problem {
    /// This problem of that file.
    pub(crate) fn of(self, path: &Path) -> DataError {
        DataError { path: path.to_owned(), problem: self }
    }

    pub(super) fn damaged(format: &'static str, message: impl std::fmt::Display) -> Self {
        Self::Damaged { format, message: message.to_string() }
    }

    pub(crate) fn system(action: &'static str, source: std::io::Error) -> Self {
        Self::System { action, source }
    }
}

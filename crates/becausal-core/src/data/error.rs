//! Errors of reading and writing files of transitions.

use std::path::{Path, PathBuf};

use super::missing::in_words;
use crate::memory::MemoryError;
use crate::output::Obstacle;
use crate::schema::SchemaError;
use crate::text;

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
    /// The operating system reported an error.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// The error.
        source: std::io::Error,
    },
    /// Something is in the way of an output.
    #[error("cannot write: {0}")]
    Output(Obstacle),
    /// The extension is not that of a known format.
    #[error("unknown format: expected a name that ends in .csv, .parquet or .npz")]
    UnknownFormat,
    /// The format is known, but this build does not include it.
    #[error("this build does not support {format} files: build it with the feature `{format}`")]
    NotBuilt {
        /// The name of the format, which is also the name of its feature.
        format: &'static str,
    },
    /// The file does not have the format of its extension, or part of it is missing.
    #[error("damaged or not a {format} file: {message}")]
    Damaged {
        /// CSV, Parquet or NPZ.
        format: &'static str,
        /// What is wrong.
        message: String,
    },
    /// What the file holds does not fit into the memory that may be used.
    #[error("{} or more are too many: {error}", text::counted(*.rows, "row"))]
    Memory {
        /// Rows in the file, or read so far.
        rows: usize,
        /// What they need, and what may be used.
        error: MemoryError,
    },
    /// The listener stopped the reading.
    #[error("reading was stopped")]
    Stopped,
    /// There is no data in the file.
    #[error("the file has no rows of data")]
    Empty,
    /// No schema was given and the file contains none.
    #[error(
        "the file contains no schema: give one, or save it beside the file as {}",
        beside.display()
    )]
    NoSchema {
        /// The path where a schema was expected.
        beside: PathBuf,
    },
    /// Columns in memory carry no schema.
    #[error("columns in memory carry no schema: give one")]
    SchemaNeeded,
    /// The place of the schema is taken by another one.
    #[error(
        "its schema would replace {}, which is another schema; move that away, or give another name",
        beside.display()
    )]
    OtherSchema {
        /// The path of the schema that is there.
        beside: PathBuf,
    },
    /// The schema in or beside the file is wrong.
    #[error("its schema has mistakes: {0}")]
    Schema(SchemaError),
    /// Columns are missing, unknown or duplicate.
    #[error("the columns do not fit the schema:\n  {}", .0.join("\n  "))]
    Columns(Vec<String>),
    /// A cell is not a value of its variable.
    #[error("{}, column `{}`: {message}", place(*.row, *.line), text::shown(.column))]
    Cell {
        /// Row of data, counted from 0.
        row: usize,
        /// Line of a text file, counted from 1.
        line: Option<u64>,
        /// The column's name.
        column: String,
        /// What was expected and found.
        message: String,
    },
    /// Cells are empty or NaN, and nothing was said about such cells.
    #[error(
        "cells are empty or NaN, the first in row {} (index {row}); by column: {}\n  \
         choose what to do with them: `drop` leaves out the transitions that need them, `episode` ends \
         the episode there, `hold` uses the last value before",
        row + 1, in_words(counts)
    )]
    Missing {
        /// The first row with such a cell, counted from 0.
        row: usize,
        /// Columns and how many of their cells, most first.
        counts: Vec<(String, usize)>,
    },
    /// The rows do not form episodes.
    #[error("{}: {message}", place(*.row, None))]
    Episode {
        /// Row of data, counted from 0.
        row: usize,
        /// What was expected and found.
        message: String,
    },
}

/// The row, counted from 1, followed by the line of the file or else the index counted from 0.
fn place(row: usize, line: Option<u64>) -> String {
    match line {
        Some(line) => format!("row {} (line {line})", row + 1),
        None => format!("row {} (index {row})", row + 1),
    }
}

impl Problem {
    /// Adds the path of the file.
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

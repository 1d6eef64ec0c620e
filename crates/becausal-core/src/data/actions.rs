//! Reads only the actions of a file.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::Path;

#[cfg(feature = "npz")]
use zip::ZipArchive;

use super::cell::{self, Cell};
use super::error::{DataError, Problem};
use super::npy::{self, ArrayHeader};
#[cfg(feature = "npz")]
use super::npz;
use super::read::{ReadOptions, read};
use crate::memory::MemoryLimit;
#[cfg(feature = "npz")]
use crate::schema::Role;
use crate::schema::{Kind, Schema};
#[cfg(feature = "npz")]
use crate::text::counted;

/// Parses a value of this kind as a person writes it, and returns it as a number.
///
/// # Errors
/// A message, when the kind has no such value.
pub fn parse_value(kind: &Kind, text: &str) -> Result<f64, String> {
    cell::value(kind, Cell::Text(text))
}

/// Reads the actions in a file, one per row. `parse` parses a line of a text file without column
/// names.
pub(crate) fn read_actions(
    path: &Path,
    schema: &Schema,
    parse: impl Fn(&str) -> Result<Vec<f64>, String>,
) -> Result<Vec<Vec<f64>>, DataError> {
    let problem = |problem: Problem| problem.of(path);
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
    let actions = match ending.as_deref() {
        Some("parquet") => from_recording(path, schema)?,
        #[cfg(feature = "npz")]
        Some("npz") => from_archive(path, schema).map_err(problem)?,
        #[cfg(not(feature = "npz"))]
        Some("npz") => return Err(problem(Problem::NotBuilt { format: "npz" })),
        Some("npy") => from_file(path, schema).map_err(problem)?,
        _ => from_text(path, schema, parse).map_err(problem)?,
    };
    if actions.is_empty() { Err(problem(Problem::Empty)) } else { Ok(actions) }
}

fn from_recording(path: &Path, schema: &Schema) -> Result<Vec<Vec<f64>>, DataError> {
    let transitions = read(path, &ReadOptions::default())?.transitions;
    let theirs = transitions.schema();
    let slots: Option<Vec<usize>> = schema
        .action_slots()
        .map(|slot| theirs.slots().iter().position(|known| known.name == schema.slots()[slot].name))
        .collect();
    let slots = slots.ok_or_else(|| {
        let message = format!("it contains actions of {}, not of {}", theirs.name(), schema.name());
        Problem::Columns(vec![message]).of(path)
    })?;
    Ok((0..transitions.len())
        .map(|row| slots.iter().map(|&slot| transitions.column(slot).get(row)).collect())
        .collect())
}

fn from_text(
    path: &Path,
    schema: &Schema,
    parse: impl Fn(&str) -> Result<Vec<f64>, String>,
) -> Result<Vec<Vec<f64>>, Problem> {
    let file = File::open(path).map_err(|source| Problem::system("open", source))?;
    let names: Vec<&str> =
        schema.action_slots().map(|slot| schema.slots()[slot].name.as_str()).collect();
    // The column of each action variable, if the first line contains column names.
    let mut columns: Option<Vec<usize>> = None;
    let mut actions: Vec<Vec<f64>> = Vec::new();
    let mut first = true;
    for (index, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(|source| Problem::system("read", source))?;
        let line = line.trim().trim_start_matches('\u{feff}');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> =
            line.split(',').map(|field| field.trim().trim_matches('"')).collect();
        if std::mem::take(&mut first) {
            columns =
                names.iter().map(|name| fields.iter().position(|field| field == name)).collect();
            if columns.is_some() {
                continue;
            }
        }
        let action = match &columns {
            None => parse(line),
            Some(columns) => columns
                .iter()
                .zip(schema.action_slots())
                .map(|(&column, slot)| {
                    let field = fields.get(column).copied().unwrap_or("");
                    parse_value(&schema.variable_of(slot).kind, field)
                })
                .collect(),
        };
        actions.push(action.map_err(|message| Problem::Cell {
            row: actions.len(),
            line: Some(index as u64 + 1),
            column: names.join(", "),
            message,
        })?);
    }
    Ok(actions)
}

#[cfg(feature = "npz")]
fn from_archive(path: &Path, schema: &Schema) -> Result<Vec<Vec<f64>>, Problem> {
    let damaged = |error: &dyn std::fmt::Display| Problem::damaged("NPZ", error);
    let file = File::open(path).map_err(|source| Problem::system("open", source))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(&error))?;
    let has = |archive: &ZipArchive<_>, name: &str| archive.index_for_name(&format!("{name}.npy"));
    let width = schema.action_slots().len();
    // All action variables in one array, as in Gymnasium.
    for name in ["action", "actions"] {
        let index =
            has(&archive, name).filter(|_| !schema.variables().iter().any(|v| v.name == name));
        if let Some(index) = index {
            return from_entry(&mut archive, index, schema, 0..width);
        }
    }
    let mut actions: Vec<Vec<f64>> = Vec::new();
    let mut first = 0;
    for variable in schema.of_role(Role::Action) {
        let index = has(&archive, &variable.name).ok_or_else(|| {
            let name = &variable.name;
            Problem::Columns(vec![format!("there is no array `{name}` and no array `action`")])
        })?;
        let part = from_entry(&mut archive, index, schema, first..first + variable.elements())?;
        first += variable.elements();
        if actions.is_empty() {
            actions = part;
        } else if actions.len() == part.len() {
            actions.iter_mut().zip(part).for_each(|(action, more)| action.extend(more));
        } else {
            let message = format!(
                "`{}` has {}, others {}",
                variable.name,
                counted(part.len(), "row"),
                actions.len()
            );
            return Err(Problem::Columns(vec![message]));
        }
    }
    Ok(actions)
}

#[cfg(feature = "npz")]
fn from_entry<R: Read + std::io::Seek>(
    archive: &mut ZipArchive<R>,
    index: usize,
    schema: &Schema,
    elements: Range<usize>,
) -> Result<Vec<Vec<f64>>, Problem> {
    let entry = npz::read_entry(archive, index)?; // checks the size
    let mut file = archive.by_index(index).map_err(|error| Problem::damaged("NPZ", error))?;
    npy::read_header(&mut file).map_err(|message| Problem::damaged("NPZ", message))?;
    let actions = from_array(&mut file, &entry.header, schema, elements)?;
    npz::check_end(&mut file).map_err(|message| Problem::damaged("NPZ", message))?;
    Ok(actions)
}

fn from_file(path: &Path, schema: &Schema) -> Result<Vec<Vec<f64>>, Problem> {
    let file = File::open(path).map_err(|source| Problem::system("open", source))?;
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    let mut input = BufReader::new(file);
    let damaged = |message: String| Problem::damaged("NPY", message);
    let (header, _) = npy::read_header(&mut input).map_err(damaged)?;
    let needed = header
        .shape
        .iter()
        .try_fold(header.element.size, |needed, &size| needed.checked_mul(size))
        .map(|needed| needed as u64);
    if needed.is_none_or(|needed| needed > bytes) {
        return Err(damaged(format!(
            "its shape {:?} needs more bytes than the file has",
            header.shape
        )));
    }
    from_array(&mut input, &header, schema, 0..schema.action_slots().len())
}

/// Reads an array `[rows]` or `[rows, elements]` whose size was checked.
fn from_array(
    input: &mut impl Read,
    header: &ArrayHeader,
    schema: &Schema,
    elements: Range<usize>,
) -> Result<Vec<Vec<f64>>, Problem> {
    let width = elements.len();
    let rows = match header.shape.as_slice() {
        [rows] if width == 1 => *rows,
        [rows, columns] if *columns == width => *rows,
        shape => {
            return Err(Problem::Columns(vec![format!(
                "the array of actions has the shape {shape:?}, expected [rows, {width}]"
            )]));
        }
    };
    let bytes = (rows as u64).saturating_mul(24 + 8 * width as u64);
    MemoryLimit::default().check(bytes).map_err(|error| Problem::Memory { rows, error })?;
    let mut actions = vec![vec![0.0; width]; rows];
    let cut_off = || Problem::damaged("NumPy", "the array is cut off");
    npy::for_each(input, header, cut_off, |row, column, cell| {
        let slot = schema.action_slots().start + elements.start + column;
        let value = cell.and_then(|cell| cell::value(&schema.variable_of(slot).kind, cell));
        actions[row][column] = value.map_err(|message| Problem::Cell {
            row,
            line: None,
            column: schema.slots()[slot].name.clone(),
            message,
        })?;
        Ok(())
    })?;
    Ok(actions)
}

//! NPZ: a ZIP archive with one NPY array per variable.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::assemble::Assembly;
use super::cell::labels_are_numbers;
use super::error::Problem;
use super::npy::{self, ArrayHeader};
use super::read::{
    REPORTED_VALUES, ReadOptions, Recording, advance, assembly, check_memory, name_of,
};
use super::transitions::Transitions;
use super::write::whole;
use crate::progress::Tracker;
use crate::schema::{Kind, Schema};
use crate::text::{counted, shown, thousands};

/// Maximum ratio of an entry's size to its compressed size. Deflate reaches at most about 1030, so
/// a larger claim is false.
const MAX_COMPRESSION_RATIO: u64 = 1100;

/// An array in the archive.
pub(super) struct Entry {
    pub(super) index: usize,
    pub(super) name: String,
    pub(super) header: ArrayHeader,
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Recording, Problem> {
    let file = File::open(path).map_err(|source| Problem::system("open", source))?;
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    let mut input = BufReader::new(file);
    let declared =
        declared_entries(&mut input).map_err(|source| Problem::system("read", source))?;
    let mut archive = ZipArchive::new(input).map_err(damaged)?;
    if declared.is_some_and(|declared| declared != archive.len()) {
        let duplicate = "two arrays have the same name: expected one array per name";
        return Err(Problem::Columns(vec![duplicate.into()]));
    }
    let entries = (0..archive.len())
        .map(|index| read_entry(&mut archive, index))
        .collect::<Result<Vec<Entry>, Problem>>()?;
    if entries.is_empty() {
        return Err(Problem::damaged("NPZ", "the archive contains no arrays"));
    }
    // A 2-D array gives one column per element; this is the index of each entry's first column.
    let mut first = Vec::with_capacity(entries.len());
    let mut assembly = assembly(path, options, None, |schema| {
        let mut names = Vec::new();
        for entry in &entries {
            first.push(names.len());
            names.extend(column_names(schema, entry, options)?);
        }
        Ok(names)
    })?;
    let rows = check_lengths(&entries, options)?;
    check_memory(&assembly, rows, options.memory.for_file(bytes))?;
    let used = |entry: &&Entry| !options.ignore.contains(&entry.name);
    let values = entries.iter().filter(used).map(|entry| entry.header.shape.iter().product());
    let name = name_of(path);
    let watch = Tracker::begin(
        &options.progress,
        &name,
        "values",
        values.fold(0, |sum: usize, more: usize| sum.saturating_add(more)),
    );
    for (entry, &first) in entries.iter().zip(&first).filter(|(entry, _)| used(entry)) {
        read_array(&mut archive, entry, first, &mut assembly, &watch)?;
    }
    assembly.finish()
}

/// The number of entries according to the archive's last record. [`ZipArchive`] keeps only one
/// entry of each name, so a difference means duplicate names.
fn declared_entries(input: &mut (impl Read + Seek)) -> std::io::Result<Option<usize>> {
    const RECORD: usize = 22;
    let length = input.seek(SeekFrom::End(0))?;
    let from = length.saturating_sub(RECORD as u64 + u64::from(u16::MAX)); // a comment may follow
    input.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    input.read_to_end(&mut tail)?;
    input.seek(SeekFrom::Start(0))?;
    let record = tail.windows(RECORD).rev().find(|bytes| bytes.starts_with(b"PK\x05\x06"));
    let count = record.map(|record| u16::from_le_bytes([record[10], record[11]]));
    // If the number does not fit this field, it is stored elsewhere.
    Ok(count.filter(|&count| count != u16::MAX).map(usize::from))
}

fn damaged(error: impl std::fmt::Display) -> Problem {
    Problem::damaged("NPZ", error)
}

/// Reads the header of an array and checks its size against the archive.
pub(super) fn read_entry<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    index: usize,
) -> Result<Entry, Problem> {
    let mut file = archive.by_index(index).map_err(damaged)?;
    let name = file.name().map_err(damaged)?.trim_end_matches(".npy").to_owned();
    let at = |message: String| damaged(format!("`{}`: {message}", shown(&name)));
    let claimed = file.size();
    let stored = file.compressed_size();
    if claimed > stored.saturating_mul(MAX_COMPRESSION_RATIO).saturating_add(1024) {
        return Err(at(format!("claims {claimed} bytes, but only {stored} are there")));
    }
    let (header, header_bytes) = npy::read_header(&mut file).map_err(at)?;
    let elements = header
        .shape
        .iter()
        .try_fold(header.element.size, |bytes, &size| bytes.checked_mul(size))
        .and_then(|bytes| u64::try_from(bytes).ok());
    let rest = claimed.checked_sub(header_bytes as u64);
    if elements.is_none() || elements != rest {
        return Err(at(format!(
            "its shape {:?} needs {} bytes, but {} are there",
            header.shape,
            elements.map_or("too many".to_owned(), |bytes| bytes.to_string()),
            rest.unwrap_or(0)
        )));
    }
    Ok(Entry { index, name: name.clone(), header })
}

/// The columns of an array, checked against the variable of the same name.
fn column_names(
    schema: &Schema,
    entry: &Entry,
    options: &ReadOptions,
) -> Result<Vec<String>, Problem> {
    if options.ignore.contains(&entry.name) {
        return Ok(vec![entry.name.clone()]);
    }
    let name = entry.name.as_str();
    let variable = schema
        .variables()
        .iter()
        .find(|variable| name.strip_suffix('\'').unwrap_or(name) == variable.name);
    let size = variable.and_then(|variable| variable.size);
    let wrong = |expected: &str| {
        let shape = &entry.header.shape;
        Problem::Columns(vec![format!(
            "`{}` has the shape {shape:?}, expected {expected}",
            shown(name)
        )])
    };
    match (entry.header.shape.as_slice(), size) {
        ([_], None) => Ok(vec![entry.name.clone()]),
        ([_, 1], None) if variable.is_some() => Ok(vec![entry.name.clone()]),
        ([_, columns], Some(size)) if *columns == size => {
            Ok((0..size).map(|element| format!("{name}[{element}]")).collect())
        }
        (_, Some(size)) => Err(wrong(&format!("[rows, {size}]"))),
        (_, None) => Err(wrong("[rows]")),
    }
}

/// The number of rows, which all arrays that are read have in common.
fn check_lengths(entries: &[Entry], options: &ReadOptions) -> Result<usize, Problem> {
    let mut used = entries.iter().filter(|entry| !options.ignore.contains(&entry.name));
    let Some(first) = used.next() else {
        return Ok(0);
    };
    let rows = |entry: &Entry| entry.header.shape.first().copied().unwrap_or(0);
    match used.find(|entry| rows(entry) != rows(first)) {
        Some(other) => Err(Problem::Columns(vec![format!(
            "`{}` has {}, but `{}` has {}",
            shown(&other.name),
            counted(rows(other), "row"),
            shown(&first.name),
            thousands(rows(first))
        )])),
        None => Ok(rows(first)),
    }
}

fn read_array<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    entry: &Entry,
    first: usize,
    assembly: &mut Assembly,
    watch: &Tracker<'_>,
) -> Result<(), Problem> {
    let file = archive.by_index(entry.index).map_err(damaged)?;
    let mut input = BufReader::with_capacity(1 << 16, file);
    let at = |message: String| damaged(format!("`{}`: {message}", shown(&entry.name)));
    npy::read_header(&mut input).map_err(at)?;
    let cut_off = || at("the array is cut off".into());
    let mut unreported = 0;
    npy::for_each(&mut input, &entry.header, cut_off, |row, column, cell| {
        unreported += 1;
        if unreported == REPORTED_VALUES {
            advance(watch, unreported as f64)?;
            unreported = 0;
        }
        cell.and_then(|cell| assembly.put(first + column, cell)).map_err(|message| Problem::Cell {
            row,
            line: None,
            column: assembly.header().names[first + column].clone(),
            message,
        })
    })?;
    check_end(&mut input).map_err(at)?;
    advance(watch, unreported as f64)
}

/// Reads to the end of an entry, where its checksum is compared with the archive's.
pub(super) fn check_end(input: &mut impl Read) -> Result<(), String> {
    match input.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err("there is more than its shape says".into()),
        Err(error) => Err(format!("its content was altered or is damaged ({error})")),
    }
}

/// Collects the values of each array in a temporary file and archives them at the end. An archive
/// stores each array in one piece, but rows arrive with all columns at once.
pub(super) struct NpzWriter<W: Write + Seek> {
    output: W,
    arrays: Vec<Array>,
    rows: usize,
    episodes: usize,
}

struct Array {
    name: String,
    element: &'static str,
    /// Elements of a vector.
    columns: Option<usize>,
    values: BufWriter<File>,
}

/// The NumPy type of a kind's elements.
fn element(kind: &Kind) -> &'static str {
    match kind {
        Kind::Continuous(_) | Kind::Circular(_) => "<f8",
        Kind::Integer(_) | Kind::Categorical(_) => "<i8",
        Kind::Boolean => "|b1",
    }
}

impl<W: Write + Seek> NpzWriter<W> {
    pub(super) fn new(
        output: W,
        directory: &Path,
        schema: &Schema,
        with_reward: bool,
    ) -> Result<Self, Problem> {
        let mut arrays = Vec::new();
        let mut add = |name: String, element, columns| {
            let values = tempfile::tempfile_in(directory)
                .map_err(|source| Problem::system("write", source))?;
            arrays.push(Array { name, element, columns, values: BufWriter::new(values) });
            Ok::<(), Problem>(())
        };
        add("episode".into(), "<i8", None)?;
        let mut last = None;
        for slot in schema.slots() {
            if last.replace((slot.variable, slot.next)) == Some((slot.variable, slot.next)) {
                continue; // a further element of the same vector
            }
            let variable = &schema.variables()[slot.variable];
            let prime = if slot.next { "'" } else { "" };
            add(format!("{}{prime}", variable.name), element(&variable.kind), variable.size)?;
        }
        if with_reward {
            add("reward".into(), "<f8", None)?;
        }
        add("terminated".into(), "|b1", None)?;
        add("truncated".into(), "|b1", None)?;
        Ok(Self { output, arrays, rows: 0, episodes: 0 })
    }

    pub(super) fn append(&mut self, transitions: &Transitions) -> Result<(), Problem> {
        self.append_rows(transitions).map_err(|source| Problem::system("write", source))?;
        self.rows += transitions.len();
        self.episodes += transitions.episodes();
        Ok(())
    }

    fn append_rows(&mut self, transitions: &Transitions) -> std::io::Result<()> {
        let schema = transitions.schema();
        let mut arrays = self.arrays.iter_mut();
        let mut next = || &mut arrays.next().expect("one array per variable").values;
        let output = next();
        for episode in 0..transitions.episodes() {
            let number = (self.episodes + episode) as u64;
            for _ in transitions.episode(episode) {
                output.write_all(&number.to_le_bytes())?;
            }
        }
        let mut slot = 0;
        while slot < schema.slots().len() {
            let variable = schema.variable_of(slot);
            let output = next();
            for row in 0..transitions.len() {
                for element in slot..slot + variable.elements() {
                    let value = transitions.column(element).get(row);
                    match &variable.kind {
                        Kind::Continuous(_) | Kind::Circular(_) => {
                            output.write_all(&value.to_le_bytes())?;
                        }
                        Kind::Boolean => output.write_all(&[u8::from(value != 0.0)])?,
                        Kind::Integer(_) => output.write_all(&whole(value).to_le_bytes())?,
                        Kind::Categorical(labels) => {
                            let code = transitions.code(element, row);
                            let number = if labels_are_numbers(labels) {
                                labels[code].parse().unwrap_or_default()
                            } else {
                                whole(value)
                            };
                            output.write_all(&number.to_le_bytes())?;
                        }
                    }
                }
            }
            slot += variable.elements();
        }
        if let Some(reward) = transitions.reward() {
            let output = next();
            for value in reward {
                output.write_all(&value.to_le_bytes())?;
            }
        }
        for flags in [transitions.terminated(), transitions.truncated()] {
            let output = next();
            for &flag in flags {
                output.write_all(&[u8::from(flag)])?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<W, Problem> {
        let failed = |source| Problem::system("write", source);
        let mut archive = ZipWriter::new(self.output);
        for array in self.arrays {
            let mut values =
                array.values.into_inner().map_err(|error| failed(error.into_error()))?;
            let bytes = values.seek(SeekFrom::End(0)).map_err(failed)?;
            values.seek(SeekFrom::Start(0)).map_err(failed)?;
            // Stored without compression, like np.savez, so that reading is as fast as the disk.
            let options = SimpleFileOptions::default()
                .compression_method(zip::CompressionMethod::Stored)
                .large_file(bytes > u64::from(u32::MAX) / 2);
            let zip_failed = |error| failed(std::io::Error::other(error));
            archive.start_file(format!("{}.npy", array.name), options).map_err(zip_failed)?;
            npy::write_header(&mut archive, array.element, self.rows, array.columns)
                .map_err(failed)?;
            std::io::copy(&mut values, &mut archive).map_err(failed)?;
        }
        archive.finish().map_err(|error| failed(std::io::Error::other(error)))
    }
}

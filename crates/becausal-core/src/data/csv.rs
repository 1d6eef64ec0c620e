//! CSV: a header line, then one line per transition.

use std::cell::Cell as Counter;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::rc::Rc;

use csv::{ByteRecord, ReaderBuilder};

use super::cell::Cell;
use super::error::Problem;
use super::read::{ReadOptions, Recording, advance, assembly, check_memory, name_of};
use super::transitions::Transitions;
use crate::progress::Tracker;
use crate::text::{counted, size};

/// Maximum size of a row in bytes.
const MAX_RECORD_BYTES: u64 = 64 << 20;

/// Rows between two looks at the memory that they take.
const MEMORY_CHECK_ROWS: usize = 1 << 14;

/// Bytes between two reports of progress: about 0.1 s.
const REPORTED_BYTES: u64 = 1 << 20;

/// Bytes of a kB.
const KILOBYTE: u64 = 1000;

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Recording, Problem> {
    let file = File::open(path).map_err(|source| Problem::system("open", source))?;
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    let mut input = BufReader::with_capacity(1 << 16, file);
    let skipped =
        skip_byte_order_mark(&mut input).map_err(|source| Problem::system("read", source))?;
    let since_record = Rc::new(Counter::new(0));
    let input = Guarded { input, since_record: Rc::clone(&since_record) };
    let mut lines = ReaderBuilder::new().flexible(true).has_headers(false).from_reader(input);
    let line_of = |record: &ByteRecord| line_of(path, skipped, record);
    let mut record = ByteRecord::new();
    if !next(&mut lines, &mut record)? {
        return Err(Problem::damaged("CSV", "the file is empty, expected a line of column names"));
    }
    let names: Vec<String> =
        record.iter().map(|field| String::from_utf8_lossy(field).trim().to_owned()).collect();
    if let [only] = names.as_slice()
        && let Some(other) = [';', '\t'].into_iter().find(|&other| only.contains(other))
    {
        let message = format!("the columns are separated by {other:?}: expected commas");
        return Err(Problem::damaged("CSV", message));
    }
    let columns = names.len();
    let mut assembly = assembly(path, options, None, |_| Ok(names))?;
    let name = name_of(path);
    let total = usize::try_from(bytes / KILOBYTE).unwrap_or(usize::MAX).max(1);
    let watch = Tracker::begin(&options.progress, &name, "kB", total);
    let mut reported = 0;
    let mut row = 0;
    while next(&mut lines, &mut record)? {
        since_record.set(0);
        if row % MEMORY_CHECK_ROWS == 0 {
            check_memory(&assembly, row, options.memory)?;
        }
        let begins = record.position().map_or(0, csv::Position::byte);
        if begins >= reported + REPORTED_BYTES {
            advance(&watch, (begins - reported) as f64 / KILOBYTE as f64)?;
            reported = begins;
        }
        if record.len() != columns {
            let message = format!(
                "line {} has {}, expected {columns} as in the first line",
                line_of(&record).unwrap_or_default(),
                counted(record.len(), "field")
            );
            return Err(Problem::damaged("CSV", message));
        }
        for (index, field) in record.iter().enumerate() {
            let put = match std::str::from_utf8(field) {
                Ok(text) => assembly.put(index, Cell::Text(text.trim())),
                Err(_) => Err("the cell is not UTF-8 text".into()),
            };
            put.map_err(|message| {
                let column = assembly.header().names[index].clone();
                Problem::Cell { row, line: line_of(&record), column, message }
            })?;
        }
        row += 1;
    }
    check_memory(&assembly, row, options.memory)?;
    advance(&watch, total as f64)?;
    assembly.finish()
}

fn next<R: Read>(lines: &mut csv::Reader<R>, record: &mut ByteRecord) -> Result<bool, Problem> {
    lines.read_byte_record(record).map_err(|error| match error.into_kind() {
        csv::ErrorKind::Io(source) => Problem::system("read", source),
        other => Problem::damaged("CSV", format!("{other:?}")),
    })
}

/// Skips the byte order mark that Excel writes, and returns its length.
fn skip_byte_order_mark(input: &mut BufReader<File>) -> std::io::Result<u64> {
    use std::io::BufRead;
    if input.fill_buf()?.starts_with(b"\xEF\xBB\xBF") {
        input.consume(3);
        return Ok(3);
    }
    Ok(0)
}

/// Refuses a record that never ends: a quote that is not closed, or a file of something else.
struct Guarded<R> {
    input: R,
    /// Bytes read since the last record.
    since_record: Rc<Counter<u64>>,
}

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.since_record.get() > MAX_RECORD_BYTES {
            let message = format!(
                "a row has more than {}: expected one row a line (is a quote not closed?)",
                size(MAX_RECORD_BYTES)
            );
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, message));
        }
        let count = self.input.read(buffer)?;
        self.since_record.set(self.since_record.get() + count as u64);
        Ok(count)
    }
}

/// The line that a record begins in, counted from 1.
///
/// The parser's own count lags behind where lines end in CR and LF, and where lines are empty: it is
/// taken before the rest of the last line end is read. So the line ends before the record are
/// counted in the file, which happens once, for a message.
fn line_of(path: &Path, skipped: u64, record: &ByteRecord) -> Option<u64> {
    let position = record.position()?;
    let counted = || -> std::io::Result<u64> {
        let input = BufReader::new(File::open(path)?);
        let begins = skipped + position.byte();
        let mut line = 1;
        for (at, byte) in (0..).zip(input.bytes()) {
            match byte? {
                b'\n' => line += 1,
                b'\r' => {}
                _ if at >= begins => break,
                _ => {}
            }
        }
        Ok(line)
    };
    Some(counted().unwrap_or(position.line()))
}

/// Writes transitions as lines, in the order in which they are appended.
pub(super) struct CsvWriter<W: Write> {
    output: csv::Writer<W>,
    /// Episodes written so far.
    episodes: usize,
}

impl<W: Write> CsvWriter<W> {
    pub(super) fn new(output: W, names: &[String]) -> Result<Self, Problem> {
        let mut output = csv::Writer::from_writer(output);
        output.write_record(names).map_err(failed)?;
        Ok(Self { output, episodes: 0 })
    }

    pub(super) fn append(&mut self, transitions: &Transitions) -> Result<(), Problem> {
        use std::fmt::Write;
        let schema = transitions.schema();
        let mut text = String::new();
        for episode in 0..transitions.episodes() {
            for row in transitions.episode(episode) {
                text.clear();
                let _ = write!(text, "{}", self.episodes + episode); // a String never fails
                self.output.write_field(&text).map_err(failed)?;
                for slot in 0..schema.slots().len() {
                    text.clear();
                    let value = transitions.column(slot).get(row);
                    match &schema.variable_of(slot).kind {
                        crate::schema::Kind::Categorical(labels) => {
                            text.push_str(&labels[transitions.code(slot, row)]);
                        }
                        crate::schema::Kind::Continuous(_) | crate::schema::Kind::Circular(_) => {
                            let _ = write!(text, "{value:?}"); // shortest form that reads back
                        }
                        _ => {
                            let _ = write!(text, "{value}");
                        }
                    }
                    self.output.write_field(&text).map_err(failed)?;
                }
                if let Some(reward) = transitions.reward() {
                    text.clear();
                    let _ = write!(text, "{:?}", reward[row]);
                    self.output.write_field(&text).map_err(failed)?;
                }
                for flag in [transitions.terminated()[row], transitions.truncated()[row]] {
                    self.output.write_field(if flag { "1" } else { "0" }).map_err(failed)?;
                }
                self.output.write_record(None::<&[u8]>).map_err(failed)?;
            }
        }
        self.episodes += transitions.episodes();
        Ok(())
    }

    pub(super) fn finish(self) -> Result<W, Problem> {
        self.output
            .into_inner()
            .map_err(|error| Problem::system("write", std::io::Error::other(error.to_string())))
    }
}

fn failed(error: csv::Error) -> Problem {
    Problem::system("write", std::io::Error::other(error))
}

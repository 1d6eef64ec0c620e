//! Parquet, through the column readers and writers of its crate (no Arrow).

use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescriptor, ColumnPath, Type};

use super::assemble::Assembly;
use super::cell::Cell;
use super::column::Column;
use super::error::Problem;
use super::header::Place;
use super::origin::Origin;
use super::parquet_footer;
use super::read::{
    REPORTED_VALUES, ReadOptions, Recording, advance, assembly, check_memory, name_of,
};
use super::transitions::Transitions;
use super::write::whole;
use crate::progress::Tracker;
use crate::schema::{Kind, Schema};

/// The key of the schema in the file's metadata.
const SCHEMA_KEY: &str = "becausal.schema";

/// Where the file's metadata keeps what was recorded.
const ORIGIN_KEY: &str = "becausal.origin";

/// Where the file's metadata keeps the first episode of each recording, separated by commas. Only
/// where a recording has several episodes.
const RECORDINGS_KEY: &str = "becausal.recordings";

/// Rows decoded at a time.
const BATCH_ROWS: usize = 8192;

/// Rows in a row group.
const GROUP_ROWS: usize = 1 << 17;

thread_local! {
    static DECODING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether this thread is inside the Parquet decoder.
///
/// The decoder panics on some damaged files. [`read`](super::read()) catches the panic and returns
/// an error. A program that sets a panic hook can use this function to stay silent.
#[must_use]
pub fn is_decoding_parquet() -> bool {
    DECODING.get()
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Recording, Problem> {
    DECODING.set(true);
    // Nothing that the decoder touched is used after a panic.
    let result = catch_unwind(AssertUnwindSafe(|| decode(path, options)));
    DECODING.set(false);
    result.unwrap_or_else(|_| Err(Problem::damaged("Parquet", "its content cannot be decoded")))
}

fn decode(path: &Path, options: &ReadOptions) -> Result<Recording, Problem> {
    let mut file = File::open(path).map_err(|source| Problem::system("open", source))?;
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    parquet_footer::check(&mut file)?;
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let metadata = reader.metadata().file_metadata();
    let carried = |key: &str| {
        let pair = metadata.key_value_metadata()?.iter().find(|pair| pair.key == key)?;
        pair.value.clone()
    };
    let origin = carried(ORIGIN_KEY).and_then(|text| Origin::parse(&text));
    let columns = metadata.schema_descr().columns();
    let names = columns.iter().map(|column| column.path().parts().join(".")).collect();
    let mut assembly = assembly(path, options, carried(SCHEMA_KEY).as_deref(), |_| Ok(names))?;
    let rows = usize::try_from(metadata.num_rows()).unwrap_or(0);
    check_memory(&assembly, rows, options.memory.for_file(bytes))?;
    if let Some(text) = carried(RECORDINGS_KEY) {
        // A number that cannot be read does not fit the episodes either, nor do more than there are rows.
        let first = text.split(',').map(|number| number.parse().unwrap_or(usize::MAX));
        assembly.set_recordings(first.take(rows.saturating_add(1)).collect());
    }
    let used: Vec<usize> = (0..columns.len())
        .filter(|&index| assembly.header().places[index] != Place::Ignored)
        .collect();
    let name = name_of(path);
    let values = rows.saturating_mul(used.len());
    let watch = Tracker::begin(&options.progress, &name, "values", values);
    for index in used {
        let column = &columns[index];
        let meaning = Meaning::of(column).map_err(|message| {
            Problem::Columns(vec![format!("column `{}` {message}", assembly.header().names[index])])
        })?;
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).map_err(damaged)?;
            let values = group.get_column_reader(index).map_err(damaged)?;
            let nullable = column.max_def_level() > 0;
            let chunk = Chunk { index, nullable, rows, watch: &watch };
            read_column(values, meaning, chunk, &mut assembly)?;
        }
    }
    Ok(Recording { origin, ..assembly.finish()? })
}

#[expect(clippy::needless_pass_by_value, reason = "map_err passes by value")]
fn damaged(error: ParquetError) -> Problem {
    let message = error.to_string();
    let message = message.strip_prefix("Parquet error: ").unwrap_or(&message);
    let hint = if message.starts_with("Disabled feature") {
        " (write it with compression=\"snappy\")"
    } else {
        ""
    };
    Problem::damaged("Parquet", format!("{message}{hint}"))
}

/// How to interpret the stored bits of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Plain,
    Unsigned,
}

impl Meaning {
    /// Rejects types that would be misread: dates, decimals, lists.
    fn of(column: &ColumnDescriptor) -> Result<Self, String> {
        if column.max_rep_level() > 0 || column.max_def_level() > 1 {
            return Err("is nested: expected one column per element, `v[0]`, `v[1]`, …".into());
        }
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Integer(integer)), _) if !integer.is_signed => Ok(Self::Unsigned),
            (Some(LogicalType::Integer(_) | LogicalType::String | LogicalType::Enum), _)
            | (
                None,
                ConvertedType::NONE
                | ConvertedType::UTF8
                | ConvertedType::ENUM
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64,
            ) => match column.physical_type() {
                PhysicalType::INT96 | PhysicalType::FIXED_LEN_BYTE_ARRAY => Err(format!(
                    "has the type {}: expected numbers, booleans or text",
                    column.physical_type()
                )),
                _ => Ok(Self::Plain),
            },
            (
                None,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => Ok(Self::Unsigned),
            (Some(LogicalType::Unknown), _) => Err("has only empty cells".into()),
            (Some(other), _) => {
                Err(format!("has the type {other:?}: expected numbers, booleans or text"))
            }
            (None, other) => {
                Err(format!("has the type {other:?}: expected numbers, booleans or text"))
            }
        }
    }
}

/// A part of a column.
#[derive(Debug, Clone, Copy)]
struct Chunk<'a> {
    /// The column of the file.
    index: usize,
    /// Whether cells may be empty.
    nullable: bool,
    /// Rows of the whole file, by its metadata.
    rows: usize,
    /// Counts the values.
    watch: &'a Tracker<'a>,
}

fn read_column(
    reader: ColumnReader,
    meaning: Meaning,
    chunk: Chunk<'_>,
    assembly: &mut Assembly,
) -> Result<(), Problem> {
    let index = chunk.index;
    let unsigned = meaning == Meaning::Unsigned;
    match reader {
        ColumnReader::BoolColumnReader(reader) => {
            each(reader, chunk, assembly, |assembly, flag| assembly.put(index, Cell::Flag(*flag)))
        }
        ColumnReader::Int32ColumnReader(reader) => {
            each(reader, chunk, assembly, |assembly, number| {
                let wide =
                    if unsigned { i64::from(number.cast_unsigned()) } else { i64::from(*number) };
                assembly.put(index, Cell::Whole(wide))
            })
        }
        ColumnReader::Int64ColumnReader(reader) => {
            each(reader, chunk, assembly, |assembly, number| {
                if unsigned && *number < 0 {
                    return Err(format!("{} is too large", number.cast_unsigned()));
                }
                assembly.put(index, Cell::Whole(*number))
            })
        }
        ColumnReader::FloatColumnReader(reader) => {
            each(reader, chunk, assembly, |assembly, number| {
                assembly.put(index, Cell::Number(f64::from(*number)))
            })
        }
        ColumnReader::DoubleColumnReader(reader) => {
            each(reader, chunk, assembly, |assembly, number| {
                assembly.put(index, Cell::Number(*number))
            })
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            each(reader, chunk, assembly, |assembly, bytes| {
                let text = std::str::from_utf8(bytes.data()).map_err(|_| "it is not UTF-8 text")?;
                assembly.put(index, Cell::Text(text))
            })
        }
        ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
            Err(Problem::damaged("Parquet", "a column changes its type"))
        }
    }
}

/// Passes each value of a column chunk to `put`, and adds a blank cell for each null.
fn each<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    Chunk { index, nullable, rows, watch }: Chunk<'_>,
    assembly: &mut Assembly,
    put: impl Fn(&mut Assembly, &T::T) -> Result<(), String>,
) -> Result<(), Problem> {
    let mut values = Vec::new();
    let mut levels = Vec::new();
    let mut unreported = 0;
    loop {
        values.clear();
        levels.clear();
        let definition = nullable.then_some(&mut levels);
        let (records, _, _) =
            reader.read_records(BATCH_ROWS, definition, None, &mut values).map_err(damaged)?;
        if records == 0 {
            return advance(watch, unreported as f64);
        }
        if assembly.rows(index) + records > rows {
            return Err(Problem::damaged("Parquet", "there are more rows than it says"));
        }
        let mut present = values.iter();
        for record in 0..records {
            let row = assembly.rows(index);
            let value =
                if nullable && levels.get(record) == Some(&0) { None } else { present.next() };
            let done = match value {
                Some(value) => put(assembly, value),
                None => assembly.put(index, Cell::Blank),
            };
            done.map_err(|message| {
                let column = assembly.header().names[index].clone();
                Problem::Cell { row, line: None, column, message }
            })?;
        }
        unreported += records;
        if unreported >= REPORTED_VALUES {
            advance(watch, unreported as f64)?;
            unreported = 0;
        }
    }
}

/// Writes a row group as soon as there are enough rows.
pub(super) struct ParquetWriter<W: Write + Send> {
    output: SerializedFileWriter<W>,
    /// Rows that do not yet fill a row group.
    pending: Transitions,
    /// The number of the episode that the first pending row belongs to.
    first_episode: usize,
    /// Episodes so far.
    episodes: usize,
    /// The first episode of each recording so far.
    recordings: Vec<usize>,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub(super) fn new(
        output: W,
        schema: &Arc<Schema>,
        with_reward: bool,
        origin: Option<&Origin>,
    ) -> Result<Self, Problem> {
        let mut fields = vec![field("episode", PhysicalType::INT64, None)?];
        for (slot, description) in schema.slots().iter().enumerate() {
            let (physical, logical) = match schema.variable_of(slot).kind {
                Kind::Continuous(_) | Kind::Circular(_) => (PhysicalType::DOUBLE, None),
                Kind::Integer(_) => (PhysicalType::INT64, None),
                Kind::Boolean => (PhysicalType::BOOLEAN, None),
                Kind::Categorical(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            };
            fields.push(field(&description.name, physical, logical)?);
        }
        if with_reward {
            fields.push(field("reward", PhysicalType::DOUBLE, None)?);
        }
        fields.push(field("terminated", PhysicalType::BOOLEAN, None)?);
        fields.push(field("truncated", PhysicalType::BOOLEAN, None)?);
        let root = Type::group_type_builder("transitions")
            .with_fields(fields)
            .build()
            .map_err(unwritable)?;
        let mut metadata = vec![KeyValue::new(SCHEMA_KEY.to_owned(), schema.to_toml())];
        if let Some(origin) = origin {
            metadata.push(KeyValue::new(ORIGIN_KEY.to_owned(), origin.to_toml()));
        }
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("becausal ", env!("CARGO_PKG_VERSION")).into())
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_dictionary_enabled(false)
            .set_key_value_metadata(Some(metadata));
        for slot in 0..schema.slots().len() {
            if matches!(schema.variable_of(slot).kind, Kind::Categorical(_)) {
                let column = ColumnPath::new(vec![schema.slots()[slot].name.clone()]);
                properties = properties.set_column_dictionary_enabled(column, true);
            }
        }
        let output =
            SerializedFileWriter::new(output, Arc::new(root), Arc::new(properties.build()))
                .map_err(unwritable)?;
        let pending = Transitions::new(Arc::clone(schema));
        Ok(Self { output, pending, first_episode: 0, episodes: 0, recordings: Vec::new() })
    }

    /// Adds rows. The row groups do not depend on how the rows are split into calls.
    pub(super) fn append(
        &mut self,
        transitions: &Transitions,
        watch: &Tracker<'_>,
    ) -> Result<(), Problem> {
        self.pending.append(transitions);
        let is_first = |&episode: &usize| {
            episode == 0
                || transitions.recording_of(episode) != transitions.recording_of(episode - 1)
        };
        let first = (0..transitions.episodes()).filter(is_first);
        self.recordings.extend(first.map(|episode| self.episodes + episode));
        self.episodes += transitions.episodes();
        while self.pending.len() >= GROUP_ROWS {
            let group = self.pending.slice(0..GROUP_ROWS);
            let rest = self.pending.slice(GROUP_ROWS..self.pending.len());
            let next_episode = self.first_episode
                + if rest.is_empty() {
                    self.pending.episodes()
                } else {
                    self.pending.episode_of(GROUP_ROWS)
                };
            self.write_group(&group, watch)?;
            self.pending = rest;
            self.first_episode = next_episode;
        }
        Ok(())
    }

    fn write_group(&mut self, rows: &Transitions, watch: &Tracker<'_>) -> Result<(), Problem> {
        let schema = rows.schema();
        let mut group = self.output.next_row_group().map_err(unwritable)?;
        let mut episodes = Vec::with_capacity(rows.len());
        for episode in 0..rows.episodes() {
            let number = i64::try_from(self.first_episode + episode).unwrap_or(i64::MAX);
            episodes.extend(rows.episode(episode).map(|_| number));
        }
        let mut columns = vec![Values::Whole(episodes)];
        columns.extend((0..schema.slots().len()).map(|slot| Values::of(rows, slot)));
        columns.extend(rows.reward().map(|reward| Values::Numbers(reward.to_vec())));
        columns.push(Values::Flags(rows.terminated().to_vec()));
        columns.push(Values::Flags(rows.truncated().to_vec()));
        for values in columns {
            let mut column = group
                .next_column()
                .map_err(unwritable)?
                .ok_or_else(|| Problem::damaged("Parquet", "a column is missing"))?;
            match &values {
                Values::Numbers(v) => column.typed::<DoubleType>().write_batch(v, None, None),
                Values::Whole(v) => column.typed::<Int64Type>().write_batch(v, None, None),
                Values::Flags(v) => column.typed::<BoolType>().write_batch(v, None, None),
                Values::Labels(v) => column.typed::<ByteArrayType>().write_batch(v, None, None),
            }
            .map_err(unwritable)?;
            column.close().map_err(unwritable)?;
            watch.advance(rows.len() as f64, "");
        }
        group.close().map_err(unwritable)?;
        Ok(())
    }

    pub(super) fn finish(mut self, watch: &Tracker<'_>) -> Result<W, Problem> {
        if !self.pending.is_empty() {
            let rest = self.pending.slice(0..self.pending.len());
            self.write_group(&rest, watch)?;
        }
        if self.recordings.len() < self.episodes {
            let first: Vec<String> = self.recordings.iter().map(usize::to_string).collect();
            let pair = KeyValue::new(RECORDINGS_KEY.to_owned(), first.join(","));
            self.output.append_key_value_metadata(pair);
        }
        self.output.into_inner().map_err(unwritable)
    }
}

/// The values of a column as Parquet stores them.
enum Values {
    Numbers(Vec<f64>),
    Whole(Vec<i64>),
    Flags(Vec<bool>),
    Labels(Vec<ByteArray>),
}

impl Values {
    fn of(rows: &Transitions, slot: usize) -> Self {
        match (rows.column(slot), &rows.schema().variable_of(slot).kind) {
            (Column::Numbers(values), Kind::Integer(_)) => {
                Self::Whole(values.iter().map(|&value| whole(value)).collect())
            }
            (Column::Numbers(values), _) => Self::Numbers(values.clone()),
            (Column::Flags(values), _) => Self::Flags(values.clone()),
            (Column::Codes(codes), kind) => {
                let labels: Vec<ByteArray> =
                    kind.labels().iter().map(|label| label.as_str().into()).collect();
                Self::Labels(codes.iter().map(|&code| labels[code as usize].clone()).collect())
            }
        }
    }
}

fn field(
    name: &str,
    physical: PhysicalType,
    logical: Option<LogicalType>,
) -> Result<Arc<Type>, Problem> {
    Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(logical)
        .build()
        .map(Arc::new)
        .map_err(unwritable)
}

fn unwritable(error: ParquetError) -> Problem {
    Problem::system("write", std::io::Error::other(error))
}

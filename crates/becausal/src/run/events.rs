//! Curves for TensorBoard: an event file, record by record.
//!
//! A record is its length (8 bytes), the masked checksum of the length, the event, and the masked
//! checksum of the event, all little-endian. An event is a protocol buffer: `wall_time` (field 1,
//! double), `step` (2, varint), and `file_version` (3, text) or `summary` (5). A summary has
//! values (1), each with `tag` (1, text) and `simple_value` (2, float).

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::crc32c::masked;

/// An event file that is being written.
#[derive(Debug)]
pub struct EventWriter {
    file: File,
}

impl EventWriter {
    /// Opens an event file to continue after its first `keep` bytes; what stands behind them is
    /// dropped. With 0 it is begun anew.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn open(path: &Path, keep: u64) -> std::io::Result<Self> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        let keep = keep.min(file.metadata()?.len());
        file.set_len(keep)?;
        file.seek(SeekFrom::Start(keep))?;
        let mut writer = Self { file };
        if keep == 0 {
            let mut event = double(1, now());
            event.extend(text(3, "brain.Event:2"));
            writer.record(&event)?;
        }
        Ok(writer)
    }

    /// Writes numbers at a step.
    ///
    /// # Errors
    /// When they cannot be written, because the disk is full for instance.
    pub fn scalars(&mut self, step: u64, scalars: &[(&str, f64)]) -> std::io::Result<()> {
        let mut summary = Vec::new();
        for (tag, value) in scalars {
            let mut one = text(1, tag);
            one.extend(float(2, *value));
            summary.extend(bytes(1, &one));
        }
        let mut event = double(1, now());
        event.push(2 << 3);
        event.extend(varint(step));
        event.extend(bytes(5, &summary));
        self.record(&event)
    }

    /// How long the file is now.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn length(&self) -> std::io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn record(&mut self, event: &[u8]) -> std::io::Result<()> {
        let length = (event.len() as u64).to_le_bytes();
        let mut record = length.to_vec();
        record.extend(masked(&length).to_le_bytes());
        record.extend(event);
        record.extend(masked(event).to_le_bytes());
        self.file.write_all(&record)
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut encoded = Vec::new();
    while number >= 0x80 {
        encoded.push(u8::try_from(number & 0x7F).unwrap_or(0) | 0x80);
        number >>= 7;
    }
    encoded.push(u8::try_from(number).unwrap_or(0));
    encoded
}

fn double(field: u8, number: f64) -> Vec<u8> {
    [&[(field << 3) | 1][..], &number.to_le_bytes()].concat()
}

fn float(field: u8, number: f64) -> Vec<u8> {
    #[expect(clippy::cast_possible_truncation, reason = "TensorBoard's values are floats")]
    let number = number as f32;
    [&[(field << 3) | 5][..], &number.to_le_bytes()].concat()
}

fn bytes(field: u8, content: &[u8]) -> Vec<u8> {
    [&[(field << 3) | 2][..], &varint(content.len() as u64), content].concat()
}

fn text(field: u8, content: &str) -> Vec<u8> {
    bytes(field, content.as_bytes())
}

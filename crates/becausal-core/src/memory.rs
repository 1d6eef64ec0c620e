//! How much memory work may take, checked before it is taken.

use std::fs;
use std::str::FromStr;

use crate::text::size;

/// Where the machine does not say how much memory it has: 4 GiB.
const UNKNOWN_MACHINE_BYTES: u64 = 4 << 30;

/// The most memory that a piece of work may take, in bytes.
///
/// Readers and fits compare what they need with it before they allocate anything. The default is half
/// of the machine's memory (4 GiB where it does not say how much it has).
///
/// ```
/// use becausal_core::MemoryLimit;
/// let limit: MemoryLimit = "4G".parse().unwrap();
/// assert_eq!(limit.bytes(), 4_000_000_000);
/// assert!(limit.check(1_000).is_ok());
/// let error = limit.check(12_000_000_000).unwrap_err().to_string();
/// assert_eq!(error, "about 12 GB of memory are needed, but at most 4 GB may be used");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimit {
    bytes: u64,
    /// Somebody asked for it; otherwise a file may take less, by its size.
    is_given: bool,
}

/// Without a given limit, a file takes at most this many times its size. Recordings are compressed 2 to
/// 20 times; a file of one repeated value, a thousand times.
const MAX_EXPANSION: u64 = 100;

/// Without a given limit, any file may take this much, in bytes.
const ANY_FILE_BYTES: u64 = 1_000_000_000;

/// Work needs more memory than it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("about {} of memory are needed, but at most {} may be used", size(*.needed), size(*.limit))]
pub struct MemoryError {
    /// What the work needs, in bytes.
    pub needed: u64,
    /// What it may take, in bytes.
    pub limit: u64,
}

impl MemoryLimit {
    /// A limit of this many bytes.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self { bytes, is_given: true }
    }

    /// The limit in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// What the rows of a file of this size may take. Unless a limit was given, a small file does not
    /// fill the memory of the machine, whatever it claims to hold.
    #[must_use]
    pub fn for_file(self, file_bytes: u64) -> Self {
        if self.is_given {
            return self;
        }
        let most = file_bytes.saturating_mul(MAX_EXPANSION).max(ANY_FILE_BYTES);
        Self { bytes: self.bytes.min(most), ..self }
    }

    /// Refuses work that needs more.
    ///
    /// # Errors
    /// With what is needed and what may be used.
    pub fn check(self, needed: u64) -> Result<(), MemoryError> {
        if needed <= self.bytes { Ok(()) } else { Err(MemoryError { needed, limit: self.bytes }) }
    }
}

impl Default for MemoryLimit {
    fn default() -> Self {
        let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
        // A container may have less than its machine.
        let container = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
        let container = container.and_then(|text| text.trim().parse::<u64>().ok());
        let bytes = match (machine, container) {
            (Some(machine), Some(container)) => machine.min(container) / 2,
            (Some(bytes), None) | (None, Some(bytes)) => bytes / 2,
            (None, None) => UNKNOWN_MACHINE_BYTES,
        };
        Self { bytes, is_given: false }
    }
}

/// The bytes of `MemTotal:  24092236 kB`.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

impl FromStr for MemoryLimit {
    type Err = String;

    /// Reads `500M`, `4G`, `4GB`, `4GiB` or a number of bytes.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text:?} is not a size of memory: expected for instance 500M or 4G");
        let text = text.trim();
        let split = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let (number, unit) = text.split_at(split.unwrap_or(text.len()));
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let factor = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1.0,
            "k" | "kb" => 1e3,
            "m" | "mb" => 1e6,
            "g" | "gb" => 1e9,
            "t" | "tb" => 1e12,
            "kib" => 1024.0,
            "mib" => 1_048_576.0,
            "gib" => 1_073_741_824.0,
            "tib" => 1_099_511_627_776.0,
            _ => return Err(wrong()),
        };
        let bytes = number * factor;
        if !(1.0..=1e18).contains(&bytes) {
            return Err(wrong());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 1 to 1e18"
        )]
        let bytes = bytes as u64;
        Ok(Self::new(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let cases = [
            ("1", 1),
            ("500M", 500_000_000),
            ("1.5g", 1_500_000_000),
            ("4 GiB", 4 << 30),
            ("2TB", 2_000_000_000_000),
        ];
        for (text, bytes) in cases {
            assert_eq!(text.parse(), Ok(MemoryLimit::new(bytes)), "{text}");
        }
        for text in ["", "G", "-1G", "nan", "0", "4X", "1e9G", "1.2.3M"] {
            let error = text.parse::<MemoryLimit>().expect_err(text);
            assert!(error.contains("expected for instance 500M or 4G"), "{error}");
        }
    }

    #[test]
    fn a_small_file_takes_little_unless_more_is_allowed() {
        let usual = MemoryLimit { bytes: 50_000_000_000, is_given: false };
        assert_eq!(usual.for_file(7_000_000).bytes(), 1_000_000_000);
        assert_eq!(usual.for_file(100_000_000).bytes(), 10_000_000_000);
        assert_eq!(usual.for_file(u64::MAX).bytes(), 50_000_000_000);
        assert_eq!(MemoryLimit::new(5).for_file(7), MemoryLimit::new(5));
        let small = MemoryLimit { bytes: 500, is_given: false };
        assert_eq!(small.for_file(7).bytes(), 500);
    }

    #[test]
    fn the_machine_says_how_much_it_has() {
        let text = "MemTotal:       24092236 kB\nMemFree:        13000000 kB\n";
        assert_eq!(total(text), Some(24_092_236 * 1024));
        assert_eq!(total("nothing"), None);
        assert!(MemoryLimit::default().bytes() > 0);
    }
}

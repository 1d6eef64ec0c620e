//! Text from outside, made fit to be shown: shortened, without control characters, counted.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The longest name from a file that a message repeats, in characters.
const MAX_SHOWN: usize = 80;

/// A count with thousands separators: 20,000.
#[must_use]
pub fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: 1 episode, 3 episodes, 2,000 episodes.
///
/// ```
/// use becausal_core::text::counted;
/// assert_eq!(counted(1, "row"), "1 row");
/// assert_eq!(counted(2000, "row"), "2,000 rows");
/// ```
#[must_use]
pub fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// A size in memory or on disk: 800 bytes, 12 MB, 1.5 GB.
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return counted(usize::try_from(bytes).unwrap_or(0), "byte");
    }
    let mut amount = bytes as f64 / 1000.0;
    let mut unit = 0;
    while amount >= 999.5 && unit + 1 < UNITS.len() {
        amount /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(amount < 9.95);
    let text = format!("{amount:.digits$}");
    format!("{} {}", text.strip_suffix(".0").unwrap_or(&text), UNITS[unit])
}

/// Whether a terminal might obey this character instead of showing it: a control character, or one
/// that reverses the direction of the text after it.
#[must_use]
pub fn is_control(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A name or a value from a file, for a message: one line without control characters, shortened
/// where it is long.
///
/// ```
/// use becausal_core::text::shown;
/// assert_eq!(shown("height"), "height");
/// assert_eq!(shown("red\u{1b}[31m\n"), "red\\u{1b}[31m\\n");
/// assert_eq!(shown(&"x".repeat(500)), format!("{}… (500 characters)", "x".repeat(80)));
/// ```
#[must_use]
pub fn shown(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars().take(MAX_SHOWN) {
        if is_control(letter) {
            out.extend(letter.escape_default());
        } else {
            out.push(letter);
        }
    }
    // Counting the characters of a huge text is cheap beside having read it.
    if text.chars().nth(MAX_SHOWN).is_some() {
        let _ = write!(out, "… ({})", counted(text.chars().count(), "character"));
    }
    out
}

/// Reads a text file of at most `max_bytes`: one that never ends, or that is far too large for what
/// it should be, is refused before it fills the memory.
///
/// # Errors
/// When it cannot be read, is not UTF-8, or is larger.
pub fn read_text(path: &Path, max_bytes: u64) -> io::Result<String> {
    let wrong = |message: String| io::Error::new(io::ErrorKind::InvalidData, message);
    String::from_utf8(read_bytes(path, max_bytes)?)
        .map_err(|_| wrong("it is not UTF-8 text".to_owned()))
}

/// Reads a file of at most `max_bytes`.
///
/// # Errors
/// When it cannot be read, or is larger.
pub fn read_bytes(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let too_large = || {
        let message = format!("it has more than {}, expected a smaller file", size(max_bytes));
        io::Error::new(io::ErrorKind::FileTooLarge, message)
    };
    if file.metadata().is_ok_and(|metadata| metadata.len() > max_bytes) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(too_large());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        let cases = [
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1 kB"),
            (1_500_000, "1.5 MB"),
            (999_600_000, "1 GB"),
            (12_345_678_901, "12 GB"),
            (u64::MAX, "18447 PB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn a_file_that_is_too_large_or_never_ends_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("text");
        std::fs::write(&path, "12345").expect("written");
        assert_eq!(read_text(&path, 5).expect("it fits"), "12345");
        let error = read_text(&path, 4).expect_err("too large").to_string();
        assert_eq!(error, "it has more than 4 bytes, expected a smaller file");
        let endless = Path::new("/dev/zero");
        if endless.exists() {
            assert!(read_bytes(endless, 1 << 16).is_err());
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert_eq!(shown("a\u{9b}31m\u{202e}\r"), "a\\u{9b}31m\\u{202e}\\r");
        assert_eq!(shown("größe 角度 🚀"), "größe 角度 🚀");
    }
}

//! What is printed: results on standard output, and what is said beside them.

use std::io::{ErrorKind, Write};

use becausal::text::is_control;

/// Says something beside the result. Whoever started the program may have stopped listening.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable(text, false));
}

/// Prints the result and gives the exit code. If nobody can read all of it, the command has failed.
pub fn deliver(text: &str, is_json: bool, code: u8) -> u8 {
    let mut output = std::io::stdout().lock();
    let written =
        output.write_all(printable(text, is_json).as_bytes()).and_then(|()| output.flush());
    match written {
        Ok(()) => code,
        // A reader that stops reading (`| head`) knows that it does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => crate::failure::FAILED,
        Err(error) => {
            say(&format!("error: cannot write the result to standard output: {error}"));
            crate::failure::FAILED
        }
    }
}

/// Text without characters that a terminal would obey: names and labels come from files. In JSON they
/// are escaped as JSON does.
pub fn printable(text: &str, is_json: bool) -> String {
    use std::fmt::Write;

    let is_wrong = |letter: char| is_control(letter) && !matches!(letter, '\n' | '\t');
    if !text.contains(is_wrong) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if !is_wrong(letter) {
            out.push(letter);
        } else if is_json {
            // All of them are in the first plane.
            let _ = write!(out, "\\u{:04x}", u32::from(letter));
        } else {
            out.extend(letter.escape_default());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        assert_eq!(printable("a\tb\n", false), "a\tb\n");
        assert_eq!(printable("\u{1b}[2J\r\u{9b}x", false), "\\u{1b}[2J\\r\\u{9b}x");
        let json = printable("\"\u{9b}\u{202e}\"", true);
        let read: String = serde_json::from_str(&json).expect("JSON");
        assert_eq!(read, "\u{9b}\u{202e}");
        assert!(json.is_ascii());
    }
}

//! Mistakes in a schema, each with its place in the text.

use std::fmt;
use std::ops::Range;

/// One mistake in a schema file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong, what was expected, what was found.
    pub message: String,
    /// What to do about it, often the name that was probably meant.
    pub help: Option<String>,
    /// The byte range in the schema's text.
    pub span: Range<usize>,
    /// Line of the text, counted from 1.
    pub line: usize,
    /// Column in the line, in characters, counted from 1.
    pub column: usize,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

/// All mistakes found in a schema, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", join(.mistakes, *.more))]
pub struct SchemaError {
    /// The schema's text, which the spans point into.
    pub text: String,
    /// At least one, at most 100.
    pub mistakes: Vec<Mistake>,
    /// How many more there are.
    pub more: usize,
}

/// The most mistakes that are located. Nobody mends more at a time.
const MAX_MISTAKES: usize = 100;

fn join(mistakes: &[Mistake], more: usize) -> String {
    let mut lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n")
}

/// Collects mistakes while a schema is read.
pub(super) struct Mistakes<'a> {
    text: &'a str,
    found: Vec<Mistake>,
    more: usize,
}

impl<'a> Mistakes<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, found: Vec::new(), more: 0 }
    }

    pub(super) fn add(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        if self.found.len() == MAX_MISTAKES {
            self.more += 1;
            return;
        }
        let (line, column) = position(self.text, span.start);
        self.found.push(Mistake { message: message.into(), help, span, line, column });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn into_error(mut self) -> SchemaError {
        self.found.sort_by_key(|mistake| mistake.span.start);
        SchemaError { text: self.text.to_owned(), mistakes: self.found, more: self.more }
    }
}

/// Line and column of a byte offset, both counted from 1.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

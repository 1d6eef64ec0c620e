//! Converts a cell of a file to a value of a kind.

use crate::schema::{Kind, suggestion};
use crate::text::shown;

/// A cell as read from a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell<'a> {
    Text(&'a str),
    Number(f64),
    Whole(i64),
    Flag(bool),
    #[cfg_attr(
        not(feature = "parquet"),
        expect(dead_code, reason = "only Parquet has cells without a value")
    )]
    Blank,
}

impl Cell<'_> {
    /// Whether the cell is empty, or NaN, which NumPy and pandas write for a missing value.
    pub(super) fn is_blank(&self) -> bool {
        match self {
            Self::Blank => true,
            Self::Text(text) => text.is_empty() || text.eq_ignore_ascii_case("nan"),
            Self::Number(value) => value.is_nan(),
            Self::Whole(_) | Self::Flag(_) => false,
        }
    }

    /// Whether the cell is a label of this kind, which may well be called `nan`.
    pub(super) fn is_label_of(&self, kind: &Kind) -> bool {
        match (self, kind) {
            (Self::Text(text), Kind::Categorical(labels)) => {
                labels.iter().any(|label| label == text)
            }
            _ => false,
        }
    }
}

/// The number that represents a cell of this kind, or what is wrong with the cell.
pub(super) fn value(kind: &Kind, cell: Cell<'_>) -> Result<f64, String> {
    let value = match (kind, cell) {
        (_, Cell::Blank | Cell::Text("")) => return Err("the cell is empty".into()),
        (Kind::Boolean, Cell::Flag(flag)) => return Ok(f64::from(u8::from(flag))),
        (Kind::Boolean, Cell::Text(text)) => match text {
            "0" | "false" | "False" | "FALSE" => 0.0,
            "1" | "true" | "True" | "TRUE" => 1.0,
            _ => number(text).ok_or_else(|| {
                format!("expected true or false (1 or 0), got the text \"{}\"", shorten(text))
            })?,
        },
        (Kind::Categorical(labels), cell) => return category(labels, cell),
        (_, Cell::Number(value)) => value,
        (_, Cell::Whole(value)) => exact(value)?,
        (_, Cell::Flag(flag)) => {
            return Err(format!("expected a number, got the boolean {flag}"));
        }
        (_, Cell::Text(text)) => number(text)
            .ok_or_else(|| format!("expected a number, got the text \"{}\"", shorten(text)))?,
    };
    match kind.objection(value) {
        Some(objection) => Err(objection),
        None => Ok(kind.written(value)),
    }
}

/// The index of a label, from the label itself or from a number.
fn category(labels: &[String], cell: Cell<'_>) -> Result<f64, String> {
    let number = match cell {
        Cell::Text(text) => {
            if let Some(index) = labels.iter().position(|label| label == text) {
                return Ok(index as f64);
            }
            number(text).ok_or_else(|| {
                let known = suggestion(text, labels.iter().map(String::as_str));
                format!("unknown label \"{}\" ({known})", shorten(text))
            })?
        }
        Cell::Number(value) => value,
        Cell::Whole(value) => exact(value)?,
        Cell::Flag(flag) => return Err(format!("expected a label, got the boolean {flag}")),
        Cell::Blank => return Err("the cell is empty".into()),
    };
    if labels_are_numbers(labels) {
        let known =
            labels.iter().position(|label| label.parse::<i64>().is_ok_and(|l| l as f64 == number));
        return known
            .map(|index| index as f64)
            .ok_or_else(|| format!("unknown label {number} (expected one of {})", listed(labels)));
    }
    let kind = Kind::Categorical(labels.to_vec());
    match kind.objection(number) {
        Some(objection) => Err(format!("{objection}, or a label: {}", listed(labels))),
        None => Ok(number),
    }
}

/// Whether every label is a whole number, so that a number in a file means a label, not an index.
pub(super) fn labels_are_numbers(labels: &[String]) -> bool {
    labels.iter().all(|label| label.parse::<i64>().is_ok_and(|number| number.to_string() == *label))
}

fn exact(value: i64) -> Result<f64, String> {
    let number = value as f64;
    if number.abs() > crate::schema::MAX_EXACT_INTEGER {
        return Err(format!("{value} is too large to be stored exactly (beyond 2^53)"));
    }
    Ok(number)
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// The first 40 characters of a text, without control characters.
fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    shown(&short)
}

/// The first 20 labels.
fn listed(labels: &[String]) -> String {
    let first: Vec<String> = labels.iter().take(20).map(|label| shown(label)).collect();
    match labels.len().checked_sub(20) {
        None | Some(0) => first.join(", "),
        Some(more) => format!("{} and {more} more", first.join(", ")),
    }
}

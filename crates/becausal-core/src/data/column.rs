//! The values of one slot in all rows.

use crate::schema::Kind;

/// The values of one slot, packed by kind: a number takes 8 bytes, a category 4, a boolean 1.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Continuous and integer values.
    Numbers(Vec<f64>),
    /// Booleans.
    Flags(Vec<bool>),
    /// Indices of categories.
    Codes(Vec<u32>),
}

/// Runs the same code for each variant.
macro_rules! each {
    ($column:expr, $values:ident => $work:expr) => {
        match $column {
            Column::Numbers($values) => $work,
            Column::Flags($values) => $work,
            Column::Codes($values) => $work,
        }
    };
}

impl Column {
    /// An empty column for values of this kind.
    #[must_use]
    pub fn new(kind: &Kind) -> Self {
        match kind {
            Kind::Continuous(_) | Kind::Integer(_) | Kind::Circular(_) => Self::Numbers(Vec::new()),
            Kind::Boolean => Self::Flags(Vec::new()),
            Kind::Categorical(_) => Self::Codes(Vec::new()),
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        each!(self, values => values.len())
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a row. The value must be of the kind that the column was created for.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a category's index is a small whole number"
    )]
    pub fn push(&mut self, value: f64) {
        match self {
            Self::Numbers(values) => values.push(value),
            Self::Flags(values) => values.push(value != 0.0),
            Self::Codes(values) => values.push(value as u32),
        }
    }

    /// Changes a row. The value must be of the kind that the column was created for.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a category's index is a small whole number"
    )]
    pub(super) fn set(&mut self, row: usize, value: f64) {
        match self {
            Self::Numbers(values) => values[row] = value,
            Self::Flags(values) => values[row] = value != 0.0,
            Self::Codes(values) => values[row] = value as u32,
        }
    }

    /// A column of the same kind without rows.
    pub(super) fn emptied(&self) -> Self {
        match self {
            Self::Numbers(_) => Self::Numbers(Vec::new()),
            Self::Flags(_) => Self::Flags(Vec::new()),
            Self::Codes(_) => Self::Codes(Vec::new()),
        }
    }

    /// The value in a row as a number.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn get(&self, row: usize) -> f64 {
        match self {
            Self::Numbers(values) => values[row],
            Self::Flags(values) => f64::from(u8::from(values[row])),
            Self::Codes(values) => f64::from(values[row]),
        }
    }

    /// Writes the values of rows `from..from + into.len()` into `into`.
    ///
    /// # Panics
    /// When there are fewer rows.
    pub fn load(&self, from: usize, into: &mut [f64]) {
        let rows = from..from + into.len();
        match self {
            Self::Numbers(values) => into.copy_from_slice(&values[rows]),
            Self::Flags(values) => {
                for (target, value) in into.iter_mut().zip(&values[rows]) {
                    *target = f64::from(u8::from(*value));
                }
            }
            Self::Codes(values) => {
                for (target, value) in into.iter_mut().zip(&values[rows]) {
                    *target = f64::from(*value);
                }
            }
        }
    }

    /// All values as numbers.
    #[must_use]
    pub fn to_numbers(&self) -> Vec<f64> {
        let mut numbers = vec![0.0; self.len()];
        self.load(0, &mut numbers);
        numbers
    }

    /// Adds the rows `range` of a column of the same kind.
    pub(super) fn extend(&mut self, other: &Self, range: std::ops::Range<usize>) {
        match (self, other) {
            (Self::Numbers(mine), Self::Numbers(theirs)) => mine.extend_from_slice(&theirs[range]),
            (Self::Flags(mine), Self::Flags(theirs)) => mine.extend_from_slice(&theirs[range]),
            (Self::Codes(mine), Self::Codes(theirs)) => mine.extend_from_slice(&theirs[range]),
            _ => unreachable!("columns of one slot have the same variant"),
        }
    }

    /// Releases unused capacity.
    pub(super) fn shrink(&mut self) {
        each!(self, values => values.shrink_to_fit());
    }
}

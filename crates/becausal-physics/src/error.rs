//! Errors in the description of a world.

use std::fmt;

use crate::settings::MAX_VERTICES;

/// Why a shape, a body, a joint or a step was rejected. Nothing was changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A polygon needs 3 to 16 vertices.
    VertexCount {
        /// The number given.
        got: usize,
    },
    /// The vertices span no area, or two of them coincide.
    Degenerate {
        /// What is degenerate.
        what: &'static str,
    },
    /// A number is infinite or NaN.
    NotFinite {
        /// The name of the parameter.
        what: &'static str,
    },
    /// A number that must not be negative is.
    Negative {
        /// The name of the parameter.
        what: &'static str,
        /// Its value.
        got: f32,
    },
    /// A joint needs two different bodies of this world.
    Bodies {
        /// The indices given.
        got: (usize, usize),
    },
    /// There is no body with this index.
    NoBody {
        /// The index given.
        got: usize,
    },
    /// The lower limit of a joint is above the upper one.
    Limits {
        /// The lower limit given.
        lower: f32,
        /// The upper limit given.
        upper: f32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VertexCount { got } => {
                write!(out, "a polygon needs 3 to {MAX_VERTICES} vertices, got {got}")
            }
            Self::Degenerate { what } => write!(out, "the {what} is degenerate"),
            Self::NotFinite { what } => write!(out, "{what} must be finite"),
            Self::Negative { what, got } => write!(out, "{what} must not be negative, got {got}"),
            Self::Bodies { got: (first, second) } => {
                write!(out, "a joint needs two different bodies, got {first} and {second}")
            }
            Self::NoBody { got } => write!(out, "there is no body {got}"),
            Self::Limits { lower, upper } => {
                write!(out, "the lower limit {lower} is above the upper limit {upper}")
            }
        }
    }
}

impl std::error::Error for Error {}

/// The number, if it is finite.
pub(crate) fn finite(what: &'static str, value: f32) -> Result<f32, Error> {
    if value.is_finite() { Ok(value) } else { Err(Error::NotFinite { what }) }
}

/// The number, if it is finite and not negative.
pub(crate) fn not_negative(what: &'static str, value: f32) -> Result<f32, Error> {
    match finite(what, value)? {
        got if got < 0.0 => Err(Error::Negative { what, got }),
        fine => Ok(fine),
    }
}

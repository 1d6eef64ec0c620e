//! The number of steps that an explanation looks ahead.

use std::fmt;
use std::str::FromStr;

use super::error::ChainError;

/// The maximum number of steps to look ahead.
pub const MAX_HORIZON: usize = 1000;

/// The most steps that [`Horizon::Auto`] looks ahead: a landing is 80 steps away, and the courses of a model
/// say little beyond.
const MAX_AUTO: usize = 100;

/// The steps of a chain where nobody says how many: a picture of more cannot be read.
const AUTO_CHAIN: usize = 5;

/// How far an explanation looks ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Horizon {
    /// To the end of the episode, or until both courses are the same again; at most 100 steps. The chain
    /// shows the first five. Where the policy is not known, five in all.
    #[default]
    Auto,
    /// So many steps, 1 to 1000; all of them are in the chain.
    Steps(usize),
}

impl Horizon {
    /// The most steps to look ahead.
    #[must_use]
    pub fn most(self) -> usize {
        match self {
            Self::Auto => MAX_AUTO,
            Self::Steps(steps) => steps,
        }
    }

    /// The most steps of a chain.
    #[must_use]
    pub fn of_chain(self) -> usize {
        match self {
            Self::Auto => AUTO_CHAIN,
            Self::Steps(steps) => steps,
        }
    }

    /// Checks that it is in range.
    ///
    /// # Errors
    /// When it is 0 or above [`MAX_HORIZON`].
    pub fn check(self) -> Result<(), ChainError> {
        match self.most() {
            1..=MAX_HORIZON => Ok(()),
            given => Err(ChainError::Horizon { given, most: MAX_HORIZON }),
        }
    }
}

impl From<usize> for Horizon {
    fn from(steps: usize) -> Self {
        Self::Steps(steps)
    }
}

impl FromStr for Horizon {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            steps => steps.parse().map(Self::Steps).map_err(|_| {
                format!("expected `auto` or a number of steps, 1 to {MAX_HORIZON}, got `{text}`")
            }),
        }
    }
}

impl fmt::Display for Horizon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Steps(steps) => steps.fmt(f),
        }
    }
}

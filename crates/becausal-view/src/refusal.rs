//! Questions that cannot be answered.

use std::fmt;

use becausal::Error;
use becausal::env::EnvironmentError;
use becausal::explain::ExplainError;

use crate::http::Response;

/// Why there is no answer, with the status code that says so.
#[derive(Debug)]
pub struct Refusal {
    status: u16,
    words: String,
}

impl Refusal {
    /// The request cannot be read.
    pub fn unread(words: impl fmt::Display) -> Self {
        Self { status: 400, words: words.to_string() }
    }

    /// The question can be read, but not answered.
    pub fn unanswered(words: impl fmt::Display) -> Self {
        Self { status: 422, words: words.to_string() }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::unanswered(error)
    }
}

impl From<ExplainError> for Refusal {
    fn from(error: ExplainError) -> Self {
        Self::unanswered(error)
    }
}

impl From<EnvironmentError> for Refusal {
    fn from(error: EnvironmentError) -> Self {
        Self::unanswered(error)
    }
}

impl From<Refusal> for Response {
    fn from(refusal: Refusal) -> Self {
        Self::refusal(refusal.status, &refusal.words)
    }
}

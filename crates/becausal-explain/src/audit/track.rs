//! How often answers were right, by how sure they were.

use super::Audit;
use super::score::Measure;
use crate::contrast::Certainty;

/// Answers that a share is told of, at least: of fewer it says little.
const MIN_ANSWERS: f64 = 20.0;

/// How often answers were right in an audit, by how sure they were.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Track([Option<f64>; Certainty::ALL.len()]);

impl Track {
    /// That of an audit.
    #[must_use]
    pub fn of(audit: &Audit) -> Self {
        Self::of_shares(|certainty| {
            let score = audit.explanations.by_kind.get(Measure::when(certainty))?;
            Some((score.value, score.whole))
        })
    }

    /// From the share of right answers and the number of answers, by how sure they were.
    #[must_use]
    pub fn of_shares(share: impl Fn(Certainty) -> Option<(f64, f64)>) -> Self {
        Self(Certainty::ALL.map(|certainty| {
            let (share, answers) = share(certainty)?;
            (answers >= MIN_ANSWERS).then_some(share)
        }))
    }

    /// The share of right answers among those that are so sure; `None` of too few.
    #[must_use]
    pub fn share(&self, certainty: Certainty) -> Option<f64> {
        self.0[certainty as usize]
    }
}

//! How often answers were right, by how sure they were.

use super::Audit;
use super::score::Measure;
use crate::contrast::Certainty;

/// Answers that a share is told of, at least: of fewer it says little.
const MIN_ANSWERS: f64 = 20.0;

/// How often answers were right in an audit, by how sure they were.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Track {
    shares: [Option<f64>; Certainty::ALL.len()],
    /// How many steps the answers looked ahead.
    pub horizon: usize,
}

impl Track {
    /// That of an audit.
    #[must_use]
    pub fn of(audit: &Audit) -> Self {
        Self::of_shares(audit.horizon, |certainty| {
            let score = audit.explanations.by_kind.get(Measure::when(certainty))?;
            Some((score.value, score.whole))
        })
    }

    /// From the share of right answers and the number of answers, by how sure they were, and how far they looked.
    #[must_use]
    pub fn of_shares(horizon: usize, share: impl Fn(Certainty) -> Option<(f64, f64)>) -> Self {
        let shares = Certainty::ALL.map(|certainty| {
            let (share, answers) = share(certainty)?;
            (answers >= MIN_ANSWERS).then_some(share)
        });
        Self { shares, horizon }
    }

    /// The share of right answers among those that are so sure; `None` of too few.
    #[must_use]
    pub fn share(&self, certainty: Certainty) -> Option<f64> {
        self.shares[certainty as usize]
    }
}

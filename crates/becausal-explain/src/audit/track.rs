//! How often answers were right, by how sure they were.

use super::Audit;
use super::score::Measure;
use crate::contrast::Certainty;

/// How often answers were right in an audit, by how sure they were.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Track {
    near: Shares,
    /// Those of the long run, where it was audited.
    far: Option<Shares>,
}

/// The shares of right answers over some steps.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Shares {
    /// The share, and of how many answers.
    shares: [Option<(f64, f64)>; Certainty::ALL.len()],
    horizon: usize,
}

/// How often answers that were so sure were right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrackRecord {
    /// The share of right answers.
    pub share: f64,
    /// How many answers there were.
    pub answers: f64,
    /// How many steps they looked ahead.
    pub steps: usize,
}

impl Track {
    /// That of an audit.
    #[must_use]
    pub fn of(audit: &Audit) -> Self {
        let of = |audit: &Audit| {
            Self::of_shares(audit.horizon, |certainty| {
                let score = audit.explanations.by_kind.get(Measure::when(certainty))?;
                Some((score.value, score.whole))
            })
        };
        let near = of(audit);
        audit.far.as_ref().map_or(near, |far| near.with_far(of(far)))
    }

    /// From the share of right answers and the number of answers, by how sure they were, and how far they looked.
    #[must_use]
    pub fn of_shares(horizon: usize, share: impl Fn(Certainty) -> Option<(f64, f64)>) -> Self {
        let shares = Certainty::ALL.map(share);
        Self { near: Shares { shares, horizon }, far: None }
    }

    /// The same with that of the long run.
    #[must_use]
    pub fn with_far(self, far: Self) -> Self {
        Self { far: Some(far.near), ..self }
    }

    /// How many steps the answers looked ahead.
    #[must_use]
    pub fn horizon(&self) -> usize {
        self.near.horizon
    }

    /// How often answers were right that were so sure and looked over some steps; `None` where there were none.
    #[must_use]
    pub fn share(&self, certainty: Certainty, steps: usize) -> Option<TrackRecord> {
        let audited = match &self.far {
            Some(far) if steps > self.near.horizon => far,
            _ => &self.near,
        };
        let (share, answers) = audited.shares[certainty as usize]?;
        Some(TrackRecord { share, answers, steps: audited.horizon })
    }
}

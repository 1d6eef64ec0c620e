//! How often answers were right, by how sure they were.

use super::Audit;
use super::score::Measure;
use crate::contrast::Certainty;

/// Answers that a share is told of, at least: of fewer it says little.
const MIN_ANSWERS: f64 = 20.0;

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
    shares: [Option<f64>; Certainty::ALL.len()],
    horizon: usize,
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
        let shares = Certainty::ALL.map(|certainty| {
            let (share, answers) = share(certainty)?;
            (answers >= MIN_ANSWERS).then_some(share)
        });
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

    /// The share of right answers among those that are so sure and look over some steps, and how many steps the audited
    /// ones looked over; `None` of too few.
    #[must_use]
    pub fn share(&self, certainty: Certainty, steps: usize) -> Option<(f64, usize)> {
        let audited = match &self.far {
            Some(far) if steps > self.near.horizon => far,
            _ => &self.near,
        };
        Some((audited.shares[certainty as usize]?, audited.horizon))
    }
}

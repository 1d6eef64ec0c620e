//! Counts how often claims are right.

/// Claims about what changes, compared with what changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// True positives: claimed, and it changed.
    pub right: usize,
    /// False positives: claimed, but it did not change.
    pub wrong: usize,
    /// False negatives: not claimed, but it changed.
    pub missed: usize,
}

impl Tally {
    /// Counts one claim.
    pub fn count(&mut self, claimed: bool, changed: bool) {
        match (claimed, changed) {
            (true, true) => self.right += 1,
            (true, false) => self.wrong += 1,
            (false, true) => self.missed += 1,
            (false, false) => {}
        }
    }

    /// Adds other counts.
    pub fn add(&mut self, other: Self) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.missed += other.missed;
    }

    /// The share of the claims that are right; `None` if nothing was claimed.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        share(self.right, self.right + self.wrong)
    }

    /// The share of the changes that were claimed; `None` if nothing changed.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        share(self.right, self.right + self.missed)
    }
}

/// `part / whole`; `None` if `whole` is 0.
fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

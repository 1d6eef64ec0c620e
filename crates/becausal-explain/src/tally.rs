//! Counting how often a claim is right.

/// Claims about what changes, against what changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Claimed, and so it was.
    pub right: usize,
    /// Claimed, and it was not so.
    pub wrong: usize,
    /// Not claimed, and it was so.
    pub missed: usize,
}

impl Tally {
    /// Counts one claim.
    pub fn count(&mut self, claimed: bool, true_: bool) {
        match (claimed, true_) {
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

    /// Of what was claimed, the share that was so; 1 when nothing was claimed.
    #[must_use]
    pub fn precision(&self) -> f64 {
        share(self.right, self.right + self.wrong)
    }

    /// Of what was so, the share that was claimed; 1 when nothing was so.
    #[must_use]
    pub fn recall(&self) -> f64 {
        share(self.right, self.right + self.missed)
    }
}

/// A share; 1 of nothing.
pub(super) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

//! Comparing a graph with the true one.

/// A graph compared with the true one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Score {
    /// Edges found that are in the true graph.
    pub right: usize,
    /// Edges found that are not in the true graph.
    pub false_edges: usize,
    /// Edges of the true graph that were not found.
    pub missed: usize,
    /// All pairs.
    pub pairs: usize,
}

impl Score {
    /// Compares two graphs of the same shape, `[effects][causes]`.
    #[must_use]
    pub fn of(found: &[Vec<bool>], truth: &[Vec<bool>]) -> Self {
        let mut score = Self::default();
        let pairs = found.iter().flatten().zip(truth.iter().flatten());
        for (&found, &truth) in pairs {
            score.pairs += 1;
            score.right += usize::from(found && truth);
            score.false_edges += usize::from(found && !truth);
            score.missed += usize::from(!found && truth);
        }
        score
    }

    /// The harmonic mean of precision and recall; 1 if both graphs are empty.
    #[must_use]
    pub fn f1(&self) -> f64 {
        let sum = 2 * self.right + self.false_edges + self.missed;
        if sum == 0 { 1.0 } else { 2.0 * self.right as f64 / sum as f64 }
    }

    /// The share of pairs that agree.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        if self.pairs == 0 { 1.0 } else { 1.0 - self.distance() as f64 / self.pairs as f64 }
    }

    /// The structural Hamming distance: the number of edges to add or remove.
    #[must_use]
    pub fn distance(&self) -> usize {
        self.false_edges + self.missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_count_both_kinds_of_error() {
        let found = [vec![true, true, false], vec![false, false, true]];
        let truth = [vec![true, false, true], vec![false, false, true]];
        let score = Score::of(&found, &truth);
        assert_eq!(score, Score { right: 2, false_edges: 1, missed: 1, pairs: 6 });
        assert!((score.f1() - 2.0 / 3.0).abs() < 1e-12);
        assert!((score.accuracy() - 4.0 / 6.0).abs() < 1e-12);
        assert_eq!(score.distance(), 2);
        assert_eq!(Score::of(&[], &[]).f1(), 1.0);
    }
}

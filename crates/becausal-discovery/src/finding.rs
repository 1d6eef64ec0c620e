//! What a test found out about a pair, before any threshold is applied.

use super::extremes::Hint;
use super::gains::Gain;
use super::remainder::Remainder;

/// The evidence for one pair.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    /// In the rows that decide.
    pub gain: Gain,
    /// The gain shrinks as more is learned: the cause may only stand for others.
    pub proxy: bool,
    /// A copy of the cause without which it would matter.
    pub copy: Option<usize>,
    /// What rows at the ends of the other inputs' ranges hint at.
    pub hint: Option<Hint>,
    /// In how many rows lies what nothing explains, where the method looked into it.
    pub remainder: Option<Remainder>,
    /// Not tested: the work was stopped.
    pub interrupted: bool,
}

impl Finding {
    /// No evidence.
    pub(super) const NOTHING: Self = Self {
        gain: Gain::NOTHING,
        proxy: false,
        copy: None,
        hint: None,
        remainder: None,
        interrupted: false,
    };

    /// Not tested.
    pub(super) const INTERRUPTED: Self = Self { interrupted: true, ..Self::NOTHING };
}

/// Findings about all pairs, and about the inputs among themselves.
#[derive(Debug, Clone)]
pub(super) struct Findings {
    /// `[output][input]`.
    pub pairs: Vec<Vec<Finding>>,
    /// The share of each input's variance that the other inputs leave unexplained, where the
    /// method looked into it.
    pub unexplained: Option<Vec<f64>>,
    /// Whether the residuals of each output depend on the past; empty where the method did not look.
    pub remembered: Vec<bool>,
    /// Whether p-values are error rates.
    pub valid: bool,
}

impl Findings {
    /// Nothing is tested of the inputs allowed for each output.
    pub(super) fn interrupted(inputs: usize, allowed: &[Vec<usize>]) -> Self {
        let mut pairs = vec![vec![Finding::NOTHING; inputs]; allowed.len()];
        for (row, allowed) in pairs.iter_mut().zip(allowed) {
            for &input in allowed {
                row[input] = Finding::INTERRUPTED;
            }
        }
        Self { pairs, unexplained: None, remembered: Vec::new(), valid: false }
    }
}

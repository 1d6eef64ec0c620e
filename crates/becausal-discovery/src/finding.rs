//! What a test found out about a pair, before any threshold is applied.

use serde_json::{Value, json};

use super::extremes::Hint;
use super::remainder::Remainder;

/// The evidence for one pair.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    pub p: f64,
    /// From 0 to 1: the share of what is otherwise unexplained that the cause explains.
    pub strength: f64,
    /// Loss without the cause less loss with it, in units of the effect's variance.
    pub gain: f64,
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
        p: 1.0,
        strength: 0.0,
        gain: 0.0,
        proxy: false,
        copy: None,
        hint: None,
        remainder: None,
        interrupted: false,
    };

    /// Not tested.
    pub(super) const INTERRUPTED: Self = Self { interrupted: true, ..Self::NOTHING };

    /// As it is kept when a discovery is stopped; one that was interrupted never is.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "p": self.p,
            "strength": self.strength,
            "gain": self.gain,
            "proxy": self.proxy,
            "copy": self.copy,
            "hint": self.hint.as_ref().map(|hint| json!({ "p": hint.p, "name": hint.name })),
            "remainder": self.remainder.as_ref().map(Remainder::to_json),
        })
    }

    /// The same as it was kept; `None` when it was not.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let number = |key: &str| value.get(key)?.as_f64();
        let copy = match value.get("copy")? {
            Value::Null => None,
            copy => Some(usize::try_from(copy.as_u64()?).ok()?),
        };
        let hint = match value.get("hint")? {
            Value::Null => None,
            hint => Some(Hint {
                p: hint.get("p")?.as_f64()?,
                name: hint.get("name")?.as_str()?.to_owned(),
            }),
        };
        let remainder = match value.get("remainder")? {
            Value::Null => None,
            remainder => Some(Remainder::from_json(remainder)?),
        };
        Some(Self {
            p: number("p")?,
            strength: number("strength")?,
            gain: number("gain")?,
            proxy: value.get("proxy")?.as_bool()?,
            copy,
            hint,
            remainder,
            interrupted: false,
        })
    }
}

/// Findings about all pairs, and about the inputs among themselves.
#[derive(Debug, Clone)]
pub(super) struct Findings {
    /// `[output][input]`.
    pub pairs: Vec<Vec<Finding>>,
    /// The share of each input's variance that the other inputs leave unexplained, where the
    /// method looked into it.
    pub unexplained: Option<Vec<f64>>,
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
        Self { pairs, unexplained: None, valid: false }
    }
}

//! Variables: the parts of a state, an action or an outcome.

use std::fmt;

use super::circle::Circle;

/// What a variable does in a transition (s, a, o, s').
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Part of the state s; its value after the transition is written with a prime, `x'`.
    State,
    /// Chosen by the agent.
    Action,
    /// Produced by the transition and not part of the next state.
    Outcome,
}

impl Role {
    /// The name of the role's table in a schema file.
    #[must_use]
    pub fn table(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Action => "action",
            Self::Outcome => "outcome",
        }
    }
}

/// The values that a variable, or each element of a vector, can take.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A finite real number within the bounds, if there are any.
    Continuous(Bounds),
    /// A whole number within the bounds, if there are any.
    Integer(Bounds),
    /// A finite real number on a circle, such as an angle. Values that are whole periods apart are the same.
    Circular(Circle),
    /// True or false, stored as 1 or 0.
    Boolean,
    /// One of these labels, stored as its index.
    Categorical(Vec<String>),
}

/// The smallest and largest value allowed, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bounds {
    /// No value is below this.
    pub low: Option<f64>,
    /// No value is above this.
    pub high: Option<f64>,
}

impl Bounds {
    /// Whether `value` is allowed.
    #[must_use]
    pub fn contain(&self, value: f64) -> bool {
        self.low.is_none_or(|low| value >= low) && self.high.is_none_or(|high| value <= high)
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (Some(low), Some(high)) => write!(f, "from {low} to {high}"),
            (Some(low), None) => write!(f, "at least {low}"),
            (None, Some(high)) => write!(f, "at most {high}"),
            (None, None) => f.write_str("any"),
        }
    }
}

impl Kind {
    /// Whether its values are labels or flags, not numbers.
    #[must_use]
    pub fn is_label(&self) -> bool {
        matches!(self, Self::Boolean | Self::Categorical(_))
    }

    /// The circle of a circular kind.
    #[must_use]
    pub fn circle(&self) -> Option<Circle> {
        match self {
            Self::Circular(circle) => Some(*circle),
            _ => None,
        }
    }

    /// The number that a value is written as: itself, or its place on the circle.
    #[must_use]
    pub fn written(&self, value: f64) -> f64 {
        self.circle().map_or(value, |circle| circle.wrap(value))
    }

    /// Whether two values are the same: equal, or on a circle no further apart than by rounding.
    #[must_use]
    pub fn same(&self, left: f64, right: f64) -> bool {
        let rounding = self.circle().map_or(0.0, |circle| SAME_PLACE * circle.period);
        left == right || self.difference(left, right).abs() <= rounding
    }

    /// `left - right`; on a circle the shortest way from `right` to `left`.
    #[must_use]
    pub fn difference(&self, left: f64, right: f64) -> f64 {
        self.circle().map_or(left - right, |circle| circle.difference(left, right))
    }

    /// The word for this kind in a schema file.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Continuous(_) => "continuous",
            Self::Integer(_) => "integer",
            Self::Circular(_) => "circular",
            Self::Boolean => "boolean",
            Self::Categorical(_) => "categorical",
        }
    }

    /// The labels of a categorical kind; empty for other kinds.
    #[must_use]
    pub fn labels(&self) -> &[String] {
        match self {
            Self::Categorical(labels) => labels,
            _ => &[],
        }
    }

    /// The value as a person writes it: a label, `true`, a number.
    #[must_use]
    pub fn show(&self, value: f64) -> String {
        match self {
            Self::Boolean => (value != 0.0).to_string(),
            Self::Categorical(labels) => labels
                .iter()
                .enumerate()
                .find(|(index, _)| f64::from(u32::try_from(*index).unwrap_or(u32::MAX)) == value)
                .map_or_else(|| value.to_string(), |(_, label)| label.clone()),
            Self::Continuous(_) | Self::Integer(_) | Self::Circular(_) => value.to_string(),
        }
    }

    /// Why `value` is not a value of this kind, or `None` if it is one.
    #[must_use]
    pub fn objection(&self, value: f64) -> Option<String> {
        let whole = value.fract() == 0.0;
        match self {
            _ if value.is_nan() => Some("NaN is not a value".into()),
            _ if value.is_infinite() => Some(format!("{value} is not a finite number")),
            Self::Continuous(bounds) | Self::Integer(bounds) if !bounds.contain(value) => {
                Some(format!("{value} is out of bounds: expected {bounds}"))
            }
            Self::Circular(circle) if value.abs() > MAX_TURNS * circle.period => {
                Some(format!("{value} is too large to say where on its circle it is"))
            }
            Self::Integer(_) if !whole => Some(format!("expected a whole number, got {value}")),
            Self::Integer(_) if value.abs() > MAX_EXACT_INTEGER => {
                Some(format!("{value} is too large to be stored exactly (beyond 2^53)"))
            }
            Self::Boolean if value != 0.0 && value != 1.0 => {
                Some(format!("expected true or false (1 or 0), got {value}"))
            }
            Self::Categorical(labels) if !whole || value < 0.0 || value >= labels.len() as f64 => {
                Some(format!(
                    "{value} is not the index of a label: expected 0 to {}",
                    labels.len().saturating_sub(1)
                ))
            }
            _ => None,
        }
    }
}

/// How far apart two numbers for the same place on a circle may be, in periods. Taking whole periods away rounds:
/// by 1e-10 of a period after a million of them.
const SAME_PLACE: f64 = 1e-9;

/// Most periods that a circular value may be away from 0: a double then still has six digits of its place on the circle.
const MAX_TURNS: f64 = 1e9;

/// 2^53: a double stores every whole number up to this exactly.
pub(crate) const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// A named quantity of a factorised MDP, scalar or vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Letters, digits and `_`.
    pub name: String,
    /// State, action or outcome.
    pub role: Role,
    /// The values that it, or each of its elements, can take.
    pub kind: Kind,
    /// The number of elements of a vector; `None` for a scalar.
    pub size: Option<usize>,
    /// The unit shown in texts: `"m/s"`.
    pub unit: Option<String>,
    /// The name shown in texts, if `name` is too terse: `"angular velocity"`.
    pub label: Option<String>,
    /// Which of two values is the better one; `None` where neither is.
    pub better: Option<Better>,
}

/// Which of two numbers is the better one, for people who read about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The lower one.
    Low,
    /// The higher one.
    High,
}

impl Better {
    /// Its word in a schema.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::High => "high",
        }
    }

    /// Whether one number is better than another; `None` if they are the same.
    #[must_use]
    pub fn is_better(self, this: f64, other: f64) -> Option<bool> {
        match self {
            _ if this == other => None,
            Self::Low => Some(this < other),
            Self::High => Some(this > other),
        }
    }
}

impl Variable {
    /// The number of its elements: 1 for a scalar.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.size.unwrap_or(1)
    }

    /// The name shown in texts.
    #[must_use]
    pub fn title(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }
}

/// The place of one number in a transition: an element of a variable, before or after the step.
///
/// The slots of a schema are ordered states, actions, outcomes, next states. A column of recorded
/// data contains the values of one slot.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// Index of the variable in [`Schema::variables`](crate::Schema::variables).
    pub variable: usize,
    /// The element of a vector variable.
    pub element: Option<usize>,
    /// Whether this is the value after the step.
    pub next: bool,
    /// The column's name: `x`, `x'`, `legs[0]`, `legs'[0]`.
    pub name: String,
}

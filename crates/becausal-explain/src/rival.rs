//! The action that another one is compared with where nobody says which.

use super::contrast::Contrast;
use becausal_core::schema::{Kind, Schema};

/// The label of an action that does nothing.
const NOTHING: &str = "none";

/// Another action, and why it is the one to compare with.
#[derive(Debug, Clone, PartialEq)]
pub struct Rival {
    /// The action, slot by slot.
    pub action: Vec<f64>,
    /// Why this one.
    pub basis: Basis,
}

/// Why an action is the one to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The agent would most likely have chosen it.
    FirstChoice,
    /// It is the agent's most likely choice after the action taken.
    SecondChoice,
    /// It does nothing.
    Nothing,
    /// It earns most of the other actions, by the model.
    BestOther,
}

/// What an action was compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct Rather {
    /// The other action.
    pub rival: Rival,
    /// Both courses.
    pub contrast: Contrast,
}

/// The action that does nothing: every label is `none`. `None` where an action variable has no such label.
pub(super) fn nothing(schema: &Schema) -> Option<Vec<f64>> {
    let label = |slot: usize| match &schema.variable_of(slot).kind {
        Kind::Categorical(labels) => {
            labels.iter().position(|label| label == NOTHING).map(|label| label as f64)
        }
        _ => None,
    };
    schema.action_slots().map(label).collect()
}

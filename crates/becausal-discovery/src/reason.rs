//! Why the data cannot tell about a pair.

use serde::{Deserialize, Serialize};

/// Why the data cannot tell whether there is an edge. Sentences are made of it in `becausal-render`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Reason {
    /// The work was stopped before the pair was tested.
    Interrupted,
    /// A state that never changes.
    Constant {
        /// The cause or the effect.
        variable: String,
        /// Its only value, where it is a single number or label.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
    },
    /// An action that the policy never varies.
    NeverVaried {
        /// The action.
        variable: String,
        /// Its only value, where it is a single number or label.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
    },
    /// An action that follows from the state, as a deterministic controller's does.
    FollowsState {
        /// The action.
        variable: String,
    },
    /// A state that follows from the other inputs.
    FollowsOthers {
        /// The state.
        variable: String,
    },
    /// Another input carries the same values: one of the two matters, and the data cannot tell which.
    Duplicate {
        /// The other input.
        of: String,
    },
    /// Too few rows for any test.
    FewRows {
        /// All rows.
        rows: usize,
    },
    /// Too few independent pieces: the recordings are few, and what is unexplained of the effect changes
    /// slowly.
    FewPieces,
    /// The cause or the effect hardly ever leaves its usual value.
    RarelyVaries {
        /// The cause or the effect.
        variable: String,
        /// Rows in which it has another value.
        rows: usize,
    },
    /// The p-value is neither low enough for an edge nor high enough to rule one out.
    Unclear,
    /// A few rows at the end of another input's range hint at an influence.
    Hint {
        /// How many rows.
        rows: usize,
        /// Which rows.
        #[serde(flatten)]
        group: RowGroup,
    },
    /// What the model cannot explain of the effect lies in so few rows that an influence could hide there.
    FewDecide {
        /// About how many rows.
        rows: usize,
        /// Which rows.
        #[serde(flatten)]
        group: RowGroup,
        /// The effect, where some of it is unexplained.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unexplained: Option<String>,
    },
    /// The policy never chose this action.
    NeverChosen {
        /// The label of the action.
        label: String,
    },
    /// The networks read the cause, because those that were found do not suffice; no test confirms it.
    NetworksUse,
    /// A graph file does not list the pair.
    NotListed,
    /// A reason in words, from a graph written by hand or by an earlier version.
    Words {
        /// The sentence.
        words: String,
    },
}

/// Some of the rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "where", rename_all = "kebab-case")]
pub enum RowGroup {
    /// All of them.
    All,
    /// Those with the largest values of an input.
    Largest {
        /// The input.
        of: String,
    },
    /// Those with the smallest values of an input.
    Smallest {
        /// The input.
        of: String,
    },
    /// Those in which an input has one value.
    Value {
        /// The input.
        of: String,
        /// Its value.
        value: String,
    },
}

impl Reason {
    /// Whether the data cannot tell whatever the p-value is. Where an action follows from the state, a
    /// jump at the point where the controller switches looks like an effect of the action, and may be one
    /// of the state.
    #[must_use]
    pub fn overrides_p(&self) -> bool {
        matches!(self, Self::FollowsState { .. })
    }

    /// Whether the pair was tested all the same: more rows could still show something. Such a pair
    /// counts when p-values are corrected for the number of pairs.
    #[must_use]
    pub fn was_tested(&self) -> bool {
        matches!(
            self,
            Self::FewRows { .. }
                | Self::FewPieces
                | Self::RarelyVaries { .. }
                | Self::Unclear
                | Self::Hint { .. }
                | Self::FewDecide { .. }
        )
    }
}

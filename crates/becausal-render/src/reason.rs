//! Why a pair is untestable, in words.

use becausal_discovery::{Reason, RowGroup};

use super::words::counted;

/// A reason as a clause, with what to do about it: "`engine` is constant; record data in which it varies".
#[must_use]
pub fn reason_words(reason: &Reason) -> String {
    let always = |value: &Option<String>| {
        value.as_ref().map_or_else(String::new, |value| format!(" (always {value})"))
    };
    match reason {
        Reason::Interrupted => "interrupted before it was tested".to_owned(),
        Reason::Constant { variable, value } => {
            format!("`{variable}` is constant{}; record data in which it varies", always(value))
        }
        Reason::NeverVaried { variable, value } => format!(
            "the policy never varies `{variable}`{}; record some random actions",
            always(value)
        ),
        Reason::FollowsState { variable } => {
            format!("`{variable}` follows from the state; record some random actions")
        }
        Reason::FollowsOthers { variable } => format!(
            "`{variable}` follows from the other inputs; record data in which it varies on its own"
        ),
        Reason::Duplicate { of } => {
            format!("duplicate of `{of}`: one of the two matters; leave one out")
        }
        Reason::FewRows { rows } => {
            format!("too few rows: {} in all; collect more", counted(*rows, "row"))
        }
        Reason::FewPieces => {
            "too few episodes: what is left unexplained changes slowly; record more episodes"
                .to_owned()
        }
        Reason::RarelyVaries { variable, rows } => format!(
            "too few rows: `{variable}` leaves its usual value in {}; record more of these",
            counted(*rows, "row")
        ),
        Reason::Unclear => "the evidence is weak; collect more rows".to_owned(),
        // Without the number, which `graph.json` has.
        Reason::Hint { group, .. } => {
            format!("only a few rows{} hint at an effect; collect more of them", group_words(group))
        }
        Reason::FewDecide { group: RowGroup::All, .. } => {
            "too few of the rows that could show an effect; collect more of them".to_owned()
        }
        Reason::FewDecide { group, .. } => format!(
            "too few rows{}, which could show an effect; collect more of them",
            group_words(group)
        ),
        Reason::NeverChosen { label } => {
            format!("the policy never chose `{label}`; record some random actions")
        }
        Reason::NetworksUse => {
            "the networks read it, because the causes found do not suffice; no test confirms it"
                .to_owned()
        }
        Reason::NotListed => "the graph file does not list this pair".to_owned(),
        Reason::Words { words } => words.clone(),
    }
}

/// A reason as a heading over similar pairs, and what distinguishes a pair below it: which rows are too few.
pub(crate) fn reason_parts(reason: &Reason) -> (String, Option<String>) {
    let (heading, group) = match reason {
        Reason::Hint { group, .. } => (
            "only a few rows at the end of a range hint at an effect (in brackets: which); collect more of them",
            group,
        ),
        Reason::FewDecide { group, .. } => (
            "too few of the rows that could show an effect (in brackets: which); collect more of them",
            group,
        ),
        other => return (reason_words(other), None),
    };
    let rows = match group {
        RowGroup::All => return (reason_words(reason), None),
        RowGroup::Largest { of } => format!("largest {of}"),
        RowGroup::Smallest { of } => format!("smallest {of}"),
        RowGroup::Value { of, value } => format!("{of} = {value}"),
    };
    (heading.to_owned(), Some(rows))
}

/// " with the largest `x`"; nothing for all rows.
fn group_words(group: &RowGroup) -> String {
    match group {
        RowGroup::All => String::new(),
        RowGroup::Largest { of } => format!(" with the largest `{of}`"),
        RowGroup::Smallest { of } => format!(" with the smallest `{of}`"),
        RowGroup::Value { of, value } => format!(" with `{of}` = {value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_read_well() {
        let cases = [
            (
                Reason::NeverVaried { variable: "engine".into(), value: Some("none".into()) },
                "the policy never varies `engine` (always none); record some random actions",
            ),
            (Reason::FewRows { rows: 1 }, "too few rows: 1 row in all; collect more"),
            (
                Reason::FewPieces,
                "too few episodes: what is left unexplained changes slowly; record more episodes",
            ),
            (
                Reason::Hint { rows: 40, group: RowGroup::Largest { of: "x".into() } },
                "only a few rows with the largest `x` hint at an effect; collect more of them",
            ),
            (
                Reason::FewDecide {
                    rows: 7,
                    group: RowGroup::Value { of: "legs".into(), value: "true".into() },
                    unexplained: Some("vy'".into()),
                },
                "too few rows with `legs` = true, which could show an effect; collect more of them",
            ),
        ];
        for (reason, words) in cases {
            assert_eq!(reason_words(&reason), words);
        }
    }

    #[test]
    fn similar_reasons_share_a_heading() {
        let hint = |group: RowGroup| reason_parts(&Reason::Hint { rows: 40, group });
        let (heading, rows) = hint(RowGroup::Largest { of: "x".into() });
        assert_eq!(rows.as_deref(), Some("largest x"));
        let value = RowGroup::Value { of: "legs".into(), value: "true".into() };
        assert_eq!(hint(value), (heading, Some("legs = true".to_owned())));
        let (heading, rows) = reason_parts(&Reason::Unclear);
        assert_eq!((heading, rows), (reason_words(&Reason::Unclear), None));
        // Brackets that are not there are not promised.
        let (heading, rows) = hint(RowGroup::All);
        assert!(!heading.contains("brackets") && rows.is_none(), "{heading}");
    }
}

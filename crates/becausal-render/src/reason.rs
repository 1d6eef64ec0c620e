//! Why a pair is untestable, in words.

use becausal_discovery::{Reason, RowGroup};

use super::words::counted;

/// A reason as a clause: "`engine` is constant".
#[must_use]
pub fn reason_words(reason: &Reason) -> String {
    let always = |value: &Option<String>| {
        value.as_ref().map_or_else(String::new, |value| format!(" (always {value})"))
    };
    match reason {
        Reason::Interrupted => "interrupted before it was tested".to_owned(),
        Reason::Constant { variable, value } => {
            format!("`{variable}` is constant{}", always(value))
        }
        Reason::NeverVaried { variable, value } => {
            format!("the policy never varies `{variable}`{}", always(value))
        }
        Reason::FollowsState { variable } => {
            format!("the policy never varies `{variable}` on its own: it follows from the state")
        }
        Reason::FollowsOthers { variable } => {
            format!("`{variable}` never varies on its own: it follows from the other inputs")
        }
        Reason::Duplicate { of } => {
            format!("duplicate of `{of}`: one of the two matters, the data cannot tell which")
        }
        Reason::FewRows { rows } => {
            format!("too few rows: {} in all", counted(*rows, "row"))
        }
        Reason::RarelyVaries { variable, rows } => format!(
            "too few rows: `{variable}` leaves its usual value in {}",
            counted(*rows, "row")
        ),
        Reason::Unclear => "too few rows: the evidence is not clear either way".to_owned(),
        Reason::Hint { rows, group } => {
            format!("too few rows: only {} hint at it", rows_words(*rows, group))
        }
        Reason::FewDecide { rows, group, unexplained: Some(effect) } => format!(
            "too few rows: what remains unexplained of `{effect}` lies in about {}; collect more",
            rows_words(*rows, group)
        ),
        Reason::FewDecide { rows, group, unexplained: None } => {
            format!("too few rows: {}; collect more", rows_words(*rows, group))
        }
        Reason::NeverChosen { label } => format!("the policy never chose `{label}`"),
        Reason::NetworksUse => {
            "networks that read the cause predict the effect better, but no test confirms it"
                .to_owned()
        }
        Reason::NotListed => "the graph file does not list this pair".to_owned(),
        Reason::Words { words } => words.clone(),
    }
}

/// "40 rows with the largest `x`".
fn rows_words(rows: usize, group: &RowGroup) -> String {
    let rows = counted(rows, "row");
    match group {
        RowGroup::All => rows,
        RowGroup::Largest { of } => format!("{rows} with the largest `{of}`"),
        RowGroup::Smallest { of } => format!("{rows} with the smallest `{of}`"),
        RowGroup::Value { of, value } => format!("{rows} with `{of}` = {value}"),
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
                "the policy never varies `engine` (always none)",
            ),
            (Reason::FewRows { rows: 1 }, "too few rows: 1 row in all"),
            (
                Reason::Hint { rows: 40, group: RowGroup::Largest { of: "x".into() } },
                "too few rows: only 40 rows with the largest `x` hint at it",
            ),
            (
                Reason::FewDecide {
                    rows: 7,
                    group: RowGroup::Value { of: "legs".into(), value: "true".into() },
                    unexplained: Some("vy'".into()),
                },
                "too few rows: what remains unexplained of `vy'` lies in about 7 rows with `legs` = true; \
                 collect more",
            ),
        ];
        for (reason, words) in cases {
            assert_eq!(reason_words(&reason), words);
        }
    }
}

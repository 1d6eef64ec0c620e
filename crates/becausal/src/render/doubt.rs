//! What speaks against an explanation, in words.

use super::words::{counted, number, title};
use crate::chain::{Node, Part};
use crate::explain::Doubt;
use crate::schema::Schema;

/// Doubts of one sort that are spelled out; the rest is counted.
const MOST: usize = 3;

fn pair(schema: &Schema, from: Node, to: Node) -> String {
    format!("{} → {}", title(schema, from), title(schema, to))
}

/// A doubt as a sentence; steps are counted from `first`, the number of the step explained.
#[must_use]
pub(super) fn sentence(schema: &Schema, doubt: &Doubt, first: usize) -> String {
    let at = |node: &Node| {
        let step = if node.part == Part::State { node.step } else { node.after() };
        format!("{} at step {}", title(schema, *node), first + step)
    };
    match doubt {
        Doubt::Predicted { steps, of } if steps == of => {
            "all steps are predicted by the model, none was recorded".to_owned()
        }
        Doubt::Predicted { steps, of } => {
            let verb = if *steps == 1 { "is" } else { "are" };
            format!("the last {steps} of {of} steps {verb} predicted, not recorded")
        }
        Doubt::Outside { node, distance } => format!(
            "{} is outside of the data seen, by {} standard deviations",
            at(node),
            number(*distance, 2)
        ),
        Doubt::Disagreement { node, spread } => format!(
            "the members of the model disagree about {}, by {} standard deviations",
            at(node),
            number(*spread, 2)
        ),
        Doubt::NotFound { from, to } => {
            format!("discovery found no influence {}", pair(schema, *from, *to))
        }
        Doubt::Untestable { from, to, reason } => {
            let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            format!("the data cannot tell about {}{reason}", pair(schema, *from, *to))
        }
        Doubt::Proxy { from, to } => {
            format!("in {} the cause may only stand for another one", pair(schema, *from, *to))
        }
        Doubt::Divided { from, to, agreeing, members } => format!(
            "only {agreeing} of {} see {}",
            counted(*members, "member"),
            pair(schema, *from, *to)
        ),
        Doubt::WithoutPolicy => {
            "no policy is known: later actions are taken as recorded, whatever they depend on"
                .to_owned()
        }
        Doubt::Worse { difference } => {
            format!(
                "the other action would have been paid more within these steps, by {}",
                number(-difference, 3)
            )
        }
    }
}

/// All doubts, each sort shortened to the first few.
#[must_use]
pub(super) fn sentences(schema: &Schema, doubts: &[Doubt], first: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = doubts;
    while let Some(doubt) = rest.first() {
        let sort = std::mem::discriminant(doubt);
        let same = rest.iter().take_while(|d| std::mem::discriminant(*d) == sort).count();
        lines.extend(rest[..same.min(MOST)].iter().map(|d| sentence(schema, d, first)));
        if same > MOST {
            lines.push(format!("and {} more of this kind", same - MOST));
        }
        rest = &rest[same..];
    }
    lines
}

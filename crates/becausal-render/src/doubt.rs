//! What speaks against an explanation, in words.

use std::mem::{Discriminant, discriminant};

use super::reason::reason_words;
use super::words::{counted, number, title};
use becausal_core::schema::Schema;
use becausal_explain::Doubt;
use becausal_explain::chain::{Node, Part};

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
        Doubt::Outside { node, distance } => {
            format!("{} is {} standard deviations outside the data", at(node), number(*distance, 2))
        }
        Doubt::Disagreement { node, spread } => format!(
            "the networks of the model disagree about {} by {} standard deviations",
            at(node),
            number(*spread, 2)
        ),
        Doubt::NotFound { from, to } => {
            format!("discovery found no influence {}", pair(schema, *from, *to))
        }
        Doubt::Untestable { from, to, reason } => {
            let reason = reason
                .as_ref()
                .map_or(String::new(), |reason| format!(": {}", reason_words(reason)));
            format!("the data cannot tell about {}{reason}", pair(schema, *from, *to))
        }
        Doubt::Proxy { from, to } => {
            format!("in {} the cause may be a proxy for another one", pair(schema, *from, *to))
        }
        Doubt::Divided { from, to, agreeing, members } => format!(
            "only {agreeing} of {} use {}",
            counted(*members, "network"),
            pair(schema, *from, *to)
        ),
        Doubt::WithoutPolicy => {
            "the policy is not known: later actions stay as recorded, whatever they depend on"
                .to_owned()
        }
        Doubt::Worse { difference } => {
            format!(
                "the other action would have earned {} more reward over these steps",
                number(-difference, 3)
            )
        }
    }
}

/// All doubts, each told once, each sort shortened to the first few.
#[must_use]
pub(super) fn sentences(schema: &Schema, doubts: &[Doubt], first: usize) -> Vec<String> {
    let mut sorts: Vec<(Discriminant<Doubt>, Vec<String>)> = Vec::new();
    for doubt in doubts {
        let (sort, words) = (discriminant(doubt), sentence(schema, doubt, first));
        match sorts.iter_mut().find(|(known, _)| *known == sort) {
            // Both courses of a contrast may give rise to the same sentence.
            Some((_, told)) if told.contains(&words) => {}
            Some((_, told)) => told.push(words),
            None => sorts.push((sort, vec![words])),
        }
    }
    let shorten = |(_, mut told): (_, Vec<String>)| {
        let more = told.split_off(told.len().min(MOST)).len();
        told.extend((more > 0).then(|| format!("and {more} more of this kind")));
        told
    };
    sorts.into_iter().flat_map(shorten).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_courses_of_a_contrast_give_rise_to_is_told_once() {
        let states: String = ["a", "b", "c", "d"]
            .map(|name| format!("{name} = {{ kind = \"continuous\" }}\n"))
            .concat();
        let text = format!(
            "name = \"Letters\"\n[state]\n{states}[action]\ngo = {{ kind = \"boolean\" }}\n[reward]\nr = \"a\"\n"
        );
        let schema = Schema::parse(&text).expect("a schema");
        let proxy = |step: usize, to: usize| Doubt::Proxy {
            from: Node::state(step, 0),
            to: Node::state(step + 1, to),
        };
        let doubts = [proxy(0, 0), proxy(0, 1), Doubt::WithoutPolicy, proxy(2, 0), proxy(1, 2)];
        let told = sentences(&schema, &doubts, 0);
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(told[3].starts_with("no policy is known"), "sorts stay together: {told:?}");
        let many: Vec<Doubt> = [0, 1, 2, 3, 0, 3].map(|to| proxy(0, to)).to_vec();
        let told = sentences(&schema, &many, 0);
        assert_eq!(told.last().map(String::as_str), Some("and 1 more of this kind"));
    }
}

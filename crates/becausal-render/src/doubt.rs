//! Caveats in words.

use std::mem::{Discriminant, discriminant};

use super::reason::reason_words;
use super::words::{counted, number, title};
use becausal_core::schema::Schema;
use becausal_explain::Doubt;
use becausal_explain::chain::{Node, Part};

/// The maximum number of caveats of one kind to list; the rest is counted.
const MAX_OF_KIND: usize = 3;

fn pair(schema: &Schema, from: Node, to: Node) -> String {
    format!("{} → {}", title(schema, from), title(schema, to))
}

/// A caveat as a sentence. `first` is the number of the step explained.
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
            format!("the last {steps} of {} {verb} predicted, not recorded", counted(*of, "step"))
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
        Doubt::Confounded { node, reason } => {
            let what = title(schema, *node);
            format!("the data cannot tell what {what} does: {}", reason_words(reason))
        }
        Doubt::Chance { node, probability } => format!(
            "{} is up to chance in the course that did not happen: its value there has a probability of \
             {:.0} %, and the record does not show what chance would have brought",
            at(node),
            100.0 * probability
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

/// All caveats without repeats, grouped by kind; only the first few of each kind.
#[must_use]
pub(super) fn sentences(schema: &Schema, doubts: &[Doubt], first: usize) -> Vec<String> {
    let mut kinds: Vec<(Discriminant<Doubt>, Vec<String>)> = Vec::new();
    for doubt in doubts {
        let (kind, words) = (discriminant(doubt), sentence(schema, doubt, first));
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            // Both trajectories of a contrast may have the same caveat.
            Some((_, sentences)) if sentences.contains(&words) => {}
            Some((_, sentences)) => sentences.push(words),
            None => kinds.push((kind, vec![words])),
        }
    }
    let shorten = |(_, mut sentences): (_, Vec<String>)| {
        let more = sentences.split_off(sentences.len().min(MAX_OF_KIND)).len();
        sentences.extend((more > 0).then(|| format!("and {more} more of this kind")));
        sentences
    };
    kinds.into_iter().flat_map(shorten).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caveats_are_listed_once_and_grouped_by_kind() {
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
        let listed = sentences(&schema, &doubts, 0);
        assert_eq!(listed.len(), 4, "{listed:?}");
        assert!(listed[3].starts_with("the policy is not known"), "{listed:?}");
        let many: Vec<Doubt> = [0, 1, 2, 3, 0, 3].map(|to| proxy(0, to)).to_vec();
        let listed = sentences(&schema, &many, 0);
        assert_eq!(listed.last().map(String::as_str), Some("and 1 more of this kind"));
    }
}

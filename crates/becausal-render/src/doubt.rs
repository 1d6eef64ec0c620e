//! Caveats in words.

use std::fmt::Write;
use std::mem::{Discriminant, discriminant};

use super::reason::reason_words;
use super::words::{counted, number, title};
use becausal_core::schema::Schema;
use becausal_discovery::Reason;
use becausal_explain::Doubt;
use becausal_explain::chain::{Node, Part};

/// The rank of the last caveat that can change an answer by itself.
const LAST_SERIOUS: usize = 5;

/// A state is far outside the data from here on, in standard deviations.
const FAR: f64 = 0.5;

/// Caveats of a short answer, at most.
const MAX_MAIN: usize = 2;

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
        Doubt::Chance { node, probability, bounds } => {
            let percent = |share: f64| format!("{:.0} %", 100.0 * share);
            let bounds = bounds.map_or_else(String::new, |[low, high]| {
                format!(
                    "; how chance goes together under two actions is an assumption, without it this is {} to {}",
                    percent(low),
                    percent(high)
                )
            });
            format!(
                "{} is up to chance in the course that did not happen: its value there has a probability of {}{bounds}",
                at(node),
                percent(*probability)
            )
        }
        Doubt::WithoutPolicy => {
            "the policy is not known: later actions stay as recorded, whatever they depend on"
                .to_owned()
        }
    }
}

/// How likely a caveat is to change the answer: the first are the most serious.
fn rank(doubt: &Doubt) -> usize {
    match doubt {
        Doubt::Confounded { .. } => 0,
        Doubt::Outside { distance, .. } if *distance >= FAR => 1,
        Doubt::Chance { .. } => 2,
        Doubt::Untestable { from, .. } if from.part == Part::Action && from.step == 0 => 3,
        Doubt::WithoutPolicy => 4,
        Doubt::Disagreement { .. } => 5,
        Doubt::NotFound { .. } | Doubt::Outside { .. } => 6,
        Doubt::Untestable { .. } => 7,
        Doubt::Proxy { .. } => 8,
        Doubt::Divided { .. } => 9,
        Doubt::Predicted { .. } => 10,
    }
}

/// What to do about a caveat; `None` where the reason in it says so.
fn advice(doubt: &Doubt) -> Option<&'static str> {
    Some(match doubt {
        Doubt::Untestable { reason: Some(Reason::Interrupted), .. } => "Let discovery end.",
        Doubt::NotFound { .. }
        | Doubt::Proxy { .. }
        | Doubt::Untestable {
            reason: None | Some(Reason::NotListed | Reason::NetworksUse), ..
        } => "An audit tells how often such chains hold.",
        Doubt::Confounded { .. } | Doubt::Untestable { .. } => return None,
        Doubt::Outside { .. } => {
            "Record states like this one, or ask about one nearer to the data."
        }
        Doubt::Chance { .. } => "Take the answer as one of several that are possible.",
        Doubt::WithoutPolicy => "A run with the agent's policy says what it would have done.",
        Doubt::Disagreement { .. } | Doubt::Divided { .. } => {
            "More rows of such states would settle it."
        }
        Doubt::Predicted { .. } => "Ask about a step with a longer record to rely on it less.",
    })
}

/// The caveats that could change an answer about the first `steps`, with what to do about them, and how many there are
/// besides.
pub(super) fn main(
    text: &mut String,
    schema: &Schema,
    doubts: &[Doubt],
    (first, steps): (usize, usize),
) {
    let is_within =
        |doubt: &&Doubt| !matches!(doubt, Doubt::Chance { node, .. } if node.after() > steps);
    let mut ranked: Vec<&Doubt> = doubts.iter().filter(is_within).collect();
    ranked.sort_by_key(|doubt| rank(doubt));
    ranked.dedup_by_key(|doubt| rank(doubt));
    ranked.retain(|doubt| rank(doubt) <= LAST_SERIOUS);
    let shown = ranked.len().min(MAX_MAIN);
    if shown > 0 {
        let _ = writeln!(text, "\nBut:");
    }
    for doubt in &ranked[..shown] {
        let words = sentence(schema, doubt, first);
        let advice = advice(doubt).map_or_else(String::new, |advice| format!(" {advice}"));
        let _ = writeln!(text, "  {words}.{advice}");
    }
    let rest = doubts.len() - shown;
    if rest > 0 {
        let gap = if shown == 0 { "\n" } else { "  " };
        let _ = writeln!(text, "{gap}({} in the details)", counted(rest, "further caveat"));
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

    fn letters() -> Schema {
        let states: String = ["a", "b", "c", "d"]
            .map(|name| format!("{name} = {{ kind = \"continuous\" }}\n"))
            .concat();
        let text = format!(
            "name = \"Letters\"\n[state]\n{states}[action]\ngo = {{ kind = \"boolean\" }}\n[reward]\nr = \"a\"\n"
        );
        Schema::parse(&text).expect("a schema")
    }

    #[test]
    fn every_caveat_of_a_short_answer_has_one_piece_of_advice() {
        let (from, to) = (Node::action(0, 0), Node::state(1, 0));
        let constant = || Reason::Constant { variable: "a".into(), value: None };
        let untestable = |reason| Doubt::Untestable { from, to, reason };
        let doubts = [
            untestable(None),
            untestable(Some(constant())),
            untestable(Some(Reason::FollowsState { variable: "go".into() })),
            untestable(Some(Reason::FewPieces)),
            untestable(Some(Reason::NotListed)),
            untestable(Some(Reason::Interrupted)),
            Doubt::Confounded { node: from, reason: constant() },
            Doubt::Outside { node: to, distance: 3.0 },
            Doubt::Chance { node: to, probability: 0.4, bounds: None },
            Doubt::WithoutPolicy,
            Doubt::Disagreement { node: to, spread: 0.3 },
        ];
        let told = |doubt: &Doubt| {
            let mut text = String::new();
            main(&mut text, &letters(), std::slice::from_ref(doubt), (0, 5));
            text
        };
        for doubt in &doubts {
            let text = told(doubt);
            // A reason gives it after a semicolon, a caveat of another kind in a sentence of its own.
            let pieces = text.matches("; ").count() + text.matches(". ").count();
            assert_eq!(pieces, 1, "{text}");
        }
        let words = ": `a` is constant; record data in which it varies.\n";
        assert!(told(&doubts[1]).ends_with(words), "{}", told(&doubts[1]));
    }

    #[test]
    fn caveats_are_listed_once_and_grouped_by_kind() {
        let schema = letters();
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

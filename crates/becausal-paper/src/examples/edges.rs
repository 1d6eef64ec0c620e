//! The paper's statements about edges, compared with a graph of ours.

use becausal::CausalGraph;
use becausal::discovery::Verdict;
use becausal::render::reason_words;

use crate::comparison::{Agreement, Claim};
use crate::number::brief;

/// Whether the paper has an edge.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Published {
    Edge,
    NoEdge,
}

/// A statement about some pairs, compared pair by pair. The reason is given only if a pair differs.
pub fn claim(
    graph: &CausalGraph,
    words: &str,
    published: Published,
    pairs: &[(&str, &str)],
    reason: &str,
) -> Claim {
    let agrees = |&(cause, effect): &(&str, &str)| {
        is_edge(graph, cause, effect) == (published == Published::Edge)
    };
    let same = pairs.iter().all(agrees);
    Claim {
        published: words.to_owned(),
        measured: pairs.iter().map(|pair| pair_words(graph, *pair)).collect::<Vec<_>>().join("; "),
        agreement: Agreement::of(same),
        reason: if same { String::new() } else { reason.to_owned() },
    }
}

/// Whether a graph has an edge.
pub fn is_edge(graph: &CausalGraph, cause: &str, effect: &str) -> bool {
    graph.find(cause, effect).is_some_and(|pair| pair.verdict == Verdict::Edge)
}

/// The effects of a cause.
pub fn effects_of<'a>(graph: &'a CausalGraph, cause: &str) -> Vec<&'a str> {
    let edges = graph.edges().filter(|pair| graph.cause(pair.cause) == cause);
    edges.map(|pair| graph.effect(pair.effect)).collect()
}

/// `money → marines': edge, strength 0.41`.
pub fn pair_words(graph: &CausalGraph, (cause, effect): (&str, &str)) -> String {
    let verdict = match graph.find(cause, effect) {
        None => "not tested".to_owned(),
        Some(pair) => match pair.verdict {
            Verdict::Edge => format!("edge, strength {}", brief(pair.strength)),
            Verdict::None => format!("no edge, p = {}", brief(pair.p)),
            Verdict::Untestable => match &pair.reason {
                Some(reason) => format!("undecided ({})", reason_words(reason)),
                None => "undecided".to_owned(),
            },
        },
    };
    format!("{cause} → {effect}: {verdict}")
}

#[cfg(test)]
mod tests {
    use becausal::discovery::Reason;

    use super::*;

    #[test]
    fn a_claim_holds_when_every_pair_does() {
        let mut graph = CausalGraph::new("auto", 0.05, &["x", "z", "w"], &["y'"]);
        for (pair, p) in graph.pairs_mut().iter_mut().zip([1e-9, 0.7, 0.1]) {
            pair.p = p;
        }
        graph.pairs_mut()[2].reason = Some(Reason::Unclear);
        let graph = graph.with_eta(0.05);
        let pairs = [("x", "y'"), ("z", "y'")];
        let both = claim(&graph, "both", Published::Edge, &pairs, "few rows");
        assert_eq!(both.agreement, Agreement::Different);
        assert_eq!(both.reason, "few rows");
        assert_eq!(both.measured, "x → y': edge, strength 0; z → y': no edge, p = 0.7");
        let none = claim(&graph, "none", Published::NoEdge, &pairs[1..], "few rows");
        assert_eq!((none.agreement, none.reason.as_str()), (Agreement::Same, ""));
        assert!(
            pair_words(&graph, ("w", "y'")).starts_with("w → y': undecided (the evidence is weak")
        );
        assert_eq!(effects_of(&graph, "x"), ["y'"]);
    }
}

//! What the paper says about edges of a graph, compared with a graph of ours.

use becausal::CausalGraph;
use becausal::discovery::Verdict;
use becausal::render::{Agreement, Claim};

use crate::number::brief;

/// Whether the paper has an edge.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Published {
    Edge,
    NoEdge,
}

/// A statement about some pairs, compared pair by pair. Where all agree there is no reason to give.
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
        measured: pairs.iter().map(|pair| said(graph, *pair)).collect::<Vec<_>>().join("; "),
        agreement: Agreement::of(same),
        reason: if same { String::new() } else { reason.to_owned() },
    }
}

/// Whether a graph has an edge.
pub fn is_edge(graph: &CausalGraph, cause: &str, effect: &str) -> bool {
    graph.pair(cause, effect).is_some_and(|pair| pair.verdict == Verdict::Edge)
}

/// `money → marines': edge, strength 0.41`.
pub fn said(graph: &CausalGraph, (cause, effect): (&str, &str)) -> String {
    let verdict = match graph.pair(cause, effect) {
        None => "not asked".to_owned(),
        Some(pair) => match pair.verdict {
            Verdict::Edge => format!("edge, strength {}", brief(pair.strength)),
            Verdict::None => format!("no edge, p {}", brief(pair.p)),
            Verdict::Untestable => {
                format!("cannot be told ({})", pair.reason.as_deref().unwrap_or("no reason given"))
            }
        },
    };
    format!("{cause} → {effect}: {verdict}")
}

/// What a variable is an edge to, or what leads to it; `nothing` where there is none.
pub fn list(names: &[&str]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use becausal::discovery::Pair;

    use super::*;

    #[test]
    fn a_claim_holds_when_every_pair_does() {
        let pair = |cause: &str, p: f64| Pair { p, ..Pair::new(cause, "y'") };
        let graph = CausalGraph::new("auto", 0.05, vec![pair("x", 1e-9), pair("z", 0.7)]);
        let both = [("x", "y'"), ("z", "y'")];
        let found = claim(&graph, "both", Published::Edge, &both, "few rows");
        assert_eq!(found.agreement, Agreement::Different);
        assert_eq!(found.reason, "few rows");
        assert!(found.measured.ends_with("z → y': no edge, p 0.7"), "{}", found.measured);
        let none = claim(&graph, "none", Published::NoEdge, &both[1..], "few rows");
        assert_eq!((none.agreement, none.reason.as_str()), (Agreement::Same, ""));
        assert_eq!(list(&[]), "nothing");
    }
}

//! The strongest paths of a chain, if there are too many influences to draw.

use std::collections::{BTreeMap, BTreeSet};

use becausal_explain::chain::Node;

/// An influence that could be drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub from: Node,
    pub to: Node,
    pub weight: f64,
}

/// The best path to or from a node: the product of its weights, and the next edge.
type Paths = BTreeMap<Node, (f64, Option<usize>)>;

/// Chooses the candidates to draw, by index: whole paths from a source to a sink, strongest first.
///
/// The strength of a path is the product of its weights. Candidates are in order of time. Candidates on
/// no path are never chosen.
#[must_use]
pub(super) fn strongest(
    candidates: &[Candidate],
    is_source: impl Fn(Node) -> bool,
    is_sink: impl Fn(Node) -> bool,
    max_nodes: usize,
    max_links: usize,
) -> Vec<usize> {
    let order: Vec<usize> = (0..candidates.len()).collect();
    let ahead = best_paths(candidates, order.iter().copied(), &is_source, |c| (c.from, c.to));
    let back = best_paths(candidates, order.iter().rev().copied(), &is_sink, |c| (c.to, c.from));
    let score = |node: &Node| Some(ahead.get(node)?.0 * back.get(node)?.0);
    let mut scored: Vec<(Node, f64)> =
        ahead.keys().filter_map(|node| score(node).map(|s| (*node, s))).collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut nodes: BTreeSet<Node> = BTreeSet::new();
    let mut links: BTreeSet<usize> = BTreeSet::new();
    for (node, _) in scored {
        if nodes.len() >= max_nodes {
            break;
        }
        nodes.insert(node);
        for (paths, to_sink) in [(&ahead, false), (&back, true)] {
            let mut at = node;
            while let Some(&(_, Some(edge))) = paths.get(&at) {
                links.insert(edge);
                at = if to_sink { candidates[edge].to } else { candidates[edge].from };
                nodes.insert(at);
            }
        }
    }
    let mut others: Vec<usize> = order
        .into_iter()
        .filter(|index| !links.contains(index))
        .filter(|&i| nodes.contains(&candidates[i].from) && nodes.contains(&candidates[i].to))
        .collect();
    others.sort_by(|&a, &b| candidates[b].weight.total_cmp(&candidates[a].weight).then(a.cmp(&b)));
    let room = max_links.saturating_sub(links.len());
    links.extend(others.into_iter().take(room));
    links.into_iter().collect()
}

/// The best path from a beginning to every node; `ends` gives the direction.
fn best_paths(
    candidates: &[Candidate],
    order: impl Iterator<Item = usize>,
    begins: &impl Fn(Node) -> bool,
    ends: impl Fn(&Candidate) -> (Node, Node),
) -> Paths {
    let mut paths = Paths::new();
    for index in order {
        let candidate = &candidates[index];
        let (from, to) = ends(candidate);
        if begins(from) {
            paths.entry(from).or_insert((1.0, None));
        }
        let Some(&(so_far, _)) = paths.get(&from) else {
            continue;
        };
        let strength = so_far * candidate.weight;
        if paths.get(&to).is_none_or(|(known, _)| strength > *known) && !begins(to) {
            paths.insert(to, (strength, Some(index)));
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(from: Node, to: Node, weight: f64) -> Candidate {
        Candidate { from, to, weight }
    }

    #[test]
    fn whole_paths_are_chosen_and_dead_ends_are_not() {
        let (action, reward) = (Node::action(0, 0), Node::reward(9, 0));
        let candidates = [
            candidate(action, Node::state(1, 0), 0.9),
            candidate(action, Node::state(1, 1), 0.2),
            candidate(action, Node::state(1, 2), 1.0),
            candidate(Node::state(1, 0), Node::state(2, 0), 0.9),
            candidate(Node::state(1, 1), Node::state(2, 0), 0.2),
            candidate(Node::state(2, 0), reward, 1.0),
        ];
        let choose =
            |nodes, links| strongest(&candidates, |n| n == action, |n| n == reward, nodes, links);
        assert_eq!(choose(1, 10), [0, 3, 5]);
        assert_eq!(choose(10, 10), [0, 1, 3, 4, 5]);
        assert_eq!(choose(0, 10), [0; 0]);
    }
}

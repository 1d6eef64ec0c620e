//! The influences of a chain as strokes of a picture.

use std::collections::BTreeSet;

use super::picture::Tone;
use becausal_discovery::Verdict;
use becausal_explain::chain::{Chain, Edge, Node, Part, Way};
use becausal_explain::{Evidence, LinkEvidence};

/// The maximum number of links into one reward: those of the steps with the largest rewards.
const MAX_STEPS_PER_REWARD: usize = 4;

/// An influence to draw. A reward term is one node for all steps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stroke {
    pub from: Node,
    pub to: Node,
    pub weight: f64,
    pub way: Way,
    pub tone: Tone,
    /// No test has confirmed it: the data cannot tell, or discovery found nothing.
    pub untested: bool,
}

/// Marks the influences that no test has confirmed.
pub(super) fn mark_untested(strokes: &mut [Stroke], evidence: &Evidence) {
    let is_untested = |link: &&LinkEvidence| {
        link.finding.as_ref().is_some_and(|pair| pair.verdict != Verdict::Edge)
    };
    let untested: BTreeSet<(Node, Node)> = (evidence.links.iter())
        .filter(is_untested)
        .map(|link| (link.edge.from, link.edge.to))
        .collect();
    for stroke in strokes {
        stroke.untested |= untested.contains(&(stroke.from, stroke.to));
    }
}

/// The influences of a chain, with one node per reward term for all steps.
///
/// `reward_of` is the size of a reward in a step. The width of a link into a reward is the share of its
/// step in the sum, and only the steps with the largest rewards have a link. If a reward reads a
/// variable both before and after a step, only the value after it is drawn.
pub(super) fn strokes(chain: &Chain, tone: Tone, reward_of: &dyn Fn(Node) -> f64) -> Vec<Stroke> {
    let steps = chain.trajectory().len();
    // For each reward term, the share of each step.
    let mut shares: Vec<Vec<(f64, usize)>> = vec![Vec::new(); chain.trajectory().shape().rewards];
    for node in chain.rewards() {
        shares[node.index].push((reward_of(node).abs(), node.step));
    }
    let any_reward = shares.iter().flatten().any(|(size, _)| *size > 0.0);
    for shares in &mut shares {
        let sum: f64 = shares.iter().map(|(size, _)| size).sum();
        let count = shares.len() as f64;
        // A reward term that is always 0 is drawn only if all of them are.
        for (share, _) in shares.iter_mut() {
            *share = match () {
                () if sum > 0.0 => *share / sum,
                () if any_reward => 0.0,
                () => 1.0 / count,
            };
        }
        shares.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        shares.retain(|(share, _)| *share > 0.0);
        shares.truncate(MAX_STEPS_PER_REWARD);
    }
    let reads: BTreeSet<(Node, Node)> = chain
        .edges()
        .filter(|edge| edge.way == Way::Reward)
        .map(|edge| (edge.from, edge.to))
        .collect();
    let mut drawn: BTreeSet<(Node, Node)> = BTreeSet::new();
    let mut found: Vec<Stroke> = Vec::new();
    for edge in chain.edges() {
        let (mut to, mut weight) = (edge.to, edge.weight);
        if edge.to.part == Part::Reward {
            let share = shares[edge.to.index].iter().find(|(_, step)| *step == edge.to.step);
            let Some(&(share, _)) = share.filter(|_| !is_before_and_after(&reads, edge)) else {
                continue;
            };
            (to, weight) = (Node::reward(steps, edge.to.index), share.min(1.0));
        }
        if edge.way == Way::Action {
            weight = 0.6; // the effects of an action have no strength: their links have one width
        }
        if to.part == Part::Reward && !drawn.insert((edge.from, to)) {
            continue; // another step of the same reward reads the same value
        }
        let head = chain.heads().binary_search(&edge.from).is_ok();
        let tone = if head { Tone::Plain } else { tone };
        found.push(Stroke { from: edge.from, to, weight, way: edge.way, tone, untested: false });
    }
    found
}

/// Whether a reward reads this variable before its step, and also after it.
fn is_before_and_after(reads: &BTreeSet<(Node, Node)>, edge: &Edge) -> bool {
    let after = Node { step: edge.from.step + 1, ..edge.from };
    edge.from.part == Part::State
        && edge.from.step == edge.to.step
        && reads.contains(&(after, edge.to))
}

/// Removes strokes of unchanged nodes, unless a reward would lose its last path.
pub(super) fn without_unchanged(
    strokes: Vec<Stroke>,
    changed: &dyn Fn(Node) -> bool,
) -> Vec<Stroke> {
    let is_start = |node: Node| node.step == 0 && matches!(node.part, Part::State | Part::Action);
    let stays = |node: Node| node.part == Part::Reward || is_start(node) || changed(node);
    let mut kept: Vec<Stroke> =
        strokes.iter().filter(|s| stays(s.from) && stays(s.to)).cloned().collect();
    // Remove strokes from nodes that are no longer reached.
    let mut reached: BTreeSet<Node> = BTreeSet::new();
    kept.retain(|stroke| {
        let is_reached = is_start(stroke.from) || reached.contains(&stroke.from);
        if is_reached {
            reached.insert(stroke.to);
        }
        is_reached
    });
    // Remove strokes to nodes that no longer lead to a reward.
    let mut leading: BTreeSet<Node> = BTreeSet::new();
    kept.reverse();
    kept.retain(|stroke| {
        let leads = stroke.to.part == Part::Reward || leading.contains(&stroke.to);
        if leads {
            leading.insert(stroke.from);
        }
        leads
    });
    kept.reverse();
    let sinks = |strokes: &[Stroke]| {
        let mut ends: Vec<usize> =
            strokes.iter().filter(|s| s.to.part == Part::Reward).map(|s| s.to.index).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    };
    if sinks(&kept) == sinks(&strokes) { kept } else { strokes }
}

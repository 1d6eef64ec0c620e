//! The influences of a chain as strokes of a picture.

use std::collections::BTreeSet;

use super::picture::Tone;
use becausal_explain::chain::{Chain, Edge, Node, Part, Way};

/// Links into one reward: the steps that pay most.
const MOST_PAYMENTS: usize = 4;

/// An influence to draw: rewards of all steps are one node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stroke {
    pub from: Node,
    pub to: Node,
    pub weight: f64,
    pub way: Way,
    pub tone: Tone,
}

/// The influences of a chain with the rewards of all steps put together.
///
/// `paid` is what a reward is worth in a step: a link into a reward is as wide as its step's share
/// of what the reward pays, and only the steps that pay most have one. Of a variable that a reward
/// reads before and after a step only the value after it is drawn.
pub(super) fn strokes(chain: &Chain, tone: Tone, paid: &dyn Fn(Node) -> f64) -> Vec<Stroke> {
    let steps = chain.trajectory().len();
    let mut payments: Vec<Vec<(f64, usize)>> = vec![Vec::new(); chain.trajectory().shape().rewards];
    for node in chain.rewards() {
        payments[node.index].push((paid(node).abs(), node.step));
    }
    let pays = payments.iter().flatten().any(|(paid, _)| *paid > 0.0);
    for payments in &mut payments {
        let sum: f64 = payments.iter().map(|(paid, _)| paid).sum();
        let count = payments.len() as f64;
        // A reward that never pays is drawn only where none does.
        for (paid, _) in payments.iter_mut() {
            *paid = match () {
                () if sum > 0.0 => *paid / sum,
                () if pays => 0.0,
                () => 1.0 / count,
            };
        }
        payments.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        payments.retain(|(share, _)| *share > 0.0);
        payments.truncate(MOST_PAYMENTS);
    }
    let reads: BTreeSet<(Node, Node)> = chain
        .edges()
        .filter(|edge| edge.way == Way::Reward)
        .map(|edge| (edge.from, edge.to))
        .collect();
    let mut paid_by: BTreeSet<(Node, Node)> = BTreeSet::new();
    let mut found: Vec<Stroke> = Vec::new();
    for edge in chain.edges() {
        let (mut to, mut weight) = (edge.to, edge.weight);
        if edge.to.part == Part::Reward {
            let payment = payments[edge.to.index].iter().find(|(_, step)| *step == edge.to.step);
            let Some(&(share, _)) = payment.filter(|_| !is_before_and_after(&reads, edge)) else {
                continue;
            };
            (to, weight) = (Node::reward(steps, edge.to.index), share.min(1.0));
        }
        if edge.way == Way::Action {
            weight = 0.6; // an action acts or it does not: its links have one width
        }
        if to.part == Part::Reward && !paid_by.insert((edge.from, to)) {
            continue; // another step of the same reward reads the same value
        }
        let head = chain.heads().binary_search(&edge.from).is_ok();
        let tone = if head { Tone::Plain } else { tone };
        found.push(Stroke { from: edge.from, to, weight, way: edge.way, tone });
    }
    found
}

/// Whether a reward reads this variable before its step although it is in the chain after it too.
fn is_before_and_after(reads: &BTreeSet<(Node, Node)>, edge: &Edge) -> bool {
    let after = Node { step: edge.from.step + 1, ..edge.from };
    edge.from.part == Part::State
        && edge.from.step == edge.to.step
        && reads.contains(&(after, edge.to))
}

/// Takes out what has not moved, unless a reward would lose its last way.
pub(super) fn without_unmoved(strokes: Vec<Stroke>, moved: &dyn Fn(Node) -> bool) -> Vec<Stroke> {
    let given = |node: Node| node.step == 0 && matches!(node.part, Part::State | Part::Action);
    let stays = |node: Node| node.part == Part::Reward || given(node) || moved(node);
    let mut kept: Vec<Stroke> =
        strokes.iter().filter(|s| stays(s.from) && stays(s.to)).cloned().collect();
    // A node that nothing leads into any more is no longer on a way.
    let mut reached: BTreeSet<Node> = BTreeSet::new();
    kept.retain(|stroke| {
        let goes = given(stroke.from) || reached.contains(&stroke.from);
        if goes {
            reached.insert(stroke.to);
        }
        goes
    });
    // Nor is one that leads nowhere.
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

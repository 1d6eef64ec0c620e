//! The evidence for an explanation, and its caveats.

use crate::chain::{Chain, Edge, Node, Part, Way};
use becausal_discovery::{CausalGraph, CauseId, EffectId, Pair, Reason, Verdict};
use becausal_model::{Dynamics, Situation};

/// Members of a model that differ by more than this are a caveat; in standard deviations of the
/// variable in the data.
const MAX_MEMBER_SPREAD: f64 = 0.1;

/// An influence of the chain with its evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkEvidence {
    /// The influence, its weight, and how many members of the model see it.
    pub edge: Edge,
    /// What discovery found about this cause and effect, if it tested them.
    pub finding: Option<Pair>,
}

/// A caveat about an explanation.
#[derive(Debug, Clone, PartialEq)]
pub enum Doubt {
    /// The last steps are predicted, not recorded.
    Predicted {
        /// The number of predicted steps.
        steps: usize,
        /// The number of all steps.
        of: usize,
    },
    /// A state variable has a value outside the data that the model was fitted to.
    Outside {
        /// The variable, at the step where it is farthest outside.
        node: Node,
        /// How far, in standard deviations.
        distance: f64,
    },
    /// The members of the model disagree about a variable of the chain.
    Disagreement {
        /// The variable, at the step where they disagree most.
        node: Node,
        /// How much, in standard deviations.
        spread: f64,
    },
    /// Discovery found no influence where the chain has one.
    NotFound {
        /// The cause.
        from: Node,
        /// The effect.
        to: Node,
    },
    /// The data could not tell whether there is an influence.
    Untestable {
        /// The cause.
        from: Node,
        /// The effect.
        to: Node,
        /// Why not, if known.
        reason: Option<Reason>,
    },
    /// The cause may be a proxy for another one.
    Proxy {
        /// The cause.
        from: Node,
        /// The effect.
        to: Node,
    },
    /// Not all members of the model see an influence.
    Divided {
        /// The cause.
        from: Node,
        /// The effect.
        to: Node,
        /// Members that see it.
        agreeing: usize,
        /// All members.
        members: usize,
    },
    /// The data cannot tell what a variable does that the question is about: it never varies on its own.
    Confounded {
        /// The variable, in the step explained.
        node: Node,
        /// Why not.
        reason: Reason,
    },
    /// A label of the course that did not happen is up to chance, and what chance would have brought under
    /// another action is not in the record.
    Chance {
        /// The variable, at the step where its label is least probable.
        node: Node,
        /// The probability of the label, if noise goes together as [`Noise`](becausal_model::Noise) has it.
        probability: f64,
        /// The lowest and the highest probability, however it goes together; `None` where nothing was
        /// recorded.
        bounds: Option<[f64; 2]>,
    },
    /// The policy is unknown: later actions stay as recorded.
    WithoutPolicy,
}

/// The evidence for a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Every influence of the chain.
    pub links: Vec<LinkEvidence>,
    /// The caveats.
    pub doubts: Vec<Doubt>,
}

impl Evidence {
    /// Collects the evidence for a chain that begins at the variables `asked` about.
    #[must_use]
    pub fn of(
        chain: &Chain,
        asked: &[Node],
        dynamics: &dyn Dynamics,
        graph: Option<&CausalGraph>,
        with_policy: bool,
    ) -> Self {
        let states = chain.trajectory().shape().states.len();
        let finding = |edge: &Edge| {
            let cause = match edge.from.part {
                Part::State => CauseId(edge.from.index),
                Part::Action => CauseId(states + edge.from.index),
                Part::Outcome | Part::Reward => return None,
            };
            let effect = match edge.to.part {
                Part::State => EffectId(edge.to.index),
                Part::Outcome => EffectId(states + edge.to.index),
                Part::Action | Part::Reward => return None,
            };
            graph.map(|graph| graph.pair(cause, effect).clone())
        };
        let is_testable = |edge: &Edge| matches!(edge.way, Way::Action | Way::Influence);
        let links: Vec<LinkEvidence> = chain
            .edges()
            .map(|edge| LinkEvidence {
                edge: edge.clone(),
                finding: if is_testable(edge) { finding(edge) } else { None },
            })
            .collect();
        let mut doubts = graph.map_or(Vec::new(), |graph| confounded(asked, &links, graph, states));
        if chain.is_empty() {
            return Self { links, doubts };
        }
        doubts.extend(predicted(chain));
        doubts.extend(outside(chain, dynamics));
        doubts.extend(disagreement(chain, dynamics));
        doubts.extend(about_links(&links));
        if !with_policy && chain.trajectory().len() > 1 {
            doubts.push(Doubt::WithoutPolicy);
        }
        Self { links, doubts }
    }
}

/// The variables asked about that never vary on their own, unless an influence of theirs in the chain
/// has a caveat for that reason.
fn confounded(
    asked: &[Node],
    links: &[LinkEvidence],
    graph: &CausalGraph,
    states: usize,
) -> Vec<Doubt> {
    let never_alone = |reason: &&Reason| {
        matches!(
            reason,
            Reason::FollowsState { .. }
                | Reason::NeverVaried { .. }
                | Reason::Constant { .. }
                | Reason::Duplicate { .. }
                | Reason::FollowsOthers { .. }
        )
    };
    let doubt = |&node: &Node| {
        let cause = CauseId(if node.part == Part::Action { states } else { 0 } + node.index);
        let is_cause = |pair: &&Pair| pair.cause == cause && pair.verdict == Verdict::Untestable;
        let reasons = graph.pairs().iter().filter(is_cause).filter_map(|pair| pair.reason.as_ref());
        // What is said of a constant effect says nothing of this cause.
        let own = |reason: &&Reason| match reason {
            Reason::Constant { variable, .. } => graph.causes().get(cause.0) == Some(variable),
            _ => true,
        };
        let reason = reasons.filter(never_alone).find(own)?.clone();
        let told = links.iter().any(|link| {
            link.edge.from == node
                && link.finding.as_ref().is_some_and(|pair| pair.reason.as_ref() == Some(&reason))
        });
        (!told).then_some(Doubt::Confounded { node, reason })
    };
    asked.iter().filter_map(doubt).collect()
}

fn predicted(chain: &Chain) -> Option<Doubt> {
    let (of, recorded) = (chain.trajectory().len(), chain.trajectory().recorded_steps());
    (recorded < of).then_some(Doubt::Predicted { steps: of - recorded, of })
}

/// For each state variable, the step in which it is farthest outside the data.
fn outside(chain: &Chain, dynamics: &dyn Dynamics) -> Vec<Doubt> {
    let mut farthest: Vec<(Node, f64)> = Vec::new();
    for (step, part) in chain.trajectory().steps().iter().enumerate() {
        for (index, distance) in dynamics.distance(&part.state).into_iter().enumerate() {
            if distance > 0.0 {
                keep_largest(&mut farthest, Node::state(step, index), distance);
            }
        }
    }
    farthest.sort_by(|a, b| b.1.total_cmp(&a.1));
    farthest.into_iter().map(|(node, distance)| Doubt::Outside { node, distance }).collect()
}

/// For each variable of the chain, the step in which the members of the model disagree most.
fn disagreement(chain: &Chain, dynamics: &dyn Dynamics) -> Vec<Doubt> {
    let states = chain.trajectory().shape().states.len();
    let mut largest: Vec<(Node, f64)> = Vec::new();
    let steps = chain.trajectory().steps().iter();
    let situations: Vec<Situation<'_>> =
        steps.map(|step| (&step.state[..], &step.action[..])).collect();
    for (step, spreads) in dynamics.disagreement(&situations).into_iter().enumerate() {
        for (effect, spread) in spreads.into_iter().enumerate() {
            let node = match effect.checked_sub(states) {
                None => Node::state(step + 1, effect),
                Some(outcome) => Node::outcome(step, outcome),
            };
            if spread > MAX_MEMBER_SPREAD && chain.contains(node) {
                keep_largest(&mut largest, node, spread);
            }
        }
    }
    largest.sort_by(|a, b| b.1.total_cmp(&a.1));
    largest.into_iter().map(|(node, spread)| Doubt::Disagreement { node, spread }).collect()
}

fn keep_largest(found: &mut Vec<(Node, f64)>, node: Node, value: f64) {
    let same = |(other, _): &&mut (Node, f64)| other.part == node.part && other.index == node.index;
    match found.iter_mut().find(same) {
        Some(entry) if entry.1 < value => *entry = (node, value),
        Some(_) => {}
        None => found.push((node, value)),
    }
}

/// Caveats about influences: each kind at most once for a cause and effect.
fn about_links(links: &[LinkEvidence]) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let mut seen: Vec<(Part, usize, Part, usize, u8)> = Vec::new();
    for LinkEvidence { edge, finding } in links {
        let (from, to) = (edge.from, edge.to);
        let mut add = |doubt: Doubt, kind: u8| {
            let key = (from.part, from.index, to.part, to.index, kind);
            if !seen.contains(&key) {
                seen.push(key);
                doubts.push(doubt);
            }
        };
        match finding {
            Some(pair) if pair.verdict == Verdict::None => {
                add(Doubt::NotFound { from, to }, 0);
            }
            Some(pair) if pair.verdict == Verdict::Untestable => {
                add(Doubt::Untestable { from, to, reason: pair.reason.clone() }, 1);
            }
            Some(pair) if pair.proxy => add(Doubt::Proxy { from, to }, 2),
            _ => {}
        }
        if let Some(support) = edge.support.filter(|support| support.agreeing < support.members) {
            let (agreeing, members) = (support.agreeing, support.members);
            add(Doubt::Divided { from, to, agreeing, members }, 3);
        }
    }
    doubts
}

//! The causal chain: everything between an action and the rewards it leads to.

use super::extended_graph::{Edge, ExtendedGraph, Way};
use becausal_core::trajectory::Trajectory;
use becausal_core::{Node, Part};

/// The nodes on paths from the action explained to a target reward.
///
/// Its *heads* are the state variables that act together with the action in the first step. They are
/// not part of the paths: a reward that only reads the state before the action is not reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    graph: ExtendedGraph,
    targets: Vec<usize>,
    /// Sorted by step, then states, actions, outcomes, rewards.
    nodes: Vec<Node>,
    heads: Vec<Node>,
    /// Indices of the edges of the graph that belong to the chain.
    edges: Vec<usize>,
    /// The number of nodes that the origin reaches, in the chain or not.
    reached: usize,
}

impl Chain {
    /// Makes two passes over the edges, which are in order of time: forward for the nodes that the
    /// origin reaches, backward for those that lead to a target.
    pub(super) fn new(
        graph: ExtendedGraph,
        targets: &[usize],
        wanted: impl Fn(Node) -> bool,
    ) -> Self {
        let shape = graph.trajectory().shape().clone();
        let places = shape.width() * (graph.trajectory().len() + 1);
        let mut reached = vec![false; places];
        let mut leading = vec![false; places];
        for node in graph.origin().nodes(&shape) {
            reached[shape.place(node)] = true;
        }
        for edge in graph.edges() {
            if reached[shape.place(edge.from)] {
                reached[shape.place(edge.to)] = true;
            }
        }
        for step in 0..graph.trajectory().len() {
            for &reward in targets.iter().filter(|&&reward| reward < shape.rewards) {
                let node = Node::reward(step, reward);
                let place = shape.place(node);
                leading[place] = reached[place] && wanted(node);
            }
        }
        for edge in graph.edges().iter().rev() {
            let from = shape.place(edge.from);
            if leading[shape.place(edge.to)] && reached[from] {
                leading[from] = true;
            }
        }
        let mut heads = Vec::new();
        let mut edges = Vec::new();
        for (index, edge) in graph.edges().iter().enumerate() {
            if !leading[shape.place(edge.to)] {
                continue;
            }
            let head = edge.from.step == 0
                && edge.from.part == Part::State
                && edge.way == Way::Influence
                && !reached[shape.place(edge.from)];
            if leading[shape.place(edge.from)] || head {
                edges.push(index);
            }
            if head {
                heads.push(edge.from);
            }
        }
        heads.sort_unstable();
        heads.dedup();
        let nodes = (0..places).filter(|&place| leading[place]).map(|p| shape.node(p)).collect();
        let reached = reached.iter().filter(|&&reached| reached).count();
        Self { graph, targets: targets.to_vec(), nodes, heads, edges, reached }
    }

    /// The part of the chain that leads to these of its rewards.
    #[must_use]
    pub fn to_rewards(self, wanted: impl Fn(Node) -> bool) -> Self {
        Self::new(self.graph, &self.targets, wanted)
    }

    /// The graph that the chain is part of.
    #[must_use]
    pub fn graph(&self) -> &ExtendedGraph {
        &self.graph
    }

    /// What happened.
    #[must_use]
    pub fn trajectory(&self) -> &Trajectory {
        self.graph.trajectory()
    }

    /// The indices of the reward terms asked about.
    #[must_use]
    pub fn targets(&self) -> &[usize] {
        &self.targets
    }

    /// Every node on a path from the origin to a target, including the origin but not the heads.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The state variables of the first step that act together with the action.
    #[must_use]
    pub fn heads(&self) -> &[Node] {
        &self.heads
    }

    /// The rewards reached.
    pub fn rewards(&self) -> impl Iterator<Item = Node> + '_ {
        self.nodes.iter().copied().filter(|node| node.part == Part::Reward)
    }

    /// The influences among the nodes of the chain and from its heads, in order of time.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> + '_ {
        self.edges.iter().map(|&index| &self.graph.edges()[index])
    }

    /// Whether a node is on a path from the origin to a target.
    #[must_use]
    pub fn contains(&self, node: Node) -> bool {
        self.nodes.binary_search(&node).is_ok()
    }

    /// Whether no target is reached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many nodes the origin reaches, whether or not they lead to a target.
    #[must_use]
    pub fn reached(&self) -> usize {
        self.reached
    }
}

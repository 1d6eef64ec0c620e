//! The causal chain: everything between an action and the rewards that it leads to.

use super::extended_graph::{Edge, ExtendedGraph, Way};
use becausal_core::trajectory::Trajectory;
use becausal_core::{Node, Part};

/// What lies on a path from the action explained to a target reward, through what the action moves.
///
/// Beside it stand its *heads*: the state variables that act together with the action in the first
/// step. A reward is not reached merely because it reads the state that the action was taken in.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    graph: ExtendedGraph,
    targets: Vec<usize>,
    /// In order: by step, then states, actions, outcomes, rewards.
    nodes: Vec<Node>,
    heads: Vec<Node>,
    /// Indices of the edges of the graph that belong to the chain.
    edges: Vec<usize>,
    /// Effects of the later steps that are moved, beside the chain or in it: how far it reaches.
    moved: usize,
}

impl Chain {
    /// Two passes over the edges, which stand in the order of time: forwards for what the origin
    /// reaches, backwards for what reaches a target. Each edge is looked at once in each.
    pub(super) fn new(graph: ExtendedGraph, targets: &[usize]) -> Self {
        let shape = graph.trajectory().shape().clone();
        let places = shape.width() * (graph.trajectory().len() + 1);
        let mut moved = vec![false; places];
        let mut leading = vec![false; places];
        for node in graph.origin().nodes(&shape) {
            moved[shape.place(node)] = true;
        }
        for edge in graph.edges() {
            if moved[shape.place(edge.from)] {
                moved[shape.place(edge.to)] = true;
            }
        }
        for step in 0..graph.trajectory().len() {
            for &reward in targets.iter().filter(|&&reward| reward < shape.rewards) {
                let place = shape.place(Node::reward(step, reward));
                leading[place] = moved[place];
            }
        }
        for edge in graph.edges().iter().rev() {
            let from = shape.place(edge.from);
            if leading[shape.place(edge.to)] && moved[from] {
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
                && !moved[shape.place(edge.from)];
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
        let moved = moved.iter().filter(|&&moved| moved).count();
        Self { graph, targets: targets.to_vec(), nodes, heads, edges, moved }
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

    /// The reward terms asked about, by index.
    #[must_use]
    pub fn targets(&self) -> &[usize] {
        &self.targets
    }

    /// Every node on a path from the origin to a target, the origin included, heads not.
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

    /// The influences among the nodes of the chain and from its heads, in the order of time.
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
        self.moved
    }
}

//! The explanan: the variables of a chain that an explanation mentions (the paper's appendix).

use crate::chain::{Chain, Node, Part, Trajectory, Way};

/// A variable of an explanation, with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The variable and its step.
    pub node: Node,
    /// The value one step before, for state variables.
    pub before: Option<Vec<f64>>,
    /// Its value.
    pub value: Vec<f64>,
    /// Whether the value was recorded; otherwise it is predicted.
    pub recorded: bool,
}

impl Fact {
    /// The fact about a node of a trajectory; `None` if the trajectory ends before it.
    #[must_use]
    pub fn of(trajectory: &Trajectory, node: Node) -> Option<Self> {
        Some(Self {
            node,
            before: trajectory.before(node).map(<[f64]>::to_vec),
            value: trajectory.value(node)?.to_vec(),
            recorded: trajectory.is_recorded(node),
        })
    }

    /// Whether the value differs from the one before. Without a value before it counts as changed.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.before.as_ref().is_none_or(|before| differ(before, &self.value))
    }
}

/// Whether two values differ by more than rounding errors.
#[must_use]
pub fn differ(left: &[f64], right: &[f64]) -> bool {
    const ROUNDING: f64 = 1e-9;
    left.len() != right.len()
        || left.iter().zip(right).any(|(a, b)| {
            let difference = (a - b).abs();
            difference > ROUNDING * a.abs().max(b.abs()).max(1e-3) || difference.is_nan()
        })
}

/// The tuple (`x_r`, `x_h`, `x_i`) that an explanation is made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanan {
    /// `x_r`: the rewards in the chain.
    pub rewards: Vec<Fact>,
    /// `x_h`: the state variables of the first step that act with the action or were changed.
    pub heads: Vec<Fact>,
    /// `x_i`: the variables in between.
    pub intermediates: Vec<Fact>,
}

impl Explanan {
    /// The explanan with all intermediate variables.
    #[must_use]
    pub fn complete(chain: &Chain) -> Self {
        Self::with(chain, |_| true)
    }

    /// The explanan whose intermediate variables are only the parents of the rewards.
    #[must_use]
    pub fn minimal(chain: &Chain) -> Self {
        let mut parents: Vec<Node> =
            chain.edges().filter(|edge| edge.way == Way::Reward).map(|edge| edge.from).collect();
        parents.sort_unstable();
        Self::with(chain, |node| parents.binary_search(&node).is_ok())
    }

    fn with(chain: &Chain, wanted: impl Fn(Node) -> bool) -> Self {
        let trajectory = chain.trajectory();
        let origin = chain.graph().origin();
        let facts = |nodes: &mut dyn Iterator<Item = Node>| -> Vec<Fact> {
            nodes.filter_map(|node| Fact::of(trajectory, node)).collect()
        };
        let nodes = chain.nodes().iter().copied();
        let mut heads: Vec<Node> = chain.heads().to_vec();
        heads.extend(nodes.clone().filter(|n| n.part == Part::State && origin.holds(*n)));
        heads.sort_unstable();
        let between = |node: &Node| node.part != Part::Reward && !origin.holds(*node);
        Self {
            rewards: facts(&mut chain.rewards()),
            heads: facts(&mut heads.into_iter()),
            intermediates: facts(&mut nodes.filter(between).filter(|&node| wanted(node))),
        }
    }

    /// Whether no reward is reached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rewards.is_empty()
    }

    /// All facts: heads, intermediate variables, rewards.
    pub fn facts(&self) -> impl Iterator<Item = &Fact> + Clone {
        self.heads.iter().chain(&self.intermediates).chain(&self.rewards)
    }
}

//! The extended graph: the variables of several steps and the influences among them.

use super::causal_chain::Chain;
use super::error::ChainError;
use becausal_core::schema::{Role, Schema, suggestion};
use becausal_core::trajectory::{Trajectory, TrajectoryError};
use becausal_core::{Node, Part, Shape};
use becausal_model::Influence;

/// How an influence comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// The action is a cause of the effect.
    Action,
    /// A state variable influences the effect under the action taken.
    Influence,
    /// The agent's later action depends on the state.
    Policy,
    /// A reward term reads the variable.
    Reward,
}

/// How many members of the model have an influence above the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Support {
    /// Members that have it.
    pub agreeing: usize,
    /// All members.
    pub members: usize,
}

/// An influence of one node on another.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The cause.
    pub from: Node,
    /// The effect.
    pub to: Node,
    /// The strength, from 0 to 1; 1 for influences that hold by definition.
    pub weight: f64,
    /// How it comes about.
    pub way: Way,
    /// How many members of the model agree, for influences of states.
    pub support: Option<Support>,
}

/// What is explained: the nodes where all paths begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Whether the action of the first step is explained.
    pub action: bool,
    /// The changed state variables of the first step.
    pub states: Vec<usize>,
}

impl Default for Origin {
    fn default() -> Self {
        Self { action: true, states: Vec::new() }
    }
}

/// The variables of every step of a trajectory, and the influences above a threshold among them.
///
/// Edges are in order of time: the edges into a node come before the edges out of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtendedGraph {
    trajectory: Trajectory,
    tau: f64,
    origin: Origin,
    edges: Vec<Edge>,
}

impl ExtendedGraph {
    /// The graph of a trajectory, from the influence in each of its steps.
    ///
    /// `parents` gives PA of an effect (causes by index: states, then actions). `choices` gives for
    /// every step how its action depends on its state, `[actions][states]`, as returned by
    /// [`choices`](super::choices). Without it no path leads through the policy.
    ///
    /// # Errors
    /// When `tau` is not between 0 and 1 or the sizes do not match.
    pub fn new<'a>(
        trajectory: Trajectory,
        parents: impl Fn(usize) -> &'a [usize],
        influences: &[Influence],
        choices: Option<&[Vec<f64>]>,
        tau: f64,
        origin: Origin,
    ) -> Result<Self, ChainError> {
        check_tau(tau)?;
        let shape = trajectory.shape().clone();
        let (states, effects) = (shape.states.len(), shape.states.len() + shape.outcomes.len());
        let fits = |what, given, expected| {
            if given == expected {
                Ok(())
            } else {
                Err(ChainError::from(TrajectoryError::Size { what, given, expected }))
            }
        };
        fits("influences", influences.len(), trajectory.len())?;
        for influence in influences {
            fits("state variables of an influence", influence.states(), states)?;
            fits("effects of an influence", influence.effects(), effects)?;
        }
        if let Some(choices) = choices {
            fits("choices", choices.len(), trajectory.len())?;
            for choice in choices {
                fits("weights of a choice", choice.len(), states * shape.actions.len())?;
            }
        }
        let acted_on: Vec<Vec<usize>> = (0..effects)
            .map(|effect| {
                let actions = parents(effect).iter().filter_map(|cause| cause.checked_sub(states));
                actions.filter(|&action| action < shape.actions.len()).collect()
            })
            .collect();
        let mut edges = Vec::new();
        for (step, influence) in influences.iter().enumerate() {
            if let Some(choices) = choices.filter(|_| step > 0) {
                push_choices(&mut edges, &shape, step, &choices[step], tau);
            }
            let first = (step == 0).then_some(&origin);
            push_influences(&mut edges, &shape, step, influence, &acted_on, tau, first);
            push_rewards(&mut edges, trajectory.schema(), step);
        }
        Ok(Self { trajectory, tau, origin, edges })
    }

    /// What happened.
    #[must_use]
    pub fn trajectory(&self) -> &Trajectory {
        &self.trajectory
    }

    /// The threshold of influences.
    #[must_use]
    pub fn tau(&self) -> f64 {
        self.tau
    }

    /// What is explained.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// All influences above the threshold, in order of time.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The chain from the origin to these reward terms, in any step.
    #[must_use]
    pub fn chain(self, targets: &[usize]) -> Chain {
        Chain::new(self, targets, |_| true)
    }
}

/// Adds the edges through the policy.
fn push_choices(edges: &mut Vec<Edge>, shape: &Shape, step: usize, choice: &[f64], tau: f64) {
    let states = shape.states.len();
    for action in 0..shape.actions.len() {
        for state in 0..states {
            let weight = choice[action * states + state];
            if weight > tau {
                let (from, to) = (Node::state(step, state), Node::action(step, action));
                edges.push(Edge { from, to, weight, way: Way::Policy, support: None });
            }
        }
    }
}

/// Adds the influences on the effects of a step. In the first step only effects that the origin
/// influences count.
fn push_influences(
    edges: &mut Vec<Edge>,
    shape: &Shape,
    step: usize,
    influence: &Influence,
    acted_on: &[Vec<usize>],
    tau: f64,
    first: Option<&Origin>,
) {
    let states = shape.states.len();
    for (effect, actions) in acted_on.iter().enumerate() {
        let to = match effect.checked_sub(states) {
            None => Node::state(step + 1, effect),
            Some(outcome) => Node::outcome(step, outcome),
        };
        let touched = first.is_none_or(|origin| {
            let changed = |&state: &usize| state < states && influence.weight(effect, state) > tau;
            (origin.action && !actions.is_empty()) || origin.states.iter().any(changed)
        });
        if !touched {
            continue;
        }
        for &action in actions {
            let from = Node::action(step, action);
            edges.push(Edge { from, to, weight: 1.0, way: Way::Action, support: None });
        }
        for state in 0..states {
            let weight = influence.weight(effect, state);
            if weight > tau {
                let agreeing = influence.agreeing(effect, state, tau);
                let support = Some(Support { agreeing, members: influence.members() });
                let from = Node::state(step, state);
                let weight = weight.min(1.0);
                edges.push(Edge { from, to, weight, way: Way::Influence, support });
            }
        }
    }
}

/// Adds the edges into the reward terms of a step.
fn push_rewards(edges: &mut Vec<Edge>, schema: &Schema, step: usize) {
    let states = schema.of_role(Role::State).count();
    let actions = schema.of_role(Role::Action).count();
    for (index, term) in schema.rewards().iter().enumerate() {
        let to = Node::reward(step, index);
        for parent in term.expression.parents() {
            let from = match schema.variables()[parent.variable].role {
                Role::State => Node::state(step + usize::from(parent.next), parent.variable),
                Role::Action => Node::action(step, parent.variable - states),
                Role::Outcome => Node::outcome(step, parent.variable - states - actions),
            };
            edges.push(Edge { from, to, weight: 1.0, way: Way::Reward, support: None });
        }
    }
}

/// Checks the threshold of influences.
///
/// # Errors
/// When `tau` is not between 0 and 1.
pub fn check_tau(tau: f64) -> Result<(), ChainError> {
    if (0.0..=1.0).contains(&tau) { Ok(()) } else { Err(ChainError::Tau(tau)) }
}

/// The indices of reward terms by name; all of them if no name is given.
///
/// # Errors
/// When a name is unknown (the error lists the known names), or there are no rewards.
pub fn targets(schema: &Schema, names: &[String]) -> Result<Vec<usize>, ChainError> {
    let known: Vec<&str> = schema.rewards().iter().map(|reward| reward.name.as_str()).collect();
    if known.is_empty() {
        return Err(ChainError::NoRewards);
    }
    if names.is_empty() {
        return Ok((0..known.len()).collect());
    }
    let mut found = Vec::new();
    for name in names {
        let Some(index) = known.iter().position(|reward| reward == name) else {
            let hint = suggestion(name, known.clone());
            return Err(ChainError::Reward { name: name.clone(), hint, known: known.join(", ") });
        };
        if !found.contains(&index) {
            found.push(index);
        }
    }
    found.sort_unstable();
    Ok(found)
}

impl Origin {
    /// The nodes where all paths begin.
    pub(crate) fn nodes(&self, shape: &Shape) -> Vec<Node> {
        let actions = (0..shape.actions.len()).filter(|_| self.action).map(|i| Node::action(0, i));
        let states = self.states.iter().filter(|&&state| state < shape.states.len());
        actions.chain(states.map(|&state| Node::state(0, state))).collect()
    }

    /// Whether paths begin at this node.
    #[must_use]
    pub fn holds(&self, node: Node) -> bool {
        node.step == 0
            && match node.part {
                Part::Action => self.action,
                Part::State => self.states.contains(&node.index),
                Part::Outcome | Part::Reward => false,
            }
    }
}

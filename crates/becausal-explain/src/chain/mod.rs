//! The extended graph over several steps, and the causal chain in it: from an action to rewards.
//!
//! ```text
//! Trajectory (recorded, simulated, or recorded then simulated)
//!     + Influence of every step ── ExtendedGraph ── chain(targets) ── Chain
//! ```
//!
//! A state variable influences an effect if its weight in the action influence model of that step is
//! above a threshold tau. An action influences the effects that have it as a parent. A reward is caused
//! by the variables in its expression. A [`Chain`] has the nodes on paths from the action to a reward,
//! and the state variables that act together with the action.

mod causal_chain;
mod choice;
mod error;
mod extended_graph;
mod horizon;

pub use becausal_core::trajectory::{Step, Trajectory, TrajectoryError};
pub use becausal_core::{Node, Part, Shape};
pub use causal_chain::Chain;
pub use choice::{action_difference, choices};
pub use error::ChainError;
pub use extended_graph::{Edge, ExtendedGraph, Origin, Support, Way, check_tau, targets};
pub use horizon::{Horizon, MAX_HORIZON};

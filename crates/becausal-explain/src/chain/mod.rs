//! The extended graph over several steps, and the causal chain in it: from an action to rewards.
//!
//! ```text
//! Trajectory (recorded, simulated, or the one after the other)
//!     + Influence of every step ── ExtendedGraph ── chain(targets) ── Chain
//! ```
//!
//! A state variable influences what follows when its weight in the action influence model of that
//! step is above a threshold tau. The action explained influences what has it among its parents. A
//! reward is caused by what its expression reads. A [`Chain`] is what lies on a path from the
//! action to a reward, and the state variables that act together with the action.

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
pub use horizon::{MAX_HORIZON, check_horizon};

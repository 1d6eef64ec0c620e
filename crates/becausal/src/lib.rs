//! Why did the agent do that?
//!
//! becausal learns a causal model of an agent's environment from recorded transitions, and explains
//! actions by the chains of causes from the action to the rewards.

pub mod run;

/// The [`Environment`] trait, recording, and the environments built in.
pub mod env {
    pub use becausal_core::env::*;
    pub use becausal_envs::*;
}

pub use becausal_core::{data, policy, schema};
pub use becausal_discovery as discovery;
pub use becausal_explain as explain;
pub use becausal_learn as learn;
pub use becausal_model as model;
pub use becausal_render as render;

pub use becausal_core::{Environment, Policy, RandomPolicy, Schema, Stream, Transitions};
pub use becausal_discovery::CausalGraph;

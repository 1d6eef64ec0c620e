//! A run that was opened: everything that explaining and auditing need of it.

use std::sync::Arc;

use becausal::env::AnyEnvironment;
use becausal::model::Dynamics;
use becausal::policy::Policy;
use becausal::{CausalGraph, Schema, Transitions};

/// The parts of a run.
pub struct Opened {
    pub schema: Arc<Schema>,
    /// What the model was fitted to.
    pub data: Transitions,
    /// What discovery found, with the evidence.
    pub graph: Option<CausalGraph>,
    pub dynamics: Box<dyn Dynamics>,
    /// None in a run made by `fit`.
    pub policy: Option<Box<dyn Policy>>,
    /// None where the data come from a file.
    pub environment: Option<AnyEnvironment>,
}

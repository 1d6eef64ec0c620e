//! A run that was opened: everything that explaining and auditing need of it.

use std::path::Path;
use std::sync::Arc;

use becausal::env::{self, AnyEnvironment};
use becausal::model::Dynamics;
use becausal::policy::Policy;
use becausal::run::{RunDirectory, TrainConfig};
use becausal::{CausalGraph, Schema, Transitions};

use crate::failure::Failure;

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

impl Opened {
    /// Reads the parts of a run from its folder.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let run = RunDirectory::open(path)?;
        let environment = match run.environment() {
            // A training knows the options of its environment.
            Some(entry) => Some(match TrainConfig::parse(&run.read_config()?) {
                Ok(config) => config.make()?,
                Err(_) => entry.make(&env::Options::default())?,
            }),
            None => None,
        };
        let policy = run.read_policy()?.map(|policy| Box::new(policy) as Box<dyn Policy>);
        Ok(Self {
            schema: Arc::clone(run.schema()),
            data: run.read_data()?,
            graph: run.read_graph()?,
            dynamics: Box::new(run.read_model()?),
            policy,
            environment,
        })
    }
}

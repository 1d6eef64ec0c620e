//! A run that was opened: everything that explaining and auditing need of it.

use std::path::Path;
use std::sync::Arc;

use becausal::Policy;
use becausal::env::{self, AnyEnvironment};
use becausal::model::Dynamics;
use becausal::run::{RunDirectory, TrainConfig};
use becausal::{CausalGraph, Schema, Transitions};

use crate::failure::Failure;
use crate::report_config::is_of_fit;

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
        let policy = run.read_policy()?.map(|policy| Box::new(policy) as Box<dyn Policy>);
        Ok(Self {
            schema: Arc::clone(run.schema()),
            data: run.read_data()?,
            graph: run.read_graph()?,
            dynamics: Box::new(run.read_model()?),
            policy,
            environment: environment(&run)?,
        })
    }
}

/// The environment as it was in the run: a training has its options, a fit knows of none.
fn environment(run: &RunDirectory) -> Result<Option<AnyEnvironment>, Failure> {
    let Some(entry) = run.environment() else { return Ok(None) };
    let text = run.read_config()?;
    if is_of_fit(&text) {
        return Ok(Some(entry.make(&env::Options::default())?));
    }
    // Options that were lost would make another environment of it, without a word.
    let config = TrainConfig::parse(&text).map_err(|problem| {
        Failure::failed(format!(
            "{}: cannot tell which environment the run is of: {problem}; restore the file, or \
             train again",
            run.path().join("config.toml").display()
        ))
    })?;
    Ok(Some(config.make()?))
}

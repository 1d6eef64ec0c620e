//! Why did the agent do that?
//!
//! becausal learns a causal model of an agent's environment from recorded transitions, and explains
//! actions by the chains of causes from the action to the rewards:
//!
//! ```
//! use becausal::{Ask, FitParams, ReadParams};
//!
//! # fn main() -> Result<(), becausal::Error> {
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/greenhouse/");
//! # let (log, schema) = (format!("{folder}log.csv"), format!("{folder}schema.toml"));
//! # let scratch = std::env::temp_dir().join(format!("becausal-front-door-{}", std::process::id()));
//! let log = becausal::read(&log, &ReadParams::default().schema_file(&schema)?.ignore("timestamp"))?;
//! let run = becausal::fit(&log, &FitParams::default().members(2).steps(200))?; // hold out, discover, fit, check
//! println!("{}", run.graph());
//! let moment = run.recorded(26, 20)?; // episode, step
//! println!("{}", run.why(&moment, &Ask::default())?); // the text; .sentence(), .svg(), .json()
//! println!("{}", run.why_not(&moment, "off", &Ask::default())?);
//! println!("{}", run.what_if(&moment, "temperature=25", &Ask::default())?);
//! run.save(&scratch)?; // becausal::Run::open(&scratch)?
//! # let again = becausal::Run::open(&scratch)?;
//! # assert_eq!(again.why(&moment, &Ask::default())?, run.why(&moment, &Ask::default())?);
//! # std::fs::remove_dir_all(&scratch).expect("written just now");
//! # Ok(())
//! # }
//! ```
//!
//! A trained agent is explained in the same way: [`train()`] learns a policy in a built-in environment,
//! [`Run::play`] plays it, [`Run::audit`] checks how often the answers hold, and [`Run::report`] makes
//! one page about it all.
//!
//! The crates behind the front door are re-exported:
//!
//! | module | what it holds |
//! |---|---|
//! | [`schema`], [`data`] | variables, reward terms and termination; transitions and their files |
//! | [`output`] | files that appear whole, and locks |
//! | [`mod@env`], [`policy`] | the [`Environment`] and [`Policy`] traits; the built-in environments |
//! | [`discovery`] | the independence tests and the [`CausalGraph`] with evidence for every pair |
//! | [`model`] | the causal world model, its baselines, and the influence of each variable |
//! | [`explain`] | causal chains, contrasts, credit, caveats, the audit |
//! | [`learn`] | PPO, dreams of the model, the paper's Algorithm 1 |
//! | [`render`] | words, pictures, pages |
//! | [`mod@run`] | the folder of a run |

mod answer;
mod episode;
mod error;
mod fit;
mod graph_view;
mod log;
mod log_check;
mod memory;
mod recipe;
mod record;
mod report;
pub mod run;
mod saved_policy;
mod subject;
mod train;

/// The [`Environment`] trait, recording, and the environments built in.
pub mod env {
    pub use becausal_core::env::*;
    pub use becausal_envs::*;
}

pub use becausal_core::{data, output, policy, progress, schema, text, trajectory};
pub use becausal_discovery as discovery;
pub use becausal_explain as explain;
pub use becausal_learn as learn;
pub use becausal_model as model;
pub use becausal_render as render;

pub use answer::Answer;
pub use becausal_core::data::Missing;
pub use becausal_core::{
    Environment, MemoryError, MemoryLimit, Policy, Preset, RandomPolicy, Schema, Stream,
    Transitions,
};
pub use becausal_discovery::{CausalGraph, DiscoverParams, Method, discover};
pub use becausal_explain::chain::Horizon;
pub use becausal_explain::{Ask, Audit, AuditParams, Moment, Worth};
pub use episode::Episode;
pub use error::Error;
pub use fit::{FitParams, FitSummary, fit};
pub use graph_view::GraphView;
pub use log::{Log, ReadParams, assemble, read, read_schema};
pub use log_check::LogCheck;
pub use memory::check_discovery;
pub use recipe::{Made, Recipe};
pub use record::{FitRecord, Record, option, quoted, quoted_path};
pub use report::{ReportPage, ReportParams};
pub use run::{
    Complete, FoundDecision, OpenParams, RealCourse, Run, RunScores, ScoredOn, Source, TryParams,
    TurningPoint,
};
pub use saved_policy::{PolicyOwner, read_policy};
pub use train::{TrainParams, TrainSummary, Trained, resume, resume_policy, train, train_policy};

//! Why did the agent do that?
//!
//! becausal learns a causal model of an agent's environment from recorded transitions, and explains
//! actions by the chains of causes from the action to the rewards. This is the library; its rooms are
//! modules, and data flows through them one way:
//!
//! | room | what lives there |
//! |---|---|
//! | [`schema`] | a factorised MDP: variables, reward terms, termination; read from TOML |
//! | [`data`] | transitions in columns, episodes, CSV, Parquet and NPZ files |
//! | [`mod@env`] | the [`Environment`] trait, the registry, the environments built in |
//! | [`discovery`] | the independence tests and the [`CausalGraph`] with evidence for every pair |
//! | [`nn`] | small neural networks: grouped layers, gradients, distributions |
//! | [`model`] | the causal world model and the influence of each variable under an action |
//! | [`policy`] | how an agent chooses its actions |
//! | [`chain`] | the extended graph over several steps and the causal chain in it |
//! | [`explain`] | why, why not, what if; how far to trust it; the audit against an environment |
//! | [`run`] | run directories: everything that was learned, on disk |
//! | [`render`] | explanations, pictures, charts and tables: text, SVG, PNG, DOT, JSON |
//!
//! Record some transitions and look at them:
//!
//! ```
//! use becausal::Environment;
//! use becausal::env::{EnvironmentError, Options, find, record_at_random};
//!
//! let environment = find("CartPole-v1")?.make(&Options::default())?;
//! let record = record_at_random(&environment, 1000, 42)?; // 42 is the seed
//! assert_eq!(record.len(), 1000);
//! let balancing = record.evaluate(&environment.schema().rewards()[0].expression);
//! assert!(balancing.iter().all(|&reward| reward == 0.0 || reward == 1.0));
//! # Ok::<(), EnvironmentError>(())
//! ```

pub mod chain;
pub mod data;
pub mod discovery;
pub mod env;
pub mod explain;
pub mod model;
pub mod nn;
pub mod policy;
mod random;
pub mod render;
pub mod run;
pub mod schema;

pub use data::Transitions;
pub use discovery::CausalGraph;
pub use env::Environment;
pub use random::{Stream, normal_quantile};
pub use schema::Schema;

//! The base of every other becausal crate: seeded random streams, schemas, recorded transitions
//! and their files, and the two traits that agents and environments implement.
//!
//! | module | contents |
//! |---|---|
//! | [`schema`] | a factorised MDP: variables, reward terms, termination; read from TOML |
//! | [`data`] | transitions in columns, episodes; CSV files, and Parquet and NPZ behind features |
//! | [`mod@env`] | the [`Environment`] trait, time limits, recording |
//! | [`policy`] | the [`Policy`] trait |

pub mod data;
pub mod env;
pub mod policy;
mod random;
pub mod schema;

pub use data::Transitions;
pub use env::Environment;
pub use policy::{Policy, RandomPolicy};
pub use random::{Stream, normal_quantile};
pub use schema::Schema;

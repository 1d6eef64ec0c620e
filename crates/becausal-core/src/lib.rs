//! The base of every other becausal crate: seeded random streams, schemas, recorded transitions
//! and their files, and the two traits that agents and environments implement.
//!
//! | module | contents |
//! |---|---|
//! | [`schema`] | a factorised MDP: variables, reward terms, termination; read from TOML |
//! | [`data`] | transitions in columns, episodes; CSV files, and Parquet and NPZ behind features |
//! | [`mod@env`] | the [`Environment`] trait, time limits, recording |
//! | [`output`] | files that appear whole, and locks |
//! | [`policy`] | the [`Policy`] trait |
//! | [`text`] | counts, sizes and text from files, made fit to be shown |
//! | [`progress`] | saying how far long work is, and stopping it |

pub mod data;
pub mod env;
mod memory;
mod node;
pub mod output;
pub mod policy;
mod preset;
pub mod progress;
mod random;
pub mod schema;
pub mod text;
pub mod trajectory;

pub use data::Transitions;
pub use env::{Environment, World};
pub use memory::{MemoryError, MemoryLimit};
pub use node::{Node, Part, Shape};
pub use policy::{Policy, RandomPolicy};
pub use preset::Preset;
pub use random::{Stream, normal_quantile, student_quantile};
pub use schema::Schema;

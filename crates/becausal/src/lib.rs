#![doc = include_str!("../README.md")]

pub mod data;
pub mod discovery;
pub mod env;
mod random;
pub mod schema;

pub use data::Transitions;
pub use discovery::CausalGraph;
pub use env::Environment;
pub use random::{Stream, normal_quantile};
pub use schema::Schema;

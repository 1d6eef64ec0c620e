//! Run directories: everything that was learned, on disk.
//!
//! | file | what |
//! |---|---|
//! | `config.toml` | how the run was made |
//! | `schema.toml` | what the variables are |
//! | `data.parquet` | the transitions that were learned from |
//! | `graph.json` | the causal graph, with the evidence for every pair |
//! | `world-model/` | the world model: weights as safetensors, and a manifest |
//!
//! Every file is written whole or not at all, and nothing in one is ever run.

mod directory;

pub use directory::{RunDirectory, RunError};

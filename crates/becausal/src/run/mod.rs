//! Run directories: everything that was learned, on disk.
//!
//! | file | what |
//! |---|---|
//! | `config.toml` | how the run was made |
//! | `schema.toml` | what the variables are |
//! | `data.parquet` | the transitions that were learned from |
//! | `graph.json` | the causal graph, with the evidence for every pair |
//! | `policy/` | the policy of a training, in the same way |
//! | `metrics.csv`, `events.out.tfevents.becausal` | the curves of a training; the second for TensorBoard |
//! | `checkpoint.json`, `checkpoints/` | what a training needs to go on |
//! | `world-model/` | the world model: weights as safetensors, and a manifest |
//!
//! Every file is written whole or not at all, and nothing in one is ever run.

mod crc32c;
mod directory;
mod events;
mod metrics;
mod train_config;
mod training_run;

pub use crc32c::{crc32c, masked};
pub use directory::{RunDirectory, RunError};
pub use events::EventWriter;
pub use metrics::Metrics;
pub use train_config::TrainConfig;
pub use training_run::{Saved, TrainError, TrainingRun};

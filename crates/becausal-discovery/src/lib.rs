//! Which causes influence which effects: independence tests, and the graph they give.
//!
//! Causes are states and actions, effects next states and outcomes; a vector is one variable. A pair
//! is an edge when the cause is needed to predict the effect although all other inputs are known.
//!
//! ```
//! use becausal_core::env::{Options, record_at_random};
//! use becausal_discovery::{DiscoverParams, discover};
//! use becausal_envs::find;
//!
//! let environment = find("Vacuum-v0")?.make(&Options::default())?;
//! let data = record_at_random(&environment, 2000, 0)?;
//! let graph = discover(&data, &DiscoverParams::default())?;
//! assert_eq!(graph.parents("clean_1'"), ["position", "clean_1", "a"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod atom;
mod auto;
mod basis;
mod bins;
mod block;
mod boost;
mod bootstrap;
mod by_action;
mod candidates;
mod controller;
mod copies;
mod direction;
mod discover;
mod error;
mod extremes;
mod fcit;
mod finding;
mod fold;
mod frame;
mod gains;
mod graph;
mod groups;
mod grower;
mod json;
mod memory;
mod model;
mod proxies;
mod question;
mod reason;
mod remainder;
mod ridge;
mod scale;
mod score;
mod student;
mod sums;
mod table;
mod target;
mod thresholds;
mod tree;
mod units;
mod verdict;

pub use by_action::ByAction;
pub use discover::{DiscoverParams, Method, discover};
pub use error::DiscoveryError;
pub use graph::{ActionGraph, CausalGraph, CauseId, EffectId, Given, Pair, Verdict};
pub use reason::{Reason, RowGroup};
pub use ridge::regress;
pub use score::Score;
pub use student::benjamini_hochberg;
pub use thresholds::Thresholds;

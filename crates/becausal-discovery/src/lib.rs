//! Which causes influence which effects: independence tests, and the graph they give.
//!
//! Causes are states and actions, effects next states and outcomes; a vector is one variable. A pair
//! is an edge when the cause is needed to predict the effect although all other inputs are known.
//!
//! ```
//! use becausal_discovery::{Options, discover_quietly};
//! use becausal_core::env::{EnvironmentError, collect, random_action};
//! use becausal_envs::find;
//! use becausal_core::Transitions;
//!
//! let entry = find("Vacuum-v0")?;
//! let environment = entry.make(&becausal_core::env::Options::default())?;
//! let schema = entry.schema();
//! let mut data = Transitions::new(schema.clone());
//! collect(
//!     &environment,
//!     2000,
//!     0,
//!     |_, stream, action| random_action(&schema, stream, action),
//!     |part| Ok::<(), EnvironmentError>(data.append(part)),
//! )?;
//! let graph = discover_quietly(&data, &Options::default())?;
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
mod copies;
mod discover;
mod error;
mod extremes;
mod fcit;
mod finding;
mod fold;
mod frame;
mod graph;
mod grower;
mod json;
mod model;
mod proxies;
mod question;
mod reduced;
mod remainder;
mod ridge;
mod score;
mod spread;
mod student;
mod table;
mod target;
mod tree;
mod unfinished;
mod units;
mod verdict;
mod watch;

pub use by_action::ByAction;
pub use discover::{Method, Options, discover, discover_quietly, go_on};
pub use error::DiscoveryError;
pub use graph::distinct;
pub use graph::{ActionGraph, CausalGraph, Given, Pair, Verdict};
pub use score::Score;
pub use student::benjamini_hochberg;
pub use unfinished::Unfinished;
pub use watch::{Listener, Step};

//! Environments: the trait, the registry, and those built in.
//!
//! ```
//! use becausal::Environment;
//! use becausal::env::{Options, find};
//!
//! let mut environment = find("CartPole-v1")?.make(&Options::default())?;
//! environment.reset(42);
//! let mut twin = environment.clone();
//! let left = environment.step(&[0.0])?.state.to_vec();
//! let right = twin.step(&[1.0])?.state.to_vec();
//! assert!(left[1] < right[1]); // velocity, after a push to the left and to the right
//! # Ok::<(), becausal::env::EnvironmentError>(())
//! ```

mod action;
mod aim_test;
mod any;
mod batch;
mod build_marine;
mod build_marine_scene;
mod cart_pole;
mod cart_pole_scene;
mod collect;
mod environment;
mod lunar_lander;
mod minerals;
mod options;
mod registry;
mod time_limit;
mod truth;
mod vacuum;

pub use action::{parse_action, random_action, read_actions};
pub use aim_test::AimTest;
pub use any::AnyEnvironment;
pub use batch::Batch;
pub use build_marine::BuildMarine;
pub use cart_pole::CartPole;
pub use collect::{collect, episode_seed, record_at_random, replay};
pub use environment::{Environment, EnvironmentError, Step};
pub use lunar_lander::{LunarLander, LunarLanderOptions};
pub use options::{OptionDescription, Options};
pub use registry::{Entry, entries, find};
pub use time_limit::TimeLimit;
pub use truth::{ActionTruth, Truth};
pub use vacuum::Vacuum;

//! The built-in environments, their schemas, their true causal graphs, and the registry.
//!
//! ```
//! use becausal_core::Environment;
//! use becausal_core::env::Options;
//! use becausal_envs::find;
//!
//! let mut environment = find("CartPole-v1")?.make(&Options::default())?;
//! environment.reset(42);
//! let mut twin = environment.clone();
//! let left = environment.step(&[0.0])?.state.to_vec();
//! let right = twin.step(&[1.0])?.state.to_vec();
//! assert!(left[1] < right[1]); // velocity, after a push to the left and to the right
//! # Ok::<(), becausal_core::env::EnvironmentError>(())
//! ```

mod aim_test;
mod build_marine;
mod build_marine_scene;
mod build_order;
mod cart_pole;
mod cart_pole_scene;
mod lunar_lander;
mod minerals;
mod pilot;
mod registry;
mod trial;
mod truth;
mod vacuum;

pub use aim_test::AimTest;
pub use build_marine::BuildMarine;
pub use build_order::BuildOrder;
pub use cart_pole::CartPole;
pub use lunar_lander::{LunarLander, LunarLanderOptions};
pub use pilot::Pilot;
pub use registry::{Entry, entries, find};
pub use trial::{Circumstance, Trial};
pub use truth::{ActionTruth, Truth};
pub use vacuum::Vacuum;

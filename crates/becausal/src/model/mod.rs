//! The causal world model: what follows from a state and an action, and what depends on what.

mod dynamics;
mod influence;

pub use dynamics::{Dynamics, Noise, Prediction, effects};
pub use influence::Influence;

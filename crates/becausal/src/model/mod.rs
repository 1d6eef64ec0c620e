//! The causal world model: what follows from a state and an action, and what depends on what.

mod action_influence;
mod attention;
mod dense;
mod dynamics;
mod encoding;
mod files;
mod influence;
mod inputs;
mod member;
mod mixture;
mod network;
mod persistence;
mod probe;
mod refit;
mod regression;
mod score;
mod stepping;
mod structure;
mod target;
mod train;
mod weights;
mod world_model;

pub use dynamics::{Dynamics, Noise, Prediction, effects};
pub use influence::Influence;
pub use member::ModelKind;
pub use network::Sizes;
pub use score::{Scores, VariableScore};
pub use structure::Structure;
pub use train::{FitError, FitOptions, FitProgress, MemberReport};
pub(crate) use weights::{Kept, take_blocks};
pub use weights::{WeightsError, fingerprint};
pub use world_model::{FitReport, WorldModel};

//! The causal world model: predicts the result of an action in a state, and the influence of each
//! state variable.

mod action_influence;
mod attention;
mod checked;
mod coupling;
mod cut;
mod dense;
mod descent;
mod divergence;
mod dynamics;
mod encoding;
mod error;
mod files;
mod fit_data;
#[cfg(test)]
mod gradients;
mod influence;
mod inputs;
mod kept;
mod label_entropy;
mod law;
mod local_influence;
mod magnitude;
mod member;
mod memory;
mod mixture;
mod model_world;
mod network;
mod persistence;
mod probe;
mod refit;
mod sampling;
mod score;
mod staircase;
mod stepping;
mod structure;
mod target;
mod train;
mod turn;
mod world_model;

pub use action_influence::NEGLIGIBLE;
pub use becausal_nn::{WeightsError, fingerprint};
pub use checked::{Checked, Shortfall};
pub use dynamics::{Dynamics, Noise, PossibleNoise, Prediction, Situation};
pub use error::FitError;
pub use fit_data::FitData;
pub use influence::Influence;
pub use member::ModelKind;
pub use memory::MAX_MEMBERS;
pub use model_world::ModelWorld;
pub use network::Sizes;
pub use score::{GroupErrors, Scores, VariableScore};
pub use structure::{Parents, Structure};
pub use train::{MemberReport, ModelParams};
pub use world_model::{FitReport, WorldModel};

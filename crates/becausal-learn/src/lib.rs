//! How an agent chooses its actions, and how it learns to.
//!
//! A [`Policy`](becausal_core::Policy) maps a state to an action. An [`ActorCritic`] is a policy that
//! learns by proximal policy optimisation ([`Learner`]), either from real episodes ([`Play`]) or from
//! rollouts of a world model ([`Dream`]). A [`Training`] runs the paper's Algorithm 1 with given
//! [`Settings`].

mod action_space;
mod actor_critic;
mod checkpoint;
mod conclusion;
mod dream;
mod epoch;
mod error;
mod evaluation;
mod experience;
mod files;
mod interaction;
mod observation;
mod play;
mod ppo;
mod ppo_loss;
mod report;
mod setting;
mod settings;
mod training;

pub use action_space::ActionSpace;
pub use actor_critic::ActorCritic;
pub use dream::{Dream, DreamOptions};
pub use error::LearningError;
pub use evaluation::{Confirmed, Evaluated, Evaluation, evaluate};
pub use experience::{Advantages, Experience};
pub use interaction::{Exploration, interact};
pub use observation::{Observation, Running};
pub use play::{Play, PlayedEpisode};
pub use ppo::{Learner, PpoOptions, PpoReport};
pub use ppo_loss::{PpoRows, PpoSums, PpoWeights, ppo_loss};
pub use report::{Durations, EpochReport};
pub use setting::{Imagination, Ramp};
pub use settings::{FORK_ACTIONS, FORK_STEPS, Settings};
pub use training::Training;

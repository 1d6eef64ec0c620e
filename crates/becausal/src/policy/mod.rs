//! How an agent chooses its actions, and how it learns to.
//!
//! A [`Policy`] gives an action for a state. An [`ActorCritic`] is one that learns: by proximal policy
//! optimisation ([`Learner`]), from real episodes ([`Play`]) or from episodes dreamed by a world
//! model ([`Dream`]). A [`Training`] is the paper's Algorithm 1, with [`Settings`].

mod action_space;
mod actor_critic;
mod build_order;
mod checkpoint;
mod conclusion;
mod coverage;
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
pub use build_order::BuildOrder;
pub use coverage::Coverage;
pub use dream::{Dream, DreamOptions};
pub use error::LearningError;
pub use evaluation::{Evaluation, LONGEST_EPISODE, evaluate};
pub use experience::{Advantages, Experience};
pub use interaction::{Exploration, interact};
pub use observation::{Observation, Running};
pub use play::{Play, PlayedEpisode};
pub use ppo::{Learner, PpoOptions, PpoReport};
pub use ppo_loss::{PpoRows, PpoSums, PpoWeights, ppo_loss};
pub use report::{Durations, EpochReport};
pub use setting::{Imagination, Ramp};
pub use settings::Settings;
pub use training::Training;

use std::sync::Arc;

use crate::Stream;
use crate::env::{EnvironmentError, random_action};
use crate::schema::Schema;

/// Something that acts: from a state to an action, both slot by slot as in the schema.
pub trait Policy: Sync {
    /// What the variables are.
    fn schema(&self) -> &Arc<Schema>;

    /// The most likely action.
    fn mode(&self, state: &[f64]) -> Vec<f64>;

    /// An action drawn from the policy's distribution. All randomness comes from `stream`: with
    /// the same stream, two states with the same distribution get the same action.
    fn sample(&self, state: &[f64], stream: &mut Stream) -> Vec<f64>;
}

/// Acts at random, whatever the state: every category alike, numbers uniformly within their bounds.
#[derive(Debug, Clone)]
pub struct RandomPolicy {
    schema: Arc<Schema>,
}

impl RandomPolicy {
    /// The random policy over the actions of a schema.
    ///
    /// # Errors
    /// When an action has no bounds to draw between.
    pub fn new(schema: Arc<Schema>) -> Result<Self, EnvironmentError> {
        let policy = Self { schema };
        policy.draw(&mut Stream::new(0))?;
        Ok(policy)
    }

    fn draw(&self, stream: &mut Stream) -> Result<Vec<f64>, EnvironmentError> {
        let mut action = vec![0.0; self.schema.action_slots().len()];
        random_action(&self.schema, stream, &mut action)?;
        Ok(action)
    }
}

impl Policy for RandomPolicy {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Draws from a stream of its own that starts anew each time: random, but always the same.
    fn mode(&self, state: &[f64]) -> Vec<f64> {
        self.sample(state, &mut Stream::new(0))
    }

    fn sample(&self, _state: &[f64], stream: &mut Stream) -> Vec<f64> {
        self.draw(stream).expect("tried when the policy was made")
    }
}

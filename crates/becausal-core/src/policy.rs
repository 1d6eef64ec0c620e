//! How an agent chooses its actions.

use std::sync::Arc;

use crate::env::{EnvironmentError, every_action, random_action};
use crate::random::Stream;
use crate::schema::Schema;

/// Something that acts: from a state to an action, both slot by slot as in the schema.
pub trait Policy: Sync {
    /// What the variables are.
    fn schema(&self) -> &Arc<Schema>;

    /// The most likely action.
    fn mode(&self, state: &[f64]) -> Vec<f64>;

    /// The most likely action in each of these states, as many as there are. A policy that answers many states at once as
    /// fast as one overrides it.
    fn modes(&self, states: &[Vec<f64>]) -> Vec<Vec<f64>> {
        states.iter().map(|state| self.mode(state)).collect()
    }

    /// An action drawn from the policy's distribution. All randomness comes from `stream`: with
    /// the same stream, two states with the same distribution get the same action.
    fn sample(&self, state: &[f64], stream: &mut Stream) -> Vec<f64>;

    /// How likely each of `actions` is in each of `states`: `[states][actions]`. `None` from a policy that
    /// only names its action, and where actions are continuous numbers. As many rows as states.
    fn probabilities(&self, states: &[Vec<f64>], actions: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
        let _ = (states, actions);
        None
    }

    /// What it expects to earn from each of these states on, in rewards, discounted as it learned. `None` from a policy
    /// that does not say.
    fn values(&self, states: &[Vec<f64>]) -> Option<Vec<f64>> {
        let _ = states;
        None
    }

    /// Whether it answers thousands of states in a moment. What asks for so many leaves a slow policy alone.
    fn is_quick(&self) -> bool {
        true
    }

    /// Whether it could answer so far. A policy of another language or process may fail at any time: it
    /// then gives some action, and says here what went wrong. Whoever asked it checks before the answers
    /// are used.
    ///
    /// # Errors
    /// With the first failure, in words.
    fn check(&self) -> Result<(), EnvironmentError> {
        Ok(())
    }
}

/// Actions of which the random policy can say how many there are.
const MAX_ACTIONS: usize = 1 << 16;

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

    fn probabilities(&self, states: &[Vec<f64>], actions: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
        let all = every_action(&self.schema, MAX_ACTIONS)?;
        Some(vec![vec![1.0 / all.len() as f64; actions.len()]; states.len()])
    }
}

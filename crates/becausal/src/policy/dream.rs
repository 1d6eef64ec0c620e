//! The world model as an environment.

use std::sync::Arc;

use crate::data::Transitions;
use crate::model::WorldModel;
use crate::random::Stream;
use crate::schema::Schema;

use super::actor_critic::ActorCritic;
use super::error::LearningError;
use super::experience::Experience;

/// Episodes dreamed by a world model, many side by side, that begin in states of a buffer.
///
/// For every step of every row a member of the ensemble is drawn. Rewards and ends follow from the
/// schema's expressions. No value leaves the reach of the buffer: beyond it the model is a guess, and
/// a guess on top of guesses runs away, with rewards that drown all others.
pub struct Dream<'a> {
    model: &'a WorldModel,
    schema: Arc<Schema>,
    /// `[rows, state slots]`
    starts: Vec<f64>,
    /// From where to where the values of each state slot reach in the buffer.
    reach: Vec<(f64, f64)>,
}

impl<'a> Dream<'a> {
    /// Dreams that begin in the states of a buffer.
    #[must_use]
    pub fn new(model: &'a WorldModel, buffer: &Transitions) -> Self {
        let schema = Arc::clone(buffer.schema());
        let columns: Vec<Vec<f64>> =
            schema.state_slots().map(|slot| buffer.column(slot).to_numbers()).collect();
        let starts = (0..buffer.len()).flat_map(|row| columns.iter().map(move |c| c[row]));
        let starts = starts.collect();
        let next = schema.next_slots().map(|slot| buffer.column(slot).to_numbers());
        let reach = columns.iter().zip(next).map(|(now, next)| {
            let values = || now.iter().chain(&next).copied();
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        });
        let reach = reach.collect();
        Self { model, schema, starts, reach }
    }

    fn start(&self, stream: &mut Stream, into: &mut [f64]) {
        let width = into.len();
        let row = stream.below(self.starts.len() / width);
        into.copy_from_slice(&self.starts[row * width..][..width]);
    }

    /// About `samples` dreamed transitions, in rows of `length` steps. A row whose episode ends goes
    /// on from another state of the buffer.
    ///
    /// # Errors
    /// When the model leads to a state that is no number.
    ///
    /// # Panics
    /// When the buffer is empty.
    pub fn experience(
        &self,
        agent: &ActorCritic,
        samples: usize,
        length: usize,
        stream: &mut Stream,
    ) -> Result<Experience, LearningError> {
        let schema = &self.schema;
        let copies = (samples / length.max(1)).max(1);
        let (states, width) = (schema.state_slots().len(), schema.action_slots().len());
        let outcomes = schema.outcome_slots().len();
        let first_action = schema.action_slots().start;
        let mut now = vec![0.0; copies * states];
        now.chunks_exact_mut(states).for_each(|state| self.start(stream, state));
        let mut lived = Experience::new(schema, copies);
        let mut actions = vec![0.0; copies * width];
        let mut numbers = vec![0.0; width];
        let mut over = vec![0.0; copies];
        for _ in 0..length.max(1) {
            let said = agent.act(&now);
            for copy in 0..copies {
                let chance = agent.space().draw(said.row(0, copy), stream, &mut numbers);
                agent.space().action(&numbers, &mut actions[copy * width..][..width]);
                lived.log_probabilities.push(chance);
                lived.numbers.extend_from_slice(&numbers);
            }
            lived.said.extend_from_slice(&said.values);
            let value = |row: usize, slot: usize| match slot.checked_sub(first_action) {
                Some(slot) => actions[row * width + slot],
                None => now[row * states + slot],
            };
            let mut following = self.model.sample(copies, value, stream);
            let from = lived.len();
            for (copy, after) in following.chunks_exact_mut(outcomes + states).enumerate() {
                if let Some(at) = after.iter().position(|value| !value.is_finite()) {
                    let slot = schema.outcome_slots().start + at;
                    return Err(LearningError::State {
                        variable: schema.slots()[slot].name.clone(),
                        value: after[at].to_string(),
                        place: "in a dream of the world model",
                    });
                }
                let (outcome, next) = after.split_at_mut(outcomes);
                for (value, &(low, high)) in next.iter_mut().zip(&self.reach) {
                    *value = value.clamp(low, high);
                }
                let state = &now[copy * states..][..states];
                lived.push(state, &actions[copy * width..][..width], outcome, next);
            }
            lived.rewards.extend(lived.rewards_from(schema, from));
            over.fill(0.0);
            if let Some(end) = schema.termination() {
                end.evaluate(&lived, from, &mut over);
            }
            for (copy, &over) in over.iter().enumerate() {
                lived.terminated.push(over != 0.0);
                lived.ended.push(over != 0.0);
                let state = &mut now[copy * states..][..states];
                if over == 0.0 {
                    let after = &following[copy * (outcomes + states)..][..outcomes + states];
                    state.copy_from_slice(&after[outcomes..]);
                } else {
                    self.start(stream, state);
                }
            }
        }
        Ok(lived)
    }
}

//! The world model as an environment.

use std::sync::Arc;

use becausal_core::Stream;
use becausal_core::data::Transitions;
use becausal_core::schema::Schema;
use becausal_model::WorldModel;

use super::actor_critic::ActorCritic;
use super::error::LearningError;
use super::experience::Experience;

/// Options of dreams.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DreamOptions {
    /// The factor on the noise of continuous variables: 0 for none, 1 for all of it.
    pub noise: f64,
    /// The share of steps that take the best prediction of the ensemble's members instead of a random
    /// member's. Where the members agree this changes nothing; where they disagree it encourages
    /// exploration.
    pub optimism: f64,
    /// The discount factor per step.
    pub discount: f64,
    /// Rewards are multiplied by this to match the scale of the critic.
    pub reward_factor: f64,
}

/// Rollouts of a world model, many in parallel, that start in states of a buffer.
///
/// Every step of every rollout uses a random member of the ensemble. Rewards and terminations follow
/// from the schema's expressions. Values are clamped to their range in the buffer: outside it the
/// model extrapolates, errors compound over the steps, and rollouts that diverge would dominate the
/// rewards.
pub struct Dream {
    schema: Arc<Schema>,
    options: DreamOptions,
    /// `[rows, state slots]`
    starts: Vec<f64>,
    /// The smallest and the largest value of each state slot in the buffer.
    ranges: Vec<(f64, f64)>,
}

impl Dream {
    /// Dreams that start in the states of a buffer.
    #[must_use]
    pub fn new(buffer: &Transitions, options: DreamOptions) -> Self {
        let schema = Arc::clone(buffer.schema());
        let columns: Vec<Vec<f64>> =
            schema.state_slots().map(|slot| buffer.column(slot).to_numbers()).collect();
        let starts = (0..buffer.len()).flat_map(|row| columns.iter().map(move |c| c[row]));
        let starts = starts.collect();
        let next = schema.next_slots().map(|slot| buffer.column(slot).to_numbers());
        let ranges = columns.iter().zip(next).map(|(now, next)| {
            let values = || now.iter().chain(&next).copied();
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        });
        let ranges = ranges.collect();
        Self { schema, options, starts, ranges }
    }

    fn start(&self, stream: &mut Stream, into: &mut [f64]) {
        let width = into.len();
        let row = stream.below(self.starts.len() / width);
        into.copy_from_slice(&self.starts[row * width..][..width]);
    }

    /// About `samples` dreamed transitions, in rollouts of `length` steps. A rollout whose episode
    /// ends continues from another state of the buffer.
    ///
    /// # Errors
    /// When the model predicts a value that is NaN or infinite.
    ///
    /// # Panics
    /// When the buffer is empty.
    pub fn experience(
        &self,
        model: &WorldModel,
        agent: &ActorCritic,
        (samples, length): (usize, usize),
        stream: &mut Stream,
    ) -> Result<Experience, LearningError> {
        let schema = &self.schema;
        let copies = (samples / length.max(1)).max(1);
        let (states, width) = (schema.state_slots().len(), schema.action_slots().len());
        let first_action = schema.action_slots().start;
        let mut now = vec![0.0; copies * states];
        now.chunks_exact_mut(states).for_each(|state| self.start(stream, state));
        let mut experience = Experience::new(schema, copies);
        let mut actions = vec![0.0; copies * width];
        for _ in 0..length.max(1) {
            experience.act(agent, &now, stream, &mut actions);
            let value = |row: usize, slot: usize| match slot.checked_sub(first_action) {
                Some(slot) => actions[row * width + slot],
                None => now[row * states + slot],
            };
            if self.options.optimism > 0.0 {
                let each = model.sample_each(copies, value, self.options.noise, stream);
                let each = each.iter().map(|drawn| self.predicted(&now, &actions, drawn));
                let each = each.collect::<Result<Vec<Experience>, _>>()?;
                for (copy, member) in self.choose(agent, &each, stream).into_iter().enumerate() {
                    experience.take(&each[member], copy);
                }
            } else {
                let drawn = model.sample(copies, value, self.options.noise, stream);
                let predicted = self.predicted(&now, &actions, &drawn)?;
                (0..copies).for_each(|copy| experience.take(&predicted, copy));
            }
            let from = experience.len() - copies;
            for (copy, state) in now.chunks_exact_mut(states).enumerate() {
                if experience.ended[from + copy] {
                    self.start(stream, state);
                } else {
                    state.copy_from_slice(experience.values(from + copy, schema.next_slots()));
                }
            }
        }
        Ok(experience)
    }

    /// One step of every copy, with the outcomes and next states that were drawn.
    fn predicted(
        &self,
        now: &[f64],
        actions: &[f64],
        drawn: &[f64],
    ) -> Result<Experience, LearningError> {
        let schema = &self.schema;
        let (states, width) = (schema.state_slots().len(), schema.action_slots().len());
        let outcomes = schema.outcome_slots().len();
        let copies = now.len() / states;
        let mut step = Experience::new(schema, copies);
        let mut next = vec![0.0; states];
        for (copy, after) in drawn.chunks_exact(outcomes + states).enumerate() {
            if let Some(at) = after.iter().position(|value| !value.is_finite()) {
                let slot = schema.outcome_slots().start + at;
                return Err(LearningError::State {
                    variable: schema.slots()[slot].name.clone(),
                    value: after[at].to_string(),
                    place: "in a rollout of the world model",
                });
            }
            let (outcome, after) = after.split_at(outcomes);
            for ((next, value), &(low, high)) in next.iter_mut().zip(after).zip(&self.ranges) {
                *next = value.clamp(low, high);
            }
            let state = &now[copy * states..][..states];
            step.push(state, &actions[copy * width..][..width], outcome, &next);
        }
        step.rewards = step.rewards_from(schema, 0);
        let mut over = vec![0.0; copies];
        if let Some(end) = schema.termination() {
            end.evaluate(&step, 0, &mut over);
        }
        step.terminated = over.iter().map(|&over| over != 0.0).collect();
        step.ended.clone_from(&step.terminated);
        Ok(step)
    }

    /// The member that predicts each copy's step: a random one, or, in a share `optimism` of the
    /// steps, the one with the highest value.
    fn choose(&self, agent: &ActorCritic, each: &[Experience], stream: &mut Stream) -> Vec<usize> {
        let DreamOptions { optimism, discount, reward_factor, .. } = self.options;
        let values: Vec<Vec<f64>> = each
            .iter()
            .map(|step| {
                let following = agent.value(&step.part(self.schema.next_slots()));
                let ends = step.terminated.iter().map(|&over| if over { 0.0 } else { discount });
                let of = |((reward, factor), value): ((&f64, f64), f64)| {
                    reward_factor * reward + factor * value
                };
                step.rewards.iter().zip(ends).zip(following).map(of).collect()
            })
            .collect();
        let compare =
            |&a: &usize, &b: &usize, copy: usize| values[a][copy].total_cmp(&values[b][copy]);
        (0..each[0].len())
            .map(|copy| {
                let random = stream.below(each.len());
                if stream.unit() < optimism {
                    (0..each.len()).max_by(|a, b| compare(a, b, copy)).unwrap_or(random)
                } else {
                    random
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becausal_core::data::Row;

    /// Dreams with one state `x`, whose next value is the reward, and an agent for them.
    fn dream(optimism: f64) -> (Dream, ActorCritic) {
        let schema = Schema::parse(
            "name = \"One\"\n[state]\nx = { kind = \"continuous\" }\n[action]\n\
             a = { kind = \"boolean\" }\n[reward]\nx = \"x'\"\n[termination]\nwhen = \"x' > 5\"\n",
        );
        let schema = Arc::new(schema.expect("a schema"));
        let mut data = Transitions::new(Arc::clone(&schema));
        for x in [-2.0, 6.0] {
            data.push(&Row {
                state: &[x],
                action: &[0.0],
                outcomes: &[],
                next: &[x],
                reward: x,
                terminated: false,
                truncated: false,
            });
        }
        let options = DreamOptions { noise: 1.0, optimism, discount: 0.0, reward_factor: 1.0 };
        let agent = ActorCritic::new(&schema, &[4], &mut Stream::new(1)).expect("an agent");
        (Dream::new(&data, options), agent)
    }

    /// The predictions of two members for four copies: the second is better for the last two.
    fn predictions(dream: &Dream) -> Vec<Experience> {
        let of = |drawn: &[f64]| dream.predicted(&[0.0; 4], &[0.0; 4], drawn).expect("a step");
        vec![of(&[1.0, 1.0, 0.0, 0.0]), of(&[0.0, 0.0, 1.0, 1.0])]
    }

    #[test]
    fn full_optimism_chooses_the_best_prediction() {
        let (dream, agent) = dream(1.0);
        let chosen = dream.choose(&agent, &predictions(&dream), &mut Stream::new(1));
        assert_eq!(chosen, [0, 0, 1, 1]);
    }

    #[test]
    fn without_optimism_members_are_equally_likely() {
        let (dream, agent) = dream(0.0);
        let mut stream = Stream::new(1);
        let mut seen = [0; 2];
        for _ in 0..100 {
            for member in dream.choose(&agent, &predictions(&dream), &mut stream) {
                seen[member] += 1;
            }
        }
        assert!(seen.iter().all(|count| (150..250).contains(count)), "{seen:?}");
    }

    #[test]
    fn values_stay_in_the_range_of_the_buffer_and_terminations_are_detected() {
        let (dream, _) = dream(0.0);
        let step = dream.predicted(&[0.0; 3], &[0.0; 3], &[-9.0, 3.0, 99.0]).expect("a step");
        assert_eq!(step.rewards, [-2.0, 3.0, 6.0]);
        assert_eq!(step.terminated, [false, false, true]);
        assert!(dream.predicted(&[0.0], &[0.0], &[f64::NAN]).is_err());
    }
}

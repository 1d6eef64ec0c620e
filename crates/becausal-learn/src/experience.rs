//! Transitions of many parallel episodes, ready to learn from.

use becausal_core::Stream;
use becausal_core::schema::{Columns, Schema};

use super::actor_critic::ActorCritic;

/// Transitions of several copies of an environment, step by step: row `t * copies + c` is step `t` of
/// copy `c`.
#[derive(Debug, Clone, PartialEq)]
pub struct Experience {
    /// The number of copies.
    pub copies: usize,
    /// Numbers per transition: states, actions, outcomes, next states.
    width: usize,
    /// `[rows, slots]`
    rows: Vec<f64>,
    /// The numbers drawn from the action distributions, `[rows, action slots]`.
    pub numbers: Vec<f64>,
    /// The log-probability of each action when it was drawn, `[rows]`.
    pub log_probabilities: Vec<f64>,
    /// The actor's outputs, `[rows, columns]`.
    pub outputs: Vec<f32>,
    /// Whether the episode terminated after this row, by the rules of the environment.
    pub terminated: Vec<bool>,
    /// Whether the episode ended after this row, terminated or truncated: the copy's next row belongs
    /// to another episode.
    pub ended: Vec<bool>,
    /// The reward of each row, `[rows]`.
    pub rewards: Vec<f64>,
}

impl Experience {
    /// Without rows.
    #[must_use]
    pub fn new(schema: &Schema, copies: usize) -> Self {
        Self {
            copies,
            width: schema.slots().len(),
            rows: Vec::new(),
            numbers: Vec::new(),
            log_probabilities: Vec::new(),
            outputs: Vec::new(),
            terminated: Vec::new(),
            ended: Vec::new(),
            rewards: Vec::new(),
        }
    }

    /// Lets the agent act in the states `[copies, state slots]`: draws `actions` `[copies, action
    /// slots]` and keeps what they were drawn from.
    pub(super) fn act(
        &mut self,
        agent: &ActorCritic,
        states: &[f64],
        stream: &mut Stream,
        actions: &mut [f64],
    ) {
        let width = actions.len() / self.copies;
        let mut numbers = vec![0.0; width];
        let outputs = agent.act(states);
        for (copy, action) in actions.chunks_exact_mut(width).enumerate() {
            let log_probability = agent.space().draw(outputs.row(0, copy), stream, &mut numbers);
            agent.space().action(&numbers, action);
            self.log_probabilities.push(log_probability);
            self.numbers.extend_from_slice(&numbers);
        }
        self.outputs.extend_from_slice(&outputs.values);
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len() / self.width
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a transition, in parts.
    pub fn push(&mut self, state: &[f64], action: &[f64], outcomes: &[f64], next: &[f64]) {
        for part in [state, action, outcomes, next] {
            self.rows.extend_from_slice(part);
        }
    }

    /// Copies a row of another experience: the transition, its reward and whether the episode ended.
    pub fn take(&mut self, other: &Self, row: usize) {
        self.rows.extend_from_slice(other.values(row, 0..other.width));
        self.rewards.push(other.rewards[row]);
        self.terminated.push(other.terminated[row]);
        self.ended.push(other.ended[row]);
    }

    /// Some slots of a transition.
    #[must_use]
    pub fn values(&self, row: usize, slots: std::ops::Range<usize>) -> &[f64] {
        &self.rows[row * self.width..][..self.width][slots]
    }

    /// Some slots of every transition, for example the states or the next states: `[rows, slots]`.
    #[must_use]
    pub fn part(&self, slots: std::ops::Range<usize>) -> Vec<f64> {
        self.rows.chunks_exact(self.width).flat_map(|row| &row[slots.clone()]).copied().collect()
    }

    /// The sum of the schema's reward terms in row `from` and all later rows.
    #[must_use]
    pub fn rewards_from(&self, schema: &Schema, from: usize) -> Vec<f64> {
        let mut total = vec![0.0; self.len() - from];
        let mut term = total.clone();
        for reward in schema.rewards() {
            reward.expression.evaluate(self, from, &mut term);
            total.iter_mut().zip(&term).for_each(|(total, term)| *total += term);
        }
        total
    }

    /// Advantages and returns of all rows by generalised advantage estimation (GAE).
    ///
    /// The value after a row is the critic's value of the next state, also where the episode was
    /// truncated. After a termination it is 0.
    #[must_use]
    pub fn advantages(
        &self,
        agent: &ActorCritic,
        schema: &Schema,
        (discount, lambda): (f64, f64),
        reward_factor: f64,
    ) -> Advantages {
        let values = agent.value(&self.part(schema.state_slots()));
        let following = agent.value(&self.part(schema.next_slots()));
        self.estimate(&values, &following, (discount, lambda), reward_factor)
    }

    fn estimate(
        &self,
        values: &[f64],
        following: &[f64],
        (discount, lambda): (f64, f64),
        reward_factor: f64,
    ) -> Advantages {
        let rows = self.len();
        let mut advantages = vec![0.0; rows];
        for row in (0..rows).rev() {
            let after = if self.terminated[row] { 0.0 } else { following[row] };
            let error = reward_factor * self.rewards[row] + discount * after - values[row];
            let later = match advantages.get(row + self.copies) {
                Some(later) if !self.ended[row] => *later,
                _ => 0.0,
            };
            advantages[row] = error + discount * lambda * later;
        }
        let returns = advantages.iter().zip(values).map(|(a, v)| a + v).collect();
        Advantages { advantages, returns, values: values.to_vec() }
    }
}

/// How much better than expected each row went.
#[derive(Debug, Clone, PartialEq)]
pub struct Advantages {
    /// The advantage of the action taken, `[rows]`.
    pub advantages: Vec<f64>,
    /// The critic's targets, `[rows]`.
    pub returns: Vec<f64>,
    /// The critic's values, `[rows]`.
    pub values: Vec<f64>,
}

impl Advantages {
    /// The share of the returns' variance that the critic explained.
    #[must_use]
    pub fn explained(&self) -> f64 {
        let variance = |numbers: &mut dyn Iterator<Item = f64>| {
            let numbers: Vec<f64> = numbers.collect();
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            numbers.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / numbers.len() as f64
        };
        let of_returns = variance(&mut self.returns.iter().copied());
        1.0 - variance(&mut self.advantages.iter().copied()) / of_returns.max(1e-12)
    }
}

impl Columns for Experience {
    fn load(&self, slot: usize, from: usize, into: &mut [f64]) {
        let rows = self.rows[from * self.width..].chunks_exact(self.width);
        into.iter_mut().zip(rows).for_each(|(into, row)| *into = row[slot]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_critic_values_the_state_after_a_truncation_but_not_after_a_termination() {
        let experience = Experience {
            copies: 2,
            width: 1,
            rows: vec![0.0; 6],
            numbers: Vec::new(),
            log_probabilities: Vec::new(),
            outputs: Vec::new(),
            // Copy 0 terminates after its second step, copy 1 is truncated there.
            terminated: vec![false, false, true, false, false, false],
            ended: vec![false, false, true, true, false, false],
            rewards: vec![1.0; 6],
        };
        let values = [0.5; 6];
        let following = [0.5, 0.5, 9.0, 9.0, 0.5, 0.5];
        let found = experience.estimate(&values, &following, (0.9, 0.8), 1.0);
        let last = 1.0 + 0.9 * 0.5 - 0.5;
        let ended = 1.0 - 0.5;
        let cut = 1.0 + 0.9 * 9.0 - 0.5;
        let expected = [last + 0.72 * ended, last + 0.72 * cut, ended, cut, last, last];
        for (found, expected) in found.advantages.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12);
        }
    }
}

//! What an agent went through, many episodes side by side, ready to learn from.

use becausal_core::schema::{Columns, Schema};

use super::actor_critic::ActorCritic;

/// Transitions of several copies of an environment, step by step: row `t * copies + c` is what copy
/// `c` went through in step `t`.
#[derive(Debug, Clone, PartialEq)]
pub struct Experience {
    /// How many copies there are.
    pub copies: usize,
    /// Numbers a transition: states, actions, outcomes, next states.
    width: usize,
    /// `[rows, slots]`
    rows: Vec<f64>,
    /// What the distributions drew, `[rows, action slots]`.
    pub numbers: Vec<f64>,
    /// ln of how probable each action was, `[rows]`.
    pub log_probabilities: Vec<f64>,
    /// What the actor said, `[rows, columns]`.
    pub said: Vec<f32>,
    /// The episode ended by the environment's rules after this row.
    pub terminated: Vec<bool>,
    /// What comes after this row in its copy does not follow from it: the end of an episode.
    pub ended: Vec<bool>,
    /// The reward of each row, `[rows]`.
    pub rewards: Vec<f64>,
}

impl Experience {
    /// None yet.
    #[must_use]
    pub fn new(schema: &Schema, copies: usize) -> Self {
        Self {
            copies,
            width: schema.slots().len(),
            rows: Vec::new(),
            numbers: Vec::new(),
            log_probabilities: Vec::new(),
            said: Vec::new(),
            terminated: Vec::new(),
            ended: Vec::new(),
            rewards: Vec::new(),
        }
    }

    /// How many rows there are.
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

    /// Adds a transition of another experience, with its reward and whether it was the last.
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

    /// The states before, or with the slots of the next states those after: `[rows, slots]`.
    #[must_use]
    pub fn part(&self, slots: std::ops::Range<usize>) -> Vec<f64> {
        self.rows.chunks_exact(self.width).flat_map(|row| &row[slots.clone()]).copied().collect()
    }

    /// The sum of the schema's reward terms in the rows from `from` on.
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

    /// Advantages and returns of all rows by generalised advantage estimation.
    ///
    /// A value follows after every row but those that terminated: the critic's of the next state,
    /// also where the episode was cut short.
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
            let surprise = reward_factor * self.rewards[row] + discount * after - values[row];
            let later = match advantages.get(row + self.copies) {
                Some(later) if !self.ended[row] => *later,
                _ => 0.0,
            };
            advantages[row] = surprise + discount * lambda * later;
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
    /// What the critic is to say, `[rows]`.
    pub returns: Vec<f64>,
    /// What the critic said, `[rows]`.
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
    fn a_cut_episode_is_continued_by_the_critic_and_an_ended_one_is_not() {
        let experience = Experience {
            copies: 2,
            width: 1,
            rows: vec![0.0; 6],
            numbers: Vec::new(),
            log_probabilities: Vec::new(),
            said: Vec::new(),
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

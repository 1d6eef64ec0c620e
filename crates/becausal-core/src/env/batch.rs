//! Many copies of an environment, stepped together.

use rayon::prelude::*;

use super::environment::{Environment, EnvironmentError};

/// Copies of an environment with their own seeds, stepped on all cores.
///
/// The results stand in matrices, a row a copy; they do not depend on the number of threads. A copy
/// whose episode is over stays so until [`Batch::reset`] begins another one.
#[derive(Debug, Clone)]
pub struct Batch<E> {
    copies: Vec<E>,
    states: Vec<f64>,
    outcomes: Vec<f64>,
    rewards: Vec<f64>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
    /// Numbers in a state, an action and the outcomes.
    widths: [usize; 3],
}

/// Fewer copies than this are not worth handing to another thread: a step may take only 30 ns.
const FEWEST: usize = 32;

impl<E: Environment> Batch<E> {
    /// One copy for each seed, at the start of its episode.
    pub fn new(environment: &E, seeds: &[u64]) -> Self {
        let schema = environment.schema();
        let widths =
            [schema.state_slots().len(), schema.action_slots().len(), schema.outcome_slots().len()];
        let count = seeds.len();
        let mut batch = Self {
            copies: vec![environment.clone(); count],
            states: vec![0.0; count * widths[0]],
            outcomes: vec![0.0; count * widths[2]],
            rewards: vec![0.0; count],
            terminated: vec![false; count],
            truncated: vec![false; count],
            widths,
        };
        for (copy, &seed) in seeds.iter().enumerate() {
            batch.reset(copy, seed);
        }
        batch
    }

    /// Takes other copies in place of its own, as many, in the middle of their episodes.
    ///
    /// # Panics
    /// When there are not as many.
    pub fn replace(&mut self, copies: Vec<E>) {
        assert_eq!(copies.len(), self.copies.len(), "a copy for each");
        let width = self.widths[0];
        for (copy, into) in copies.iter().zip(self.states.chunks_exact_mut(width)) {
            into.copy_from_slice(copy.state());
        }
        self.copies = copies;
    }

    /// Number of copies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.copies.len()
    }

    /// Whether there are no copies.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    /// Begins another episode in one copy.
    ///
    /// # Panics
    /// When there is no such copy.
    pub fn reset(&mut self, copy: usize, seed: u64) {
        let environment = &mut self.copies[copy];
        environment.reset(seed);
        let width = self.widths[0];
        self.states[copy * width..][..width].copy_from_slice(environment.state());
        self.terminated[copy] = false;
        self.truncated[copy] = false;
    }

    /// Takes one action in each copy: `[copies, action slots]`.
    ///
    /// # Errors
    /// When an action is impossible or a copy's episode is over; the first such copy's error.
    ///
    /// # Panics
    /// When there are not as many actions as copies.
    pub fn step(&mut self, actions: &[f64]) -> Result<(), EnvironmentError> {
        let [state, action, outcome] = self.widths;
        assert_eq!(actions.len(), self.copies.len() * action, "an action for each copy");
        // Zero-sized chunks are not allowed: an environment without outcomes gets an empty slice.
        let mut nothing = vec![0.0; if outcome == 0 { self.copies.len() } else { 0 }];
        let outcomes = if outcome == 0 { &mut nothing } else { &mut self.outcomes };
        let first_error = self
            .copies
            .par_iter_mut()
            .with_min_len(FEWEST)
            .zip(actions.par_chunks(action))
            .zip(self.states.par_chunks_mut(state))
            .zip(outcomes.par_chunks_mut(outcome.max(1)))
            .zip(&mut self.rewards)
            .zip(&mut self.terminated)
            .zip(&mut self.truncated)
            .enumerate()
            .filter_map(|(index, rest)| {
                let ((((((copy, action), state), outcomes), reward), terminated), truncated) = rest;
                match copy.step(action) {
                    Err(error) => Some((index, error)),
                    Ok(step) => {
                        state.copy_from_slice(step.state);
                        outcomes[..step.outcomes.len()].copy_from_slice(step.outcomes);
                        *reward = step.reward;
                        *terminated = step.terminated;
                        *truncated = step.truncated;
                        None
                    }
                }
            })
            .min_by_key(|(index, _)| *index);
        first_error.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// `[copies, state slots]`.
    #[must_use]
    pub fn states(&self) -> &[f64] {
        &self.states
    }

    /// Of the last step: `[copies, outcome slots]`.
    #[must_use]
    pub fn outcomes(&self) -> &[f64] {
        &self.outcomes
    }

    /// What each environment paid for the last step: `[copies]`.
    #[must_use]
    pub fn rewards(&self) -> &[f64] {
        &self.rewards
    }

    /// Which copies' episodes are over by their own rules: `[copies]`.
    #[must_use]
    pub fn terminated(&self) -> &[bool] {
        &self.terminated
    }

    /// Which copies' episodes were cut short: `[copies]`.
    #[must_use]
    pub fn truncated(&self) -> &[bool] {
        &self.truncated
    }
}

//! Many copies of an environment, stepped together.

use rayon::prelude::*;

use super::environment::{Environment, EnvironmentError};

/// Copies of an environment with their own seeds, stepped on all cores.
///
/// The results are matrices with one row per copy. They do not depend on the number of threads. A
/// copy whose episode is over stays so until [`Batch::reset`] starts another one.
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

/// Minimum number of copies that a thread steps. A step may take only 30 ns, so fewer are not worth
/// the overhead of another thread.
const MIN_COPIES_PER_THREAD: usize = 32;

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

    /// Replaces all copies by others, which may be in the middle of their episodes.
    ///
    /// # Panics
    /// When the number of copies differs.
    pub fn replace(&mut self, copies: Vec<E>) {
        assert_eq!(copies.len(), self.copies.len(), "expected the same number of copies");
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

    /// Starts another episode in one copy.
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
    /// When an action is invalid or a copy's episode is over. The error is that of the first such
    /// copy.
    ///
    /// # Panics
    /// When the number of actions differs from the number of copies.
    pub fn step(&mut self, actions: &[f64]) -> Result<(), EnvironmentError> {
        let [state, action, outcome] = self.widths;
        assert_eq!(actions.len(), self.copies.len() * action, "expected one action per copy");
        // Chunks cannot have size 0, so an environment without outcomes gets a placeholder.
        let mut placeholder = vec![0.0; if outcome == 0 { self.copies.len() } else { 0 }];
        let outcomes = if outcome == 0 { &mut placeholder } else { &mut self.outcomes };
        let first_error = self
            .copies
            .par_iter_mut()
            .with_min_len(MIN_COPIES_PER_THREAD)
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

    /// The current states: `[copies, state slots]`.
    #[must_use]
    pub fn states(&self) -> &[f64] {
        &self.states
    }

    /// The outcomes of the last step: `[copies, outcome slots]`.
    #[must_use]
    pub fn outcomes(&self) -> &[f64] {
        &self.outcomes
    }

    /// Each environment's own reward for the last step: `[copies]`.
    #[must_use]
    pub fn rewards(&self) -> &[f64] {
        &self.rewards
    }

    /// Whether each copy's episode ended by its own rules: `[copies]`.
    #[must_use]
    pub fn terminated(&self) -> &[bool] {
        &self.terminated
    }

    /// Whether each copy's episode was truncated: `[copies]`.
    #[must_use]
    pub fn truncated(&self) -> &[bool] {
        &self.truncated
    }
}

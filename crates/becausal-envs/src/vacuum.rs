//! Vacuum-v0: the world of two cells in the paper's figure 2.
//!
//! The cleaner moves left or right, which fails at the boundary, or sucks, which cleans its cell.
//! The start is drawn from the states with something to clean; nothing else is random. The paper
//! defines neither reward nor termination; we added those of the schema.

use std::sync::Arc;

use super::truth::Truth;
use becausal_core::Stream;
use becausal_core::env::{Environment, EnvironmentError, StepResult, check_step};
use becausal_core::schema::Schema;

pub(super) const SCHEMA: &str = include_str!("vacuum.toml");

/// A vacuum cleaner in a world of two cells.
#[derive(Debug, Clone)]
pub struct Vacuum {
    schema: Arc<Schema>,
    /// Position (0 for cell 1, 1 for cell 2), whether cell 1 is clean, whether cell 2 is.
    state: [f64; 3],
    failure: [f64; 1],
    over: bool,
}

impl Vacuum {
    /// The environment at the start of episode 0.
    #[must_use]
    pub fn new(schema: Arc<Schema>) -> Self {
        let mut environment = Self { schema, state: [0.0; 3], failure: [0.0], over: false };
        environment.reset(0);
        environment
    }

    /// Continues from another state: position (0 for cell 1, 1 for cell 2), whether cell 1 is
    /// clean, whether cell 2 is.
    pub fn place(&mut self, state: [f64; 3]) {
        self.state = state;
        self.over = false;
    }

    pub(super) fn truth(schema: &Schema) -> Truth {
        let moving: &[super::truth::Parents] =
            &[("clean_1'", &["clean_1"]), ("clean_2'", &["clean_2"]), ("failure", &["position"])];
        let sucking: &[super::truth::Parents] = &[
            ("position'", &["position"]),
            ("clean_1'", &["position", "clean_1"]),
            ("clean_2'", &["position", "clean_2"]),
        ];
        let acted_on = ["position'", "clean_1'", "clean_2'", "failure"];
        Truth::new(schema, &acted_on, &[("left", moving), ("right", moving), ("suck", sucking)])
    }
}

impl Environment for Vacuum {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn reset(&mut self, seed: u64) {
        const STARTS: [[f64; 3]; 6] = [
            [0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.0, 1.0, 0.0],
            [1.0, 0.0, 0.0],
            [1.0, 0.0, 1.0],
            [1.0, 1.0, 0.0],
        ];
        self.state = STARTS[Stream::new(seed).below(STARTS.len())];
        self.over = false;
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        check_step(&self.schema, self.over, action)?;
        let [position, clean_1, clean_2] = self.state;
        let mut reward = 0.0;
        let mut failure = false;
        match action[0] {
            0.0 => {
                failure = position == 0.0;
                self.state[0] = 0.0;
            }
            1.0 => {
                failure = position == 1.0;
                self.state[0] = 1.0;
            }
            _ if position == 0.0 => {
                reward += 1.0 - clean_1;
                self.state[1] = 1.0;
            }
            _ => {
                reward += 1.0 - clean_2;
                self.state[2] = 1.0;
            }
        }
        self.failure = [f64::from(u8::from(failure))];
        self.over = self.state[1] == 1.0 && self.state[2] == 1.0;
        Ok(StepResult {
            state: &self.state,
            outcomes: &self.failure,
            reward: reward - self.failure[0],
            terminated: self.over,
            truncated: false,
        })
    }

    fn set_state(&mut self, state: &[f64]) -> bool {
        let Ok(state) = <[f64; 3]>::try_from(state) else { return false };
        let possible =
            state.iter().all(|value| [0.0, 1.0].contains(value)) && state[1..] != [1.0, 1.0];
        if !self.over && possible {
            self.place(state);
        }
        !self.over && possible
    }
}

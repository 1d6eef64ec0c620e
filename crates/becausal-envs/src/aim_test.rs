//! AimTest-v0: the environment in which the paper measures how well the influence of actions is
//! recovered (its appendix gives the dynamics).
//!
//! The paper defines no reward here. We added the two terms of the schema to have something to
//! explain.

use std::sync::Arc;

use super::truth::Truth;
use becausal_core::Stream;
use becausal_core::env::{Environment, EnvironmentError, StepResult, check_step};
use becausal_core::schema::Schema;

pub(super) const SCHEMA: &str = include_str!("aim_test.toml");

/// An episode ends when the clock t reaches this value.
const END: f64 = 1000.0;

/// Five states, four actions, and noise.
#[derive(Debug, Clone)]
pub struct AimTest {
    schema: Arc<Schema>,
    /// x1, x2, x3, x4, t.
    state: [f64; 5],
    noise: Stream,
    over: bool,
}

impl AimTest {
    /// The environment at the start of episode 0.
    #[must_use]
    pub fn new(schema: Arc<Schema>) -> Self {
        let mut environment = Self { schema, state: [0.0; 5], noise: Stream::new(0), over: false };
        environment.reset(0);
        environment
    }

    /// Continues from another state, without changing the noise.
    pub fn place(&mut self, state: [f64; 5]) {
        self.state = state;
        self.over = false;
    }

    pub(super) fn truth(schema: &Schema) -> Truth {
        let acted_on = ["x2'", "x3'", "t'"];
        Truth::new(
            schema,
            &acted_on,
            &[
                ("0", &[("x1'", &["x1"]), ("x2'", &["x1"]), ("x3'", &["x1", "x3"]), X4, CLOCK]),
                ("1", &[("x1'", &["x1"]), ("x2'", &["x2"]), ("x3'", &["x2", "x3"]), X4, CLOCK]),
                ("2", &[("x1'", &["x1"]), ("x2'", &["x2"]), ("x3'", &["x3"]), X4, CLOCK]),
                ("3", &[("x1'", &["x1"]), ("x2'", &["x2"]), ("x3'", &["x3"]), X4, CLOCK]),
            ],
        )
    }
}

const X4: super::truth::Parents = ("x4'", &["x3", "x4"]);
const CLOCK: super::truth::Parents = ("t'", &["t"]);

impl Environment for AimTest {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn reset(&mut self, seed: u64) {
        self.noise = Stream::new(seed);
        let mut around = |mean: f64| mean + self.noise.normal();
        self.state = [around(10.0), around(20.0), 0.0, around(15.0), 0.0];
        self.over = false;
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        check_step(&self.schema, self.over, action)?;
        let [x1, x2, x3, x4, t] = self.state;
        // All noise is drawn under every action, so that it does not depend on the action.
        let noise: [f64; 4] = std::array::from_fn(|_| self.noise.normal());
        let (follows, adds, ticks) = match action[0] {
            0.0 => (x1, x1, 10.0),
            1.0 => (x2, x2, 20.0),
            2.0 => (x2, 5.0, 5.0),
            _ => (x2, 10.0, 5.0),
        };
        self.state = [
            x1 + 1.0 + noise[0],
            follows + noise[1],
            x3 + adds + noise[2],
            0.1 * x3 + 0.9 * x4 + 0.5 * noise[3],
            t + ticks,
        ];
        self.over = self.state[4] >= END;
        Ok(StepResult {
            state: &self.state,
            outcomes: &[],
            reward: (self.state[2] - x3) + (self.state[3] - x4),
            terminated: self.over,
            truncated: false,
        })
    }

    fn renew_noise(&mut self, seed: u64) -> bool {
        self.noise = Stream::new(seed);
        true
    }

    fn set_state(&mut self, state: &[f64]) -> bool {
        let Ok(state) = <[f64; 5]>::try_from(state) else { return false };
        let possible = state.iter().all(|value| value.is_finite()) && state[4] < END;
        if !self.over && possible {
            self.place(state);
        }
        !self.over && possible
    }
}

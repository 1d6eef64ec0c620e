//! CartPole-v1: the same as Gymnasium's, bit for bit, given the seed.
//!
//! The state is stored in double precision and observed in single precision, as in Gymnasium. The
//! order of the operations is also Gymnasium's, because floating-point sums are not associative.

use std::sync::Arc;

use super::cart_pole_scene;
use super::truth::Truth;
use becausal_core::Stream;
use becausal_core::env::{Environment, EnvironmentError, StepResult, check_step};
use becausal_core::schema::Schema;

pub(super) const SCHEMA: &str = include_str!("cart_pole.toml");

const GRAVITY: f64 = 9.8;
const MASS_POLE: f64 = 0.1;
const MASS_TOTAL: f64 = MASS_POLE + 1.0;
/// Half the pole's length.
const LENGTH: f64 = 0.5;
const POLE_MASS_LENGTH: f64 = MASS_POLE * LENGTH;
const FORCE: f64 = 10.0;
/// Duration of a step in seconds.
const TAU: f64 = 0.02;
/// In metres.
const POSITION_LIMIT: f64 = 2.4;
/// 12 degrees, in radians.
const ANGLE_LIMIT: f64 = 12.0 * 2.0 * std::f64::consts::PI / 360.0;

/// A pole on a cart that is pushed left or right.
#[derive(Debug, Clone)]
pub struct CartPole {
    schema: Arc<Schema>,
    /// Position, velocity, angle, angular velocity.
    exact: [f64; 4],
    /// The same, rounded to single precision.
    shown: [f64; 4],
    /// Rewards 0 while the pole is up and -1 when it falls, instead of 1 for every step.
    sutton_barto_reward: bool,
    over: bool,
}

impl CartPole {
    /// The environment at the start of episode 0.
    #[must_use]
    pub fn new(schema: Arc<Schema>, sutton_barto_reward: bool) -> Self {
        let start = [0.0; 4];
        let mut environment =
            Self { schema, exact: start, shown: start, sutton_barto_reward, over: false };
        environment.reset(0);
        environment
    }

    /// Continues from another state.
    pub fn place(&mut self, state: [f64; 4]) {
        self.exact = state;
        self.over = false;
        self.show();
    }

    #[expect(clippy::cast_possible_truncation, reason = "the observation is in single precision")]
    fn show(&mut self) {
        self.shown = self.exact.map(|value| f64::from(value as f32));
    }

    pub(super) fn truth(schema: &Schema) -> Truth {
        let parents: &[super::truth::Parents] = &[
            ("position'", &["position", "velocity"]),
            ("velocity'", &["velocity", "angle", "angle_velocity"]),
            ("angle'", &["angle", "angle_velocity"]),
            ("angle_velocity'", &["angle", "angle_velocity"]),
        ];
        let acted_on = ["velocity'", "angle_velocity'"];
        Truth::new(schema, &acted_on, &[("left", parents), ("right", parents)])
    }
}

impl Environment for CartPole {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn reset(&mut self, seed: u64) {
        let mut stream = Stream::new(seed);
        self.exact = std::array::from_fn(|_| stream.uniform(-0.05, 0.05));
        self.over = false;
        self.show();
    }

    fn state(&self) -> &[f64] {
        &self.shown
    }

    fn scene(&self) -> Option<String> {
        let [position, _, angle, _] = self.exact;
        Some(cart_pole_scene::scene(position, angle, POSITION_LIMIT, ANGLE_LIMIT))
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        check_step(&self.schema, self.over, action)?;
        let [position, velocity, angle, angle_velocity] = self.exact;
        let force = if action[0] == 1.0 { FORCE } else { -FORCE };
        let (sin, cos) = (angle.sin(), angle.cos());
        let push =
            (force + POLE_MASS_LENGTH * (angle_velocity * angle_velocity) * sin) / MASS_TOTAL;
        let angle_acceleration = (GRAVITY * sin - cos * push)
            / (LENGTH * (4.0 / 3.0 - MASS_POLE * (cos * cos) / MASS_TOTAL));
        let acceleration = push - POLE_MASS_LENGTH * angle_acceleration * cos / MASS_TOTAL;
        // Explicit Euler: positions move with the old velocities.
        self.exact = [
            position + TAU * velocity,
            velocity + TAU * acceleration,
            angle + TAU * angle_velocity,
            angle_velocity + TAU * angle_acceleration,
        ];
        self.over = self.exact[0].abs() > POSITION_LIMIT || self.exact[2].abs() > ANGLE_LIMIT;
        self.show();
        let reward = match (self.sutton_barto_reward, self.over) {
            (false, _) => 1.0,
            (true, false) => 0.0,
            (true, true) => -1.0,
        };
        Ok(StepResult {
            state: &self.shown,
            outcomes: &[],
            reward,
            terminated: self.over,
            truncated: false,
        })
    }

    fn set_state(&mut self, state: &[f64]) -> bool {
        let Ok(state) = <[f64; 4]>::try_from(state) else { return false };
        let possible = state.iter().all(|value| value.is_finite())
            && state[0].abs() <= POSITION_LIMIT
            && state[2].abs() <= ANGLE_LIMIT;
        if !self.over && possible {
            self.place(state);
        }
        !self.over && possible
    }
}

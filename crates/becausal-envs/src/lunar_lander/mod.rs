//! LunarLander-v3 and LunarLanderContinuous-v3: the same as Gymnasium's, bit for bit, given the
//! seed.
//!
//! The state is the observation in single precision, factorised as in the paper: six numbers, and
//! the two legs as one vector of booleans. The `reward` of a step is Gymnasium's. The reward terms
//! of the schema are the paper's: they add 100 for resting and -100 for crashing, where Gymnasium
//! replaces the reward of the step by that number.
//!
//! Gymnasium's exhaust particles are left out, because they never touch the craft.

#![allow(
    clippy::cast_possible_truncation,
    reason = "the physics and the observation are in single precision"
)]

mod flight;
mod functions;
mod scene;
mod world;

use std::sync::Arc;

pub use flight::LunarLanderOptions;
use flight::{Flight, Shown, Thrust};

use super::trial::Circumstances;
use becausal_core::env::{Environment, EnvironmentError, Onlooker, StepResult, check_step};
use becausal_core::schema::Schema;

pub(super) const SCHEMA: &str = include_str!("lunar_lander.toml");
pub(super) const CONTINUOUS_SCHEMA: &str = include_str!("lunar_lander_continuous.toml");

/// A craft near the ground obeys other laws than one high in the air, and one that stands can only be given another
/// action: what it leans on is not in its state.
pub(super) const CIRCUMSTANCES: Circumstances = Circumstances {
    names: &["high in the air", "near the ground", "standing"],
    of: |before, effects| {
        let stands = before[6] != 0.0 || before[7] != 0.0;
        let is_high = before[1] > ABOVE_ALL_HILLS && effects[1] > ABOVE_ALL_HILLS;
        match (stands, is_high) {
            (true, _) => 2,
            (false, false) => 1,
            (false, true) => 0,
        }
    },
};

/// A height at which no part of the craft reaches a hill. The highest hills reach to half the view, a height of 0.5
/// in the state, and the legs less than 0.1 below the hull.
const ABOVE_ALL_HILLS: f64 = 0.6;

/// Limit of the wind's force and torque, in either direction. It is far beyond the recommended 20.
const MAX_WIND: f64 = 1e6;

/// A craft with one main and two side engines that has to land on a pad between hills.
///
/// The schema decides whether engines are chosen (one categorical action) or throttled (two
/// continuous actions).
#[derive(Debug, Clone)]
pub struct LunarLander {
    schema: Arc<Schema>,
    options: LunarLanderOptions,
    flight: Flight,
    state: [f64; 8],
    /// Fuel, crash, rest.
    outcomes: [f64; 3],
    over: bool,
}

impl LunarLander {
    /// The environment at the start of episode 0.
    ///
    /// # Errors
    /// A message, when an option is out of range.
    pub fn new(schema: Arc<Schema>, options: LunarLanderOptions) -> Result<Self, String> {
        if !(options.gravity > -12.0 && options.gravity < 0.0) {
            return Err(format!(
                "gravity: expected a number between -12 and 0 (both excluded), got {}",
                options.gravity
            ));
        }
        for (name, value) in
            [("wind_power", options.wind_power), ("turbulence_power", options.turbulence_power)]
        {
            if !(-MAX_WIND..=MAX_WIND).contains(&value) {
                return Err(format!(
                    "{name}: expected a number from {} to {MAX_WIND}, got {value}",
                    -MAX_WIND
                ));
            }
        }
        let flight = Flight::start(options, 0).map_err(|error| error.to_string())?;
        let mut environment =
            Self { schema, options, flight, state: [0.0; 8], outcomes: [0.0; 3], over: false };
        environment.observe();
        Ok(environment)
    }

    fn observe(&mut self) {
        self.state = self.flight.state().map(f64::from);
    }

    fn broken(&self, error: &becausal_physics::Error) -> EnvironmentError {
        EnvironmentError::Action {
            environment: self.schema.name().to_owned(),
            message: format!("the physics failed: {error}"),
        }
    }
}

impl Environment for LunarLander {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// # Panics
    /// Never with options that [`LunarLander::new`] has accepted.
    fn reset(&mut self, seed: u64) {
        self.flight = Flight::start(self.options, seed).expect("`new` accepted the options");
        self.over = false;
        self.observe();
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        check_step(&self.schema, self.over, action)?;
        let thrust = Thrust::of_action(action);
        let outcome = self.flight.advance(thrust).map_err(|error| self.broken(&error))?;
        self.observe();
        let flag = |value: bool| f64::from(u8::from(value));
        self.outcomes = [outcome.fuel, flag(outcome.crash), flag(outcome.rest)];
        self.over = outcome.crash || outcome.rest;
        Ok(StepResult {
            state: &self.state,
            outcomes: &self.outcomes,
            reward: outcome.reward,
            terminated: self.over,
            truncated: false,
        })
    }

    fn scene(&self) -> Option<String> {
        Some(scene::scene(&self.flight))
    }

    fn renew_noise(&mut self, seed: u64) -> bool {
        self.flight.renew_noise(seed);
        true
    }

    /// Only in the air: what a craft on the ground leans on is not in its state.
    fn set_state(&mut self, state: &[f64]) -> bool {
        let Ok(state) = <&[f64; 8]>::try_from(state) else { return false };
        let moved = !self.over && self.flight.move_to(state);
        self.observe();
        moved
    }

    /// The dispersion of the engines is drawn in every step, and shows only when one of them runs. Data
    /// only show the noise of an engine that ran.
    fn hide_noise(&mut self, recorded: Option<&[f64]>, onlooker: Onlooker) -> bool {
        let ran = recorded.map(Thrust::of_action).unwrap_or_default();
        self.flight.hide_noise(match onlooker {
            Onlooker::OfData => Shown::Of(ran),
            Onlooker::OfRules if ran.is_on() => Shown::All,
            Onlooker::OfRules => Shown::Of(Thrust::default()),
        });
        true
    }
}

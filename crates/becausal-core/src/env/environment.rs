//! What every environment can do.

use std::sync::Arc;

use crate::schema::{Role, Schema};

/// Somebody who knows the rules of an environment and sees a record: what does a recorded step show of its noise?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onlooker {
    /// What data can teach: the noise of what acted in the step, such as an engine that ran. No data tell how the
    /// noise of one action goes together with that of another.
    OfData,
    /// What the step shows to somebody who also knows that.
    OfRules,
}

/// An environment with a factorised state.
///
/// Its random numbers come from a stream that is part of it: a clone continues exactly like the
/// original, and given another action it shows what would have happened with the *same* noise.
pub trait Environment: Clone + Send + Sync {
    /// What its variables are.
    fn schema(&self) -> &Arc<Schema>;

    /// Begins an episode. The same seed always begins the same one.
    ///
    /// Where that can fail, in an environment of another language for instance, the next step says so.
    fn reset(&mut self, seed: u64);

    /// The current state, in the order of the schema's state slots.
    fn state(&self) -> &[f64];

    /// Takes an action, in the order of the schema's action slots: a category by its index, a
    /// boolean as 0 or 1.
    ///
    /// # Errors
    /// When the environment has no such action, or the episode is over: only
    /// [`reset`](Self::reset) begins another one.
    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError>;

    /// A drawing of the current state as SVG, from environments that can be drawn.
    fn scene(&self) -> Option<String> {
        None
    }

    /// Throws the dice again: from here on the noise is that of this seed, and everything else stays. Says
    /// whether the environment has noise and can do so.
    fn renew_noise(&mut self, seed: u64) -> bool {
        let _ = seed;
        false
    }

    /// Leaves in the next step only the noise that a recorded step shows to an onlooker; the rest has its mean,
    /// or is drawn again where there is none. `recorded` is the action that was taken at that time, from the
    /// same noise; without it the step shows nothing. Says whether the environment knows.
    fn hide_noise(&mut self, recorded: Option<&[f64]>, onlooker: Onlooker) -> bool {
        let _ = (recorded, onlooker);
        false
    }

    /// Whether the same actions from the same seed always lead to the same state. An environment of another language may
    /// keep randomness that its seed does not set.
    fn repeats(&self) -> bool {
        true
    }

    /// Continues from another state, with the same noise. Says whether it can: not all states that can be
    /// written down are possible ones.
    fn set_state(&mut self, state: &[f64]) -> bool {
        let _ = state;
        false
    }
}

/// What a step led to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepResult<'a> {
    /// The state after the step, s'.
    pub state: &'a [f64],
    /// The outcomes, o.
    pub outcomes: &'a [f64],
    /// What the environment itself pays; the reward terms of the schema may sum to something else.
    pub reward: f64,
    /// The episode is over by the environment's own rules.
    pub terminated: bool,
    /// The episode is cut short from outside, by a time limit for instance.
    pub truncated: bool,
}

/// Something an environment cannot do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// No environment has this id.
    #[error("unknown environment `{id}` ({hint})")]
    Unknown {
        /// The id asked for.
        id: String,
        /// The id that was probably meant.
        hint: String,
    },
    /// An option that the environment does not have, or a value that it cannot take.
    #[error("{id}: option `{option}`: {message}")]
    Option {
        /// The environment.
        id: String,
        /// The option.
        option: String,
        /// What was expected and given.
        message: String,
    },
    /// An action with too many or too few numbers, or a value out of range.
    #[error("{environment}: {message}")]
    Action {
        /// The environment.
        environment: String,
        /// What was expected and given.
        message: String,
    },
    /// An environment or a policy of another language failed.
    #[error("{environment}: {message}")]
    Failed {
        /// The environment, or `the policy`.
        environment: String,
        /// What went wrong.
        message: String,
    },
    /// A step after the end.
    #[error("{environment}: the episode is over, expected a reset before the next step")]
    Over {
        /// The environment.
        environment: String,
    },
}

/// The checks that stand at the beginning of every step.
///
/// # Errors
/// When the episode is over, or the action is not one of the schema.
pub fn check_step(schema: &Schema, over: bool, action: &[f64]) -> Result<(), EnvironmentError> {
    if over {
        return Err(EnvironmentError::Over { environment: schema.name().to_owned() });
    }
    let slots = schema.action_slots();
    let wrong = |message: String| {
        Err(EnvironmentError::Action { environment: schema.name().to_owned(), message })
    };
    if action.len() != slots.len() {
        let names: Vec<&str> = schema.of_role(Role::Action).map(|v| v.name.as_str()).collect();
        return wrong(format!(
            "an action of {} numbers, expected {} ({})",
            action.len(),
            slots.len(),
            names.join(", ")
        ));
    }
    for (slot, &value) in slots.zip(action) {
        if let Some(objection) = schema.variable_of(slot).kind.objection(value) {
            return wrong(format!("action `{}`: {objection}", schema.slots()[slot].name));
        }
    }
    Ok(())
}

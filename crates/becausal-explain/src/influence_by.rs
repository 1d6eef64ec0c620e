//! How the influence of a state variable is measured.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use becausal_core::Transitions;
use becausal_core::schema::suggestion;
use becausal_core::trajectory::Step;
use becausal_model::{Dynamics, Influence, Situation};

use super::error::ExplainError;

/// How the influence of a state variable on an effect is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InfluenceBy {
    /// In the state at hand: how the prediction moves when the variable takes other values.
    #[default]
    State,
    /// Under the action: the likelihood lost, over all recorded steps with this action, when the variable
    /// takes the value of another of them.
    Effect,
    /// Under the action: the attention weights of the networks, as in the paper.
    Attention,
}

impl InfluenceBy {
    /// All measures.
    pub const ALL: [Self; 3] = [Self::State, Self::Effect, Self::Attention];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Effect => "effect",
            Self::Attention => "attention",
        }
    }
}

impl fmt::Display for InfluenceBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for InfluenceBy {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|by| by.name() == name);
        found.ok_or_else(|| {
            let hint = suggestion(name, Self::ALL.map(Self::name));
            format!("influence cannot be measured by `{name}` ({hint})")
        })
    }
}

/// Recorded steps with an action, at least: the values of some replace those of others.
const MIN_ROWS: usize = 10;

/// Measures influences in one way, each action once where the action alone decides.
pub(super) struct Meter {
    by: InfluenceBy,
    /// The recorded steps that effects are measured on.
    rows: Option<Transitions>,
    /// What was measured under an action, by the bits of its values.
    known: Mutex<BTreeMap<Vec<u64>, Arc<Influence>>>,
}

impl Meter {
    pub fn new(by: InfluenceBy) -> Self {
        Self { by, rows: None, known: Mutex::default() }
    }

    /// The same with recorded steps to measure effects on.
    pub fn with_rows(self, rows: &Transitions) -> Self {
        let rows = (self.by == InfluenceBy::Effect).then(|| rows.clone());
        Self { rows, ..self }
    }

    /// The influence of every state variable in each step.
    ///
    /// # Errors
    /// When the model has no attention, or fewer than ten recorded steps have the action.
    pub fn influences(
        &self,
        dynamics: &dyn Dynamics,
        steps: &[Step],
    ) -> Result<Vec<Influence>, ExplainError> {
        let by_attention = |step: &Step| {
            dynamics
                .attention(&step.action)
                .ok_or_else(|| self.refused("the networks of this model have no attention weights"))
        };
        match self.by {
            InfluenceBy::State => {
                let situations: Vec<Situation<'_>> =
                    steps.iter().map(|step| (&step.state[..], &step.action[..])).collect();
                Ok(dynamics.influences(&situations))
            }
            InfluenceBy::Attention => steps.iter().map(by_attention).collect(),
            InfluenceBy::Effect => {
                steps.iter().map(|step| self.by_effect(dynamics, &step.action)).collect()
            }
        }
    }

    fn by_effect(
        &self,
        dynamics: &dyn Dynamics,
        action: &[f64],
    ) -> Result<Influence, ExplainError> {
        let key: Vec<u64> = action.iter().map(|value| value.to_bits()).collect();
        // Not held while it is measured: threads that help may ask the same.
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&key) {
            return Ok(Influence::clone(found));
        }
        let rows = self.rows.as_ref().ok_or_else(|| self.refused("there are no recorded steps"))?;
        let rows = rows_under(rows, action);
        if rows.len() < MIN_ROWS {
            return Err(self.refused(
                "fewer than ten recorded steps have exactly this action, and its effect is measured on such steps",
            ));
        }
        let measured = dynamics
            .effect(&rows)
            .ok_or_else(|| self.refused("this model has no likelihood to lose"))?;
        known().insert(key, Arc::new(measured.clone()));
        Ok(measured)
    }

    fn refused(&self, why: &'static str) -> ExplainError {
        ExplainError::Influence { by: self.by, why }
    }
}

/// The rows in which exactly this action was taken.
fn rows_under(data: &Transitions, action: &[f64]) -> Transitions {
    let slots = data.schema().action_slots();
    let taken = |row: &usize| {
        slots.clone().zip(action).all(|(slot, value)| data.column(slot).get(*row) == *value)
    };
    data.select_rows(&(0..data.len()).filter(taken).collect::<Vec<usize>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_is_found_by_its_name_and_no_other() {
        for by in InfluenceBy::ALL {
            assert_eq!(by.name().parse(), Ok(by));
        }
        let wrong = "atention".parse::<InfluenceBy>().expect_err("no measure");
        assert!(wrong.contains("did you mean `attention`?"), "{wrong}");
    }
}

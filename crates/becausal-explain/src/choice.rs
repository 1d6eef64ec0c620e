//! The agent's side of a decision: what it chose, how sure it was, and what made it choose so.

use becausal_core::Policy;
use becausal_core::env::every_action;
use becausal_core::schema::{Kind, Schema};

use super::attribution::{Attribution, Company};

/// Actions whose probabilities are told, at most.
const MAX_ACTIONS: usize = 256;

/// What an agent chose in a state, and why by its own policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The action taken.
    pub taken: Vec<f64>,
    /// The policy's most likely action.
    pub likeliest: Vec<f64>,
    /// Every action with its probability, the most likely first; `None` where the policy gives none.
    pub odds: Option<Vec<(Vec<f64>, f64)>>,
    /// What the choice owes to the state variables; empty where the policy is too slow to be asked.
    pub reasons: Vec<Reason>,
}

/// What one number of the choice owes to the state variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// The number.
    pub target: ReasonTarget,
    /// The contributions of the state variables.
    pub attribution: Attribution,
}

/// What is attributed to the state variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasonTarget {
    /// How likely the action taken was, from 0 to 1; of a policy without probabilities, whether it takes it.
    Probability,
    /// The value that the policy gives to this action slot, a number.
    Number(usize),
}

impl Choice {
    /// What a policy chose in a state. `company` are recorded states.
    #[must_use]
    pub fn of(policy: &dyn Policy, company: &Company, state: &[f64], taken: &[f64]) -> Self {
        let schema = policy.schema();
        let likeliest = policy.mode(state);
        let odds = every_action(schema, MAX_ACTIONS).and_then(|actions| {
            let mut odds = policy.probabilities(&[state.to_vec()], &actions)?;
            let mut odds: Vec<(Vec<f64>, f64)> = actions.into_iter().zip(odds.remove(0)).collect();
            odds.sort_by(|left, right| right.1.total_cmp(&left.1));
            Some(odds)
        });
        let targets = if !policy.is_quick() {
            Vec::new()
        } else if numbers(schema).is_empty() {
            vec![ReasonTarget::Probability]
        } else {
            numbers(schema).into_iter().map(ReasonTarget::Number).collect()
        };
        let reason = |target: ReasonTarget| {
            let attribution =
                company.attribute(state, &|states| target.values(policy, states, taken))?;
            Some(Reason { target, attribution })
        };
        let reasons = targets.into_iter().filter_map(reason).collect();
        Self { taken: taken.to_vec(), likeliest, odds, reasons }
    }

    /// How likely the action taken was.
    #[must_use]
    pub fn probability(&self) -> Option<f64> {
        let odds = self.odds.as_ref()?;
        odds.iter().find(|(action, _)| *action == self.taken).map(|(_, probability)| *probability)
    }

    /// The most likely of the other actions, with its probability.
    #[must_use]
    pub fn second(&self) -> Option<&(Vec<f64>, f64)> {
        self.odds.as_ref()?.iter().find(|(action, _)| *action != self.taken)
    }
}

impl ReasonTarget {
    fn values(self, policy: &dyn Policy, states: &[Vec<f64>], taken: &[f64]) -> Vec<f64> {
        match self {
            Self::Number(slot) => policy.modes(states).iter().map(|action| action[slot]).collect(),
            Self::Probability => {
                let certain = |action: &Vec<f64>| f64::from(u8::from(action == taken));
                policy.probabilities(states, &[taken.to_vec()]).map_or_else(
                    || policy.modes(states).iter().map(certain).collect(),
                    |probabilities| probabilities.concat(),
                )
            }
        }
    }
}

/// The action slots that are numbers, as places in an action.
fn numbers(schema: &Schema) -> Vec<usize> {
    let first = schema.action_slots().start;
    let is_number = |slot: &usize| {
        matches!(schema.variable_of(*slot).kind, Kind::Continuous(_) | Kind::Integer(_))
    };
    schema.action_slots().filter(is_number).map(|slot| slot - first).collect()
}

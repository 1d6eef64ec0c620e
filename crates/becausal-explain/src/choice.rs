//! The agent's side of a decision: what it chose, how sure it was, and what made it choose so.

use becausal_core::Policy;
use becausal_core::env::every_action;
use becausal_core::schema::Schema;

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
    /// What the choice owes to the state variables; empty where the policy is too slow to be asked, or few states
    /// are recorded. Of an action with labels and numbers only the numbers have reasons.
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
        let likeliest = policy.mode(state);
        let odds = odds(policy, state);
        let reasons =
            if policy.is_quick() { reasons(policy, company, state, taken) } else { Vec::new() };
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

/// Every action with its probability in a state, the most likely first; `None` where the policy gives none.
pub(super) fn odds(policy: &dyn Policy, state: &[f64]) -> Option<Vec<(Vec<f64>, f64)>> {
    let actions = every_action(policy.schema(), MAX_ACTIONS)?;
    let mut odds = policy.probabilities(&[state.to_vec()], &actions)?;
    let mut odds: Vec<(Vec<f64>, f64)> = actions.into_iter().zip(odds.remove(0)).collect();
    odds.sort_by(|left, right| right.1.total_cmp(&left.1));
    Some(odds)
}

/// What the choice owes to the state variables: the numbers in it, or else how likely it was.
fn reasons(policy: &dyn Policy, company: &Company, state: &[f64], taken: &[f64]) -> Vec<Reason> {
    let slots = numbers(policy.schema());
    let (targets, attributions) = if slots.is_empty() {
        let probability = |states: &[Vec<f64>]| probabilities(policy, states, taken);
        (vec![ReasonTarget::Probability], company.attribute(state, &probability))
    } else {
        let chosen = |states: &[Vec<f64>]| -> Vec<Vec<f64>> {
            let of_action = |action: &Vec<f64>| slots.iter().map(|&slot| action[slot]).collect();
            policy.modes(states).iter().map(of_action).collect()
        };
        let targets = slots.iter().map(|&slot| ReasonTarget::Number(slot)).collect();
        (targets, company.attribute(state, &chosen))
    };
    let pairs = targets.into_iter().zip(attributions.unwrap_or_default());
    pairs.map(|(target, attribution)| Reason { target, attribution }).collect()
}

/// How likely an action is in each of some states; 1 or 0 from a policy that only names its action.
fn probabilities(policy: &dyn Policy, states: &[Vec<f64>], taken: &[f64]) -> Vec<Vec<f64>> {
    let certain = |action: &Vec<f64>| vec![f64::from(u8::from(action == taken))];
    policy
        .probabilities(states, &[taken.to_vec()])
        .unwrap_or_else(|| policy.modes(states).iter().map(certain).collect())
}

/// The action slots that are numbers, as places in an action.
fn numbers(schema: &Schema) -> Vec<usize> {
    let first = schema.action_slots().start;
    let is_number = |slot: &usize| !schema.variable_of(*slot).kind.is_label();
    schema.action_slots().filter(is_number).map(|slot| slot - first).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use becausal_core::Stream;

    use super::*;

    /// Brakes when it is fast; gives probabilities, or only names its action.
    struct Driver {
        schema: Arc<Schema>,
        says: bool,
        quick: bool,
    }

    impl Driver {
        fn brakes(state: &[f64]) -> f64 {
            1.0 / (1.0 + (-4.0 * state[0]).exp())
        }
    }

    impl Policy for Driver {
        fn schema(&self) -> &Arc<Schema> {
            &self.schema
        }

        fn mode(&self, state: &[f64]) -> Vec<f64> {
            let brakes = Self::brakes(state);
            if self.schema.variable_of(2).kind.is_label() {
                vec![f64::from(u8::from(brakes > 0.5))]
            } else {
                vec![brakes]
            }
        }

        fn sample(&self, state: &[f64], _: &mut Stream) -> Vec<f64> {
            self.mode(state)
        }

        fn probabilities(
            &self,
            states: &[Vec<f64>],
            actions: &[Vec<f64>],
        ) -> Option<Vec<Vec<f64>>> {
            let of_state = |state: &Vec<f64>| {
                let brakes = Self::brakes(state);
                actions.iter().map(|a| if a[0] == 1.0 { brakes } else { 1.0 - brakes }).collect()
            };
            self.says.then(|| states.iter().map(of_state).collect())
        }

        fn is_quick(&self) -> bool {
            self.quick
        }
    }

    fn choice(kind: &str, says: bool, quick: bool) -> Choice {
        let text = format!(
            "name = \"test\"\n[state]\nspeed = {{ kind = \"continuous\" }}\nhour = {{ kind = \"continuous\" }}\n\
             [action]\nbrake = {{ kind = \"{kind}\" }}\n"
        );
        let schema = Arc::new(Schema::parse(&text).expect("a schema"));
        let mut stream = Stream::new(1);
        let states = (0..500).map(|_| vec![stream.normal(), stream.normal()]).collect();
        let company = Company::of_states(&schema, states);
        let driver = Driver { schema, says, quick };
        let taken = driver.mode(&[1.0, 0.3]);
        Choice::of(&driver, &company, &[1.0, 0.3], &taken)
    }

    #[test]
    fn a_policy_with_probabilities_tells_how_sure_it_was_and_why() {
        let choice = choice("boolean", true, true);
        let probability = Driver::brakes(&[1.0, 0.3]);
        assert_eq!(choice.probability(), Some(probability));
        assert_eq!(choice.second(), Some(&(vec![0.0], 1.0 - probability)));
        let Attribution { usual, here, shares, .. } = &choice.reasons[0].attribution;
        assert!((usual - 0.5).abs() < 0.05 && *here == probability, "{choice:?}");
        assert!((shares[0] - (here - usual)).abs() < 1e-9 && shares[1] == 0.0, "{shares:?}");
    }

    #[test]
    fn a_policy_that_names_its_action_and_one_that_chooses_a_number() {
        let named = choice("boolean", false, true);
        assert_eq!((named.odds.clone(), named.probability()), (None, None));
        assert_eq!(named.reasons[0].attribution.here, 1.0);
        let number = choice("continuous", false, true);
        assert_eq!(number.reasons[0].target, ReasonTarget::Number(0));
        assert_eq!(number.reasons[0].attribution.here, Driver::brakes(&[1.0, 0.3]));
    }

    #[test]
    fn a_slow_policy_is_not_asked_for_reasons() {
        assert!(choice("boolean", true, false).reasons.is_empty());
    }
}

//! The agent's actions in trajectories that were not recorded.

use becausal_core::Policy;
use becausal_core::schema::{Kind, Schema};
use becausal_core::trajectory::Step;

/// The agent whose actions are explained.
///
/// With a policy, it follows the policy. Without one, it repeats its recorded actions.
#[derive(Clone, Copy)]
pub struct Agent<'a> {
    policy: Option<&'a dyn Policy>,
}

impl<'a> Agent<'a> {
    /// An agent with this policy; without a policy, one that repeats its record.
    #[must_use]
    pub fn new(policy: Option<&'a dyn Policy>) -> Self {
        Self { policy }
    }

    /// The policy, if it is known.
    #[must_use]
    pub fn policy(&self) -> Option<&'a dyn Policy> {
        self.policy
    }

    /// Whether its policy answers many states in a moment; so does a record.
    #[must_use]
    pub fn is_quick(&self) -> bool {
        self.policy.is_none_or(Policy::is_quick)
    }

    /// The most likely action; `None` without a policy.
    #[must_use]
    pub fn mode(&self, state: &[f64]) -> Option<Vec<f64>> {
        self.policy.map(|policy| policy.mode(state))
    }

    /// What it does if its first action is another one: that action, and after it what it
    /// [would do](Self::act). `record` are the steps that it took.
    pub fn instead<'b>(
        self,
        schema: &'b Schema,
        action: &'b [f64],
        record: &'b [Step],
    ) -> impl Fn(usize, &[f64]) -> Option<Vec<f64>> + use<'a, 'b> {
        move |step, state| match step {
            0 => Some(action.to_vec()),
            _ => self.act(schema, record.get(step), state),
        }
    }

    /// The action in a state; `recorded` is the step that was taken at that time.
    ///
    /// A recorded action may deviate from the most likely one. The deviation is kept: for a number its
    /// size, for a category the recorded action if the most likely one is the same in both states.
    #[must_use]
    pub fn act(&self, schema: &Schema, recorded: Option<&Step>, state: &[f64]) -> Option<Vec<f64>> {
        self.act_all(schema, recorded, std::slice::from_ref(&state.to_vec()))?.pop()
    }

    /// The [action](Self::act) in each of some states at the same time.
    #[must_use]
    pub fn act_all(
        &self,
        schema: &Schema,
        recorded: Option<&Step>,
        states: &[Vec<f64>],
    ) -> Option<Vec<Vec<f64>>> {
        let Some(policy) = self.policy else {
            return recorded.map(|step| vec![step.action.clone(); states.len()]);
        };
        let Some(recorded) = recorded else {
            return Some(policy.modes(states));
        };
        let asked: Vec<Vec<f64>> =
            states.iter().chain(std::iter::once(&recorded.state)).cloned().collect();
        let mut likely = policy.modes(&asked);
        let then = likely.pop()?;
        Some(likely.iter().map(|likely| adapted(schema, &recorded.action, likely, &then)).collect())
    }
}

/// The most likely action in a state, with the deviation of the action taken from the most likely one then.
fn adapted(schema: &Schema, taken: &[f64], likely: &[f64], likely_then: &[f64]) -> Vec<f64> {
    let adapt = |(place, slot): (usize, usize)| {
        let (taken, likely, likely_then) = (taken[place], likely[place], likely_then[place]);
        match &schema.variable_of(slot).kind {
            Kind::Continuous(bounds) | Kind::Integer(bounds) => {
                let low = bounds.low.unwrap_or(f64::NEG_INFINITY);
                let high = bounds.high.unwrap_or(f64::INFINITY);
                // In the same state the action is the same to the last bit.
                let shifted =
                    if likely == likely_then { taken } else { likely + (taken - likely_then) };
                shifted.max(low).min(high)
            }
            _ if likely == likely_then => taken,
            _ => likely,
        }
    };
    schema.action_slots().enumerate().map(adapt).collect()
}

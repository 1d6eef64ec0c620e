//! What the agent does in another world than the recorded one.

use becausal_core::Policy;
use becausal_core::schema::{Kind, Schema};
use becausal_core::trajectory::Step;

/// The agent whose actions are explained.
///
/// With a policy it acts by it; without one it repeats what it did.
#[derive(Clone, Copy)]
pub struct Agent<'a> {
    policy: Option<&'a dyn Policy>,
}

impl<'a> Agent<'a> {
    /// The agent of a policy, or of a log without one.
    #[must_use]
    pub fn new(policy: Option<&'a dyn Policy>) -> Self {
        Self { policy }
    }

    /// Its policy, where that is known.
    #[must_use]
    pub fn policy(&self) -> Option<&'a dyn Policy> {
        self.policy
    }

    /// Its most likely action.
    #[must_use]
    pub fn mode(&self, state: &[f64]) -> Option<Vec<f64>> {
        self.policy.map(|policy| policy.mode(state))
    }

    /// What it would do in a state, where `recorded` is the step it took at that time.
    ///
    /// Where the recorded action is not the most likely one, the deviation is kept: of a number its
    /// size, of a category the action itself where the most likely one is the same in both states.
    #[must_use]
    pub fn act(&self, schema: &Schema, recorded: Option<&Step>, state: &[f64]) -> Option<Vec<f64>> {
        let Some(policy) = self.policy else {
            return recorded.map(|step| step.action.clone());
        };
        let likely = policy.mode(state);
        let Some(recorded) = recorded else {
            return Some(likely);
        };
        let usual = policy.mode(&recorded.state);
        let adapt = |(place, slot): (usize, usize)| {
            let (likely, usual, taken) = (likely[place], usual[place], recorded.action[place]);
            match &schema.variable_of(slot).kind {
                Kind::Continuous(bounds) | Kind::Integer(bounds) => {
                    let low = bounds.low.unwrap_or(f64::NEG_INFINITY);
                    let high = bounds.high.unwrap_or(f64::INFINITY);
                    // The same state gets the same action to the last bit.
                    let moved = if likely == usual { taken } else { likely + (taken - usual) };
                    moved.max(low).min(high)
                }
                _ if likely == usual => taken,
                _ => likely,
            }
        };
        Some(schema.action_slots().enumerate().map(adapt).collect())
    }
}

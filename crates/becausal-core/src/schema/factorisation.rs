//! The schema: a factorised MDP without its dynamics.

use std::ops::Range;

use super::expression::Expression;
use super::layout;
use super::variable::{Role, Slot, Variable};

/// A factorised MDP: its variables, reward terms and termination.
///
/// The variables are ordered states, actions, outcomes; each group keeps the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) variables: Vec<Variable>,
    pub(super) rewards: Vec<Reward>,
    pub(super) termination: Option<Expression>,
    slots: Vec<Slot>,
}

/// A named term of the reward; the reward of a transition is the sum of its terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Reward {
    /// The name shown in texts.
    pub name: String,
    /// Computes its value in a transition.
    pub expression: Expression,
}

impl Schema {
    pub(super) fn new(
        name: String,
        description: Option<String>,
        variables: Vec<Variable>,
        rewards: Vec<Reward>,
        termination: Option<Expression>,
    ) -> Self {
        let slots = layout::slots(&variables);
        Self { name, description, variables, rewards, termination, slots }
    }

    /// The names of the causes u = (s, a): states, then actions.
    #[must_use]
    pub fn causes(&self) -> Vec<String> {
        let causes = self.of_role(Role::State).chain(self.of_role(Role::Action));
        causes.map(|variable| variable.name.clone()).collect()
    }

    /// The names of the effects v = (s', o): next states, with a prime, then outcomes.
    #[must_use]
    pub fn effects(&self) -> Vec<String> {
        let next = self.of_role(Role::State).map(|state| format!("{}'", state.name));
        next.chain(self.of_role(Role::Outcome).map(|outcome| outcome.name.clone())).collect()
    }

    /// The name of the environment that it describes.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A one-sentence description.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// States, actions and outcomes, in this order.
    #[must_use]
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The variables of a role.
    pub fn of_role(&self, role: Role) -> impl Iterator<Item = &Variable> + Clone {
        self.variables.iter().filter(move |variable| variable.role == role)
    }

    /// The terms of the reward.
    #[must_use]
    pub fn rewards(&self) -> &[Reward] {
        &self.rewards
    }

    /// When an episode ends, if a transition shows it.
    #[must_use]
    pub fn termination(&self) -> Option<&Expression> {
        self.termination.as_ref()
    }

    /// The slots of a transition in order: states, actions, outcomes, next states.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The variable that a slot belongs to.
    #[must_use]
    pub fn variable_of(&self, slot: usize) -> &Variable {
        &self.variables[self.slots[slot].variable]
    }

    fn elements(&self, role: Role) -> usize {
        self.of_role(role).map(Variable::elements).sum()
    }

    /// The slots of the state before the step.
    #[must_use]
    pub fn state_slots(&self) -> Range<usize> {
        0..self.elements(Role::State)
    }

    /// The slots of the action.
    #[must_use]
    pub fn action_slots(&self) -> Range<usize> {
        let start = self.elements(Role::State);
        start..start + self.elements(Role::Action)
    }

    /// The slots of the outcomes.
    #[must_use]
    pub fn outcome_slots(&self) -> Range<usize> {
        let start = self.action_slots().end;
        start..start + self.elements(Role::Outcome)
    }

    /// The slots of the state after the step.
    #[must_use]
    pub fn next_slots(&self) -> Range<usize> {
        self.outcome_slots().end..self.slots.len()
    }

    /// The names of the variables that an expression reads, `x'` for a next value.
    #[must_use]
    pub fn parents_of(&self, expression: &Expression) -> Vec<String> {
        let prime = |next| if next { "'" } else { "" };
        expression
            .parents()
            .iter()
            .map(|parent| format!("{}{}", self.variables[parent.variable].name, prime(parent.next)))
            .collect()
    }
}

//! A variable at a point in time.

use std::ops::Range;

use crate::schema::{Role, Schema, Variable};

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// A state variable before a step.
    State,
    /// An action variable.
    Action,
    /// An outcome variable.
    Outcome,
    /// A term of the reward.
    Reward,
}

/// A variable at a point in time: a node of the extended graph.
///
/// The state before step k belongs to step k; what step k leads to is the state of step k + 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// The step, counted from the action that is explained.
    pub step: usize,
    /// State, action, outcome or reward.
    pub part: Part,
    /// Which of the variables of this part, in the order of the schema.
    pub index: usize,
}

impl Node {
    /// A state variable before a step.
    #[must_use]
    pub fn state(step: usize, index: usize) -> Self {
        Self { step, part: Part::State, index }
    }

    /// An action variable in a step.
    #[must_use]
    pub fn action(step: usize, index: usize) -> Self {
        Self { step, part: Part::Action, index }
    }

    /// An outcome of a step.
    #[must_use]
    pub fn outcome(step: usize, index: usize) -> Self {
        Self { step, part: Part::Outcome, index }
    }

    /// A reward term in a step.
    #[must_use]
    pub fn reward(step: usize, index: usize) -> Self {
        Self { step, part: Part::Reward, index }
    }

    /// How many steps have been made when its value is there: 1 for what the action itself leads to.
    #[must_use]
    pub fn after(&self) -> usize {
        match self.part {
            Part::State | Part::Action => self.step,
            Part::Outcome | Part::Reward => self.step + 1,
        }
    }

    /// Its variable in the schema; rewards have none.
    #[must_use]
    pub fn variable<'a>(&self, schema: &'a Schema) -> Option<&'a Variable> {
        let role = match self.part {
            Part::State => Role::State,
            Part::Action => Role::Action,
            Part::Outcome => Role::Outcome,
            Part::Reward => return None,
        };
        schema.of_role(role).nth(self.index)
    }

    /// Its name in the schema.
    #[must_use]
    pub fn name<'a>(&self, schema: &'a Schema) -> &'a str {
        match self.variable(schema) {
            Some(variable) => &variable.name,
            None => schema.rewards().get(self.index).map_or("", |reward| &reward.name),
        }
    }
}

/// How many variables of each part a schema has, and where their numbers are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The numbers of each state variable in a state.
    pub states: Vec<Range<usize>>,
    /// The numbers of each action variable in an action.
    pub actions: Vec<Range<usize>>,
    /// The numbers of each outcome variable in the outcomes.
    pub outcomes: Vec<Range<usize>>,
    /// The number of reward terms.
    pub rewards: usize,
}

impl Shape {
    /// The shape of a schema.
    #[must_use]
    pub fn of(schema: &Schema) -> Self {
        let ranges = |role| {
            let mut start = 0;
            let range = |variable: &Variable| {
                let range = start..start + variable.elements();
                start = range.end;
                range
            };
            schema.of_role(role).map(range).collect()
        };
        Self {
            states: ranges(Role::State),
            actions: ranges(Role::Action),
            outcomes: ranges(Role::Outcome),
            rewards: schema.rewards().len(),
        }
    }

    /// Nodes of a step.
    #[must_use]
    pub fn width(&self) -> usize {
        self.states.len() + self.actions.len() + self.outcomes.len() + self.rewards
    }

    /// The place of a node when all steps are put one after the other.
    #[must_use]
    pub fn place(&self, node: Node) -> usize {
        let before = match node.part {
            Part::State => 0,
            Part::Action => self.states.len(),
            Part::Outcome => self.states.len() + self.actions.len(),
            Part::Reward => self.states.len() + self.actions.len() + self.outcomes.len(),
        };
        node.step * self.width() + before + node.index
    }

    /// The node that a place belongs to.
    #[must_use]
    pub fn node(&self, place: usize) -> Node {
        let (step, mut index) = (place / self.width(), place % self.width());
        for (part, count) in [
            (Part::State, self.states.len()),
            (Part::Action, self.actions.len()),
            (Part::Outcome, self.outcomes.len()),
        ] {
            if index < count {
                return Node { step, part, index };
            }
            index -= count;
        }
        Node { step, part: Part::Reward, index }
    }
}

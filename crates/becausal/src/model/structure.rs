//! Which inputs each output may read.

use crate::discovery::{CausalGraph, Verdict};
use crate::schema::{Role, Schema};

use super::dynamics::effects;

/// The parents of every effect, as indices of causes: states first, then actions.
///
/// The networks take them as a mask: another structure keeps all parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structure {
    states: usize,
    actions: usize,
    parents: Vec<Vec<usize>>,
}

impl Structure {
    /// Everything may depend on everything.
    #[must_use]
    pub fn full(schema: &Schema) -> Self {
        let (states, actions) = counts(schema);
        let all: Vec<usize> = (0..states + actions).collect();
        Self { states, actions, parents: vec![all; effects(schema).len()] }
    }

    /// The edges of a graph. A name that the schema does not have is passed over.
    #[must_use]
    pub fn of(schema: &Schema, graph: &CausalGraph) -> Self {
        let (states, actions) = counts(schema);
        let causes: Vec<&str> = [Role::State, Role::Action]
            .into_iter()
            .flat_map(|role| schema.of_role(role))
            .map(|variable| variable.name.as_str())
            .collect();
        let parents = effects(schema)
            .iter()
            .map(|effect| {
                let found = graph.parents(effect);
                (0..causes.len()).filter(|&cause| found.contains(&causes[cause])).collect()
            })
            .collect();
        Self { states, actions, parents }
    }

    /// Every pair that the data do not speak against: the edges of a graph, and what could not be
    /// told. A model that is to predict where nobody has been yet must not be blind to these.
    #[must_use]
    pub fn cautious(schema: &Schema, graph: &CausalGraph) -> Self {
        let mut graph = graph.clone();
        for pair in &mut graph.pairs {
            if pair.verdict == Verdict::Untestable {
                pair.verdict = Verdict::Edge;
            }
        }
        Self::of(schema, &graph)
    }

    /// The same without the actions.
    #[must_use]
    pub fn without_actions(&self) -> Self {
        let parents = (0..self.effects()).map(|effect| self.state_parents(effect).to_vec());
        Self { parents: parents.collect(), ..*self }
    }

    /// Each next state depends on the state itself, and outcomes on nothing.
    #[must_use]
    pub fn persistence(&self) -> Self {
        let itself = |effect| if effect < self.states { vec![effect] } else { Vec::new() };
        Self { parents: (0..self.effects()).map(itself).collect(), ..*self }
    }

    /// From lists of parents, effect by effect.
    ///
    /// # Panics
    /// When a parent is not among the causes.
    #[must_use]
    pub fn new(states: usize, actions: usize, parents: Vec<Vec<usize>>) -> Self {
        assert!(parents.iter().flatten().all(|&parent| parent < states + actions));
        Self { states, actions, parents }
    }

    /// The number of state variables.
    #[must_use]
    pub fn states(&self) -> usize {
        self.states
    }

    /// The number of action variables.
    #[must_use]
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// The number of effects.
    #[must_use]
    pub fn effects(&self) -> usize {
        self.parents.len()
    }

    /// The parents of an effect, in order.
    #[must_use]
    pub fn parents(&self, effect: usize) -> &[usize] {
        &self.parents[effect]
    }

    /// The parents of an effect among the states.
    #[must_use]
    pub fn state_parents(&self, effect: usize) -> &[usize] {
        let parents = &self.parents[effect];
        &parents[..parents.partition_point(|&parent| parent < self.states)]
    }

    /// Whether an effect reads each action variable.
    #[must_use]
    pub fn reads_actions(&self, effect: usize) -> Vec<bool> {
        let reads = |action| self.parents[effect].contains(&(self.states + action));
        (0..self.actions).map(reads).collect()
    }

    /// Whether an effect is the next value of a state that is among its own parents.
    #[must_use]
    pub fn persists(&self, effect: usize) -> bool {
        effect < self.states && self.parents[effect].contains(&effect)
    }

    /// How many edges there are.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.parents.iter().map(Vec::len).sum()
    }
}

fn counts(schema: &Schema) -> (usize, usize) {
    (schema.of_role(Role::State).count(), schema.of_role(Role::Action).count())
}

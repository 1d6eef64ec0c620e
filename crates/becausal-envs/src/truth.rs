//! True causal graphs, for tests and scores.

use becausal_core::schema::{Role, Schema};

/// The causal graph of an environment according to its rules.
///
/// Causes are the states and actions, effects the next states and then the outcomes, each in the
/// order of the schema. A vector is one variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    /// Names of the causes.
    pub causes: Vec<String>,
    /// Names of the effects, next states with a prime.
    pub effects: Vec<String>,
    /// `[effects][causes]`: whether the cause has any influence under any action.
    pub graph: Vec<Vec<bool>>,
    /// The same under each value of a single categorical action, among the states alone.
    pub by_action: Vec<ActionTruth>,
}

/// The causal graph under one action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionTruth {
    /// The action's label.
    pub action: String,
    /// `[effects][states]`: whether the state has any influence under this action.
    pub graph: Vec<Vec<bool>>,
}

/// An effect and its causes, by name.
pub(super) type Parents = (&'static str, &'static [&'static str]);

impl Truth {
    /// Builds the graph from the state parents under each action and the effects of the action
    /// itself.
    ///
    /// It is the union over the actions, plus the action as a parent of the effects in `acted_on`.
    ///
    /// # Panics
    /// When a name is not in the schema.
    pub(super) fn new(
        schema: &Schema,
        acted_on: &[&str],
        by_action: &[(&str, &[Parents])],
    ) -> Self {
        let name = |v: &becausal_core::schema::Variable| v.name.clone();
        let states: Vec<String> = schema.of_role(Role::State).map(name).collect();
        let actions: Vec<String> = schema.of_role(Role::Action).map(name).collect();
        let mut effects: Vec<String> = states.iter().map(|state| format!("{state}'")).collect();
        effects.extend(schema.of_role(Role::Outcome).map(name));
        let by_action: Vec<ActionTruth> = by_action
            .iter()
            .map(|(action, parents)| ActionTruth {
                action: (*action).to_owned(),
                graph: matrix(parents, &states, &effects),
            })
            .collect();
        let mut graph = vec![vec![false; states.len() + actions.len()]; effects.len()];
        for (effect, row) in graph.iter_mut().enumerate() {
            for (cause, cell) in row.iter_mut().enumerate() {
                *cell = match cause.checked_sub(states.len()) {
                    Some(_) => acted_on.contains(&effects[effect].as_str()),
                    None => by_action.iter().any(|truth| truth.graph[effect][cause]),
                };
            }
        }
        let causes = states.into_iter().chain(actions).collect();
        Self { causes, effects, graph, by_action }
    }

    /// The causes of an effect, by name.
    #[must_use]
    pub fn parents(&self, effect: &str) -> Vec<&str> {
        let Some(row) = self.effects.iter().position(|name| name == effect) else {
            return Vec::new();
        };
        let named = self.causes.iter().zip(&self.graph[row]);
        named.filter(|(_, edge)| **edge).map(|(name, _)| name.as_str()).collect()
    }
}

fn matrix(parents: &[Parents], states: &[String], effects: &[String]) -> Vec<Vec<bool>> {
    let find = |names: &[String], name: &str| {
        names.iter().position(|known| known == name).unwrap_or_else(|| panic!("no `{name}`"))
    };
    let mut graph = vec![vec![false; states.len()]; effects.len()];
    for (effect, causes) in parents {
        for cause in *causes {
            graph[find(effects, effect)][find(states, cause)] = true;
        }
    }
    graph
}

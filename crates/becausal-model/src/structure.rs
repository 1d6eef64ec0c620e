//! The inputs that each output reads.

use becausal_core::data::Transitions;
use becausal_core::schema::{Role, Schema, Variable};
use becausal_discovery::{CausalGraph, CauseId, Pair, Reason, Verdict};

/// Minimum strength at which a suspected proxy is still a parent.
const MIN_PROXY_STRENGTH: f64 = 0.05;

/// Minimum strength at which an insignificant influence is not ruled out.
const MIN_NOTICEABLE_STRENGTH: f64 = 0.01;

/// Minimum number of events per possible cause. With fewer, no cause can be ruled out: the rule of
/// thumb of logistic regression ("events per variable", 10 to 20).
const MIN_EVENTS_PER_CAUSE: usize = 20;

/// Which pairs of a graph a model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parents {
    /// The edges alone, as in the paper.
    Edges,
    /// The edges, and what the data cannot rule out.
    #[default]
    Cautious,
}

impl Parents {
    /// Its name in settings and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Edges => "edges",
            Self::Cautious => "cautious",
        }
    }

    /// The choice with this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        [Self::Edges, Self::Cautious].into_iter().find(|parents| parents.name() == name)
    }
}

/// The parents of every effect, as indices of causes: states first, then actions.
///
/// The networks use them as a mask, so another structure keeps all parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structure {
    states: usize,
    actions: usize,
    parents: Vec<Vec<usize>>,
    /// For each effect, the parents that were not discovered and are only tried.
    tried: Vec<Vec<usize>>,
    /// Whether some tried parent matters to an effect, but the data cannot tell which.
    in_doubt: Vec<bool>,
}

impl Structure {
    /// Every effect depends on every cause.
    #[must_use]
    pub fn full(schema: &Schema) -> Self {
        let (states, actions) = counts(schema);
        let nothing = Self::new(states, actions, vec![Vec::new(); schema.effects().len()]);
        let all: Vec<usize> = (0..nothing.effects()).collect();
        nothing.widened(&all, |_, _| true)
    }

    /// The same with every cause for which `may_be(effect, cause)` is true tried as a parent of these
    /// effects.
    #[must_use]
    pub fn widened(&self, effects: &[usize], may_be: impl Fn(usize, usize) -> bool) -> Self {
        let mut wider = self.clone();
        for &effect in effects {
            let reads = |cause: &usize| self.parents[effect].contains(cause);
            let causes = (0..self.states + self.actions)
                .filter(|cause| reads(cause) || may_be(effect, *cause));
            let is_tried = |cause: &usize| !reads(cause) || self.is_tried(effect, *cause);
            wider.tried[effect] = causes.clone().filter(is_tried).collect();
            wider.parents[effect] = causes.collect();
        }
        wider
    }

    /// The same, with these effects marked as in doubt: some tried parent matters to them, in too
    /// few rows to tell which.
    #[must_use]
    pub fn in_doubt(mut self, effects: &[usize]) -> Self {
        for &effect in effects {
            self.in_doubt[effect] = true;
        }
        self
    }

    /// Whether some tried parent matters to an effect, but the data cannot tell which.
    #[must_use]
    pub fn is_in_doubt(&self, effect: usize) -> bool {
        self.in_doubt[effect]
    }

    /// The same without the tried parents for which `use_of(effect, cause)` is false. The other
    /// tried parents become ordinary ones.
    #[must_use]
    pub fn narrowed(&self, use_of: impl Fn(usize, usize) -> bool) -> Self {
        let kept = |effect: usize| {
            let needed = |cause: &usize| !self.is_tried(effect, *cause) || use_of(effect, *cause);
            self.parents[effect].iter().copied().filter(needed).collect()
        };
        Self::new(self.states, self.actions, (0..self.effects()).map(kept).collect())
    }

    /// Whether parents are tried in addition to discovered ones.
    #[must_use]
    pub fn is_widened(&self, effect: usize) -> bool {
        (1..self.parents[effect].len()).contains(&self.tried[effect].len())
    }

    /// Whether a parent of an effect was not discovered and is only tried.
    #[must_use]
    pub fn is_tried(&self, effect: usize, cause: usize) -> bool {
        self.tried[effect].contains(&cause)
    }

    /// What a world model of this schema's variables reads: the edges of a graph, and the pairs about
    /// which the data cannot tell. The latter are tried, and pruned where the networks do not use them.
    ///
    /// - An edge that is weak *and* suspected to be a proxy for another cause is left out: neither
    ///   predictions nor explanations gain by it.
    /// - Of causes that carry the same values, one is kept: the effect's own value before, or the first.
    /// - An action that follows from the state is kept: its effect cannot be told from that of the state,
    ///   but an explanation that denies it would be wrong.
    /// - A cause or an effect that never changes is left out: there is nothing to learn.
    ///
    /// # Panics
    /// When the graph is of other variables ([`CausalGraph::for_schema`] checks that).
    #[must_use]
    pub fn of(schema: &Schema, graph: &CausalGraph) -> Self {
        let mut structure = Self::of_edges(schema, graph);
        for pair in graph.pairs().iter().filter(|pair| pair.verdict == Verdict::Untestable) {
            let (cause, effect) = (pair.cause.0, pair.effect.0);
            let is_certain = match &pair.reason {
                Some(Reason::Constant { .. } | Reason::NeverVaried { .. }) => continue,
                Some(Reason::Duplicate { of }) => {
                    let twin = graph.causes().iter().position(|name| name == of);
                    // The twin is kept if it is read already, or will be.
                    let is_kept = |twin: usize| {
                        let pair = graph.pair(CauseId(twin), pair.effect);
                        let is_first = twin == effect || (twin < cause && cause != effect);
                        structure.parents[effect].contains(&twin)
                            || (is_first && pair.verdict == Verdict::Untestable)
                    };
                    if twin.is_some_and(is_kept) {
                        continue;
                    }
                    true
                }
                Some(Reason::FollowsState { .. }) => true,
                _ => false,
            };
            structure.parents[effect].push(cause);
            if !is_certain {
                structure.tried[effect].push(cause);
            }
        }
        structure.parents.iter_mut().for_each(|parents| parents.sort_unstable());
        structure
    }

    /// The edges of a graph alone, as in the paper, except the weak ones that may stand for others.
    ///
    /// # Panics
    /// When the graph is of other variables.
    #[must_use]
    pub fn of_edges(schema: &Schema, graph: &CausalGraph) -> Self {
        let (states, actions) = counts(schema);
        let counts = |pair: &&Pair| {
            let doubtful = pair.proxy && pair.strength < MIN_PROXY_STRENGTH && pair.given.is_none();
            pair.verdict == Verdict::Edge && !doubtful
        };
        let mut parents = vec![Vec::new(); schema.effects().len()];
        for pair in graph.pairs().iter().filter(counts) {
            parents[pair.effect.0].push(pair.cause.0);
        }
        Self::new(states, actions, parents)
    }

    /// Every pair that the data do not rule out: all edges of a graph, untestable pairs,
    /// insignificant pairs with a noticeable strength, and all possible causes of events that are
    /// rare in `data`. A model that has to predict outside its data must not ignore these.
    #[must_use]
    pub fn cautious(schema: &Schema, graph: &CausalGraph, data: &Transitions) -> Self {
        let mut graph = graph.clone();
        let (states, actions) = counts(schema);
        let enough = MIN_EVENTS_PER_CAUSE * (states + actions);
        let rare: Vec<bool> = (0..schema.effects().len())
            .map(|effect| events(data, effect).is_some_and(|events| events < enough))
            .collect();
        for pair in graph.pairs_mut() {
            pair.proxy = false;
            let noticeable = pair.strength >= MIN_NOTICEABLE_STRENGTH || rare[pair.effect.0];
            let doubtful = noticeable && pair.given.is_none();
            if pair.verdict == Verdict::Untestable || doubtful {
                pair.verdict = Verdict::Edge;
            }
        }
        Self::of_edges(schema, &graph)
    }

    /// The same without the actions.
    #[must_use]
    pub fn without_actions(&self) -> Self {
        let parents = (0..self.effects()).map(|effect| self.state_parents(effect).to_vec());
        Self::new(self.states, self.actions, parents.collect())
    }

    /// Each next state depends on the state itself, outcomes depend on nothing.
    #[must_use]
    pub fn persistence(&self) -> Self {
        let itself = |effect| if effect < self.states { vec![effect] } else { Vec::new() };
        Self::new(self.states, self.actions, (0..self.effects()).map(itself).collect())
    }

    /// A structure from the parents of each effect.
    ///
    /// # Panics
    /// When a parent is not among the causes.
    #[must_use]
    pub fn new(states: usize, actions: usize, parents: Vec<Vec<usize>>) -> Self {
        assert!(parents.iter().flatten().all(|&parent| parent < states + actions));
        let tried = vec![Vec::new(); parents.len()];
        let in_doubt = vec![false; parents.len()];
        Self { states, actions, parents, tried, in_doubt }
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

    /// The parents of an effect, ascending.
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

    /// The number of edges.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.parents.iter().map(Vec::len).sum()
    }
}

/// How often something happened to an effect that is not a number: a state that changed, an outcome
/// that was not the usual one. None of a number.
fn events(data: &Transitions, effect: usize) -> Option<usize> {
    let schema = data.schema();
    let states = schema.of_role(Role::State).count();
    let variable = schema.of_role(Role::State).chain(schema.of_role(Role::Outcome)).nth(effect)?;
    if !variable.kind.is_label() {
        return None;
    }
    let is_state = effect < states;
    let (role, index) =
        if is_state { (Role::State, effect) } else { (Role::Outcome, effect - states) };
    let before: usize = schema.of_role(role).take(index).map(Variable::elements).sum();
    let elements = before..before + variable.elements();
    let changes = |element: usize| {
        let now = data.column(schema.state_slots().start + element);
        let next = data.column(schema.next_slots().start + element);
        (0..data.len()).filter(|&row| now.get(row) != next.get(row)).count()
    };
    let exceptions = |element: usize| {
        let mut values = data.column(schema.outcome_slots().start + element).to_numbers();
        values.sort_unstable_by(f64::total_cmp);
        let usual = values.chunk_by(|a, b| a == b).map(<[f64]>::len).max().unwrap_or(0);
        values.len() - usual
    };
    Some(
        elements.map(|element| if is_state { changes(element) } else { exceptions(element) }).sum(),
    )
}

fn counts(schema: &Schema) -> (usize, usize) {
    (schema.of_role(Role::State).count(), schema.of_role(Role::Action).count())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use becausal_core::data::Row;

    #[test]
    fn weak_proxies_are_not_parents() {
        let schema = Schema::parse(
            "name = \"Two\"\n[state]\nx = { kind = \"continuous\" }\ny = { kind = \"continuous\" }\n\
             [action]\na = { kind = \"boolean\" }\n[reward]\n\"x\" = \"x\"\n",
        )
        .expect("a schema");
        let mut graph = CausalGraph::new("auto", 0.001, &schema.causes(), &schema.effects());
        let evidence = [(0.9, true), (0.02, true), (0.02, false)];
        for (pair, (strength, proxy)) in graph.pairs_mut().iter_mut().zip(evidence) {
            (pair.p, pair.strength, pair.proxy) = (1e-9, strength, proxy);
        }
        let structure = Structure::of(&schema, &graph.with_eta(0.001));
        assert_eq!(structure.parents(0), [0, 2]);
        assert_eq!(structure.parents(1), [0_usize; 0]);
        assert!(structure.persists(0) && !structure.persists(1));
    }

    #[test]
    fn what_cannot_be_told_is_read_but_of_twins_only_one_and_no_constants() {
        let schema = Schema::parse(
            "name = \"Twins\"\n[state]\nx = { kind = \"continuous\" }\ny = { kind = \"continuous\" }\n\
             z = { kind = \"continuous\" }\n[action]\na = { kind = \"boolean\" }\n[reward]\n\"x\" = \"x\"\n",
        )
        .expect("a schema");
        let mut graph = CausalGraph::new("auto", 0.001, &schema.causes(), &schema.effects());
        let twin = |of: &str| Some(Reason::Duplicate { of: of.to_owned() });
        let constant = Some(Reason::Constant { variable: "z".to_owned(), value: None });
        let follows = Some(Reason::FollowsState { variable: "a".to_owned() });
        let reasons = [twin("y"), twin("x"), constant, follows];
        for (at, pair) in graph.pairs_mut().iter_mut().enumerate() {
            pair.reason.clone_from(&reasons[at % 4]);
        }
        let structure = Structure::of(&schema, &graph.with_eta(0.001));
        // Of the twins x and y, each effect reads its own value, z the first.
        assert_eq!(structure.parents(0), [0, 3]);
        assert_eq!(structure.parents(1), [1, 3]);
        assert_eq!(structure.parents(2), [0, 3]);
        assert!(!structure.is_tried(0, 3));
    }

    #[test]
    fn a_cautious_structure_includes_all_pairs_that_are_not_ruled_out() {
        let schema = Schema::parse(
            "name = \"Three\"\n[state]\nx = { kind = \"continuous\" }\ny = { kind = \"continuous\" }\n\
             z = { kind = \"continuous\" }\n[action]\na = { kind = \"boolean\" }\n[reward]\n\"x\" = \"x\"\n",
        );
        let schema = Arc::new(schema.expect("a schema"));
        let mut graph = CausalGraph::new("auto", 0.001, &schema.causes(), &schema.effects());
        let evidence = [(0.0, Some(Reason::Unclear)), (0.2, None), (0.001, None), (0.0, None)];
        for (pair, (strength, reason)) in graph.pairs_mut().iter_mut().zip(evidence) {
            (pair.strength, pair.reason) = (strength, reason);
        }
        let graph = graph.with_eta(0.001);
        let told = Structure::of(&schema, &graph);
        assert_eq!(told.parents(0), [0], "untestable");
        assert!(told.is_tried(0, 0));
        let data = Transitions::new(schema);
        let structure = Structure::cautious(data.schema(), &graph, &data);
        assert_eq!(structure.parents(0), [0, 1]);
    }

    #[test]
    fn a_rare_event_keeps_all_possible_causes() {
        let schema = Schema::parse(
            "name = \"Fall\"\n[state]\nx = { kind = \"continuous\" }\n[action]\na = { kind = \"boolean\" }\n\
             [outcome]\nfall = { kind = \"boolean\" }\n[reward]\n\"x\" = \"x\"\n",
        );
        let mut data = Transitions::new(Arc::new(schema.expect("a schema")));
        let (causes, effects) = (data.schema().causes(), data.schema().effects());
        let graph = CausalGraph::new("auto", 0.001, &causes, &effects);
        for row in 0..1000 {
            data.push(&Row {
                state: &[0.0],
                action: &[0.0],
                outcomes: &[f64::from(u8::from(row % 20 == 0))],
                next: &[0.0],
                reward: 0.0,
                terminated: false,
                truncated: false,
            });
            let parents = Structure::cautious(data.schema(), &graph, &data).parents(1).len();
            let events = row / 20 + 1;
            assert_eq!(parents, if events.min(row + 1 - events) < 40 { 2 } else { 0 });
        }
    }
}

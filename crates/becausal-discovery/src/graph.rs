//! The causal graph, with the evidence for every pair.

use becausal_core::schema::{Schema, suggestion};
use serde::{Deserialize, Serialize};

use super::error::DiscoveryError;
use super::reason::Reason;
use super::student::benjamini_hochberg;

/// What is concluded about a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The cause has an influence.
    Edge,
    /// No influence was found, though the data could have shown one.
    None,
    /// The data cannot tell.
    Untestable,
}

impl Verdict {
    /// The word in `graph.json`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Edge => "edge",
            Self::None => "none",
            Self::Untestable => "untestable",
        }
    }
}

/// What a person said about a pair beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Given {
    /// It is an edge, whatever the data say.
    Required,
    /// It is not an edge, whatever the data say.
    Forbidden,
}

/// A cause of a graph: a place among its causes u = (s, a).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CauseId(pub usize);

/// An effect of a graph: a place among its effects v = (s', o).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId(pub usize);

/// A cause, an effect, and the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// A state or an action.
    pub cause: CauseId,
    /// A next state or an outcome.
    pub effect: EffectId,
    /// How probable such evidence is without any influence.
    pub p: f64,
    /// `p` corrected for the number of pairs, where that was asked for.
    pub adjusted_p: Option<f64>,
    /// From 0 to 1: of what the other inputs leave unexplained in the effect, the share that the
    /// cause explains.
    pub strength: f64,
    /// What is concluded.
    pub verdict: Verdict,
    /// Why the data cannot tell, unless the p-value is clear. Stays when the threshold changes.
    pub reason: Option<Reason>,
    /// The cause may be a proxy for others: its help shrinks as more is learned.
    pub proxy: bool,
    /// The share of bootstrap samples in which this is an edge.
    pub confidence: Option<f64>,
    /// What was said about it beforehand.
    pub given: Option<Given>,
}

impl Pair {
    /// A pair without evidence yet.
    #[must_use]
    pub fn new(cause: CauseId, effect: EffectId) -> Self {
        Self {
            cause,
            effect,
            p: 1.0,
            adjusted_p: None,
            strength: 0.0,
            verdict: Verdict::None,
            reason: None,
            proxy: false,
            confidence: None,
            given: None,
        }
    }

    fn judge(&mut self, eta: f64, min_strength: f64) {
        self.verdict = match (self.given, &self.reason) {
            (Some(Given::Required), _) => Verdict::Edge,
            (Some(Given::Forbidden), _) => Verdict::None,
            (None, Some(reason)) if reason.overrides_p() => Verdict::Untestable,
            _ if self.adjusted_p.unwrap_or(self.p) <= eta && self.strength >= min_strength => {
                Verdict::Edge
            }
            (None, Some(_)) => Verdict::Untestable,
            (None, None) => Verdict::None,
        };
    }
}

/// The graph under one value of the action: the causes are the states.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionGraph {
    /// The action variable.
    pub action: CauseId,
    /// Its value, a label.
    pub label: String,
    /// Every pair of a state and an effect, effect by effect. Ids are those of the whole graph.
    pub pairs: Vec<Pair>,
}

/// Which causes influence which effects, and how far that is known.
///
/// Holds *every* pair, effect by effect. The threshold eta is applied afterwards and can be changed:
///
/// ```
/// use becausal_discovery::{CausalGraph, Verdict};
/// let mut graph = CausalGraph::new("auto", 0.001, &["x"], &["x'"]);
/// graph.pairs_mut()[0].p = 0.02;
/// assert_eq!(graph.clone().with_eta(0.001).pairs()[0].verdict, Verdict::None);
/// assert_eq!(graph.with_eta(0.05).pairs()[0].verdict, Verdict::Edge);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CausalGraph {
    /// The name of the test.
    pub method: String,
    /// Pairs with a p-value of at most this are edges.
    pub eta: f64,
    /// Pairs with a smaller strength are not edges, however small p is.
    pub min_strength: f64,
    /// Rows of the data.
    pub rows: usize,
    /// Episodes of the data.
    pub episodes: usize,
    /// Seed of all that was random.
    pub seed: u64,
    /// Whether p-values are corrected for the number of pairs.
    pub corrected: bool,
    /// The effects whose residuals depend on rows before the last one: a sign of a hidden state. Causes
    /// of these may only stand for it.
    pub hidden_state: Vec<EffectId>,
    /// The graph under each value of the action, where that was asked for.
    pub by_action: Vec<ActionGraph>,
    pub(super) causes: Vec<String>,
    pub(super) effects: Vec<String>,
    /// `[effects][causes]`.
    pub(super) pairs: Vec<Pair>,
}

impl CausalGraph {
    /// A graph over these variables, without any evidence yet: next states are named with a prime.
    #[must_use]
    pub fn new<S: AsRef<str>>(method: &str, eta: f64, causes: &[S], effects: &[S]) -> Self {
        let names = |names: &[S]| names.iter().map(|name| name.as_ref().to_owned()).collect();
        let pairs = (0..effects.len())
            .flat_map(|effect| {
                (0..causes.len()).map(move |cause| Pair::new(CauseId(cause), EffectId(effect)))
            })
            .collect();
        Self {
            method: method.to_owned(),
            eta,
            min_strength: 0.0,
            rows: 0,
            episodes: 0,
            seed: 0,
            corrected: false,
            hidden_state: Vec::new(),
            by_action: Vec::new(),
            causes: names(causes),
            effects: names(effects),
            pairs,
        }
    }

    /// The names of the causes, states before actions, by id.
    #[must_use]
    pub fn causes(&self) -> &[String] {
        &self.causes
    }

    /// The names of the effects, next states (with a prime) before outcomes, by id.
    #[must_use]
    pub fn effects(&self) -> &[String] {
        &self.effects
    }

    /// The name of a cause.
    #[must_use]
    pub fn cause(&self, id: CauseId) -> &str {
        &self.causes[id.0]
    }

    /// The name of an effect.
    #[must_use]
    pub fn effect(&self, id: EffectId) -> &str {
        &self.effects[id.0]
    }

    /// Every pair, effect by effect.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Every pair, to write evidence into. [`with_eta`](Self::with_eta) then judges them anew.
    pub fn pairs_mut(&mut self) -> &mut [Pair] {
        &mut self.pairs
    }

    /// The pair of a cause and an effect.
    #[must_use]
    pub fn pair(&self, cause: CauseId, effect: EffectId) -> &Pair {
        &self.pairs[effect.0 * self.causes.len() + cause.0]
    }

    /// The pair of these names.
    #[must_use]
    pub fn find(&self, cause: &str, effect: &str) -> Option<&Pair> {
        let (cause, effect) = (place(&self.causes, cause)?, place(&self.effects, effect)?);
        Some(self.pair(CauseId(cause), EffectId(effect)))
    }

    /// The names of the causes of an effect: of the pairs that are edges.
    #[must_use]
    pub fn parents(&self, effect: &str) -> Vec<&str> {
        let edges = self.edges().filter(|pair| self.effect(pair.effect) == effect);
        edges.map(|pair| self.cause(pair.cause)).collect()
    }

    /// The pairs that are edges.
    pub fn edges(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(|pair| pair.verdict == Verdict::Edge)
    }

    /// `[effects][causes]`: whether it is an edge.
    #[must_use]
    pub fn matrix(&self) -> Vec<Vec<bool>> {
        let is_edge = |pair: &Pair| pair.verdict == Verdict::Edge;
        self.pairs
            .chunks(self.causes.len().max(1))
            .map(|row| row.iter().map(is_edge).collect())
            .collect()
    }

    /// The same evidence judged by another threshold; nothing is tested again.
    #[must_use]
    pub fn with_eta(mut self, eta: f64) -> Self {
        self.eta = eta;
        let min_strength = self.min_strength;
        let by_action = self.by_action.iter_mut().flat_map(|graph| &mut graph.pairs);
        self.pairs.iter_mut().chain(by_action).for_each(|pair| pair.judge(eta, min_strength));
        self
    }

    /// The same evidence corrected for the number of pairs (Benjamini and Hochberg).
    ///
    /// Pairs that were decided beforehand, and those that could not be tested at all, do not count.
    #[must_use]
    pub fn corrected(mut self) -> Self {
        self.corrected = true;
        correct(&mut self.pairs);
        for graph in &mut self.by_action {
            correct(&mut graph.pairs);
        }
        let eta = self.eta;
        self.with_eta(eta)
    }

    /// The same graph, with the edges of an earlier graph of the same variables added, and their
    /// evidence: data that do not show an edge do not undo what other data showed.
    #[must_use]
    pub fn keeping_edges_of(mut self, earlier: &Self) -> Self {
        for (pair, before) in self.pairs.iter_mut().zip(&earlier.pairs) {
            if before.verdict == Verdict::Edge && pair.verdict != Verdict::Edge {
                pair.clone_from(before);
            }
        }
        self
    }

    /// The same graph with its ids in the order of a schema's variables: causes u = (s, a), effects
    /// v = (s', o). A pair that the graph lacks is `untestable`.
    ///
    /// # Errors
    /// When the graph names a variable that the schema does not have: it was made from other data.
    pub fn for_schema(self, schema: &Schema) -> Result<Self, DiscoveryError> {
        let (causes, effects) = (schema.causes(), schema.effects());
        if self.causes == causes && self.effects == effects {
            return Ok(self);
        }
        let ids = |own: &[String], names: &[String]| -> Result<Vec<usize>, DiscoveryError> {
            own.iter()
                .map(|name| {
                    place(names, name).ok_or_else(|| DiscoveryError::OtherVariables {
                        name: name.clone(),
                        schema: schema.name().to_owned(),
                        hint: suggestion(name, names.iter().map(String::as_str)),
                    })
                })
                .collect()
        };
        let (cause_ids, effect_ids) = (ids(&self.causes, &causes)?, ids(&self.effects, &effects)?);
        let renamed = |pair: &Pair| Pair {
            cause: CauseId(cause_ids[pair.cause.0]),
            effect: EffectId(effect_ids[pair.effect.0]),
            ..pair.clone()
        };
        let mut aligned = Self {
            min_strength: self.min_strength,
            rows: self.rows,
            episodes: self.episodes,
            seed: self.seed,
            corrected: self.corrected,
            hidden_state: self.hidden_state.iter().map(|id| EffectId(effect_ids[id.0])).collect(),
            ..Self::new(&self.method, self.eta, &causes, &effects)
        };
        for pair in &mut aligned.pairs {
            pair.reason = Some(Reason::NotListed);
            pair.verdict = Verdict::Untestable;
        }
        for pair in &self.pairs {
            let pair = renamed(pair);
            let at = pair.effect.0 * causes.len() + pair.cause.0;
            aligned.pairs[at] = pair;
        }
        aligned.by_action = self
            .by_action
            .iter()
            .map(|graph| ActionGraph {
                action: CauseId(cause_ids[graph.action.0]),
                label: graph.label.clone(),
                pairs: graph.pairs.iter().map(renamed).collect(),
            })
            .collect();
        Ok(aligned)
    }
}

impl ActionGraph {
    /// `[effects][states]`: whether it is an edge under this action.
    #[must_use]
    pub fn matrix(&self) -> Vec<Vec<bool>> {
        let is_edge = |pair: &Pair| pair.verdict == Verdict::Edge;
        let rows = self.pairs.chunk_by(|one, next| one.effect == next.effect);
        rows.map(|row| row.iter().map(is_edge).collect()).collect()
    }
}

fn place(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|known| known == name)
}

fn correct(pairs: &mut [Pair]) {
    let counts = |pair: &Pair| {
        pair.given.is_none()
            && (pair.p < 1.0 || pair.reason.as_ref().is_none_or(Reason::was_tested))
    };
    let tested: Vec<usize> = (0..pairs.len()).filter(|&index| counts(&pairs[index])).collect();
    let p_values: Vec<f64> = tested.iter().map(|&index| pairs[index].p).collect();
    for (&index, adjusted) in tested.iter().zip(benjamini_hochberg(&p_values)) {
        pairs[index].adjusted_p = Some(adjusted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph of one effect with these p-values.
    fn graph(causes: &[&str], p: &[f64]) -> CausalGraph {
        let mut graph = CausalGraph::new("auto", 0.05, causes, &["x'"]);
        graph.pairs.iter_mut().zip(p).for_each(|(pair, &p)| pair.p = p);
        graph.with_eta(0.05)
    }

    fn verdicts(graph: &CausalGraph) -> Vec<Verdict> {
        graph.pairs.iter().map(|pair| pair.verdict).collect()
    }

    #[test]
    fn eta_decides_unless_the_pair_was_given() {
        use Verdict::{Edge, None, Untestable};
        let mut graph = graph(&["a", "x", "y", "z", "w"], &[0.01, 0.2, 1.0, 0.9, 1e-9]);
        graph.pairs[2].reason = Some(Reason::Unclear);
        graph.pairs[3].given = Some(Given::Required);
        graph.pairs[4].given = Some(Given::Forbidden);
        let graph = graph.with_eta(0.05);
        assert_eq!(verdicts(&graph), [Edge, None, Untestable, Edge, None]);
        assert_eq!(graph.parents("x'"), ["a", "z"]);
        let wide = graph.clone().with_eta(0.3);
        assert_eq!(verdicts(&wide), [Edge, Edge, Untestable, Edge, None]);
        assert_eq!(wide.with_eta(0.05), graph);
    }

    #[test]
    fn an_edge_that_was_found_before_stays_one() {
        let causes = ["a", "b", "c"];
        let both = graph(&causes, &[0.9, 0.001, 0.9])
            .keeping_edges_of(&graph(&causes, &[0.01, 0.02, 0.4]));
        assert_eq!(both, graph(&causes, &[0.01, 0.001, 0.9]));
    }

    #[test]
    fn a_correction_makes_verdicts_stricter() {
        let graph = graph(&["a", "b", "c"], &[0.04, 0.5, 0.6]);
        assert_eq!(graph.matrix(), [[true, false, false]]);
        let corrected = graph.corrected();
        assert_eq!(corrected.matrix(), [[false, false, false]]);
        assert!((corrected.pairs[0].adjusted_p.unwrap_or(0.0) - 0.12).abs() < 1e-12);
    }

    #[test]
    fn a_correction_counts_a_pair_that_was_tested_and_not_one_that_was_not() {
        let with = |reason: Reason| {
            let mut graph = graph(&["a", "b"], &[0.03, 1.0]);
            graph.pairs[1].reason = Some(reason);
            graph.corrected().pairs[0].adjusted_p
        };
        assert_eq!(with(Reason::Unclear), Some(0.06));
        assert_eq!(with(Reason::Interrupted), Some(0.03));
    }

    #[test]
    fn a_graph_is_put_into_the_order_of_a_schema() {
        let schema = Schema::parse(
            "name = \"two\"\n[state]\nx = { kind = \"continuous\" }\ny = { kind = \"continuous\" }\n\
             [action]\na = { kind = \"boolean\" }\n",
        )
        .expect("a schema");
        let aligned = graph(&["a", "y"], &[0.01, 0.9]).for_schema(&schema).expect("its variables");
        assert_eq!(aligned.causes(), ["x", "y", "a"]);
        assert_eq!(aligned.effects(), ["x'", "y'"]);
        assert_eq!(aligned.parents("x'"), ["a"]);
        let missing = aligned.find("x", "x'").expect("every pair");
        assert_eq!(
            (missing.verdict, &missing.reason),
            (Verdict::Untestable, &Some(Reason::NotListed))
        );
        let error = graph(&["b", "y"], &[0.01, 0.9]).for_schema(&schema).expect_err("no b");
        assert!(error.to_string().contains("`b`"), "{error}");
    }
}

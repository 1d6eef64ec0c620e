//! The causal graph, with the evidence for every pair.

use super::student::benjamini_hochberg;
use super::verdict::TOO_FEW;

/// What is concluded about a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// It is an edge, whatever the data say.
    Required,
    /// It is none, whatever the data say.
    Forbidden,
}

/// A cause, an effect, and the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// A state or an action.
    pub cause: String,
    /// A next state, with its prime, or an outcome.
    pub effect: String,
    /// How probable such evidence is without any influence.
    pub p: f64,
    /// `p` corrected for the number of pairs, where that was asked for.
    pub adjusted_p: Option<f64>,
    /// From 0 to 1: of what the other inputs leave unexplained in the effect, the share that the
    /// cause explains.
    pub strength: f64,
    /// What is concluded.
    pub verdict: Verdict,
    /// Why the data cannot tell, unless they speak clearly. Stays when the threshold changes.
    pub reason: Option<String>,
    /// The cause may only stand for others: its help shrinks as more is learned.
    pub proxy: bool,
    /// The share of bootstrap samples in which this is an edge.
    pub confidence: Option<f64>,
    /// What was said about it beforehand.
    pub given: Option<Given>,
}

impl Pair {
    /// A pair without evidence yet.
    #[must_use]
    pub fn new(cause: &str, effect: &str) -> Self {
        Self {
            cause: cause.to_owned(),
            effect: effect.to_owned(),
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

    fn judge(&mut self, eta: f64) {
        self.verdict = match (self.given, &self.reason) {
            (Some(Given::Required), _) => Verdict::Edge,
            (Some(Given::Forbidden), _) => Verdict::None,
            _ if self.adjusted_p.unwrap_or(self.p) <= eta => Verdict::Edge,
            (None, Some(_)) => Verdict::Untestable,
            (None, None) => Verdict::None,
        };
    }
}

/// The graph under one value of the action: the causes are the states.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionGraph {
    /// The action variable.
    pub variable: String,
    /// Its value, a label.
    pub label: String,
    /// Every pair of a state and an effect.
    pub pairs: Vec<Pair>,
}

/// Which causes influence which effects, and how far that is known.
///
/// Holds *every* pair, effect by effect. The threshold eta is applied afterwards and can be changed:
///
/// ```
/// use becausal_discovery::{CausalGraph, Pair, Verdict};
/// let mut pair = Pair::new("x", "x'");
/// pair.p = 0.02;
/// let graph = CausalGraph::new("auto", 0.001, vec![pair]);
/// assert_eq!(graph.pairs[0].verdict, Verdict::None);
/// assert_eq!(graph.with_eta(0.05).pairs[0].verdict, Verdict::Edge);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CausalGraph {
    /// The name of the test.
    pub method: String,
    /// Pairs with a p-value of at most this are edges.
    pub eta: f64,
    /// Rows of the data.
    pub rows: usize,
    /// Episodes of the data.
    pub episodes: usize,
    /// Seed of all that was random.
    pub seed: u64,
    /// Whether p-values are corrected for the number of pairs.
    pub corrected: bool,
    /// Every pair, effect by effect.
    pub pairs: Vec<Pair>,
    /// The graph under each value of the action, where that was asked for.
    pub by_action: Vec<ActionGraph>,
}

impl CausalGraph {
    /// A graph with these pairs, judged by `eta`.
    #[must_use]
    pub fn new(method: &str, eta: f64, pairs: Vec<Pair>) -> Self {
        let graph = Self {
            method: method.to_owned(),
            eta,
            rows: 0,
            episodes: 0,
            seed: 0,
            corrected: false,
            pairs,
            by_action: Vec::new(),
        };
        graph.with_eta(eta)
    }

    /// The same evidence judged by another threshold; nothing is tested again.
    #[must_use]
    pub fn with_eta(mut self, eta: f64) -> Self {
        self.eta = eta;
        self.pairs.iter_mut().for_each(|pair| pair.judge(eta));
        for graph in &mut self.by_action {
            graph.pairs.iter_mut().for_each(|pair| pair.judge(eta));
        }
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

    /// The same graph with the edges that an earlier one of the same variables had and this one has
    /// not, and the evidence for them: what some data showed is not undone by data that do not show it.
    #[must_use]
    pub fn keeping_edges_of(mut self, earlier: &Self) -> Self {
        for pair in &mut self.pairs {
            let before = earlier.pair(&pair.cause, &pair.effect);
            if let Some(before) = before.filter(|before| before.verdict == Verdict::Edge)
                && pair.verdict != Verdict::Edge
            {
                pair.clone_from(before);
            }
        }
        self
    }

    /// The pair of these names.
    #[must_use]
    pub fn pair(&self, cause: &str, effect: &str) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.cause == cause && pair.effect == effect)
    }

    /// The causes, in order.
    #[must_use]
    pub fn causes(&self) -> Vec<&str> {
        distinct(self.pairs.iter().map(|pair| pair.cause.as_str()))
    }

    /// The effects, in order.
    #[must_use]
    pub fn effects(&self) -> Vec<&str> {
        distinct(self.pairs.iter().map(|pair| pair.effect.as_str()))
    }

    /// The causes of an effect: the pairs that are edges.
    #[must_use]
    pub fn parents(&self, effect: &str) -> Vec<&str> {
        let edges = self.pairs.iter().filter(|pair| pair.verdict == Verdict::Edge);
        edges.filter(|pair| pair.effect == effect).map(|pair| pair.cause.as_str()).collect()
    }

    /// The pairs that are edges.
    pub fn edges(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(|pair| pair.verdict == Verdict::Edge)
    }

    /// `[effects][causes]`: whether it is an edge.
    #[must_use]
    pub fn matrix(&self) -> Vec<Vec<bool>> {
        matrix(&self.pairs)
    }
}

impl ActionGraph {
    /// `[effects][states]`: whether it is an edge under this action.
    #[must_use]
    pub fn matrix(&self) -> Vec<Vec<bool>> {
        matrix(&self.pairs)
    }
}

/// Each name once, in the order of first appearance.
pub fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

fn matrix(pairs: &[Pair]) -> Vec<Vec<bool>> {
    let causes = distinct(pairs.iter().map(|pair| pair.cause.as_str()));
    let effects = distinct(pairs.iter().map(|pair| pair.effect.as_str()));
    let mut matrix = vec![vec![false; causes.len()]; effects.len()];
    for pair in pairs.iter().filter(|pair| pair.verdict == Verdict::Edge) {
        let place = |names: &[&str], name: &str| names.iter().position(|known| *known == name);
        if let (Some(effect), Some(cause)) =
            (place(&effects, &pair.effect), place(&causes, &pair.cause))
        {
            matrix[effect][cause] = true;
        }
    }
    matrix
}

fn correct(pairs: &mut [Pair]) {
    // A pair whose rows were too few was tested all the same, whatever came of it.
    let tested = |reason: &String| reason.starts_with(TOO_FEW);
    let counts = |pair: &Pair| {
        pair.given.is_none() && (pair.p < 1.0 || pair.reason.as_ref().is_none_or(tested))
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

    fn pair(cause: &str, effect: &str, p: f64) -> Pair {
        Pair { p, ..Pair::new(cause, effect) }
    }

    #[test]
    fn eta_decides_unless_the_pair_was_given() {
        let mut pairs = vec![pair("a", "x'", 0.01), pair("x", "x'", 0.2), pair("y", "x'", 1.0)];
        pairs[2].reason = Some("constant".into());
        let mut required = pair("z", "x'", 0.9);
        required.given = Some(Given::Required);
        let mut forbidden = pair("w", "x'", 1e-9);
        forbidden.given = Some(Given::Forbidden);
        pairs.extend([required, forbidden]);
        let graph = CausalGraph::new("auto", 0.05, pairs);
        let verdicts = |graph: &CausalGraph| -> Vec<&'static str> {
            graph.pairs.iter().map(|pair| pair.verdict.word()).collect()
        };
        assert_eq!(verdicts(&graph), ["edge", "none", "untestable", "edge", "none"]);
        assert_eq!(graph.parents("x'"), ["a", "z"]);
        let wide = graph.clone().with_eta(0.3);
        assert_eq!(verdicts(&wide), ["edge", "edge", "untestable", "edge", "none"]);
        assert_eq!(wide.with_eta(0.05), graph);
    }

    #[test]
    fn an_edge_that_was_found_before_stays_one() {
        let graph = |p: [f64; 3]| {
            let pairs = ["a", "b", "c"].iter().zip(p).map(|(cause, p)| pair(cause, "x'", p));
            CausalGraph::new("auto", 0.05, pairs.collect())
        };
        let both = graph([0.9, 0.001, 0.9]).keeping_edges_of(&graph([0.01, 0.02, 0.4]));
        assert_eq!(both, graph([0.01, 0.001, 0.9]));
    }

    #[test]
    fn a_correction_makes_verdicts_stricter() {
        let pairs = vec![pair("a", "x'", 0.04), pair("b", "x'", 0.5), pair("c", "x'", 0.6)];
        let graph = CausalGraph::new("auto", 0.05, pairs);
        assert_eq!(graph.matrix(), [[true, false, false]]);
        let corrected = graph.corrected();
        assert_eq!(corrected.matrix(), [[false, false, false]]);
        assert!((corrected.pairs[0].adjusted_p.unwrap_or(0.0) - 0.12).abs() < 1e-12);
    }
}

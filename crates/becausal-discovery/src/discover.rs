//! From transitions to a causal graph.

use super::auto::auto;
use super::bootstrap;
use super::by_action::{self, ByAction};
use super::error::DiscoveryError;
use super::fcit::fcit;
use super::finding::Findings;
use super::frame::{Factor, Frame};
use super::graph::{CausalGraph, CauseId, EffectId, Given, Pair};
use super::thresholds::Thresholds;
use super::verdict;
use becausal_core::data::Transitions;
use becausal_core::progress::{Listener, Tracker};
use becausal_core::schema::suggestion;

/// An independence test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Ours: cross-fitted prediction with and without the cause, valid p-values.
    #[default]
    Auto,
    /// The fast conditional independence test (FCIT) as published.
    Fcit,
}

impl Method {
    /// Its name on the command line and in `graph.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Fcit => "fcit",
        }
    }

    /// The test with this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        [Self::Auto, Self::Fcit].into_iter().find(|method| method.name() == name)
    }

    /// The threshold where none is given: the paper's for its own test; a strict one for ours,
    /// whose p-values are error rates of every single pair.
    #[must_use]
    pub fn default_eta(self) -> f64 {
        match self {
            Self::Auto => 0.001,
            Self::Fcit => 0.05,
        }
    }
}

/// How to discover.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DiscoverParams {
    /// The test.
    pub method: Method,
    /// Pairs with a p-value of at most this are edges; `None` for the method's own.
    pub eta: Option<f64>,
    /// Seed of all that is random.
    pub seed: u64,
    /// Edges that are there, whatever the data say: cause and effect.
    pub required: Vec<(String, String)>,
    /// Edges that are not there, whatever the data say.
    pub forbidden: Vec<(String, String)>,
    /// Whether and how to find the graph under each value of the action.
    pub by_action: Option<ByAction>,
    /// Bootstrap samples for the confidence of edges.
    pub bootstrap: usize,
    /// Correct p-values for the number of pairs (Benjamini and Hochberg).
    pub correct: bool,
    /// The numbers that decide what [`Method::Auto`] finds.
    pub thresholds: Thresholds,
    /// Who hears how far the work is, and may stop it.
    pub progress: Listener,
}

/// Finds the causal graph of recorded transitions.
///
/// When the listener stops the work, what is finished by then is kept; the rest is `untestable`
/// because it was interrupted. The same seed gives the same graph, on any number of threads.
///
/// # Errors
/// When there are no rows, or the parameters do not fit the data.
pub fn discover(
    transitions: &Transitions,
    params: &DiscoverParams,
) -> Result<CausalGraph, DiscoveryError> {
    if transitions.is_empty() {
        return Err(DiscoveryError::Empty);
    }
    let eta = params.eta.unwrap_or(params.method.default_eta());
    if !(0.0..=1.0).contains(&eta) {
        return Err(DiscoveryError::Eta(eta));
    }
    let frame = Frame::of(transitions, params.seed, params.thresholds);
    let given = given(&frame, params)?;
    if params.by_action.is_some() {
        by_action::action_values(&frame)?;
    }
    let edges = frame.inputs.len() * frame.outputs.len();
    let total = edges * (1 + params.bootstrap) + by_action::count(&frame, params.by_action);
    let watch = Tracker::new(&params.progress, "discover", "pairs", total);
    let everything = vec![(0..frame.inputs.len()).collect::<Vec<usize>>(); frame.outputs.len()];
    let findings = test(&frame, &everything, params, &watch);
    let mut graph = CausalGraph {
        rows: transitions.len(),
        episodes: transitions.episodes(),
        seed: params.seed,
        ..graph_of(params.method.name(), eta, &frame, &findings)
    };
    for (pair, given) in graph.pairs_mut().iter_mut().zip(given) {
        pair.given = given;
    }
    let mut graph = judge(graph, params);
    if let Some(way) = params.by_action {
        graph.by_action = by_action::graphs(&frame, &graph, way, params, &watch);
        graph = judge(graph, params);
    }
    if params.bootstrap > 0 {
        bootstrap::confidences(&mut graph, &frame, params, &watch);
    }
    Ok(graph)
}

/// Applies the correction, if wanted, and eta.
pub(super) fn judge(graph: CausalGraph, params: &DiscoverParams) -> CausalGraph {
    let eta = graph.eta;
    if params.correct { graph.corrected() } else { graph.with_eta(eta) }
}

/// Runs the method on the pairs allowed.
pub(super) fn test(
    frame: &Frame,
    allowed: &[Vec<usize>],
    params: &DiscoverParams,
    watch: &Tracker<'_>,
) -> Findings {
    if watch.is_stopped() {
        return Findings::interrupted(frame.inputs.len(), allowed);
    }
    match params.method {
        Method::Auto => auto(frame, allowed, watch),
        Method::Fcit => fcit(frame, allowed, params.seed, watch),
    }
}

/// The graph of a frame with what was found, not yet judged.
pub(super) fn graph_of(method: &str, eta: f64, frame: &Frame, findings: &Findings) -> CausalGraph {
    let names = |factors: &[Factor]| -> Vec<String> {
        factors.iter().map(|factor| factor.name.clone()).collect()
    };
    let mut graph = CausalGraph::new(method, eta, &names(&frame.inputs), &names(&frame.outputs));
    graph.pairs_mut().clone_from_slice(&pairs(frame, findings));
    let remembered = findings.remembered.iter().enumerate().filter(|(_, remembered)| **remembered);
    graph.hidden_state = remembered.map(|(output, _)| EffectId(output)).collect();
    if findings.valid {
        graph.min_strength = frame.thresholds.min_strength;
    }
    graph.with_eta(eta)
}

/// The pairs of a frame, effect by effect, with what was found.
pub(super) fn pairs(frame: &Frame, findings: &Findings) -> Vec<Pair> {
    let reasons = verdict::reasons(frame, findings);
    let mut pairs = Vec::with_capacity(frame.inputs.len() * frame.outputs.len());
    for (output, row) in findings.pairs.iter().enumerate() {
        for (input, finding) in row.iter().enumerate() {
            pairs.push(Pair {
                p: finding.gain.p,
                strength: finding.gain.strength,
                proxy: finding.proxy,
                reason: reasons[output][input].clone(),
                ..Pair::new(CauseId(input), EffectId(output))
            });
        }
    }
    pairs
}

/// What was said beforehand about each pair.
fn given(frame: &Frame, params: &DiscoverParams) -> Result<Vec<Option<Given>>, DiscoveryError> {
    let mut all = vec![None; frame.inputs.len() * frame.outputs.len()];
    let required = params.required.iter().map(|edge| (edge, Given::Required));
    let forbidden = params.forbidden.iter().map(|edge| (edge, Given::Forbidden));
    for ((cause, effect), given) in required.chain(forbidden) {
        let unknown = |what: &'static str, name: &str, factors: &[Factor]| {
            let names = factors.iter().map(|factor| factor.name.as_str());
            DiscoveryError::Edge {
                cause: cause.clone(),
                effect: effect.clone(),
                what,
                name: name.to_owned(),
                hint: suggestion(name, names),
            }
        };
        let input = frame
            .inputs
            .iter()
            .position(|factor| factor.name == *cause)
            .ok_or_else(|| unknown("cause", cause, &frame.inputs))?;
        let output = frame
            .outputs
            .iter()
            .position(|factor| factor.name == *effect)
            .ok_or_else(|| unknown("effect", effect, &frame.outputs))?;
        let place = &mut all[output * frame.inputs.len() + input];
        if place.is_some_and(|before| before != given) {
            return Err(DiscoveryError::Contradiction(format!("{cause} -> {effect}")));
        }
        *place = Some(given);
    }
    Ok(all)
}

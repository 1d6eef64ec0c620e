//! From transitions to a causal graph.

use std::ops::ControlFlow;

use super::auto::auto;
use super::bootstrap;
use super::by_action::{self, ByAction};
use super::error::DiscoveryError;
use super::fcit::fcit;
use super::finding::Findings;
use super::frame::{Factor, Frame};
use super::graph::{CausalGraph, Given, Pair};
use super::unfinished::{Stage, Unfinished};
use super::verdict;
use super::watch::{Listener, Watch};
use becausal_core::data::Transitions;
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
pub struct Options {
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
}

/// Finds the causal graph of recorded transitions.
///
/// `listener` hears of every step and may stop the work; what is finished by then is kept, the rest
/// is `untestable` for the reason that it was interrupted. The same seed gives the same graph, on any
/// number of threads.
///
/// # Errors
/// When there are no rows, or the options do not fit the data.
pub fn discover(
    transitions: &Transitions,
    options: &Options,
    listener: &Listener<'_>,
) -> Result<CausalGraph, DiscoveryError> {
    go_on(transitions, options, &Unfinished::default(), listener)
}

/// Finds the causal graph of recorded transitions, beginning with what was found before; what is
/// found now is added to it.
///
/// The graph is the one that [`discover`] would have found without being stopped.
///
/// # Errors
/// When there are no rows, or the options do not fit the data.
pub fn go_on(
    transitions: &Transitions,
    options: &Options,
    unfinished: &Unfinished,
    listener: &Listener<'_>,
) -> Result<CausalGraph, DiscoveryError> {
    if transitions.is_empty() {
        return Err(DiscoveryError::Empty);
    }
    let eta = options.eta.unwrap_or(options.method.default_eta());
    if !(0.0..=1.0).contains(&eta) {
        return Err(DiscoveryError::Eta(eta));
    }
    let frame = Frame::of(transitions, options.seed);
    let given = given(&frame, options)?;
    if options.by_action.is_some() {
        by_action::action_values(&frame)?;
    }
    let edges = frame.inputs.len() * frame.outputs.len();
    let total = edges * (1 + options.bootstrap) + by_action::count(&frame, options.by_action);
    let watch = Watch::new(listener, total);
    let everything = vec![(0..frame.inputs.len()).collect::<Vec<usize>>(); frame.outputs.len()];
    let findings = test(&frame, &everything, options, &watch, &unfinished.stage("all"));
    let mut graph = CausalGraph {
        rows: transitions.len(),
        episodes: transitions.episodes(),
        seed: options.seed,
        ..CausalGraph::new(options.method.name(), eta, pairs(&frame, &findings))
    };
    for (pair, given) in graph.pairs.iter_mut().zip(given) {
        pair.given = given;
    }
    let mut graph = judge(graph, options);
    if let Some(way) = options.by_action {
        graph.by_action = by_action::graphs(&frame, &graph, way, options, &watch, unfinished);
        graph = judge(graph, options);
    }
    if options.bootstrap > 0 {
        bootstrap::confidences(&mut graph, &frame, options, &watch, unfinished);
    }
    Ok(graph)
}

/// Finds the causal graph without telling anyone how far it is.
///
/// # Errors
/// When there are no rows, or the options do not fit the data.
pub fn discover_quietly(
    transitions: &Transitions,
    options: &Options,
) -> Result<CausalGraph, DiscoveryError> {
    discover(transitions, options, &|_| ControlFlow::Continue(()))
}

/// Applies the correction, if wanted, and eta.
pub(super) fn judge(graph: CausalGraph, options: &Options) -> CausalGraph {
    let eta = graph.eta;
    if options.correct { graph.corrected() } else { graph.with_eta(eta) }
}

/// Runs the method on the pairs allowed, unless this stage was finished before.
pub(super) fn test(
    frame: &Frame,
    allowed: &[Vec<usize>],
    options: &Options,
    watch: &Watch<'_>,
    stage: &Stage<'_>,
) -> Findings {
    if let Some(findings) = stage.findings(frame.outputs.len(), frame.inputs.len()) {
        let pairs = allowed.iter().map(Vec::len).sum::<usize>();
        let name = |factors: &[Factor]| factors.last().map_or("", |last| &last.name).to_owned();
        watch.advance(pairs as f64, &name(&frame.inputs), &name(&frame.outputs));
        return findings;
    }
    if watch.is_stopped() {
        return Findings::interrupted(frame.inputs.len(), allowed);
    }
    let findings = match options.method {
        Method::Auto => auto(frame, allowed, watch, stage),
        Method::Fcit => fcit(frame, allowed, options.seed, watch, stage),
    };
    if !watch.is_stopped() {
        stage.keep(&findings);
    }
    findings
}

/// The pairs of a frame, effect by effect, with what was found.
pub(super) fn pairs(frame: &Frame, findings: &Findings) -> Vec<Pair> {
    let reasons = verdict::reasons(frame, findings);
    let mut pairs = Vec::with_capacity(frame.inputs.len() * frame.outputs.len());
    for (output, effect) in frame.outputs.iter().enumerate() {
        for (input, cause) in frame.inputs.iter().enumerate() {
            let finding = &findings.pairs[output][input];
            pairs.push(Pair {
                p: finding.p,
                strength: finding.strength,
                proxy: finding.proxy,
                reason: reasons[output][input].clone(),
                ..Pair::new(&cause.name, &effect.name)
            });
        }
    }
    pairs
}

/// What was said beforehand about each pair.
fn given(frame: &Frame, options: &Options) -> Result<Vec<Option<Given>>, DiscoveryError> {
    let mut all = vec![None; frame.inputs.len() * frame.outputs.len()];
    let required = options.required.iter().map(|edge| (edge, Given::Required));
    let forbidden = options.forbidden.iter().map(|edge| (edge, Given::Forbidden));
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

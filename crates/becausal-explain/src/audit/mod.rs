//! How often explanations are right: ask *why not*, then try the other action in the environment.
//!
//! ```text
//! Played     episodes under the policy; states are drawn from their steps
//!   └ case   the explainer's answer about every other action, and what really follows
//!       └ findings   which claims hold: changes, directions, sizes, reward terms, best action, end
//!       └ unscored   what depends on how wide intervals are, which other episodes teach
//!           └ score  ratios of sums over the cases, with intervals over the episodes
//! ```
//!
//! Beside the explanations stand those who need no model: *everything* changes; *direct* effects of the
//! action only; the *twin*, the environment with other noise; the *reachable*, its rules with the noise
//! that data can teach, that of engines that ran then and now (hidden state counts among the rules, so data may teach less); and the *ideal*, its rules with
//! all noise that the record shows.

mod case;
mod draw;
mod findings;
mod group;
mod influence;
mod score;
mod seen_world;
mod track;
mod unscored;

pub use case::{AuditAnswer, AuditCase, Auditor};
pub use draw::{Place, Played};
pub use group::Group;
pub use score::{Measure, Score, Scores, Sums};
pub use track::{Track, TrackRecord};

use becausal_core::Policy;
use becausal_core::Transitions;
use becausal_core::env::Environment;
use becausal_core::progress::{Listener, Tracker};
use becausal_core::schema::{Role, Schema};
use becausal_core::trajectory::Trajectory;
use becausal_model::Dynamics;

use self::findings::{Findings, Source};
use self::group::groups;
use self::influence::{Influences, Substitutes, Voice};
use self::unscored::cross_fit;
use crate::ask::Ask;
use crate::calibration::{Calibration, Quantity};
use crate::chain::check_tau;
use crate::error::ExplainError;
use crate::scale::{NEGLIGIBLE, Scale};
use crate::tally::Tally;

/// Other actions in each state of the audit of the long run, at most. It only learns factors and shares, for which 100 states
/// with four actions each are plenty; with the 26 of two throttles it took three minutes of processor time.
const FAR_ACTIONS: usize = 4;

/// The parameters of an audit.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditParams {
    /// How many states to examine, each with all other actions: so many drawn evenly over the kinds of
    /// states, and as many drawn from all steps. One episode is played for each.
    pub states: usize,
    /// How many steps to compare.
    pub horizon: usize,
    /// How many steps half as many states are compared over in a second audit, to know how far answers about the long run
    /// can be trusted; `None` for no second audit.
    pub far: Option<usize>,
    /// The discount factor per step.
    pub discount: f64,
    /// The seed of everything random.
    pub seed: u64,
    /// A change counts when it is more than this share of the variable's standard deviation in the data.
    pub threshold: f64,
    /// The threshold of influences, from 0 to 1: only those above it count.
    pub tau: f64,
    /// The thresholds of the curve.
    pub thresholds: Vec<f64>,
    /// The maximum number of other actions to try in a state. If there are more, an evenly spaced
    /// selection is tried.
    pub most_actions: usize,
    /// The maximum number of steps of an episode that is played.
    pub longest_episode: usize,
    /// For every effect, whether it depends directly on the action, by the true graph; by that of the
    /// model if it is not known.
    pub direct: Option<Vec<bool>>,
    /// How the agent acts in the episodes asked about.
    pub acting: Acting,
    /// Receives the progress of the audit and may stop it.
    pub progress: Listener,
}

/// How an agent chooses among its actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Acting {
    /// Always the most likely action, as in the episodes of a report and of `explain`.
    #[default]
    MostLikely,
    /// Actions drawn from its policy, as a random policy acts.
    Sampled,
}

impl Default for AuditParams {
    fn default() -> Self {
        Self {
            states: 200,
            horizon: 5,
            far: None,
            discount: 1.0,
            seed: 0,
            threshold: NEGLIGIBLE,
            tau: Ask::default().tau,
            thresholds: vec![0.001, 0.003, 0.01, 0.03, 0.1, 0.3],
            most_actions: 16,
            longest_episode: 1000,
            direct: None,
            acting: Acting::MostLikely,
            progress: Listener::default(),
        }
    }
}

/// Precision and recall at one threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// The smallest change that counts, as a share of the variable's standard deviation.
    pub threshold: f64,
    /// The claims of the explanations.
    pub changes: Tally,
}

/// The scores of one source of claims.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// `explanations`, or a reference: `everything`, `direct`, `twin`, `reachable` or `ideal`. Of
    /// influences: `chains`, `attention`, `graph` or `everything`.
    pub name: &'static str,
    /// In states drawn evenly over their kinds.
    pub by_kind: Scores,
    /// In states drawn evenly from all steps.
    pub by_step: Scores,
}

/// How explanations compare with what happens in the environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// States examined, of each way to draw them.
    pub states: usize,
    /// Episodes that those drawn by kind come from.
    pub episodes: usize,
    /// Pairs of a state and another action, of states drawn by kind.
    pub cases: usize,
    /// Steps compared.
    pub horizon: usize,
    /// The smallest change that counts, as a share of the variable's standard deviation.
    pub threshold: f64,
    /// The explanations.
    pub explanations: Line,
    /// The same of all states, drawn in either way: intervals are as wide as both show that they have to be.
    pub all_cases: Scores,
    /// Those who need no model. The environment may have no twin and no ideal.
    pub references: Vec<Line>,
    /// What the explanations say about every effect, by name, in states drawn by kind.
    pub by_variable: Vec<(String, Scores)>,
    /// The explanations by the labels and flags of the state (`legs[0] = yes, legs[1] = no`), the most
    /// common first, of all states drawn. Empty where states have none.
    pub groups: Vec<Group>,
    /// Precision and recall at every threshold, in states drawn by kind.
    pub curve: Vec<CurvePoint>,
    /// How often a variable that is said to move another in a state really does: by the `chains`, the
    /// `attention` of the networks, the `graph`, and by saying so of `everything`. Empty where the
    /// environment cannot be put into a state.
    pub influences: Vec<Line>,
    /// How wide intervals have to be, by all cases: enough for states drawn by kind and for those drawn from all steps. The scores of a case are of intervals as wide as other episodes
    /// showed that they have to be.
    pub calibration: Calibration,
    /// The audit of the long run, if there was one.
    pub far: Option<Box<Audit>>,
}

impl Audit {
    /// A reference, by name.
    #[must_use]
    pub fn reference(&self, name: &str) -> Option<&Line> {
        self.references.iter().find(|line| line.name == name)
    }
}

/// Asks *why not* as a user would, and tries every other action in the environment.
///
/// Episodes are played under `policy`, and states are drawn from their steps. A clone of the environment
/// at that step shows what really follows from another action, with the same noise and the same rule for
/// the agent's later actions ([`Agent::act`]). Random streams are keyed by the case, so the result does not
/// depend on the number of threads. `data` gives the standard deviation of every variable.
///
/// [`Agent::act`]: super::Agent::act
///
/// # Errors
/// When the schemas differ, there is nothing to examine, or the listener stops the audit.
pub fn audit<E: Environment>(
    environment: &E,
    dynamics: &dyn Dynamics,
    policy: &dyn Policy,
    data: &Transitions,
    params: &AuditParams,
) -> Result<Audit, ExplainError> {
    let schema = environment.schema();
    for other in [dynamics.schema(), policy.schema(), data.schema()] {
        if other.variables() != schema.variables() {
            let (model, data) = (other.name().to_owned(), schema.name().to_owned());
            return Err(ExplainError::Schema { model, data });
        }
    }
    if data.is_empty() || params.states == 0 {
        return Err(ExplainError::Audit("expected at least one state and one row of data".into()));
    }
    if schema.rewards().is_empty() {
        return Err(ExplainError::Audit("the schema has no reward terms".into()));
    }
    check_tau(params.tau)?;
    let mut params = params.clone();
    if !params.thresholds.contains(&params.threshold) {
        params.thresholds.push(params.threshold);
        params.thresholds.sort_by(f64::total_cmp);
    }
    let scale = Scale::of(data);
    let states = schema.of_role(Role::State).count();
    let depends = |effect| dynamics.parents(effect).iter().any(|&cause| cause >= states);
    let of_model = || (0..scale.effects()).map(depends).collect::<Vec<bool>>();
    let direct = params.direct.clone().unwrap_or_else(of_model);
    if direct.len() != scale.effects() {
        return Err(ExplainError::Audit(format!(
            "direct effects for {} variables, expected {}",
            direct.len(),
            scale.effects()
        )));
    }
    let auditor = Auditor::new(dynamics, policy, &scale, &params)?;
    let played = Played::new(environment, policy, params.states, &params)?;
    let by_kind = played.by_kind(params.states, params.seed);
    let by_step = played.by_step(params.states, params.seed);
    let places: Vec<Place> = [by_kind, by_step].concat();
    let substitutes = Substitutes::of(dynamics, data);
    let influences = Influences {
        dynamics,
        substitutes: &substitutes,
        scale: &scale,
        threshold: params.threshold,
        tau: params.tau,
    };
    let tracker = Tracker::new(&params.progress, "audit", "states", places.len());
    let look = |case: u32, start: &E, record: &Trajectory| {
        let examined = auditor.examine(start, record, auditor.twin_seed(case))?;
        let influences = influences.examine(start, examined.moment.action())?;
        let findings = Findings::of(&examined, places[case as usize].episode, &direct, &auditor);
        Ok(Findings { influences, ..findings })
    };
    let mut findings = played.visit(environment, &places, params.horizon, &tracker, look)?;
    let (by_kind, by_step) = findings.split_at_mut(params.states);
    let calibration = cross_fit(&mut [by_kind, by_step], scale.effects());
    let near = summarize(by_kind, by_step, calibration, schema, &params);
    let Some(steps) = params.far.filter(|&steps| steps > params.horizon) else { return Ok(near) };
    let states = params.states.div_ceil(2);
    let most_actions = params.most_actions.min(FAR_ACTIONS);
    let params = AuditParams { horizon: steps, states, most_actions, far: None, ..params };
    let far = audit(environment, dynamics, policy, data, &params)?;
    let factor = far.calibration.known(Quantity::Reward);
    let calibration = near.calibration.clone().beyond(near.horizon, factor);
    let calibration = calibration.unwrap_or_else(|| near.calibration.clone());
    Ok(Audit { calibration, far: Some(Box::new(far)), ..near })
}

fn summarize(
    by_kind: &[Findings],
    by_step: &[Findings],
    calibration: Calibration,
    schema: &Schema,
    params: &AuditParams,
) -> Audit {
    let effects = schema.effects();
    let scores = |findings: &[Findings], sums: &dyn Fn(&Findings) -> Sums| {
        let cases: Vec<(usize, Sums)> =
            findings.iter().map(|found| (found.episode, sums(found))).collect();
        Scores::of(&cases, params.seed)
    };
    let line = |source: Source| {
        let sums = move |found: &Findings| found.sources[source as usize];
        let (by_kind, by_step) = (scores(by_kind, &sums), scores(by_step, &sums));
        Line { name: source.name(), by_kind, by_step }
    };
    let of_voice = |voice: Voice| {
        let scores = |findings: &[Findings]| {
            let cases: Vec<(usize, Sums)> = findings
                .iter()
                .filter_map(|found| Some((found.episode, found.influences?[voice as usize])))
                .collect();
            Scores::of(&cases, params.seed)
        };
        Line { name: voice.name(), by_kind: scores(by_kind), by_step: scores(by_step) }
    };
    let is_there = |line: &Line| Measure::ALL.iter().any(|&m| line.by_kind.get(m).is_some());
    let mut curve = vec![Tally::default(); params.thresholds.len()];
    for findings in by_kind {
        curve.iter_mut().zip(&findings.curve).for_each(|(sum, tally)| sum.add(*tally));
    }
    let points = params.thresholds.iter().zip(curve);
    let mut episodes: Vec<usize> = by_kind.iter().map(|found| found.episode).collect();
    episodes.sort_unstable();
    episodes.dedup();
    let of_variable = |(effect, name): (usize, &String)| {
        (name.clone(), scores(by_kind, &|found| found.variables[effect]))
    };
    Audit {
        states: by_kind.len(),
        episodes: episodes.len(),
        cases: by_kind.iter().map(|found| found.cases).sum(),
        horizon: params.horizon,
        threshold: params.threshold,
        explanations: line(Source::Explanations),
        all_cases: scores(&[by_kind, by_step].concat(), &|found| found.sources[0]),
        references: Source::ALL[1..].iter().map(|&source| line(source)).filter(is_there).collect(),
        by_variable: effects.iter().enumerate().map(of_variable).collect(),
        influences: Voice::ALL.into_iter().map(of_voice).filter(is_there).collect(),
        groups: groups(&[by_kind, by_step].concat(), schema, params.seed),
        calibration,
        far: None,
        curve: points.map(|(&threshold, changes)| CurvePoint { threshold, changes }).collect(),
    }
}

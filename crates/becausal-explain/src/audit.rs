//! How often explanations hold: *why not* is asked, and the other action replayed for real.

use rayon::prelude::*;

use super::audit_case::Auditor;
use super::audit_findings::{Difference, Findings};
use super::error::ExplainError;
use super::scale::{NEGLIGIBLE, Scale};
use super::tally::{Tally, share};
use becausal_core::Policy;
use becausal_core::Transitions;
use becausal_core::env::Environment;
use becausal_core::progress::{Listener, Tracker};
use becausal_model::Dynamics;

/// Choices about an audit.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditParams {
    /// How many states are examined, each with all other actions.
    pub states: usize,
    /// How many steps are compared.
    pub horizon: usize,
    /// The factor by which a reward counts less for every step that it comes later.
    pub discount: f64,
    /// Seed of all that is random.
    pub seed: u64,
    /// A change counts when it is at least this share of the variable's standard deviation in the data.
    pub threshold: f64,
    /// The thresholds of the curve.
    pub thresholds: Vec<f64>,
    /// Other actions tried in a state, at most; drawn at random where there are more.
    pub most_actions: usize,
    /// How far into an episode a state can lie.
    pub longest_walk: usize,
    /// How the agent acts in the episodes that are asked about.
    pub acting: Acting,
    /// Who hears how far the audit is, and may stop it.
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
            discount: 1.0,
            seed: 0,
            threshold: NEGLIGIBLE,
            thresholds: vec![0.001, 0.003, 0.01, 0.03, 0.1, 0.3],
            most_actions: 16,
            longest_walk: 200,
            acting: Acting::MostLikely,
            progress: Listener::default(),
        }
    }
}

/// Precision and recall when changes count from a threshold on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// The share of a variable's spread.
    pub threshold: f64,
    /// Claims of the explanations.
    pub changes: Tally,
}

/// An explainer without any model, for comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Trivial {
    /// `everything`: it claims that everything changes; `direct`: nothing but what the action itself
    /// acts on.
    pub name: &'static str,
    /// Its claims.
    pub changes: Tally,
    /// The share of reward differences whose sign it gets right, where it says anything about them.
    pub sign: Option<f64>,
}

/// How explanations compare with what really happens.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// States examined.
    pub states: usize,
    /// Pairs of a state and another action.
    pub cases: usize,
    /// The share of a variable's spread from which on a change counts.
    pub threshold: f64,
    /// Claims about what changes, over all cases, steps and variables.
    pub changes: Tally,
    /// The same over other thresholds.
    pub curve: Vec<CurvePoint>,
    /// The share of reward differences whose sign is right, of those that are not negligible.
    pub sign: f64,
    /// How many reward differences are not negligible.
    pub sign_cases: usize,
    /// The mean error of the reward difference as a share of its mean size.
    pub size_error: f64,
    /// The share of states in which the action said to be best is truly best (or as good).
    pub better_action: f64,
    /// How many states have actions that are not all alike.
    pub better_action_cases: usize,
    /// The share of cases that end in the right step, or not at all.
    pub ends: f64,
    /// Explainers without a model.
    pub trivial: Vec<Trivial>,
}

/// Asks *why not* as a user would, and replays every other action for real.
///
/// Each case plays an episode of its own under `policy`, stops at one of its steps, and asks the
/// explainer about every other action there. The environment, cloned at that step, shows what really
/// follows, with the same noise and the same rule for the agent's later actions ([`Agent::act`]).
/// All that is random is keyed by the case: the result does not depend on the number of threads.
/// `data` give the spread of every variable.
///
/// [`Agent::act`]: super::Agent::act
///
/// # Errors
/// When the parts do not belong together, there is nothing to examine, or the listener stops it.
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
    let mut params = params.clone();
    if !params.thresholds.contains(&params.threshold) {
        params.thresholds.push(params.threshold);
        params.thresholds.sort_by(f64::total_cmp);
    }
    let scale = Scale::of(data);
    let auditor = Auditor::new(dynamics, policy, &scale, &params)?;
    let count = u32::try_from(params.states).unwrap_or(u32::MAX);
    let tracker = Tracker::new(&params.progress, "audit", "states", params.states);
    // Environments need not be shared between threads: each case gets its own copy beforehand.
    let copies: Vec<(u32, E)> = (0..count).map(|case| (case, environment.clone())).collect();
    let found = copies
        .into_par_iter()
        .map(|(case, copy)| {
            if tracker.is_stopped() {
                return Err(ExplainError::Stopped);
            }
            let examined = auditor.examine(case, &copy)?;
            tracker.advance(1.0, "");
            Ok(Findings::of(&examined, &auditor))
        })
        .collect::<Result<Vec<Findings>, ExplainError>>()?;
    Ok(sum_up(&found, &scale, &params))
}

fn sum_up(found: &[Findings], scale: &Scale, params: &AuditParams) -> Audit {
    let mut curve = vec![[Tally::default(); 3]; params.thresholds.len()];
    for findings in found {
        for (sums, tallies) in curve.iter_mut().zip(&findings.changes) {
            for (sum, tally) in sums.iter_mut().zip(tallies) {
                sum.add(*tally);
            }
        }
    }
    let at = params.thresholds.iter().position(|&t| t == params.threshold).unwrap_or(0);
    let [changes, everything, direct] = curve[at];
    let differences: Vec<_> = found.iter().flat_map(|findings| &findings.differences).collect();
    let negligible = scale.reward(params.threshold);
    let clear: Vec<_> = differences.iter().filter(|d| d.real.abs() > negligible).collect();
    let signs = |claim: fn(&Difference) -> f64| {
        let right = clear.iter().filter(|d| claim(d) * d.real > 0.0).count();
        share(right, clear.len())
    };
    let size: f64 = differences.iter().map(|d| d.real.abs()).sum();
    let error: f64 = differences.iter().map(|d| (d.claimed - d.real).abs()).sum();
    let best: Vec<bool> = found.iter().filter_map(|findings| findings.best).collect();
    let lengths = found.iter().map(|findings| findings.right_lengths).sum();
    let points = params.thresholds.iter().zip(&curve);
    Audit {
        states: found.len(),
        cases: differences.len(),
        threshold: params.threshold,
        changes,
        curve: points
            .map(|(&threshold, tallies)| CurvePoint { threshold, changes: tallies[0] })
            .collect(),
        sign: signs(|d| d.claimed),
        sign_cases: clear.len(),
        size_error: if size > 0.0 { error / size } else { error },
        better_action: share(best.iter().filter(|&&right| right).count(), best.len()),
        better_action_cases: best.len(),
        ends: share(lengths, differences.len()),
        trivial: vec![
            Trivial { name: "everything", changes: everything, sign: None },
            Trivial { name: "direct", changes: direct, sign: Some(signs(|d| d.direct)) },
        ],
    }
}

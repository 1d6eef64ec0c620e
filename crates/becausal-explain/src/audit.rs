//! How often explanations are right: ask *why not*, then replay the other action in the environment.

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

/// The parameters of an audit.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditParams {
    /// How many states to examine, each with all other actions.
    pub states: usize,
    /// How many steps to compare.
    pub horizon: usize,
    /// The discount factor per step.
    pub discount: f64,
    /// The seed of everything random.
    pub seed: u64,
    /// A change counts when it is at least this share of the variable's standard deviation in the data.
    pub threshold: f64,
    /// The thresholds of the curve.
    pub thresholds: Vec<f64>,
    /// The maximum number of other actions to try in a state. If there are more, an evenly spaced
    /// selection is tried.
    pub most_actions: usize,
    /// The maximum number of steps from the start of an episode to the state examined.
    pub longest_walk: usize,
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

/// Precision and recall at one threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// The smallest change that counts, as a share of the variable's standard deviation.
    pub threshold: f64,
    /// The claims of the explanations.
    pub changes: Tally,
}

/// A baseline: an explainer without a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Trivial {
    /// `everything` claims that every variable changes; `direct` claims only the direct effects of the
    /// action.
    pub name: &'static str,
    /// Its claims.
    pub changes: Tally,
    /// The share of reward differences with the right sign; `None` if it makes no claim about them.
    pub sign: Option<f64>,
}

/// How explanations compare with what happens in the environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// States examined.
    pub states: usize,
    /// Pairs of a state and another action.
    pub cases: usize,
    /// The smallest change that counts, as a share of the variable's standard deviation.
    pub threshold: f64,
    /// Claims about what changes, over all cases, steps and variables.
    pub changes: Tally,
    /// The same at every threshold.
    pub curve: Vec<CurvePoint>,
    /// The share of non-negligible reward differences with the right sign.
    pub sign: f64,
    /// How many reward differences are not negligible.
    pub sign_cases: usize,
    /// The mean absolute error of the reward difference, divided by its mean absolute value.
    pub size_error: f64,
    /// The share of states in which the action ranked first is the best one, or as good.
    pub better_action: f64,
    /// How many states have actions with different returns.
    pub better_action_cases: usize,
    /// The share of cases in which the end of the episode is predicted correctly.
    pub ends: f64,
    /// The baselines.
    pub trivial: Vec<Trivial>,
}

/// Asks *why not* as a user would, and replays every other action in the environment.
///
/// Each case plays its own episode under `policy`, stops at one of its steps, and asks the explainer
/// about every other action there. A clone of the environment at that step shows what really follows,
/// with the same noise and the same rule for the agent's later actions ([`Agent::act`]). Random streams
/// are keyed by the case, so the result does not depend on the number of threads. `data` gives the
/// standard deviation of every variable.
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
    let mut params = params.clone();
    if !params.thresholds.contains(&params.threshold) {
        params.thresholds.push(params.threshold);
        params.thresholds.sort_by(f64::total_cmp);
    }
    let scale = Scale::of(data);
    let auditor = Auditor::new(dynamics, policy, &scale, &params)?;
    let count = u32::try_from(params.states).unwrap_or(u32::MAX);
    let tracker = Tracker::new(&params.progress, "audit", "states", params.states);
    // Environments may not be `Sync`, so each case gets its own copy beforehand.
    let copies: Vec<(u32, E)> = (0..count).map(|case| (case, environment.clone())).collect();
    let findings = copies
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
    Ok(summarize(&findings, &scale, &params))
}

fn summarize(all: &[Findings], scale: &Scale, params: &AuditParams) -> Audit {
    let mut curve = vec![[Tally::default(); 3]; params.thresholds.len()];
    for findings in all {
        for (sums, tallies) in curve.iter_mut().zip(&findings.changes) {
            for (sum, tally) in sums.iter_mut().zip(tallies) {
                sum.add(*tally);
            }
        }
    }
    let at = params.thresholds.iter().position(|&t| t == params.threshold).unwrap_or(0);
    let [changes, everything, direct] = curve[at];
    let differences: Vec<_> = all.iter().flat_map(|findings| &findings.differences).collect();
    let negligible = scale.reward(params.threshold);
    let clear: Vec<_> = differences.iter().filter(|d| d.real.abs() > negligible).collect();
    let signs = |claim: fn(&Difference) -> f64| {
        let right = clear.iter().filter(|d| claim(d) * d.real > 0.0).count();
        share(right, clear.len())
    };
    let size: f64 = differences.iter().map(|d| d.real.abs()).sum();
    let error: f64 = differences.iter().map(|d| (d.claimed - d.real).abs()).sum();
    let best: Vec<bool> = all.iter().filter_map(|findings| findings.best).collect();
    let lengths = all.iter().map(|findings| findings.right_lengths).sum();
    let points = params.thresholds.iter().zip(&curve);
    Audit {
        states: all.len(),
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

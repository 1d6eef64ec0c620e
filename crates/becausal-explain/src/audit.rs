//! How often explanations hold: counterfactuals replayed for real, with the same noise.

use rayon::prelude::*;

use super::audit_case::{Auditor, Findings};
use super::error::ExplainError;
use super::scale::Scale;
use super::tally::{Tally, share};
use crate::chain::check_horizon;
use becausal_core::Policy;
use becausal_core::Transitions;
use becausal_core::env::Environment;
use becausal_model::Dynamics;

/// Choices about an audit.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditOptions {
    /// How many states are examined, each with all other actions.
    pub states: usize,
    /// How many steps are compared.
    pub horizon: usize,
    /// The factor by which a reward counts less for every step that it comes later.
    pub discount: f64,
    /// Seed of all that is random.
    pub seed: u64,
    /// A change counts from this share of the variable's spread in the data on.
    pub threshold: f64,
    /// The thresholds of the curve.
    pub thresholds: Vec<f64>,
    /// Other actions tried in a state, at most; drawn at random where there are more.
    pub most_actions: usize,
    /// How far into an episode a state can lie.
    pub longest_walk: usize,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self {
            states: 200,
            horizon: 5,
            discount: 1.0,
            seed: 0,
            threshold: 0.01,
            thresholds: vec![0.001, 0.003, 0.01, 0.03, 0.1, 0.3],
            most_actions: 16,
            longest_walk: 200,
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

/// Replays counterfactuals for real and compares them with what the model says.
///
/// Each case walks into an episode of its own under `policy`, takes the policy's action there and
/// every other one, and goes on under the policy with the same draws in all worlds. All that is
/// random is keyed by the case: the result does not depend on the number of threads. `data` give the
/// spread of every variable.
///
/// # Errors
/// When the parts do not belong together or there is nothing to examine.
pub fn audit<E: Environment>(
    environment: &E,
    dynamics: &dyn Dynamics,
    policy: &dyn Policy,
    data: &Transitions,
    options: &AuditOptions,
) -> Result<Audit, ExplainError> {
    check_horizon(options.horizon)?;
    let schema = environment.schema();
    for other in [dynamics.schema(), policy.schema(), data.schema()] {
        if other.variables() != schema.variables() {
            let (model, data) = (other.name().to_owned(), schema.name().to_owned());
            return Err(ExplainError::Schema { model, data });
        }
    }
    if data.is_empty() || options.states == 0 {
        return Err(ExplainError::Audit("expected at least one state and one row of data".into()));
    }
    if schema.rewards().is_empty() {
        return Err(ExplainError::Audit("the schema has no reward terms".into()));
    }
    let mut options = options.clone();
    if !options.thresholds.contains(&options.threshold) {
        options.thresholds.push(options.threshold);
        options.thresholds.sort_by(f64::total_cmp);
    }
    let scale = Scale::of(data);
    let auditor = Auditor { dynamics, policy, scale: &scale, options: &options };
    let count = u32::try_from(options.states).unwrap_or(u32::MAX);
    let copies: Vec<(u32, E)> = (0..count).map(|case| (case, environment.clone())).collect();
    let found = copies
        .into_par_iter()
        .map(|(case, copy)| auditor.examine(case, &copy))
        .collect::<Result<Vec<Findings>, ExplainError>>()?;
    Ok(sum_up(&found, &scale, &options))
}

fn sum_up(found: &[Findings], scale: &Scale, options: &AuditOptions) -> Audit {
    let mut curve = vec![[Tally::default(); 3]; options.thresholds.len()];
    for findings in found {
        for (sums, tallies) in curve.iter_mut().zip(&findings.changes) {
            for (sum, tally) in sums.iter_mut().zip(tallies) {
                sum.add(*tally);
            }
        }
    }
    let at = options.thresholds.iter().position(|&t| t == options.threshold).unwrap_or(0);
    let [changes, everything, direct] = curve[at];
    let differences: Vec<_> = found.iter().flat_map(|findings| &findings.differences).collect();
    let negligible = scale.reward(options.threshold);
    let clear: Vec<_> = differences.iter().filter(|d| d.real.abs() > negligible).collect();
    let signs = |claim: fn(&super::audit_case::Difference) -> f64| {
        let right = clear.iter().filter(|d| claim(d) * d.real > 0.0).count();
        share(right, clear.len())
    };
    let size: f64 = differences.iter().map(|d| d.real.abs()).sum();
    let error: f64 = differences.iter().map(|d| (d.model - d.real).abs()).sum();
    let best: Vec<bool> = found.iter().filter_map(|findings| findings.best).collect();
    let lengths = found.iter().map(|findings| findings.right_lengths).sum();
    let points = options.thresholds.iter().zip(&curve);
    Audit {
        states: found.len(),
        cases: differences.len(),
        threshold: options.threshold,
        changes,
        curve: points
            .map(|(&threshold, tallies)| CurvePoint { threshold, changes: tallies[0] })
            .collect(),
        sign: signs(|d| d.model),
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

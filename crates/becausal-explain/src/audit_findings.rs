//! The findings of an audit case: which claims are right and which are wrong.

use becausal_core::trajectory::{Step, Trajectory};

use super::audit_case::{AuditCase, Auditor};
use super::tally::Tally;

/// Reward differences between the action taken and another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Difference {
    pub real: f64,
    /// Claimed by the explanation.
    pub claimed: f64,
    /// The difference in the first step alone.
    pub direct: f64,
}

/// The findings in one state.
#[derive(Debug, Clone, Default)]
pub(super) struct Findings {
    /// For every threshold, the claims of the explanations, of *everything changes*, and of *direct
    /// effects only*.
    pub changes: Vec<[Tally; 3]>,
    pub differences: Vec<Difference>,
    /// Whether the action ranked first is the best one; `None` if all actions are equally good.
    pub best: Option<bool>,
    /// The number of cases in which the length of the trajectory is predicted correctly.
    pub right_lengths: usize,
}

impl Findings {
    /// Compares the claims with what happened.
    pub fn of(case: &AuditCase, auditor: &Auditor<'_>) -> Self {
        let params = auditor.params;
        let mut findings = Self {
            changes: vec![[Tally::default(); 3]; params.thresholds.len()],
            ..Self::default()
        };
        let taken_return = case.moment.record().discounted(params.discount);
        let mut returns = vec![(taken_return, taken_return)];
        for (claimed, real) in &case.answers {
            let factual = &claimed.factual;
            let model = &claimed.counterfactual;
            findings.compare(auditor, factual, real, model);
            findings.right_lengths += usize::from(real.len() == model.len());
            let first = |trajectory: &Trajectory| -> f64 {
                trajectory.steps().first().map_or(0.0, |step| step.rewards.iter().sum())
            };
            let real_return = real.discounted(params.discount);
            let difference = claimed.credit.difference();
            findings.differences.push(Difference {
                real: taken_return - real_return,
                claimed: difference,
                direct: first(factual) - first(model),
            });
            returns.push((real_return, taken_return - difference));
        }
        findings.best = best(&returns, auditor.scale.reward(params.threshold));
        findings
    }

    /// Counts claims about every variable in every step that all three trajectories have.
    fn compare(
        &mut self,
        auditor: &Auditor<'_>,
        factual: &Trajectory,
        real: &Trajectory,
        model: &Trajectory,
    ) {
        let scale = auditor.scale;
        let states = factual.shape().states.len();
        let effects = |step: &Step| [&step.next[..], &step.outcomes].concat();
        let steps = factual.steps().iter().zip(real.steps()).zip(model.steps());
        for (number, ((factual, real), model)) in steps.enumerate() {
            let (factual, real, model) = (effects(factual), effects(real), effects(model));
            for effect in 0..scale.effects() {
                let direct = number == 0
                    && auditor.dynamics.parents(effect).iter().any(|&cause| cause >= states);
                let thresholds = auditor.params.thresholds.iter().zip(&mut self.changes);
                for (&share, tallies) in thresholds {
                    let changed = scale.differs(effect, &factual, &real, share);
                    let claimed = scale.differs(effect, &factual, &model, share);
                    for (tally, claim) in tallies.iter_mut().zip([claimed, true, direct]) {
                        tally.count(claim, changed);
                    }
                }
            }
        }
    }
}

/// Whether the action with the highest claimed return is the best one. `returns` are (real, claimed);
/// `None` if the real ones are all alike.
fn best(returns: &[(f64, f64)], negligible: f64) -> Option<bool> {
    let real = || returns.iter().map(|(real, _)| *real);
    let highest = real().fold(f64::NEG_INFINITY, f64::max);
    let lowest = real().fold(f64::INFINITY, f64::min);
    if highest - lowest <= negligible {
        return None;
    }
    let first = returns.iter().fold(None, |best: Option<(f64, f64)>, &this| match best {
        Some(best) if best.1 >= this.1 => Some(best),
        _ => Some(this),
    });
    first.map(|(real, _)| real >= highest - negligible)
}

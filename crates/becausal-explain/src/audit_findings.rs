//! What a case of an audit shows: claims that hold, and claims that do not.

use becausal_core::trajectory::{Step, Trajectory};

use super::audit_case::{AuditCase, Auditor};
use super::tally::Tally;

/// Reward differences between the action taken and another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Difference {
    pub real: f64,
    /// What the explanation says.
    pub claimed: f64,
    /// What the first step alone says.
    pub direct: f64,
}

/// What was found in one state.
#[derive(Debug, Clone, Default)]
pub(super) struct Findings {
    /// For every threshold: claims of the explanations, of *everything changes*, and of *direct effects only*.
    pub changes: Vec<[Tally; 3]>,
    pub differences: Vec<Difference>,
    /// Whether the action that the explanations rank first is truly best, where actions differ.
    pub best: Option<bool>,
    /// Cases in which the explanation lets the episode end in the right step.
    pub right_lengths: usize,
}

impl Findings {
    /// Compares what was said with what happened.
    pub fn of(case: &AuditCase, auditor: &Auditor<'_>) -> Self {
        let params = auditor.params;
        let mut findings = Self {
            changes: vec![[Tally::default(); 3]; params.thresholds.len()],
            ..Self::default()
        };
        let paid = case.moment.record().discounted(params.discount);
        let mut returns = vec![(paid, paid)];
        for (contrast, real) in &case.answers {
            let factual = contrast.factual.chain.trajectory();
            let model = contrast.counterfactual.chain.trajectory();
            findings.compare(auditor, factual, real, model);
            findings.right_lengths += usize::from(real.len() == model.len());
            let first = |world: &Trajectory| -> f64 {
                world.steps().first().map_or(0.0, |step| step.rewards.iter().sum())
            };
            let real_paid = real.discounted(params.discount);
            let claimed = contrast.credit.difference();
            findings.differences.push(Difference {
                real: paid - real_paid,
                claimed,
                direct: first(factual) - first(model),
            });
            returns.push((real_paid, paid - claimed));
        }
        findings.best = best(&returns, auditor.scale.reward(params.threshold));
        findings
    }

    /// Counts claims about every variable in every step that all three worlds have.
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
        let worlds = factual.steps().iter().zip(real.steps()).zip(model.steps());
        for (number, ((factual, real), model)) in worlds.enumerate() {
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

/// Whether the action that is ranked first is truly best, of (real, claimed) returns; `None` when all
/// are alike.
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

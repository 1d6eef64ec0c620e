//! One state of an audit: every other action is tried for real and in the model.

use std::sync::Arc;

use super::alternatives::alternatives;
use super::audit::AuditOptions;
use super::error::ExplainError;
use super::scale::Scale;
use super::tally::Tally;
use crate::chain::{Course, Step, Trajectory, simulate};
use becausal_core::Policy;
use becausal_core::env::Environment;
use becausal_core::{Schema, Stream};
use becausal_model::{Dynamics, Noise};

/// Who is audited, and against what.
pub(super) struct Auditor<'a> {
    pub dynamics: &'a dyn Dynamics,
    pub policy: &'a dyn Policy,
    pub scale: &'a Scale,
    pub options: &'a AuditOptions,
}

/// Reward differences between the action taken and another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Difference {
    pub real: f64,
    pub model: f64,
    pub direct: f64,
}

/// What was found in one state.
#[derive(Debug, Clone, Default)]
pub(super) struct Findings {
    /// For every threshold: what the model claims, everything, and the direct effects alone.
    pub changes: Vec<[Tally; 3]>,
    pub differences: Vec<Difference>,
    /// Whether the action that the model ranks first is truly best, where actions differ.
    pub best: Option<bool>,
    /// Cases in which the model lets the episode end in the right step.
    pub right_lengths: usize,
}

/// A course in the environment, and whether it was cut short from outside.
struct Life {
    course: Trajectory,
    cut: bool,
}

impl Auditor<'_> {
    /// Walks into an episode and tries every action in one of its states.
    pub fn examine<E: Environment>(
        &self,
        case: u32,
        environment: &E,
    ) -> Result<Findings, ExplainError> {
        let environment = self.walk(case, environment)?;
        let state = environment.state().to_vec();
        let taken = self.choose(case, 0, &state);
        let horizon = self.options.horizon;
        let factual = self.live(case, environment.clone(), &taken, horizon)?;
        let horizon = if factual.cut { factual.course.len() } else { horizon };
        let factual = factual.course;
        let mut stream = self.stream(case, &[3]);
        let schema = environment.schema();
        let mut findings = Findings {
            changes: vec![[Tally::default(); 3]; self.options.thresholds.len()],
            ..Findings::default()
        };
        let discount = self.options.discount;
        let paid = factual.discounted(discount);
        let mut returns = vec![(paid, paid)];
        for action in alternatives(schema, self.options.most_actions, &mut stream)? {
            if action == taken {
                continue;
            }
            let real = self.live(case, environment.clone(), &action, horizon)?.course;
            let model = self.imagine(case, &factual, &state, &action, horizon)?;
            self.compare(&factual, &real, &model, &mut findings);
            findings.right_lengths += usize::from(real.len() == model.len());
            let (real_paid, model_paid) = (real.discounted(discount), model.discounted(discount));
            let first = |world: &Trajectory| -> f64 {
                world.steps().first().map_or(0.0, |step| step.rewards.iter().sum())
            };
            findings.differences.push(Difference {
                real: paid - real_paid,
                model: paid - model_paid,
                direct: first(&factual) - first(&model),
            });
            returns.push((real_paid, model_paid));
        }
        findings.best = self.best(&returns);
        Ok(findings)
    }

    fn stream(&self, case: u32, key: &[u32]) -> Stream {
        Stream::keyed(self.options.seed, &[&[case], key].concat())
    }

    /// The action of a step: the same draw in every world.
    fn choose(&self, case: u32, step: usize, state: &[f64]) -> Vec<f64> {
        let step = u32::try_from(step).unwrap_or(u32::MAX);
        self.policy.sample(state, &mut self.stream(case, &[2, step]))
    }

    /// An episode up to a step drawn from all of its steps alike.
    fn walk<E: Environment>(&self, case: u32, environment: &E) -> Result<E, ExplainError> {
        let mut start = environment.clone();
        start.reset(self.stream(case, &[0]).next_u64());
        let begin = || self.stream(case, &[1]);
        let mut scout = start.clone();
        let mut draws = begin();
        let mut length = 0;
        while length < self.options.longest_walk {
            let action = self.policy.sample(scout.state(), &mut draws);
            let step = scout.step(&action)?;
            length += 1;
            if step.terminated || step.truncated {
                break;
            }
        }
        let mut draws = begin();
        for _ in 0..self.stream(case, &[4]).below(length.max(1)) {
            let action = self.policy.sample(start.state(), &mut draws);
            start.step(&action)?;
        }
        Ok(start)
    }

    /// What really follows.
    fn live<E: Environment>(
        &self,
        case: u32,
        mut environment: E,
        first: &[f64],
        horizon: usize,
    ) -> Result<Life, ExplainError> {
        let schema: Arc<Schema> = Arc::clone(environment.schema());
        let mut steps = Vec::new();
        let mut cut = false;
        for number in 0..horizon {
            let state = environment.state().to_vec();
            let action =
                if number == 0 { first.to_vec() } else { self.choose(case, number, &state) };
            let step = environment.step(&action)?;
            let parts = [&state[..], &action, step.outcomes, step.state];
            steps.push(Step::new(&schema, parts, Some(step.terminated)));
            cut = step.truncated && !step.terminated;
            if step.terminated || step.truncated {
                break;
            }
        }
        Ok(Life { course: Trajectory::new(schema, 0, steps)?, cut })
    }

    /// What the model says would follow under the noise of what happened.
    fn imagine(
        &self,
        case: u32,
        factual: &Trajectory,
        state: &[f64],
        action: &[f64],
        horizon: usize,
    ) -> Result<Trajectory, ExplainError> {
        let noise = |step: usize| match factual.steps().get(step) {
            Some(step) => {
                self.dynamics.noise(&step.state, &step.action, &step.outcomes, &step.next)
            }
            None => Noise::most_likely(),
        };
        let choose = |step: usize, state: &[f64]| {
            Some(if step == 0 { action.to_vec() } else { self.choose(case, step, state) })
        };
        let begun = Trajectory::new(Arc::clone(factual.schema()), 0, Vec::new())?;
        let course = Course { noise: &noise, action: &choose };
        Ok(simulate(self.dynamics, begun, state, horizon, &course)?)
    }

    /// Counts claims about every variable in every step that all three worlds have.
    fn compare(
        &self,
        factual: &Trajectory,
        real: &Trajectory,
        model: &Trajectory,
        findings: &mut Findings,
    ) {
        let states = factual.shape().states.len();
        let effects = |step: &Step| [&step.next[..], &step.outcomes].concat();
        let worlds = factual.steps().iter().zip(real.steps()).zip(model.steps());
        for (number, ((factual, real), model)) in worlds.enumerate() {
            let (factual, real, model) = (effects(factual), effects(real), effects(model));
            for effect in 0..self.scale.effects() {
                let direct = number == 0
                    && self.dynamics.parents(effect).iter().any(|&cause| cause >= states);
                for (&share, tallies) in self.options.thresholds.iter().zip(&mut findings.changes) {
                    let changed = self.scale.differs(effect, &factual, &real, share);
                    let claimed = self.scale.differs(effect, &factual, &model, share);
                    for (tally, claim) in tallies.iter_mut().zip([claimed, true, direct]) {
                        tally.count(claim, changed);
                    }
                }
            }
        }
    }

    /// Whether the action that the model ranks first is truly best; `None` when all are alike.
    fn best(&self, returns: &[(f64, f64)]) -> Option<bool> {
        let negligible = self.scale.reward(self.options.threshold);
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
}

//! `becausal-paper losses`: where do answers about another action lose the truth?
//!
//! The model plays the other course again, each time with one part of it replaced by what really happened. A part that
//! makes the answers much better is a part that the model gets wrong.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use becausal::env::{EnvironmentError, StepResult, World};
use becausal::explain::{AuditAnswer, AuditParams, Auditor, Scale};
use becausal::model::{Dynamics, Noise, Prediction};
use becausal::progress::Listener;
use becausal::trajectory::{Step, Trajectory};
use becausal::{Run, Schema};
use clap::Args;
use serde_json::json;

use crate::subset::{Subset, audited, beside_audit, printed};
use crate::{Common, Failure, progress};

/// Arguments of `becausal-paper losses`.
#[derive(Args)]
pub struct Arguments {
    /// The folder of a run with a policy, in a built-in environment
    run: PathBuf,
    /// States of the audit, as in `becausal audit`
    #[arg(long, value_name = "N", default_value = "200")]
    states: NonZeroUsize,
    /// The seed of the audit
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
}

/// What of the other course is true. The model predicts the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum True {
    /// Where every step begins; the model predicts each of them anew, so no error adds up.
    Starts,
    /// All of the first step.
    FirstStep,
    /// The numbers of the next state.
    Numbers,
    /// Its labels and flags.
    Labels,
    /// The outcomes.
    Outcomes,
}

/// Every part that is replaced, and its heading.
const PARTS: [(True, &str); 5] = [
    (True::Starts, "where each step begins"),
    (True::FirstStep, "the first step"),
    (True::Numbers, "numbers of the state"),
    (True::Labels, "labels of the state"),
    (True::Outcomes, "outcomes"),
];

pub fn run(common: &Common, arguments: &Arguments) -> Result<String, Failure> {
    let run = Run::open(&arguments.run)?;
    let subsets = measure(&run, arguments, &progress::lines(common.quiet))?;
    let Arguments { run, states, seed } = arguments;
    let words = "The lines explanations, twin, reachable and ideal are those of `becausal audit`. The others are \
                 explanations in which this part of the other course is what really happened.";
    Ok(printed(common, &subsets, json!({ "run": run, "states": states, "seed": seed }), words))
}

fn measure(run: &Run, arguments: &Arguments, progress: &Listener) -> Result<Vec<Subset>, Failure> {
    let (policy, _) = audited(run)?;
    let scale = Scale::of(run.data());
    let params = AuditParams {
        states: arguments.states.get(),
        seed: arguments.seed,
        progress: progress.clone(),
        ..AuditParams::default()
    };
    let auditor = Auditor::new(run.model(), policy, &scale, &params)?;
    beside_audit(run, (&auditor, &scale, &params), &PARTS.map(|(_, name)| name), |asked| {
        let record = asked.record;
        let noise = run.model().noises(&record.steps().iter().collect::<Vec<&Step>>());
        let of_part = |(part, _): &(True, &str)| {
            asked.sums(|AuditAnswer { real, .. }| {
                let mut world = MendedWorld::new(run.model(), &noise, real, *part);
                let course = auditor.play(&mut world, &real.steps()[0].action, record)?;
                Ok(Some(asked.earned(&course)))
            })
        };
        PARTS.iter().map(of_part).collect()
    })
}

/// The model as a world, with one part of the truth.
struct MendedWorld<'a> {
    model: &'a dyn Dynamics,
    noise: &'a [Noise],
    /// What really happened.
    real: &'a Trajectory,
    part: True,
    /// Steps made.
    made: usize,
    state: Vec<f64>,
    /// What the last step led to.
    result: Prediction,
}

impl<'a> MendedWorld<'a> {
    fn new(model: &'a dyn Dynamics, noise: &'a [Noise], real: &'a Trajectory, part: True) -> Self {
        let state = real.steps()[0].state.clone();
        let result = Prediction { outcomes: Vec::new(), next: state.clone() };
        Self { model, noise, real, part, made: 0, state, result }
    }
}

impl World for MendedWorld<'_> {
    fn schema(&self) -> &Arc<Schema> {
        self.model.schema()
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        let schema = Arc::clone(self.schema());
        let noise = self.noise.get(self.made).cloned().unwrap_or_default();
        let mut result = self.model.step(&self.state, action, &noise);
        // Nothing is known of steps after the real end.
        if let Some(truth) = self.real.steps().get(self.made) {
            let labels = schema.state_slots().map(|slot| schema.variable_of(slot).kind.is_label());
            for ((is_label, next), real) in labels.zip(&mut result.next).zip(&truth.next) {
                let part = if is_label { True::Labels } else { True::Numbers };
                if self.part == part || self.part == True::FirstStep && self.made == 0 {
                    *next = *real;
                }
            }
            if self.part == True::Outcomes || self.part == True::FirstStep && self.made == 0 {
                result.outcomes.clone_from(&truth.outcomes);
            }
        }
        let row = [&self.state[..], action, &result.outcomes, &result.next].concat();
        let reward = schema.rewards().iter().map(|term| term.expression.value(&row)).sum();
        let terminated = schema.termination().is_some_and(|when| when.value(&row) != 0.0);
        self.made += 1;
        let real = self.real.steps().get(self.made).filter(|_| self.part == True::Starts);
        self.state = real.map_or(&result.next, |step| &step.state).clone();
        self.result = result;
        Ok(StepResult {
            state: &self.result.next,
            outcomes: &self.result.outcomes,
            reward,
            terminated,
            truncated: false,
        })
    }

    fn is_real(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use becausal::env::{Options, find, record_at_random};
    use becausal::explain::Measure;
    use becausal::learn::ActorCritic;
    use becausal::{FitParams, Log, Stream, fit};

    use super::*;

    #[test]
    fn what_is_replaced_by_the_truth_is_no_longer_wrong() {
        let environment = find("AimTest-v0").expect("built in").make(&Options::default());
        let data = record_at_random(&environment.expect("built in"), 400, 1).expect("rows");
        let policy = ActorCritic::new(data.schema(), &[8], &mut Stream::new(3)).expect("a policy");
        // One step of the optimiser on 30 rows: a model that knows next to nothing.
        let params = FitParams::default().members(1).steps(1).policy(policy);
        let run = fit(&Log::new(data.slice(0..30), None), &params).expect("a run");
        let states = NonZeroUsize::new(30).expect("above 0");
        let arguments = Arguments { run: PathBuf::new(), states, seed: 5 };
        let measured = measure(&run, &arguments, &Listener::NOBODY).expect("scores");
        let of = |name: &str| {
            let line = measured[0].lines.iter().find(|(found, _)| *found == name);
            line.expect("this line").1.value(Measure::SizeError).expect("a score")
        };
        let claimed = of("explanations");
        assert!(claimed > 0.2, "the model is too good for this test: {claimed}");
        // The rewards read numbers of the state and nothing else.
        assert!(of("numbers of the state") < 1e-9);
        assert!(of("the first step") < claimed && of("the first step") > 1e-3);
        assert!((of("where each step begins") - claimed).abs() > 1e-3, "errors no longer add up");
        assert!((of("labels of the state") - claimed).abs() < 1e-9, "it has no labels");
        assert!((of("outcomes") - claimed).abs() < 1e-9, "it has no outcomes");
        assert_eq!(measured[0].lines.len(), measured[1].lines.len());
    }
}

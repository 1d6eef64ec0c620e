//! `becausal-paper losses`: where do answers about another action lose the truth?
//!
//! The model plays the other course again, each time with one part of it replaced by what really happened. A part that
//! makes the answers much better is a part that the model gets wrong.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use becausal::env::{AnyEnvironment, EnvironmentError, StepResult, World};
use becausal::explain::{AuditAnswer, AuditParams, Auditor, Played, Scale, Sums};
use becausal::model::{Dynamics, Noise, Prediction};
use becausal::progress::{Listener, Tracker};
use becausal::trajectory::{Step, Trajectory};
use becausal::{Run, Schema};
use clap::Args;
use serde_json::{Value, json};

use crate::subset::{Examined, REFERENCES, Subset, audited, both_draws, subsets, table};
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
    if common.json {
        let value = json!({
            "run": arguments.run,
            "states": arguments.states,
            "seed": arguments.seed,
            "subsets": subsets.iter().map(Subset::json).collect::<Vec<Value>>(),
        });
        return Ok(format!("{value}\n"));
    }
    Ok(format!(
        "{}The lines explanations, twin, reachable and ideal are those of `becausal audit`. The others are explanations in \
         which this part of the other course is what really happened. In brackets: 90 % intervals.\n",
        table(&subsets).lines(),
    ))
}

fn measure(run: &Run, arguments: &Arguments, progress: &Listener) -> Result<Vec<Subset>, Failure> {
    let (policy, environment) = audited(run)?;
    let scale = Scale::of(run.data());
    let params = AuditParams {
        states: arguments.states.get(),
        seed: arguments.seed,
        progress: progress.clone(),
        ..AuditParams::default()
    };
    let auditor = Auditor::new(run.model(), policy, &scale, &params)?;
    let played = Played::new(environment, policy, params.states, &params)?;
    let places = both_draws(&played, params.states, params.seed);
    let negligible = scale.reward(params.threshold);
    let tracker = Tracker::begin(progress, "audit", "states", places.len());
    let look = |number: u32, start: &AnyEnvironment, record: &Trajectory| {
        let case = auditor.examine(start, record, auditor.twin_seed(number))?;
        let noise = run.model().noises(&record.steps().iter().collect::<Vec<&Step>>());
        let earned = |course: &Trajectory| course.discounted(params.discount);
        let taken = earned(record);
        let scored = |said: &dyn Fn(&AuditAnswer) -> Option<f64>| {
            let difference = |answer| Some((taken - said(answer)?, taken - earned(&answer.real)));
            let differences: Option<Vec<(f64, f64)>> =
                case.answers.iter().map(difference).collect();
            Some(Sums::of_differences(&differences?, negligible))
        };
        let mut sums: Vec<Option<Sums>> = Vec::new();
        for (_, expected) in REFERENCES {
            sums.push(scored(&|answer| expected(answer).map(earned)));
        }
        for (part, _) in PARTS {
            let mut courses = Vec::new();
            for AuditAnswer { real, .. } in &case.answers {
                let mut world = MendedWorld::new(run.model(), &noise, real, part);
                courses.push(earned(&auditor.play(&mut world, &real.steps()[0].action, record)?));
            }
            let differences = courses.iter().zip(&case.answers);
            let differences: Vec<(f64, f64)> = differences
                .map(|(course, answer)| (taken - course, taken - earned(&answer.real)))
                .collect();
            sums.push(Some(Sums::of_differences(&differences, negligible)));
        }
        let episode = places[number as usize].episode;
        Ok(Examined::new(run.schema(), episode, case.moment.state(), sums))
    };
    let examined = played.visit(environment, &places, params.horizon, &tracker, look)?;
    policy.check()?;
    let names = REFERENCES.iter().map(|(name, _)| *name).chain(PARTS.map(|(_, name)| name));
    Ok(subsets(&names.collect::<Vec<&str>>(), &examined, &params))
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
    over: bool,
}

impl<'a> MendedWorld<'a> {
    fn new(model: &'a dyn Dynamics, noise: &'a [Noise], real: &'a Trajectory, part: True) -> Self {
        let state = real.steps()[0].state.clone();
        let result = Prediction { outcomes: Vec::new(), next: state.clone() };
        Self { model, noise, real, part, made: 0, state, result, over: false }
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
        self.over = schema.termination().is_some_and(|when| when.value(&row) != 0.0);
        self.made += 1;
        let real = self.real.steps().get(self.made).filter(|_| self.part == True::Starts);
        self.state = real.map_or(&result.next, |step| &step.state).clone();
        self.result = result;
        Ok(StepResult {
            state: &self.result.next,
            outcomes: &self.result.outcomes,
            reward,
            terminated: self.over,
            truncated: false,
        })
    }

    fn is_real(&self) -> bool {
        false
    }
}

//! `becausal-paper limits`: how right could anybody be about another action, from the record alone?
//!
//! Networks are told what no log holds: what other actions really would have earned, in many states of other episodes.
//! What they then get right in the states of an audit is in the record, so it can be known. What they get wrong may be
//! missing in the record or in the teaching, so they are a reference and not a bound.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;

use becausal::env::AnyEnvironment;
use becausal::explain::{AuditParams, Auditor, ExplainError, Place, Played, Scale};
use becausal::progress::{Listener, Tracker};
use becausal::trajectory::{Step, Trajectory};
use becausal::{Environment, Policy, Run, Schema, Stream};
use clap::Args;
use serde_json::json;

use crate::number::count;
use crate::subset::{Subset, audited, beside_audit, both_draws, printed};
use crate::taught::{Lesson, MEMBERS, Taught};
use crate::{Common, Failure, progress};

/// States taught per episode that is played for them.
const EPISODE_STATES: usize = 8;

/// One of so many episodes is held out, to choose when a network is best.
const HELD_OUT: usize = 10;

/// Arguments of `becausal-paper limits`.
#[derive(Args)]
pub struct Arguments {
    /// The folder of a run with a policy, in a built-in environment
    run: PathBuf,
    /// States in which the networks are told what every other action really earns
    #[arg(long, value_name = "N", default_value = "40000")]
    states: NonZeroUsize,
    /// States of the audit, as in `becausal audit`
    #[arg(long, value_name = "N", default_value = "200")]
    audit_states: NonZeroUsize,
    /// Recorded steps before the state that the networks read too
    #[arg(long, value_name = "N", default_value_t = 0)]
    past: usize,
    /// Training steps of each network
    #[arg(long, value_name = "N", default_value = "8000")]
    steps: NonZeroUsize,
    /// The seed of the audit; other episodes are taught
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
}

pub fn run(common: &Common, arguments: &Arguments) -> Result<String, Failure> {
    let run = Run::open(&arguments.run)?;
    let subsets = measure(&run, arguments, &progress::lines(common.quiet))?;
    let about = json!({
        "run": arguments.run,
        "states": arguments.states,
        "audit_states": arguments.audit_states,
        "past": arguments.past,
        "steps": arguments.steps,
        "seed": arguments.seed,
    });
    let words = format!(
        "Taught: {MEMBERS} networks that were told the true reward differences in {} states of other episodes. The \
         other lines are those of `becausal audit`.",
        count(arguments.states.get()),
    );
    Ok(printed(common, &subsets, about, &words))
}

/// Teaches networks and scores them beside the audit.
fn measure(run: &Run, arguments: &Arguments, progress: &Listener) -> Result<Vec<Subset>, Failure> {
    let (policy, environment) = audited(run)?;
    let scale = Scale::of(run.data());
    let params = AuditParams {
        states: arguments.audit_states.get(),
        seed: arguments.seed,
        progress: progress.clone(),
        ..AuditParams::default()
    };
    let auditor = Auditor::new(run.model(), policy, &scale, &params)?;
    let lessons = lessons(environment, policy, &auditor, &params, arguments)?;
    let taught = Taught::new(&lessons, arguments.steps.get(), params.seed, progress)?;

    beside_audit(run, (&auditor, &scale, &params), &["taught"], |asked| {
        let read = [params.horizon, arguments.past];
        let steps = read_steps(asked.played, asked.place, asked.record, read)?;
        let taken = asked.earned(asked.record);
        let said = asked.sums(|answer| {
            let other = &answer.real.steps()[0].action;
            Ok(Some(taken - taught.difference(&inputs(run.schema(), &steps, other))))
        })?;
        Ok(vec![said])
    })
}

/// The steps that the networks read about a place: those recorded from there on, then those before it, the last one
/// first. There is none after an end and before the beginning.
fn read_steps(
    played: &Played,
    place: Place,
    record: &Trajectory,
    [horizon, past]: [usize; 2],
) -> Result<Vec<Option<Step>>, ExplainError> {
    let count = past.min(place.step);
    let before = Trajectory::recorded(&played.steps, place.episode, place.step - count, count)?;
    let mut steps: Vec<Option<Step>> = record.steps().iter().cloned().map(Some).collect();
    steps.resize(horizon, None);
    steps.extend(before.steps().iter().rev().cloned().map(Some));
    steps.resize(horizon + past, None);
    Ok(steps)
}

/// What a network reads about another action: the steps, with zeros for those that there are not, the state, the action.
fn inputs(schema: &Schema, steps: &[Option<Step>], other: &[f64]) -> Vec<f64> {
    let mut row = Vec::new();
    let mut width = 0;
    for (at, step) in steps.iter().enumerate() {
        if let Some(step) = step {
            write_step(schema, step, &mut row);
            width = row.len() / (at + 1);
        }
        row.resize(width * (at + 1), 0.0);
    }
    if let Some(Some(first)) = steps.first() {
        encode(schema, schema.state_slots(), &first.state, &mut row);
    }
    encode(schema, schema.action_slots(), other, &mut row);
    row
}

/// Writes a recorded step.
fn write_step(schema: &Schema, step: &Step, row: &mut Vec<f64>) {
    encode(schema, schema.action_slots(), &step.action, row);
    encode(schema, schema.outcome_slots(), &step.outcomes, row);
    encode(schema, schema.state_slots(), &step.next, row);
    // The noise of a step is in what it changes, which is small beside the state.
    for (slot, (next, state)) in schema.state_slots().zip(step.next.iter().zip(&step.state)) {
        row.push(schema.variable_of(slot).kind.difference(*next, *state));
    }
    row.extend(&step.rewards);
    row.extend([1.0, f64::from(u8::from(step.terminated))]);
}

/// Writes values as numbers, and a label as one number for every label.
fn encode(schema: &Schema, slots: Range<usize>, values: &[f64], row: &mut Vec<f64>) {
    for (slot, &value) in slots.zip(values) {
        match schema.variable_of(slot).kind.labels() {
            [] => row.push(value),
            labels => {
                row.extend((0..labels.len()).map(|at| f64::from(u8::from(at as f64 == value))));
            }
        }
    }
}

/// Plays other episodes than the audit does, and every other action in states of them.
fn lessons(
    environment: &AnyEnvironment,
    policy: &dyn Policy,
    auditor: &Auditor<'_>,
    params: &AuditParams,
    arguments: &Arguments,
) -> Result<Vec<Lesson>, ExplainError> {
    // The first episodes of the audit's own seed are those of the audit.
    let seed = Stream::keyed(params.seed, &[u32::MAX, 7]).next_u64();
    let params = AuditParams { seed, ..params.clone() };
    let states = arguments.states.get();
    let episodes = states.div_ceil(EPISODE_STATES).max(2 * HELD_OUT);
    let played = Played::new(environment, policy, episodes, &params)?;
    let places = both_draws(&played, states.div_ceil(2), seed);
    let tracker = Tracker::begin(&params.progress, "try other actions", "states", places.len());
    let look = |number: u32, start: &AnyEnvironment, record: &Trajectory| {
        let place = places[number as usize];
        let steps = read_steps(&played, place, record, [params.horizon, arguments.past])?;
        let taken = record.discounted(params.discount);
        let lesson = |other: Vec<f64>| {
            let real = auditor.play(&mut start.clone(), &other, record)?;
            Ok(Lesson {
                inputs: inputs(start.schema(), &steps, &other),
                difference: taken - real.discounted(params.discount),
                held_out: place.episode.is_multiple_of(HELD_OUT),
            })
        };
        let others = auditor.others(start.schema(), &record.steps()[0].action)?;
        others.into_iter().map(lesson).collect::<Result<Vec<Lesson>, ExplainError>>()
    };
    let visited = played.visit(environment, &places, params.horizon, &tracker, look)?;
    Ok(visited.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use becausal::env::{Options, find, record_at_random};
    use becausal::explain::Measure;
    use becausal::learn::ActorCritic;
    use becausal::{FitParams, Log, ReadParams, fit};

    use super::*;
    use crate::subset::MEASURES;

    const ARGUMENTS: Arguments = Arguments {
        run: PathBuf::new(),
        states: NonZeroUsize::new(600).unwrap(),
        audit_states: NonZeroUsize::new(40).unwrap(),
        past: 1,
        steps: NonZeroUsize::new(300).unwrap(),
        seed: 5,
    };

    #[test]
    fn the_networks_learn_what_they_are_told_and_stand_beside_the_audit() {
        let environment = find("AimTest-v0").expect("built in").make(&Options::default());
        let data = record_at_random(&environment.expect("built in"), 400, 1).expect("rows");
        let policy = ActorCritic::new(data.schema(), &[8], &mut Stream::new(3)).expect("a policy");
        let params = FitParams::default().members(1).steps(10).policy(policy);
        let run = fit(&Log::new(data, None), &params).expect("a run");
        let measured = measure(&run, &ARGUMENTS, &Listener::NOBODY).expect("scores");
        let again = measure(&run, &ARGUMENTS, &Listener::NOBODY).expect("scores");
        let json = |subsets: &[Subset]| {
            subsets.iter().map(Subset::json).collect::<Vec<serde_json::Value>>()
        };
        assert_eq!(json(&measured), json(&again));

        let states = ARGUMENTS.audit_states.get();
        let params = AuditParams { states, seed: ARGUMENTS.seed, ..AuditParams::default() };
        let audit = run.audit(&params).expect("an audit");
        let of = |subset: &Subset, name: &str, measure: Measure| {
            let line = subset.lines.iter().find(|(found, _)| *found == name);
            line.expect("this line").1.value(measure).expect("a score")
        };
        for line in std::iter::once(&audit.explanations).chain(audit.reference("twin")) {
            for (measure, _) in MEASURES {
                for (subset, scores) in measured.iter().zip([&line.by_kind, &line.by_step]) {
                    let expected = scores.value(measure).expect("a score");
                    let found = of(subset, line.name, measure);
                    assert!((found - expected).abs() < 1e-9, "{}: {measure:?}", line.name);
                }
            }
        }
        // Nothing is hidden here, so what was told carries over to other episodes.
        let [taught, twin] = ["taught", "twin"].map(|name| of(&measured[0], name, Measure::Sign));
        assert!(taught > 0.95 && taught > twin, "{taught}, twin {twin}");
    }

    #[test]
    fn a_run_without_policy_or_environment_is_refused() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/greenhouse/");
        let schema = ReadParams::default().schema_file(format!("{folder}schema.toml"));
        let params = schema.expect("a schema").ignore("timestamp");
        let log = becausal::read(format!("{folder}log.csv"), &params).expect("a log");
        let run = fit(&log, &FitParams::default().members(1).steps(10)).expect("a run");
        let refused = |run: &Run| match measure(run, &ARGUMENTS, &Listener::NOBODY) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        assert!(refused(&run).contains("no policy"), "{}", refused(&run));
        let policy = ActorCritic::new(run.schema(), &[8], &mut Stream::new(3)).expect("a policy");
        let run = run.with_policy(Arc::new(policy)).expect("the same variables");
        assert!(refused(&run).contains("no environment"), "{}", refused(&run));
    }
}

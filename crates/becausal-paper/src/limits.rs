//! `becausal-paper limits`: how right could anybody be about another action, from the record alone?
//!
//! Networks are told what no log holds: what other actions really would have earned, in many states of other episodes.
//! What they then get right in the states of an audit is in the record, so it can be known. What they get wrong may be
//! missing in the record or in the teaching, so they are a reference and not a bound.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;

use becausal::data::{MAX_LABEL_GROUPS, label_slots, labels_text};
use becausal::env::AnyEnvironment;
use becausal::explain::{
    AuditAnswer, AuditParams, Auditor, ExplainError, Measure, Place, Played, Scale, Scores, Sums,
};
use becausal::progress::{Listener, Tracker};
use becausal::render::{Alignment, Table};
use becausal::trajectory::{Step, Trajectory};
use becausal::{Environment, Policy, Run, Schema, Stream};
use clap::Args;
use serde_json::{Value, json};

use crate::number::{count, percent};
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

/// A course that somebody expects after another action.
type Expected = fn(&AuditAnswer) -> Option<&Trajectory>;

/// Those of the audit who say what another action would have earned. The networks come after them.
const REFERENCES: [(&str, Expected); 4] = [
    ("explanations", |answer| Some(&answer.claimed.courses[1])),
    ("twin", |answer| answer.twin.as_ref()),
    ("reachable", |answer| answer.reachable.as_ref()),
    ("ideal", |answer| answer.ideal.as_ref()),
];

/// A state of the audit.
struct Examined {
    episode: usize,
    /// The labels and flags of the state, in words.
    labels: String,
    /// Of the references, then of the networks; `None` where the environment has no such reference.
    sums: Vec<Option<Sums>>,
}

/// The scores of some of the states.
struct Subset {
    name: String,
    states: usize,
    lines: Vec<(&'static str, Scores)>,
}

pub fn run(common: &Common, arguments: &Arguments) -> Result<String, Failure> {
    let run = Run::open(&arguments.run)?;
    let subsets = measure(&run, arguments, &progress::lines(common.quiet))?;
    if common.json {
        let value = json!({
            "run": arguments.run,
            "states": arguments.states,
            "audit_states": arguments.audit_states,
            "past": arguments.past,
            "steps": arguments.steps,
            "seed": arguments.seed,
            "subsets": subsets.iter().map(Subset::json).collect::<Vec<Value>>(),
        });
        return Ok(format!("{value}\n"));
    }
    Ok(format!(
        "{}Taught: {MEMBERS} networks that were told the true reward differences in {} states of other episodes. The \
         other lines are those of `becausal audit`. In brackets: 90 % intervals.\n",
        table(&subsets).lines(),
        count(arguments.states.get()),
    ))
}

/// Teaches networks and scores them beside the audit.
fn measure(run: &Run, arguments: &Arguments, progress: &Listener) -> Result<Vec<Subset>, Failure> {
    let policy = run.policy().ok_or(
        "the run has no policy, so there are no episodes to play: give a run of `becausal train`, or one that was \
         fitted with `--policy`",
    )?;
    let environment = run.environment().ok_or(
        "the run has no environment, so no other action can be tried: its transitions come from a file",
    )?;
    if run.schema().rewards().is_empty() {
        return Err("the schema has no reward terms, so no reward can differ".into());
    }
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

    let played = Played::new(environment, policy, params.states, &params)?;
    let places = both_draws(&played, params.states, params.seed);
    let negligible = scale.reward(params.threshold);
    let tracker = Tracker::begin(progress, "audit", "states", places.len());
    let look = |number: u32, start: &AnyEnvironment, record: &Trajectory| {
        let place = places[number as usize];
        let steps = read_steps(&played, place, record, [params.horizon, arguments.past])?;
        let case = auditor.examine(start, record, auditor.twin_seed(number))?;
        let earned = |course: &Trajectory| course.discounted(params.discount);
        let taken = earned(record);
        let score = |said: &dyn Fn(&AuditAnswer) -> Option<f64>| {
            let difference = |answer| Some((said(answer)?, taken - earned(&answer.real)));
            let differences: Option<Vec<(f64, f64)>> =
                case.answers.iter().map(difference).collect();
            Some(Sums::of_differences(&differences?, negligible))
        };
        let of_course = |(_, expected): &(&str, Expected)| {
            score(&|answer| Some(taken - earned(expected(answer)?)))
        };
        let mut sums: Vec<Option<Sums>> = REFERENCES.iter().map(of_course).collect();
        sums.push(score(&|answer| {
            let other = &answer.real.steps()[0].action;
            Some(taught.difference(&inputs(run.schema(), &steps, other)))
        }));
        let state = case.moment.state();
        let labels: Vec<f64> = label_slots(run.schema()).iter().map(|&slot| state[slot]).collect();
        let labels = labels_text(run.schema(), &labels);
        Ok(Examined { episode: place.episode, labels, sums })
    };
    let examined = played.visit(environment, &places, params.horizon, &tracker, look)?;
    policy.check()?;
    Ok(subsets(&examined, &params))
}

/// As many states drawn by kind as from all steps, in the order of an audit.
fn both_draws(played: &Played, states: usize, seed: u64) -> Vec<Place> {
    [played.by_kind(states, seed), played.by_step(states, seed)].concat()
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

/// The scores by draw, then by the labels of the state.
fn subsets(examined: &[Examined], params: &AuditParams) -> Vec<Subset> {
    let subset = |name: &str, states: &[&Examined]| {
        let line = |(at, name): (usize, &'static str)| {
            let sums = |state: &&Examined| Some((state.episode, state.sums[at]?));
            let sums = states.iter().map(sums).collect::<Option<Vec<(usize, Sums)>>>()?;
            Some((name, Scores::of(&sums, params.seed)))
        };
        let names = REFERENCES.iter().map(|(name, _)| *name).chain(["taught"]);
        let lines = names.enumerate().filter_map(line).collect();
        Subset { name: name.to_owned(), states: states.len(), lines }
    };
    let all: Vec<&Examined> = examined.iter().collect();
    let (by_kind, by_step) = all.split_at(params.states);
    let mut subsets = vec![subset("by kind", by_kind), subset("from all steps", by_step)];
    let mut groups: BTreeMap<&str, Vec<&Examined>> = BTreeMap::new();
    for state in examined {
        groups.entry(&state.labels).or_default().push(state);
    }
    if (2..=MAX_LABEL_GROUPS).contains(&groups.len()) {
        subsets.extend(groups.iter().map(|(name, states)| subset(name, states)));
    }
    subsets
}

/// What is scored, and its heading.
const MEASURES: [(Measure, &str); 3] =
    [(Measure::Sign, "sign"), (Measure::BestAction, "best action"), (Measure::SizeError, "error")];

impl Subset {
    fn json(&self) -> Value {
        let line = |(name, scores): &(&str, Scores)| {
            let mut value = json!({ "name": name });
            for (measure, _) in MEASURES {
                value[measure.key()] = scores.get(measure).map_or(Value::Null, |score| {
                    json!({ "value": score.value, "interval": score.interval, "whole": score.whole })
                });
            }
            value
        };
        let lines: Vec<Value> = self.lines.iter().map(line).collect();
        json!({ "name": self.name, "states": self.states, "lines": lines })
    }
}

fn table(subsets: &[Subset]) -> Table {
    let headings = [("states", Alignment::Left), ("", Alignment::Right), ("who", Alignment::Left)];
    let measures = MEASURES.map(|(_, heading)| (heading, Alignment::Left));
    let mut table = Table::new(headings.into_iter().chain(measures));
    for subset in subsets {
        for (at, (name, scores)) in subset.lines.iter().enumerate() {
            let (states, number) = match at {
                0 => (subset.name.clone(), count(subset.states)),
                _ => (String::new(), String::new()),
            };
            let mut cells = vec![states, number, (*name).to_owned()];
            cells.extend(MEASURES.map(|(measure, _)| {
                let Some(score) = scores.get(measure) else { return "-".to_owned() };
                let shown = |value: f64| {
                    if measure.is_share() {
                        format!("{value:.3}")
                    } else {
                        percent((1000.0 * value).round() / 1000.0)
                    }
                };
                let interval =
                    |[low, high]: [f64; 2]| format!(" ({} to {})", shown(low), shown(high));
                shown(score.value) + &score.interval.map(interval).unwrap_or_default()
            }));
            table.push(cells);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use becausal::env::{Options, find, record_at_random};
    use becausal::learn::ActorCritic;
    use becausal::{FitParams, Log, ReadParams, fit};

    use super::*;

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
        let json = |subsets: &[Subset]| subsets.iter().map(Subset::json).collect::<Vec<Value>>();
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

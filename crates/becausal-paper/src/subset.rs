//! States of an audit, and how right several are about them: in all, and apart for each kind of state.

use std::collections::BTreeMap;

use becausal::data::{MAX_LABEL_GROUPS, label_slots, labels_text};
use becausal::env::AnyEnvironment;
use becausal::explain::{
    AuditAnswer, AuditCase, AuditParams, Auditor, ExplainError, Measure, Place, Played, Scale,
    Scores, Sums,
};
use becausal::progress::Tracker;
use becausal::render::{Alignment, Table};
use becausal::trajectory::Trajectory;
use becausal::{Policy, Run, Schema};
use serde_json::{Value, json};

use crate::number::{count, percent};
use crate::{Common, Failure};

/// A course that somebody expects after another action; `None` where the environment has no such reference.
type Expected = fn(&AuditAnswer) -> Option<&Trajectory>;

/// Those of the audit who say what another action would have earned.
const REFERENCES: [(&str, Expected); 4] = [
    ("explanations", |answer| Some(&answer.claimed.courses[1])),
    ("twin", |answer| answer.twin.as_ref()),
    ("reachable", |answer| answer.reachable.as_ref()),
    ("ideal", |answer| answer.ideal.as_ref()),
];

/// What is scored, and its heading.
pub const MEASURES: [(Measure, &str); 3] =
    [(Measure::Sign, "sign"), (Measure::BestAction, "best action"), (Measure::SizeError, "error")];

/// How right each is about a state of the audit.
struct Examined {
    episode: usize,
    /// The labels and flags of the state, in words.
    labels: String,
    /// How right each is about it; `None` where somebody says nothing.
    sums: Vec<Option<Sums>>,
}

impl Examined {
    fn new(schema: &Schema, episode: usize, state: &[f64], sums: Vec<Option<Sums>>) -> Self {
        let labels: Vec<f64> = label_slots(schema).iter().map(|&slot| state[slot]).collect();
        Self { episode, labels: labels_text(schema, &labels), sums }
    }
}

/// The scores of some of the states.
pub struct Subset {
    name: String,
    states: usize,
    pub lines: Vec<(&'static str, Scores)>,
}

/// The policy and the environment of a run, for an audit of its reward differences.
///
/// # Errors
/// When one of them is missing, or there are no rewards.
pub fn audited(run: &Run) -> Result<(&dyn Policy, &AnyEnvironment), Failure> {
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
    Ok((policy, environment))
}

/// As many states drawn by kind as from all steps, in the order of an audit.
pub fn both_draws(played: &Played, states: usize, seed: u64) -> Vec<Place> {
    [played.by_kind(states, seed), played.by_step(states, seed)].concat()
}

/// A state of the audit, with what was asked there.
pub struct Asked<'a> {
    pub case: &'a AuditCase,
    /// What happened.
    pub record: &'a Trajectory,
    pub place: Place,
    pub played: &'a Played,
    params: &'a AuditParams,
    negligible: f64,
}

impl Asked<'_> {
    /// What a course earns.
    pub fn earned(&self, course: &Trajectory) -> f64 {
        course.discounted(self.params.discount)
    }

    /// How right somebody is who says what each other action earns; `None` where nothing is said.
    ///
    /// # Errors
    /// Those of `said`.
    pub fn sums(
        &self,
        said: impl Fn(&AuditAnswer) -> Result<Option<f64>, ExplainError>,
    ) -> Result<Option<Sums>, ExplainError> {
        let taken = self.earned(self.record);
        let mut differences = Vec::new();
        for answer in &self.case.answers {
            let Some(said) = said(answer)? else { return Ok(None) };
            differences.push((taken - said, taken - self.earned(&answer.real)));
        }
        Ok(Some(Sums::of_differences(&differences, self.negligible)))
    }
}

/// Audits a run, and scores others beside those of the audit: `names` are theirs, `look` has the sums of each of them in
/// a state.
///
/// # Errors
/// When the run cannot be audited, or `look` fails.
pub fn beside_audit(
    run: &Run,
    (auditor, scale, params): (&Auditor<'_>, &Scale, &AuditParams),
    names: &[&'static str],
    look: impl Fn(&Asked<'_>) -> Result<Vec<Option<Sums>>, ExplainError> + Sync,
) -> Result<Vec<Subset>, Failure> {
    let (policy, environment) = audited(run)?;
    let played = Played::new(environment, policy, params.states, params)?;
    let places = both_draws(&played, params.states, params.seed);
    let negligible = scale.reward(params.threshold);
    let tracker = Tracker::begin(&params.progress, "audit", "states", places.len());
    let examine = |number: u32, start: &AnyEnvironment, record: &Trajectory| {
        let (place, played) = (places[number as usize], &played);
        let case = &auditor.examine(start, record, auditor.twin_seed(number))?;
        let asked = Asked { case, record, place, played, params, negligible };
        let mut sums = Vec::new();
        for (_, expected) in REFERENCES {
            sums.push(
                asked.sums(|answer| Ok(expected(answer).map(|course| asked.earned(course))))?,
            );
        }
        sums.extend(look(&asked)?);
        Ok(Examined::new(run.schema(), place.episode, case.moment.state(), sums))
    };
    let examined = played.visit(environment, &places, params.horizon, &tracker, examine)?;
    policy.check()?;
    let names = REFERENCES.iter().map(|(name, _)| name).chain(names).copied();
    Ok(subsets(&names.collect::<Vec<&str>>(), &examined, params))
}

/// The scores by draw, then by the labels of the state. `names` are those whose sums the states have.
fn subsets(names: &[&'static str], examined: &[Examined], params: &AuditParams) -> Vec<Subset> {
    let subset = |name: &str, states: &[&Examined]| {
        let line = |(at, name): (usize, &&'static str)| {
            let sums = |state: &&Examined| Some((state.episode, state.sums[at]?));
            let sums = states.iter().map(sums).collect::<Option<Vec<(usize, Sums)>>>()?;
            Some((*name, Scores::of(&sums, params.seed)))
        };
        let lines = names.iter().enumerate().filter_map(line).collect();
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

/// The scores as text with some words below, or as JSON beside `arguments`.
pub fn printed(common: &Common, subsets: &[Subset], mut arguments: Value, words: &str) -> String {
    if common.json {
        arguments["subsets"] = subsets.iter().map(Subset::json).collect();
        return format!("{arguments}\n");
    }
    format!("{}{words} In brackets: 90 % intervals.\n", table(subsets).lines())
}

impl Subset {
    pub fn json(&self) -> Value {
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

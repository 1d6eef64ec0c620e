//! What a discovery has found so far, kept so that one that was stopped can go on.
//!
//! Work is kept by stage (all rows, the rows of one action, one bootstrap sample) and, within a
//! stage that is not finished, by part: what is found out about one target.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Map, Value, json};

use super::by_action::ByAction;
use super::discover::Options;
use super::error::DiscoveryError;
use super::finding::{Finding, Findings};
use becausal_core::data::Transitions;

/// What was found before a discovery was stopped.
///
/// Going on from it gives the graph that would have been found without the stop.
#[derive(Debug, Default)]
pub struct Unfinished {
    found: Mutex<BTreeMap<String, Value>>,
}

/// One stage of a discovery.
pub(super) struct Stage<'a> {
    of: &'a Unfinished,
    name: String,
}

impl Unfinished {
    /// Whether nothing is found yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found().is_empty()
    }

    /// The text of a file, with what identifies the data and the options.
    #[must_use]
    pub fn to_json(&self, transitions: &Transitions, options: &Options) -> String {
        let mut value = head(transitions, options);
        let found = self.found();
        value.insert("found".into(), json!(*found));
        format!("{}\n", Value::Object(value))
    }

    /// Reads the text of such a file.
    ///
    /// # Errors
    /// When it is not one, or is of other data or other options.
    pub fn from_json(
        text: &str,
        transitions: &Transitions,
        options: &Options,
    ) -> Result<Self, DiscoveryError> {
        let wrong = |what: &str| DiscoveryError::Resume(what.to_owned());
        let value: Value = serde_json::from_str(text).map_err(|error| {
            DiscoveryError::Resume(format!("not an unfinished discovery: {error}"))
        })?;
        let found = value.get("found").and_then(Value::as_object);
        let found = found.ok_or_else(|| wrong("not an unfinished discovery"))?;
        for (key, now) in head(transitions, options) {
            let before = value.get(&key).unwrap_or(&Value::Null);
            if *before != now {
                return Err(wrong(&match key.as_str() {
                    "data" => "the values of the data are others".to_owned(),
                    "schema" => "the schema is another one".to_owned(),
                    _ => format!("`{key}` was {before} and is {now}"),
                }));
            }
        }
        let found = found.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        Ok(Self { found: Mutex::new(found) })
    }

    pub(super) fn stage(&self, name: impl Into<String>) -> Stage<'_> {
        Stage { of: self, name: name.into() }
    }

    fn found(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Value>> {
        self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Stage<'_> {
    /// All that this stage finds about so many outputs and inputs, if it was finished. What does
    /// not fit is found anew: the file comes from outside.
    pub(super) fn findings(&self, outputs: usize, inputs: usize) -> Option<Findings> {
        let found = self.of.found();
        let value = found.get(&self.name)?;
        let pairs = value.get("pairs")?.as_array().filter(|pairs| pairs.len() == outputs)?;
        let unexplained = match value.get("unexplained")? {
            Value::Null => None,
            shares => {
                let shares = shares.as_array().filter(|shares| shares.len() == inputs)?;
                Some(shares.iter().map(Value::as_f64).collect::<Option<_>>()?)
            }
        };
        let read = |value: &Value| read_findings(value, inputs, inputs);
        Some(Findings {
            pairs: pairs.iter().map(read).collect::<Option<_>>()?,
            unexplained,
            valid: value.get("valid")?.as_bool()?,
        })
    }

    /// The stage is finished; its parts are needed no more.
    pub(super) fn keep(&self, findings: &Findings) {
        let pairs: Vec<Value> = findings.pairs.iter().map(|row| write_findings(row)).collect();
        let value = json!({
            "pairs": pairs,
            "unexplained": findings.unexplained,
            "valid": findings.valid,
        });
        let mut found = self.of.found();
        let parts = format!("{}/", self.name);
        found.retain(|key, _| !key.starts_with(&parts));
        found.insert(self.name.clone(), value);
    }

    /// What was found out about one target and so many of its possible causes, of all `inputs`,
    /// and the loss with all of them.
    pub(super) fn part(
        &self,
        number: usize,
        causes: usize,
        inputs: usize,
    ) -> Option<(Vec<Finding>, f64)> {
        let found = self.of.found();
        let value = found.get(&self.key(number))?;
        let findings = read_findings(value.get("findings")?, causes, inputs)?;
        Some((findings, value.get("loss")?.as_f64()?))
    }

    /// A target is finished.
    pub(super) fn keep_part(&self, number: usize, findings: &[Finding], loss: f64) {
        let value = json!({ "findings": write_findings(findings), "loss": loss });
        self.of.found().insert(self.key(number), value);
    }

    fn key(&self, number: usize) -> String {
        format!("{}/{number}", self.name)
    }
}

/// What must be the same.
fn head(transitions: &Transitions, options: &Options) -> Map<String, Value> {
    let schema = transitions.schema();
    let mut print = Fingerprint::new();
    schema.to_toml().bytes().for_each(|byte| print.add(u64::from(byte)));
    let schema_print = print.hex();
    for slot in 0..schema.slots().len() {
        for value in transitions.column(slot).to_numbers() {
            print.add(value.to_bits());
        }
    }
    for episode in 0..transitions.episodes() {
        print.add(transitions.episode(episode).start as u64);
    }
    let edges = |edges: &[(String, String)]| -> Vec<String> {
        edges.iter().map(|(cause, effect)| format!("{cause} -> {effect}")).collect()
    };
    let by_action = options.by_action.map(|way| match way {
        ByAction::Within => "within",
        ByAction::Direct => "direct",
    });
    let value = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "schema": schema_print,
        "rows": transitions.len(),
        "episodes": transitions.episodes(),
        "data": print.hex(),
        "method": options.method.name(),
        "eta": options.eta.unwrap_or(options.method.default_eta()),
        "seed": options.seed,
        "required": edges(&options.required),
        "forbidden": edges(&options.forbidden),
        "by_action": by_action,
        "bootstrap": options.bootstrap,
        "correct": options.correct,
    });
    let Value::Object(head) = value else { return Map::new() };
    head
}

/// A number by which other data are told apart.
struct Fingerprint(u64);

impl Fingerprint {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    }

    fn hex(&self) -> String {
        format!("{:016x}", self.0)
    }
}

fn write_findings(findings: &[Finding]) -> Value {
    findings.iter().map(Finding::to_json).collect()
}

/// `None` where there are not `count`, a number is missing, as one that is not finite would be, or
/// a copy is none of the inputs.
fn read_findings(value: &Value, count: usize, inputs: usize) -> Option<Vec<Finding>> {
    let findings = value.as_array().filter(|findings| findings.len() == count)?;
    let known = |finding: &Finding| finding.copy.is_none_or(|copy| copy < inputs);
    findings.iter().map(|value| Finding::from_json(value).filter(known)).collect()
}

//! `graph.json`: a graph as text, and back.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::DiscoveryError;
use super::graph::{ActionGraph, CausalGraph, Given, Pair, Verdict};
use super::reason::Reason;
use becausal_core::text::{shown, thousands};

/// A graph of at most this many pairs may list as few of them as it likes.
const MAX_SPARSE_PAIRS: usize = 250_000;

/// A larger graph has at most this many pairs for each that it lists: memory is bounded by the file.
const MAX_UNLISTED: usize = 8;

/// The file, but for the pairs.
#[derive(Serialize, Deserialize)]
struct Head {
    method: String,
    eta: f64,
    #[serde(default, skip_serializing_if = "is_zero")]
    min_strength: f64,
    #[serde(default)]
    rows: usize,
    #[serde(default)]
    episodes: usize,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    corrected: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hidden_state: Vec<String>,
}

/// The whole file.
#[derive(Deserialize)]
struct File {
    #[serde(flatten)]
    head: Head,
    edges: Vec<Value>,
    #[serde(default)]
    action_edges: Option<Vec<Value>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// One pair of the file: names instead of ids, and the fields of its reason beside the others.
#[derive(Serialize, Deserialize)]
struct Record {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    action: Option<BTreeMap<String, String>>,
    cause: String,
    effect: String,
    p: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    adjusted_p: Option<f64>,
    strength: f64,
    verdict: Verdict,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    proxy: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given: Option<Given>,
    #[serde(flatten)]
    reason: Map<String, Value>,
}

impl CausalGraph {
    /// The text of `graph.json`, one pair a line.
    #[must_use]
    pub fn to_json(&self) -> String {
        let head = Head {
            method: self.method.clone(),
            eta: self.eta,
            min_strength: self.min_strength,
            rows: self.rows,
            episodes: self.episodes,
            seed: self.seed,
            corrected: self.corrected,
            hidden_state: self.hidden_state.iter().map(|id| self.effect(*id).to_owned()).collect(),
        };
        let mut text = String::from("{\n");
        for (key, value) in value_of(&head).as_object().into_iter().flatten() {
            let _ = writeln!(text, "  \"{key}\": {value},");
        }
        let lines = |records: Vec<Record>| {
            let lines: Vec<String> =
                records.iter().map(|record| format!("    {}", value_of(record))).collect();
            lines.join(",\n")
        };
        let edges = self.pairs().iter().map(|pair| self.record(pair, None)).collect();
        let _ = write!(text, "  \"edges\": [\n{}\n  ]", lines(edges));
        if !self.by_action.is_empty() {
            let all = self.by_action.iter().flat_map(|graph| {
                let action = (self.cause(graph.action), graph.label.as_str());
                graph.pairs.iter().map(move |pair| self.record(pair, Some(action)))
            });
            let _ = write!(text, ",\n  \"action_edges\": [\n{}\n  ]", lines(all.collect()));
        }
        text.push_str("\n}\n");
        text
    }

    fn record(&self, pair: &Pair, action: Option<(&str, &str)>) -> Record {
        let reason = pair.reason.as_ref().map(|reason| {
            if let Reason::Words { words } = reason {
                // As earlier versions wrote it, and as people write it by hand.
                let fields = Map::from_iter([("reason".to_owned(), words.clone().into())]);
                // Unless the words are the name of a typed reason.
                if read_reason(&fields).as_ref() == Some(reason) {
                    return fields;
                }
            }
            value_of(reason).as_object().cloned().unwrap_or_default()
        });
        Record {
            action: action
                .map(|(name, label)| BTreeMap::from([(name.to_owned(), label.to_owned())])),
            cause: self.cause(pair.cause).to_owned(),
            effect: self.effect(pair.effect).to_owned(),
            p: pair.p,
            adjusted_p: pair.adjusted_p,
            strength: pair.strength,
            verdict: pair.verdict,
            proxy: pair.proxy,
            confidence: pair.confidence,
            given: pair.given,
            reason: reason.unwrap_or_default(),
        }
    }

    /// Reads the text of a `graph.json`. The verdicts are those of its evidence and eta.
    ///
    /// # Errors
    /// When it is not JSON, or something is missing, of the wrong kind, or out of range.
    pub fn from_json(text: &str) -> Result<Self, DiscoveryError> {
        let file: File = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let head = file.head;
        unit(Some(head.eta), "eta", "the graph")?;
        unit(Some(head.min_strength), "min_strength", "the graph")?;
        let records = read_records(&file.edges, "edge")?;
        let action_records = read_records(&file.action_edges.unwrap_or_default(), "action edge")?;
        let causes = distinct(records.iter().map(|record| record.cause.as_str()));
        let effects = distinct(records.iter().map(|record| record.effect.as_str()));
        let pairs = causes.len().saturating_mul(effects.len());
        if pairs > MAX_SPARSE_PAIRS && pairs / MAX_UNLISTED > records.len() {
            return Err(wrong(format!(
                "it lists {} of {} pairs of {} causes and {} effects: expected all of them, or most",
                thousands(records.len()),
                thousands(pairs),
                thousands(causes.len()),
                thousands(effects.len())
            )));
        }
        let mut graph = Self {
            rows: head.rows,
            episodes: head.episodes,
            seed: head.seed,
            corrected: head.corrected,
            min_strength: head.min_strength,
            hidden_state: effects
                .iter()
                .enumerate()
                .filter(|(_, name)| head.hidden_state.contains(name))
                .map(|(effect, _)| super::graph::EffectId(effect))
                .collect(),
            ..Self::new(&head.method, head.eta, &causes, &effects)
        };
        let ids = Ids { causes: &causes, effects: &effects };
        let mut known = BTreeSet::new();
        for pair in graph.pairs_mut() {
            pair.reason = Some(Reason::NotListed);
            pair.verdict = Verdict::Untestable;
        }
        for record in records {
            let pair = ids.pair(&record)?;
            if !known.insert((pair.cause, pair.effect)) {
                let (cause, effect) = (shown(&record.cause), shown(&record.effect));
                return Err(wrong(format!("`{cause} -> {effect}` is listed twice")));
            }
            let at = pair.effect.0 * causes.len() + pair.cause.0;
            graph.pairs_mut()[at] = pair;
        }
        graph.by_action = read_actions(action_records, &ids)?;
        let by_action = graph.by_action.iter().flat_map(|action| &action.pairs);
        let written: Vec<Verdict> =
            graph.pairs().iter().chain(by_action).map(|pair| pair.verdict).collect();
        let graph = graph.with_eta(head.eta);
        graph.refuse_other_verdicts(&written)?;
        Ok(graph)
    }

    /// Refuses a verdict that the evidence beside it does not give: somebody edited one of the two.
    fn refuse_other_verdicts(&self, written: &[Verdict]) -> Result<(), DiscoveryError> {
        let by_action = self.by_action.iter().flat_map(|action| &action.pairs);
        let mut pairs = self.pairs().iter().chain(by_action).zip(written);
        // Earlier versions called a pair an edge by its p-value alone.
        let was_edge = |pair: &Pair, written: Verdict| {
            written == Verdict::Edge && pair.reason.as_ref().is_some_and(Reason::overrides_p)
        };
        let is_other = |(pair, written): &(&Pair, &Verdict)| {
            pair.verdict != **written && !was_edge(pair, **written)
        };
        let other = pairs.find(is_other);
        let Some((pair, written)) = other else { return Ok(()) };
        let p = match pair.adjusted_p {
            Some(adjusted) => format!("adjusted_p {adjusted}"),
            None => format!("p {}", pair.p),
        };
        let reason = pair.reason.as_ref().map(value_of);
        let reason = reason.as_ref().and_then(|reason| reason["reason"].as_str());
        let reason = reason.map_or_else(String::new, |word| format!(", reason `{}`", shown(word)));
        let given = match pair.given {
            Some(Given::Required) => ", given `required`",
            Some(Given::Forbidden) => ", given `forbidden`",
            None => "",
        };
        Err(wrong(format!(
            "`{} -> {}` has the verdict `{}`, but its evidence ({p}, eta {}{reason}{given}) gives `{}`: \
             restore it, or say what is known with \"given\": \"required\" or \"forbidden\" beside \
             the verdict `edge` or `none`",
            shown(self.cause(pair.cause)),
            shown(self.effect(pair.effect)),
            written.word(),
            self.eta,
            pair.verdict.word(),
        )))
    }
}

/// Looks names up.
struct Ids<'a> {
    causes: &'a [String],
    effects: &'a [String],
}

impl Ids<'_> {
    fn cause(&self, name: &str) -> Result<super::graph::CauseId, DiscoveryError> {
        let found = self.causes.iter().position(|known| known == name);
        found
            .map(super::graph::CauseId)
            .ok_or_else(|| wrong(format!("`{}` is not among the causes in `edges`", shown(name))))
    }

    fn effect(&self, name: &str) -> Result<super::graph::EffectId, DiscoveryError> {
        let found = self.effects.iter().position(|known| known == name);
        found
            .map(super::graph::EffectId)
            .ok_or_else(|| wrong(format!("`{}` is not among the effects in `edges`", shown(name))))
    }

    fn pair(&self, record: &Record) -> Result<Pair, DiscoveryError> {
        let mut reason = read_reason(&record.reason);
        if record.verdict == Verdict::Untestable && reason.is_none() {
            // A graph written by hand may say no more than that.
            reason = Some(Reason::Words { words: "no reason is given".to_owned() });
        }
        Ok(Pair {
            cause: self.cause(&record.cause)?,
            effect: self.effect(&record.effect)?,
            p: record.p,
            adjusted_p: record.adjusted_p,
            strength: record.strength,
            verdict: record.verdict,
            reason,
            proxy: record.proxy,
            confidence: record.confidence,
            given: record.given,
        })
    }
}

/// The reason of a record: typed, or in words as earlier versions wrote it.
fn read_reason(fields: &Map<String, Value>) -> Option<Reason> {
    let words = fields.get("reason")?.as_str()?.to_owned();
    let typed = serde_json::from_value(Value::Object(fields.clone()));
    Some(typed.unwrap_or(Reason::Words { words }))
}

fn read_records(values: &[Value], noun: &str) -> Result<Vec<Record>, DiscoveryError> {
    let read = |(index, value): (usize, &Value)| {
        let place = format!("{noun} {}", index + 1);
        let record: Record = serde_json::from_value(value.clone())
            .map_err(|error| wrong(format!("{place}: {error}")))?;
        for (name, text) in [("cause", &record.cause), ("effect", &record.effect)] {
            if text.is_empty() {
                return Err(wrong(format!("{place}: `{name}` is empty, expected a name")));
            }
        }
        unit(Some(record.p), "p", &place)?;
        unit(Some(record.strength), "strength", &place)?;
        unit(record.adjusted_p, "adjusted_p", &place)?;
        unit(record.confidence, "confidence", &place)?;
        Ok(record)
    };
    values.iter().enumerate().map(read).collect()
}

fn read_actions(records: Vec<Record>, ids: &Ids<'_>) -> Result<Vec<ActionGraph>, DiscoveryError> {
    let mut graphs: Vec<ActionGraph> = Vec::new();
    for (index, mut record) in records.into_iter().enumerate() {
        let action = record.action.take().filter(|action| action.len() == 1);
        let Some((variable, label)) = action.and_then(|mut action| action.pop_first()) else {
            return Err(wrong(format!(
                "action edge {}: expected an `action` like {{\"build\": \"depot\"}}",
                index + 1
            )));
        };
        let (action, pair) = (ids.cause(&variable)?, ids.pair(&record)?);
        match graphs.iter_mut().find(|graph| graph.action == action && graph.label == label) {
            Some(graph) => graph.pairs.push(pair),
            None => graphs.push(ActionGraph { action, label, pairs: vec![pair] }),
        }
    }
    Ok(graphs)
}

/// Each name once, in the order of first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).map(str::to_owned).collect()
}

fn value_of(part: &impl Serialize) -> Value {
    serde_json::to_value(part).expect("plain fields become JSON")
}

fn wrong(message: String) -> DiscoveryError {
    DiscoveryError::Graph(message)
}

fn unit(number: Option<f64>, key: &str, place: &str) -> Result<(), DiscoveryError> {
    match number {
        Some(number) if !(0.0..=1.0).contains(&number) => {
            Err(wrong(format!("{place}: `{key}` is {number}, expected a number from 0 to 1")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::CauseId;
    use super::super::reason::RowGroup;
    use super::*;

    fn sample() -> CausalGraph {
        let mut graph = CausalGraph::new("auto", 0.05, &["x", "a", "y"], &["x'"]);
        graph.rows = 200;
        graph.episodes = 7;
        graph.seed = u64::MAX;
        let [first, second, third] = graph.pairs_mut() else { panic!("three pairs") };
        first.p = 1.25e-9;
        first.strength = 0.93;
        first.confidence = Some(0.95);
        first.proxy = true;
        let group = RowGroup::Value { of: "a".into(), value: "main".into() };
        second.reason = Some(Reason::Hint { rows: 40, group });
        third.given = Some(Given::Required);
        third.p = 0.3;
        let pairs = vec![first.clone()];
        graph.by_action.push(ActionGraph { action: CauseId(1), label: "depot".into(), pairs });
        graph.corrected()
    }

    #[test]
    fn a_graph_survives_its_file() {
        let graph = sample();
        let text = graph.to_json();
        assert_eq!(CausalGraph::from_json(&text), Ok(graph));
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["edges"][0]["cause"], "x");
        assert_eq!(value["edges"][0]["p"], 1.25e-9);
        assert_eq!(value["edges"][1]["verdict"], "untestable");
        assert_eq!(value["edges"][1]["reason"], "hint");
        assert_eq!(value["edges"][1]["rows"], 40);
        assert_eq!(value["action_edges"][0]["action"]["a"], "depot");
    }

    #[test]
    fn every_reason_survives_its_file() {
        let name = || "x".to_owned();
        let groups = [
            RowGroup::All,
            RowGroup::Largest { of: name() },
            RowGroup::Smallest { of: name() },
            RowGroup::Value { of: name(), value: "true".to_owned() },
        ];
        let mut reasons = vec![
            Reason::Interrupted,
            Reason::Constant { variable: name(), value: None },
            Reason::NeverVaried { variable: name(), value: Some("1".to_owned()) },
            Reason::FollowsState { variable: name() },
            Reason::FollowsOthers { variable: name() },
            Reason::Duplicate { of: name() },
            Reason::FewRows { rows: 3 },
            Reason::FewPieces,
            Reason::RarelyVaries { variable: name(), rows: 3 },
            Reason::Unclear,
            Reason::NeverChosen { label: name() },
            Reason::NetworksUse,
            Reason::NotListed,
            Reason::Words { words: "because".to_owned() },
            Reason::Words { words: "interrupted".to_owned() },
            Reason::Words { words: "hint".to_owned() },
        ];
        for group in groups {
            reasons.push(Reason::Hint { rows: 4, group: group.clone() });
            reasons.push(Reason::FewDecide { rows: 4, group, unexplained: Some(name()) });
        }
        for reason in reasons {
            let mut graph = sample();
            graph.by_action[0].pairs[0].reason = Some(reason.clone());
            graph.pairs_mut()[1].reason = Some(reason);
            let graph = graph.with_eta(0.05);
            assert_eq!(CausalGraph::from_json(&graph.to_json()), Ok(graph));
        }
    }

    #[test]
    fn a_reason_in_words_is_still_read_and_kept() {
        let words = "`a` is never varied by the policy (always 0)";
        let text = format!(
            "{{\"method\": \"auto\", \"eta\": 0.001, \"edges\": [{{\"cause\": \"a\", \"effect\": \"x'\", \
             \"p\": 1.0, \"strength\": 0.0, \"verdict\": \"untestable\", \"reason\": \"{words}\"}}]}}"
        );
        let graph = CausalGraph::from_json(&text).expect("a graph of an earlier version");
        assert_eq!(graph.pairs()[0].reason, Some(Reason::Words { words: words.to_owned() }));
        assert_eq!(graph.pairs()[0].verdict, Verdict::Untestable);
        assert_eq!(CausalGraph::from_json(&graph.to_json()), Ok(graph));
    }

    #[test]
    fn a_verdict_that_its_evidence_does_not_give_is_refused() {
        let text = sample().to_json();
        let cases = [
            // The first verdict of each kind is that of the pairs `x`, `a` and `y`.
            (
                "\"verdict\":\"untestable\"",
                "\"verdict\":\"edge\"",
                "reason `hint`) gives `untestable`",
            ),
            (
                "\"verdict\":\"edge\"",
                "\"verdict\":\"none\"",
                "`x -> x'` has the verdict `none`, but its",
            ),
            (
                "\"given\":\"required\"",
                "\"given\":\"forbidden\"",
                "given `forbidden`) gives `none`",
            ),
        ];
        for (old, new, words) in cases {
            let edited = text.replacen(old, new, 1);
            assert_ne!(edited, text, "{old}");
            let error = CausalGraph::from_json(&edited).expect_err("refused").to_string();
            assert!(error.contains(words), "{error}");
        }
        // What is known is honoured when it is said to be known.
        let known = text.replacen(
            "\"verdict\":\"untestable\"",
            "\"verdict\":\"edge\",\"given\":\"required\"",
            1,
        );
        let graph = CausalGraph::from_json(&known).expect("a graph");
        assert_eq!(graph.find("a", "x'").map(|pair| pair.verdict), Some(Verdict::Edge));
    }

    #[test]
    fn a_file_that_lists_few_of_very_many_pairs_is_refused() {
        let edge = |at: usize| {
            format!(
                "{{\"cause\":\"c{at}\",\"effect\":\"e{at}'\",\"p\":1.0,\"strength\":0.0,\"verdict\":\"none\"}}"
            )
        };
        let edges: Vec<String> = (0..5000).map(edge).collect();
        let text = format!("{{\"method\":\"auto\",\"eta\":0.1,\"edges\":[{}]}}", edges.join(","));
        let error = CausalGraph::from_json(&text).expect_err("refused").to_string();
        assert!(error.contains("it lists 5,000 of 25,000,000 pairs"), "{error}");
    }

    #[test]
    fn a_pair_that_the_file_does_not_list_is_untestable() {
        let text = sample().to_json();
        let without = text.replacen(
            "\"cause\":\"y\",\"effect\":\"x'\"",
            "\"cause\":\"y\",\"effect\":\"z'\"",
            1,
        );
        assert_ne!(without, text);
        let graph = CausalGraph::from_json(&without).expect("a graph");
        assert_eq!(graph.pairs().len(), 6);
        assert_eq!(graph.find("x", "z'").map(|pair| pair.verdict), Some(Verdict::Untestable));
    }

    #[test]
    fn a_broken_graph_is_refused_with_its_place() {
        let text = sample().to_json();
        let cases = [
            ("{", "", "not a causal graph: "),
            ("\"eta\": 0.05", "\"eta\": 2", "the graph: `eta` is 2, expected a number from 0 to 1"),
            ("1.25e-9", "null", "edge 1: invalid type: null, expected f64"),
            ("1.25e-9", "1.5", "edge 1: `p` is 1.5, expected a number from 0 to 1"),
            ("\"edge\"", "\"maybe\"", "edge 1: unknown variant `maybe`, expected one of `edge`"),
            ("\"cause\":\"a\"", "\"cause\":\"x\"", "`x -> x'` is listed twice"),
            ("\"edges\"", "\"edgs\"", "missing field `edges`"),
            ("\"rows\": 200", "\"rows\": -1", "invalid value: integer `-1`"),
            ("\"required\"", "\"wanted\"", "edge 3: unknown variant `wanted`"),
            ("{\"a\":\"depot\"}", "{}", "action edge 1: expected an `action` like"),
            ("{\"a\":\"depot\"}", "{\"b\":\"depot\"}", "`b` is not among the causes"),
        ];
        for (from, to, expected) in cases {
            let broken = text.replacen(from, to, 1);
            assert_ne!(broken, text, "{from}");
            let error = CausalGraph::from_json(&broken).expect_err(from).to_string();
            assert!(error.contains(expected), "{error}\n  expected {expected}");
        }
    }

    #[test]
    fn an_edge_of_an_earlier_version_whose_action_follows_from_the_state_is_read() {
        let mut graph = CausalGraph::new("auto", 0.001, &["x", "a"], &["x'"]);
        graph.pairs_mut()[1].p = 1e-9;
        graph.pairs_mut()[1].reason = Some(Reason::FollowsState { variable: "a".to_owned() });
        let text = graph.with_eta(0.001).to_json();
        let earlier = text.replacen("\"untestable\"", "\"edge\"", 1);
        assert_ne!(text, earlier);
        let graph = CausalGraph::from_json(&earlier).expect("a graph of an earlier version");
        assert_eq!(graph.pairs()[1].verdict, Verdict::Untestable);
    }
}

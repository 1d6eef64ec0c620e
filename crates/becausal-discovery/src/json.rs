//! `graph.json`: a graph as text, and back.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::error::DiscoveryError;
use super::graph::{ActionGraph, CausalGraph, Given, Pair};

impl CausalGraph {
    /// The text of `graph.json`, one pair a line.
    #[must_use]
    pub fn to_json(&self) -> String {
        let head = json!({
            "method": self.method,
            "eta": self.eta,
            "rows": self.rows,
            "episodes": self.episodes,
            "seed": self.seed,
            "corrected": self.corrected,
        });
        let lines = |pairs: Vec<Value>| {
            pairs.iter().map(|pair| format!("    {pair}")).collect::<Vec<_>>().join(",\n")
        };
        let mut text = String::from("{\n");
        for (key, value) in head.as_object().into_iter().flatten() {
            let _ = writeln!(text, "  \"{key}\": {value},");
        }
        let edges = lines(self.pairs.iter().map(|one| pair(one, None)).collect());
        let _ = write!(text, "  \"edges\": [\n{edges}\n  ]");
        if !self.by_action.is_empty() {
            let all = self.by_action.iter().flat_map(|graph| {
                graph.pairs.iter().map(|one| pair(one, Some((&graph.variable, &graph.label))))
            });
            let all = lines(all.collect());
            let _ = write!(text, ",\n  \"action_edges\": [\n{all}\n  ]");
        }
        text.push_str("\n}\n");
        text
    }

    /// Reads the text of a `graph.json`. The verdicts are those of its evidence and eta.
    ///
    /// # Errors
    /// When it is not JSON, or something is missing, of the wrong kind, or out of range.
    pub fn from_json(text: &str) -> Result<Self, DiscoveryError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| DiscoveryError::Graph(error.to_string()))?;
        let object = object(&value, "the file")?;
        let eta = unit(object, "eta", "the graph")?;
        let rows = list(object, "edges")?;
        let mut pairs: Vec<Pair> = Vec::with_capacity(rows.len());
        let mut known = std::collections::BTreeSet::new();
        for (index, value) in rows.iter().enumerate() {
            let pair = read_pair(value, &format!("edge {}", index + 1))?;
            if !known.insert((pair.cause.clone(), pair.effect.clone())) {
                let (cause, effect) = (&pair.cause, &pair.effect);
                return Err(wrong(format!("`{cause} -> {effect}` stands twice")));
            }
            pairs.push(pair);
        }
        let by_action = match object.get("action_edges") {
            None | Some(Value::Null) => Vec::new(),
            Some(_) => read_actions(list(object, "action_edges")?)?,
        };
        let graph = Self {
            method: string(object, "method", "the graph")?.to_owned(),
            eta,
            rows: count(object, "rows")?,
            episodes: count(object, "episodes")?,
            seed: object.get("seed").and_then(Value::as_u64).unwrap_or(0),
            corrected: object.get("corrected").and_then(Value::as_bool).unwrap_or(false),
            pairs,
            by_action,
        };
        Ok(graph.with_eta(eta))
    }
}

fn pair(pair: &Pair, action: Option<(&str, &str)>) -> Value {
    let mut value = Map::new();
    if let Some((variable, label)) = action {
        value.insert("action".into(), json!({ variable: label }));
    }
    value.insert("cause".into(), json!(pair.cause));
    value.insert("effect".into(), json!(pair.effect));
    value.insert("p".into(), json!(pair.p));
    if let Some(adjusted) = pair.adjusted_p {
        value.insert("adjusted_p".into(), json!(adjusted));
    }
    value.insert("strength".into(), json!(pair.strength));
    value.insert("verdict".into(), json!(pair.verdict.word()));
    if let Some(reason) = &pair.reason {
        value.insert("reason".into(), json!(reason));
    }
    if pair.proxy {
        value.insert("proxy".into(), json!(true));
    }
    if let Some(confidence) = pair.confidence {
        value.insert("confidence".into(), json!(confidence));
    }
    match pair.given {
        Some(Given::Required) => value.insert("given".into(), json!("required")),
        Some(Given::Forbidden) => value.insert("given".into(), json!("forbidden")),
        None => None,
    };
    Value::Object(value)
}

fn read_pair(value: &Value, place: &str) -> Result<Pair, DiscoveryError> {
    let object = object(value, place)?;
    let mut pair = Pair::new(string(object, "cause", place)?, string(object, "effect", place)?);
    pair.p = unit(object, "p", place)?;
    pair.strength = unit(object, "strength", place)?;
    let optional = |key: &str| match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => unit(object, key, place).map(Some),
    };
    pair.adjusted_p = optional("adjusted_p")?;
    pair.confidence = optional("confidence")?;
    pair.proxy = object.get("proxy").and_then(Value::as_bool).unwrap_or(false);
    pair.reason = object.get("reason").and_then(Value::as_str).map(str::to_owned);
    pair.given = match object.get("given").and_then(Value::as_str) {
        None => None,
        Some("required") => Some(Given::Required),
        Some("forbidden") => Some(Given::Forbidden),
        Some(other) => {
            return Err(wrong(format!(
                "{place}: `given` is \"{other}\", expected \"required\" or \"forbidden\""
            )));
        }
    };
    match string(object, "verdict", place)? {
        "edge" | "none" => {}
        // A graph written by hand may say no more than that.
        "untestable" => {
            pair.reason.get_or_insert_with(|| "no reason is given".into());
        }
        other => {
            return Err(wrong(format!(
                "{place}: the verdict is \"{other}\", expected \"edge\", \"none\" or \"untestable\""
            )));
        }
    }
    Ok(pair)
}

fn read_actions(rows: &[Value]) -> Result<Vec<ActionGraph>, DiscoveryError> {
    let mut graphs: Vec<ActionGraph> = Vec::new();
    for (index, value) in rows.iter().enumerate() {
        let place = format!("action edge {}", index + 1);
        let action = object(value, &place)?.get("action").and_then(Value::as_object);
        let one = action.filter(|action| action.len() == 1).and_then(|action| {
            action.iter().next().and_then(|(name, label)| Some((name, label.as_str()?)))
        });
        let Some((variable, label)) = one else {
            return Err(wrong(format!(
                "{place}: expected an `action` like {{\"build\": \"depot\"}}"
            )));
        };
        let pair = read_pair(value, &place)?;
        match graphs.iter_mut().find(|g| g.variable == *variable && g.label == label) {
            Some(graph) => graph.pairs.push(pair),
            None => graphs.push(ActionGraph {
                variable: variable.clone(),
                label: label.to_owned(),
                pairs: vec![pair],
            }),
        }
    }
    Ok(graphs)
}

fn wrong(message: String) -> DiscoveryError {
    DiscoveryError::Graph(message)
}

fn object<'a>(value: &'a Value, place: &str) -> Result<&'a Map<String, Value>, DiscoveryError> {
    value.as_object().ok_or_else(|| wrong(format!("{place}: expected an object")))
}

fn list<'a>(object: &'a Map<String, Value>, key: &str) -> Result<&'a [Value], DiscoveryError> {
    let found = object.get(key).and_then(Value::as_array);
    found.map(Vec::as_slice).ok_or_else(|| wrong(format!("expected a list `{key}`")))
}

fn string<'a>(
    object: &'a Map<String, Value>,
    key: &str,
    place: &str,
) -> Result<&'a str, DiscoveryError> {
    let found = object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    found.ok_or_else(|| wrong(format!("{place}: expected a text `{key}`")))
}

fn count(object: &Map<String, Value>, key: &str) -> Result<usize, DiscoveryError> {
    match object.get(key) {
        None => Ok(0),
        Some(value) => value
            .as_u64()
            .and_then(|count| usize::try_from(count).ok())
            .ok_or_else(|| wrong(format!("`{key}` is {value}, expected a count"))),
    }
}

fn unit(object: &Map<String, Value>, key: &str, place: &str) -> Result<f64, DiscoveryError> {
    let value = object.get(key).unwrap_or(&Value::Null);
    let number = value.as_f64().filter(|number| (0.0..=1.0).contains(number));
    number
        .ok_or_else(|| wrong(format!("{place}: `{key}` is {value}, expected a number from 0 to 1")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> CausalGraph {
        let mut first = Pair::new("x", "x'");
        first.p = 1.25e-9;
        first.strength = 0.93;
        first.confidence = Some(0.95);
        first.proxy = true;
        let mut second = Pair::new("a", "x'");
        second.reason = Some("`a` is never varied by the policy".into());
        let mut third = Pair::new("y", "x'");
        third.given = Some(Given::Required);
        third.p = 0.3;
        let mut graph = CausalGraph::new("auto", 0.05, vec![first.clone(), second, third]);
        graph.rows = 200;
        graph.episodes = 7;
        graph.seed = u64::MAX;
        let pairs = vec![first];
        graph.by_action.push(ActionGraph {
            variable: "build".into(),
            label: "depot".into(),
            pairs,
        });
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
        assert_eq!(value["action_edges"][0]["action"]["build"], "depot");
    }

    #[test]
    fn a_graph_that_is_none_is_refused_in_words() {
        let text = sample().to_json();
        let cases = [
            ("{", "", "not a causal graph: "),
            ("\"eta\": 0.05", "\"eta\": 2", "the graph: `eta` is 2, expected a number from 0 to 1"),
            ("1.25e-9", "null", "edge 1: `p` is null, expected a number from 0 to 1"),
            ("\"edge\"", "\"maybe\"", "edge 1: the verdict is \"maybe\", expected \"edge\""),
            ("\"cause\":\"a\"", "\"cause\":\"x\"", "`x -> x'` stands twice"),
            ("\"edges\"", "\"edgs\"", "expected a list `edges`"),
            ("\"rows\": 200", "\"rows\": -1", "`rows` is -1, expected a count"),
            ("\"required\"", "\"wanted\"", "edge 3: `given` is \"wanted\""),
            ("{\"build\":\"depot\"}", "7", "action edge 1: expected an `action` like"),
        ];
        for (from, to, expected) in cases {
            let broken = text.replacen(from, to, 1);
            assert_ne!(broken, text, "{from}");
            let error = CausalGraph::from_json(&broken).expect_err(from).to_string();
            assert!(error.contains(expected), "{error}\n  expected {expected}");
        }
    }
}

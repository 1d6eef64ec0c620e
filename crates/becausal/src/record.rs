//! How a run was made: one typed record, which is what `config.toml` is written from and read into.

use std::fmt::Write;
use std::path::Path;

use becausal_core::Preset;
use becausal_core::data::{Missing, Origin};
use becausal_core::text::is_control;
use becausal_discovery::Method;
use becausal_model::ModelKind;
use serde::{Deserialize, Serialize};
use toml_edit::{Document, Item};

use crate::recipe::Recipe;
use crate::run::TrainConfig;

/// The share of the rows that is held out unless something else is asked for.
pub(crate) const HELD_OUT: f64 = 0.1;

/// How a run was made.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// By [`fit`](crate::fit()).
    Fit(Box<FitRecord>),
    /// By [`train`](crate::train()).
    Train(Box<TrainConfig>),
}

/// How a run was fitted to a log.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an answer to another question")]
pub struct FitRecord {
    /// Whose way it was made.
    pub preset: Preset,
    /// The independence test; without meaning where a graph was given.
    pub method: Method,
    /// The file of the log; `None` where it was in memory.
    pub data: Option<String>,
    /// The schema file, or the id of an environment, where one was given.
    pub schema: Option<String>,
    /// Columns that were left out.
    pub ignore: Vec<String>,
    /// What became of cells that are empty or NaN.
    pub missing: Missing,
    /// The graph file, where one was given.
    pub graph: Option<String>,
    /// The other log that the model is scored on, where there is one.
    pub test: Option<String>,
    /// Where the policy of the agent was read from, where one was given.
    pub policy: Option<String>,
    /// The kind of networks.
    pub model: ModelKind,
    /// Networks in the ensemble.
    pub members: usize,
    /// Training steps of each network, at most.
    pub steps: usize,
    /// The threshold of edges, where one was given.
    pub eta: Option<f64>,
    /// The seed of all that was random.
    pub seed: u64,
    /// The share of the rows, in whole episodes, that is held out.
    pub held_out: f64,
    /// Whether episodes were held out before discovery; earlier versions discovered on all rows.
    pub held_out_first: bool,
    /// Whether stretches were held out of a log with few episodes.
    pub stretches: bool,
    /// Whether a graph was given, from a file or from memory.
    pub graph_given: bool,
    /// Whether another log was given to score on, from a file or from memory.
    pub test_given: bool,
    /// Whether a policy was given, from files or from memory.
    pub policy_given: bool,
    /// States in which other actions were tried afterwards ([`Run::try_others`](crate::Run::try_others)).
    pub tried: usize,
    /// The environment that was recorded, where the log says so.
    pub origin: Option<Origin>,
}

/// A [`FitRecord`] as its file has it.
#[derive(Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is an answer to another question")]
struct FitFile {
    command: String,
    /// Earlier versions had one preset and one test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preset: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ignore: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    graph: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    test: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
    model: String,
    members: usize,
    steps: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    eta: Option<f64>,
    seed: Seed,
    /// Earlier versions held a tenth out, after discovery, and did not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    stretches: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    graph_given: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    test_given: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    policy_given: bool,
    #[serde(default, skip_serializing_if = "is_none_tried")]
    tried: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none_tried(states: &usize) -> bool {
    *states == 0
}

/// Whole numbers of TOML have a sign: a large seed is text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Seed {
    Number(u64),
    Text(String),
}

impl Record {
    /// As the text of `config.toml`.
    #[must_use]
    pub fn to_toml(&self) -> String {
        match self {
            Self::Fit(record) => record.to_toml(),
            Self::Train(config) => config.to_toml(),
        }
    }

    /// From the text of `config.toml`.
    ///
    /// # Errors
    /// What is missing or wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let document = Document::parse(text).map_err(|error| error.to_string())?;
        match document.get("command").and_then(Item::as_str) {
            Some("fit") => FitRecord::parse(text).map(Box::new).map(Self::Fit),
            Some("train") => TrainConfig::parse(text).map(Box::new).map(Self::Train),
            Some(other) => Err(format!("`command` is \"{other}\", expected \"fit\" or \"train\"")),
            None => Err("`command` is missing, expected \"fit\" or \"train\"".to_owned()),
        }
    }
}

impl FitRecord {
    fn to_toml(&self) -> String {
        let file = FitFile {
            command: "fit".to_owned(),
            preset: Some(self.preset.name().to_owned()),
            method: Some(self.method.name().to_owned()),
            data: self.data.clone(),
            schema: self.schema.clone(),
            ignore: self.ignore.clone(),
            missing: (self.missing != Missing::Refuse).then(|| self.missing.to_string()),
            graph: self.graph.clone(),
            test: self.test.clone(),
            policy: self.policy.clone(),
            model: self.model.name().to_owned(),
            members: self.members,
            steps: self.steps,
            eta: self.eta,
            seed: match i64::try_from(self.seed) {
                Ok(_) => Seed::Number(self.seed),
                Err(_) => Seed::Text(self.seed.to_string()),
            },
            held_out: self.held_out_first.then_some(self.held_out),
            stretches: self.stretches,
            graph_given: self.graph_given,
            test_given: self.test_given,
            policy_given: self.policy_given,
            tried: self.tried,
        };
        let text = toml_edit::ser::to_string(&file).expect("plain fields become TOML");
        match &self.origin {
            Some(origin) => format!("{text}\n{}", origin.to_toml()),
            None => text,
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: FitFile = toml_edit::de::from_str(text).map_err(|error| error.to_string())?;
        let model = ModelKind::of(&file.model).ok_or_else(|| {
            format!("`model` is \"{}\", expected causal, full or mlp", file.model)
        })?;
        let seed = match file.seed {
            Seed::Number(seed) => seed,
            Seed::Text(text) => {
                text.parse().map_err(|_| format!("`seed` is {text:?}, expected a number"))?
            }
        };
        let preset = file.preset.map_or(Ok(Preset::Default), |name| {
            name.parse().map_err(|error| format!("`preset`: {error}"))
        })?;
        let method = file.method.map_or(Ok(Method::Auto), |name| {
            Method::of(&name).ok_or_else(|| format!("`method` is {name:?}, expected auto or fcit"))
        })?;
        let missing = file.missing.map_or(Ok(Missing::Refuse), |name| {
            name.parse().map_err(|error| format!("`missing`: {error}"))
        })?;
        Ok(Self {
            preset,
            method,
            missing,
            graph_given: file.graph_given || file.graph.is_some(),
            test_given: file.test_given || file.test.is_some(),
            policy_given: file.policy_given || file.policy.is_some(),
            data: file.data,
            schema: file.schema,
            ignore: file.ignore,
            graph: file.graph,
            test: file.test,
            policy: file.policy,
            model,
            members: file.members,
            steps: file.steps,
            eta: file.eta,
            seed,
            held_out: file.held_out.unwrap_or(HELD_OUT),
            held_out_first: file.held_out.is_some(),
            stretches: file.stretches,
            tried: file.tried,
            origin: Origin::parse(text),
        })
    }

    /// The command that makes the run; `None` where other actions were tried, the log, the graph, the policy or the other
    /// log was in memory, or another share of the rows was held out than the program holds out.
    #[must_use]
    pub fn command(&self, run: &Path) -> Option<String> {
        let in_memory = self.graph_given != self.graph.is_some()
            || self.test_given != self.test.is_some()
            || self.policy_given != self.policy.is_some();
        if in_memory || self.tried > 0 || (!self.test_given && self.held_out != HELD_OUT) {
            return None;
        }
        let mut command = format!("becausal fit {}", quoted_path(Path::new(self.data.as_ref()?)));
        let mut add = |flag: &str, value: &str| {
            // A value that begins with a dash would be taken for an option.
            let gap = if value.starts_with('-') { '=' } else { ' ' };
            let _ = write!(command, " --{flag}{gap}{}", quoted(value));
        };
        if let Some(schema) = &self.schema {
            add("schema", schema);
        }
        for column in &self.ignore {
            add("ignore", column);
        }
        if self.missing != Missing::Refuse {
            add("missing", self.missing.name());
        }
        if self.preset != Preset::Default {
            add("preset", self.preset.name());
        }
        if self.method != Recipe::of(self.preset).method {
            add("method", self.method.name());
        }
        if let Some(graph) = &self.graph {
            add("graph", graph);
        }
        if let Some(test) = &self.test {
            add("test", test);
        }
        if let Some(policy) = &self.policy {
            add("policy", policy);
        }
        if self.model != ModelKind::Causal {
            add("model", self.model.name());
        }
        add("members", &self.members.to_string());
        add("steps", &self.steps.to_string());
        if let Some(eta) = self.eta {
            add("eta", &eta.to_string());
        }
        if self.seed != 0 {
            add("seed", &self.seed.to_string());
        }
        let _ = write!(command, " -o {}", quoted_path(run));
        Some(command)
    }
}

/// A path as a shell and the program read it: one that begins with a dash is not taken for an option.
#[must_use]
pub fn quoted_path(path: &Path) -> String {
    let shown = path.display().to_string();
    if shown.starts_with('-') { quoted(&format!("./{shown}")) } else { quoted(&shown) }
}

/// An option of a command, with the space before it: ` --why-not depot`. A value may begin with a dash.
#[must_use]
pub fn option(name: &str, value: &str) -> String {
    let between = if value.starts_with('-') { "=" } else { " " };
    format!(" --{name}{between}{}", quoted(value))
}

/// A word as a shell reads it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./=,+:@%".contains(letter);
    if word.chars().any(is_control) {
        // Shells read this form too, and a terminal shows it as it is.
        let mut out = String::from("$'");
        for letter in word.chars() {
            match letter {
                '\'' | '\\' => out.extend(['\\', letter]),
                letter if is_control(letter) => {
                    for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                        let _ = write!(out, "\\x{byte:02x}");
                    }
                }
                letter => out.push(letter),
            }
        }
        out.push('\'');
        return out;
    }
    // Some shells take a leading = for the path of a command.
    if !word.is_empty() && !word.starts_with('=') && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> FitRecord {
        FitRecord {
            preset: Preset::Paper,
            method: Method::Auto,
            data: Some("my log.csv".to_owned()),
            schema: Some("schema.toml".to_owned()),
            ignore: vec!["timestamp".to_owned(), "it's".to_owned()],
            missing: Missing::Hold,
            graph: Some("graph.json".to_owned()),
            test: None,
            policy: Some("my agent".to_owned()),
            model: ModelKind::Full,
            members: 3,
            steps: 500,
            eta: Some(0.01),
            seed: u64::MAX,
            held_out: 0.1,
            held_out_first: true,
            stretches: true,
            graph_given: true,
            test_given: false,
            policy_given: true,
            tried: 0,
            origin: Some(Origin { environment: "CartPole-v1".to_owned(), ..Origin::default() }),
        }
    }

    #[test]
    fn a_record_survives_its_file() {
        let full = Record::Fit(Box::new(record()));
        assert_eq!(Record::parse(&full.to_toml()), Ok(full));
        let little = Record::Fit(Box::new(FitRecord {
            preset: Preset::Default,
            data: None,
            schema: None,
            ignore: Vec::new(),
            missing: Missing::Refuse,
            graph: None,
            graph_given: false,
            policy: None,
            eta: None,
            seed: 7,
            origin: None,
            ..record()
        }));
        assert_eq!(Record::parse(&little.to_toml()), Ok(little));
    }

    #[test]
    fn a_record_of_an_earlier_version_is_read() {
        let text = "command = \"fit\"\ndata = \"d.csv\"\nmodel = \"causal\"\nmembers = 5\nsteps = 2000\nseed = 3\n";
        let Ok(Record::Fit(record)) = Record::parse(text) else { panic!("a fit") };
        assert_eq!((record.seed, record.held_out, record.held_out_first), (3, 0.1, false));
        assert_eq!(
            record.command(Path::new("run")).as_deref(),
            Some("becausal fit d.csv --members 5 --steps 2000 --seed 3 -o run")
        );
    }

    #[test]
    fn a_command_names_everything_that_was_given_and_quotes_it() {
        let command = record().command(Path::new("my run")).expect("a command");
        assert_eq!(
            command,
            "becausal fit 'my log.csv' --schema schema.toml --ignore timestamp --ignore 'it'\\''s' \
             --missing hold --preset paper --method auto --graph graph.json --policy 'my agent' --model full --members 3 --steps 500 --eta 0.01 \
             --seed 18446744073709551615 -o 'my run'"
        );
    }

    #[test]
    fn words_are_quoted_as_a_shell_reads_them() {
        let cases = [
            ("run", "run"),
            ("my run", "'my run'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
            ("$(rm x)", "'$(rm x)'"),
            ("=ls", "'=ls'"),
            ("a\n\u{1b}b'c", "$'a\\x0a\\x1bb\\'c'"),
        ];
        for (word, text) in cases {
            assert_eq!(quoted(word), text);
        }
        assert_eq!(quoted_path(Path::new("-o")), "./-o");
        assert_eq!(quoted_path(Path::new("run")), "run");
    }

    #[test]
    fn there_is_no_command_for_what_was_in_memory() {
        let run = Path::new("run");
        assert!(record().command(run).is_some());
        assert_eq!(FitRecord { graph: None, ..record() }.command(run), None);
        assert_eq!(FitRecord { test_given: true, ..record() }.command(run), None);
        assert_eq!(FitRecord { policy: None, ..record() }.command(run), None);
        assert_eq!(FitRecord { held_out: 0.5, ..record() }.command(run), None);
    }

    #[test]
    fn what_is_no_record_is_refused_in_words() {
        for (text, words) in [
            ("command = \"fly\"", "`command` is \"fly\""),
            ("seed = 3", "`command` is missing"),
            ("command = \"fit\"\nmodel = \"causal\"", "missing field"),
            (
                "command = \"fit\"\nmethod = \"magic\"\nmodel = \"causal\"\nmembers = 5\nsteps = 9\nseed = 3\n",
                "`method` is \"magic\", expected auto or fcit",
            ),
            (
                "command = \"fit\"\npreset = \"papr\"\nmodel = \"causal\"\nmembers = 5\nsteps = 9\nseed = 3\n",
                "there is no preset `papr` (did you mean `paper`?)",
            ),
            ("command = ", "TOML parse error"),
        ] {
            let error = Record::parse(text).expect_err("refused");
            assert!(error.contains(words), "{error}");
        }
    }
}

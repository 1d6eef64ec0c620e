//! How to ask the same elsewhere: as a command, and in Python.

use std::fmt::Write;

use becausal::{Record, Run, option, quoted, quoted_path};

use crate::question::{Question, QuestionKind};

/// A question as a command and as a line of Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commands {
    /// `becausal explain …`.
    pub shell: String,
    /// `run.why(…)`.
    pub python: String,
}

impl Commands {
    /// The commands for a question.
    pub fn of(run: &Run, question: &Question) -> Self {
        Self { shell: shell(run, question), python: python(run, question) }
    }
}

fn folder(run: &Run) -> String {
    run.path().map_or_else(|| "run".to_owned(), quoted_path)
}

fn shell(run: &Run, question: &Question) -> String {
    let place = question.episode();
    let mut before = String::new();
    let which = match (place.seed, &place.actions) {
        (Some(seed), Some(actions)) => {
            before = replay(run, seed, actions);
            "--data by-hand.csv".to_owned()
        }
        (Some(seed), None) => format!("--episode-seed {seed}"),
        (None, _) => format!("--episode {}", place.episode.unwrap_or(0)),
    };
    let mut text =
        format!("{before}becausal explain {} {which} --step {}", folder(run), question.step);
    match question.kind() {
        QuestionKind::Why => {}
        QuestionKind::WhyNot => {
            text.extend(question.action.iter().map(|action| option("why-not", action)));
        }
        QuestionKind::WhatIf => {
            text.extend(question.change.iter().map(|change| option("what-if", change)));
        }
    }
    // What is out of its range is refused before anybody asks for the command.
    for (name, value) in question.ask().unwrap_or_default().changed() {
        text.push_str(&option(name, &value));
    }
    for reward in &question.rewards {
        text.push_str(&option("reward", reward));
    }
    if question.model_only {
        text.push_str(" --model-only");
    }
    text
}

/// The commands that record an episode by hand.
fn replay(run: &Run, seed: u64, actions: &[String]) -> String {
    let mut text = "printf '%s\\n'".to_owned();
    for action in actions {
        let _ = write!(text, " {}", quoted(action));
    }
    let (environment, options) = match run.record() {
        Record::Fit(fit) => match &fit.origin {
            Some(origin) => (origin.environment.clone(), Some(&origin.options)),
            None => (run.schema().name().to_owned(), None),
        },
        Record::Train(config) => (config.environment.clone(), Some(&config.options)),
    };
    let _ = write!(
        text,
        " > actions.txt\nbecausal replay {} --seed {seed} --actions actions.txt -o by-hand.csv",
        quoted(&environment)
    );
    for (name, value) in options.into_iter().flat_map(becausal::env::Options::iter) {
        // A replay ends with its actions.
        if name != "max_episode_steps" {
            let _ = write!(text, " --env-option {}", quoted(&format!("{name}={value}")));
        }
    }
    text.push('\n');
    text
}

fn python(run: &Run, question: &Question) -> String {
    let place = question.episode();
    let open = format!(
        "run = becausal.open({})",
        string(&run.path().map_or("run".into(), |p| p.display().to_string()))
    );
    let moment = match (place.seed, &place.actions) {
        (Some(_), Some(_)) => {
            return "# an episode by hand: use the commands, which record it first".to_owned();
        }
        (Some(seed), None) => format!("run.play(seed={seed}).at({})", question.step),
        (None, _) => format!("run.recorded({}, {})", place.episode.unwrap_or(0), question.step),
    };
    let mut arguments = vec![moment];
    let name = match question.kind() {
        QuestionKind::Why => "why",
        QuestionKind::WhyNot => {
            arguments.extend(question.action.as_deref().map(string));
            "why_not"
        }
        QuestionKind::WhatIf => {
            arguments.extend(question.change.as_deref().map(string));
            "what_if"
        }
    };
    for (name, value) in question.ask().unwrap_or_default().changed() {
        arguments.push(format!("{name}={value}"));
    }
    if !question.rewards.is_empty() {
        let names: Vec<String> = question.rewards.iter().map(|name| string(name)).collect();
        arguments.push(format!("rewards=[{}]", names.join(", ")));
    }
    if question.model_only {
        arguments.push("model_only=True".to_owned());
    }
    format!("{open}\nrun.{name}({})", arguments.join(", "))
}

/// A string of Python; JSON's are.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

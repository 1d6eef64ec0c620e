//! What went wrong, for people, with the exit code.

use std::fmt::{self, Write};

use becausal::Error;
use becausal::data::{DataError, Problem};
use becausal::discovery::DiscoveryError;
use becausal::env::EnvironmentError;
use becausal::explain::ExplainError;
use becausal::explain::chain::ChainError;
use becausal::learn::LearningError;
use becausal::schema::{Mistake, SchemaError};
use becausal::text::counted;
use becausal::trajectory::TrajectoryError;
use serde_json::json;

/// A command that could not be carried out.
#[derive(Debug)]
pub struct Failure {
    kind: FailureKind,
    /// What is wrong; of an interrupted command, what came of it so far.
    text: String,
    /// What to do next.
    advice: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum FailureKind {
    /// Something in the world is wrong.
    Failed,
    /// The command line itself is wrong.
    Usage,
    /// Ended by Ctrl-C: the text is what came of it so far.
    Interrupted,
}

/// What a shell says of a program that Ctrl-C has ended: 128 and the number of the signal.
pub const INTERRUPTED: u8 = 130;

/// The exit code of a command that failed.
pub const FAILED: u8 = 1;

/// The exit code of a command line that is wrong.
pub const USAGE: u8 = 2;

/// The most lines of a message, a screenful.
const MAX_LINES: usize = 40;

/// The most characters of a line of a message, some lines of a terminal.
const MAX_LINE_CHARACTERS: usize = 500;

/// How to allow what is too large.
const MORE_MEMORY: &str = "The option --memory SIZE, for instance --memory 16G, allows more; half of the machine's is the default.";

const MORE_INFORMATION: &str = "For more information, try '--help'.";

impl Failure {
    fn new(kind: FailureKind, text: &str) -> Self {
        Self { kind, text: cut(text), advice: None }
    }

    /// Something in the world is wrong: a file, a value.
    pub fn failed(text: impl fmt::Display) -> Self {
        Self::new(FailureKind::Failed, &text.to_string())
    }

    /// Ctrl-C ended the command before it was done; `result` is what came of it, for standard
    /// output.
    pub fn interrupted(result: String) -> Self {
        Self { kind: FailureKind::Interrupted, text: result, advice: None }
    }

    /// The same with what to do next.
    #[must_use]
    pub fn with_advice(self, advice: &str) -> Self {
        Self { advice: Some(advice.to_owned()), ..self }
    }

    /// The command line is wrong.
    pub fn usage(text: impl fmt::Display) -> Self {
        Self::new(FailureKind::Usage, &text.to_string()).with_advice(MORE_INFORMATION)
    }

    /// The command line cannot be read; `text` says all about it.
    pub fn wrong_arguments(text: &str) -> Self {
        Self::new(FailureKind::Usage, text)
    }

    /// Mistakes in a schema, shown where they stand in its text.
    pub fn schema(name: &str, error: &SchemaError) -> Self {
        let count = counted(error.mistakes.len() + error.more, "mistake");
        let mut text = format!("{name}: {count} in the schema\n");
        for mistake in &error.mistakes {
            text.push_str(&show(name, &error.text, mistake));
        }
        Self::new(FailureKind::Failed, text.trim_end())
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self.kind {
            FailureKind::Failed => FAILED,
            FailureKind::Usage => USAGE,
            FailureKind::Interrupted => INTERRUPTED,
        }
    }

    /// Whether the text is a result, not a complaint.
    pub fn is_result(&self) -> bool {
        self.kind == FailureKind::Interrupted
    }

    /// The failure for other programs, as one line.
    pub fn json(&self) -> String {
        let kind = match self.kind {
            FailureKind::Failed => "failed",
            FailureKind::Usage => "usage",
            FailureKind::Interrupted => "interrupted",
        };
        let advice = self.advice.as_deref().filter(|advice| *advice != MORE_INFORMATION);
        let error = json!({
            "message": self.text,
            "advice": advice,
            "kind": kind,
            "exit_code": self.code(),
        });
        format!("{}\n", json!({ "error": error }))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_result() {
            return f.write_str(&self.text);
        }
        writeln!(f, "error: {}", self.text)?;
        match &self.advice {
            Some(advice) => writeln!(f, "\n{advice}"),
            None => Ok(()),
        }
    }
}

/// A message cut to a screenful: text from files may be of any length.
fn cut(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.split('\n');
    for (number, line) in lines.by_ref().take(MAX_LINES).enumerate() {
        if number > 0 {
            out.push('\n');
        }
        match line.char_indices().nth(MAX_LINE_CHARACTERS) {
            None => out.push_str(line),
            Some((end, _)) => {
                let more = line[end..].chars().count();
                let _ = write!(out, "{}… ({})", &line[..end], counted(more, "more character"));
            }
        }
    }
    let more = lines.count();
    if more > 0 {
        let _ = write!(out, "\n… ({})", counted(more, "more line"));
    }
    out
}

impl From<EnvironmentError> for Failure {
    fn from(error: EnvironmentError) -> Self {
        match error {
            EnvironmentError::Unknown { .. } => {
                Self::usage(format!("{error}\n\n`becausal envs` lists all environments"))
            }
            EnvironmentError::Option { ref id, .. } => {
                Self::usage(format!("{error}\n\n`becausal envs {id}` shows its options"))
            }
            EnvironmentError::Action { .. }
            | EnvironmentError::Failed { .. }
            | EnvironmentError::Over { .. } => Self::failed(error),
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        match &error.problem {
            Problem::Schema(mistakes) => Self::schema(&error.path.display().to_string(), mistakes),
            Problem::UnknownFormat => Self::usage(error),
            Problem::NoSchema { .. } => {
                Self::failed(error).with_advice("The option --schema SCHEMA gives one.")
            }
            Problem::Missing { .. } => {
                Self::failed(error).with_advice("The option is --missing drop, episode or hold.")
            }
            Problem::Memory { .. } => Self::failed(error).with_advice(MORE_MEMORY),
            _ => Self::failed(error),
        }
    }
}

impl From<DiscoveryError> for Failure {
    fn from(error: DiscoveryError) -> Self {
        match error {
            DiscoveryError::Empty
            | DiscoveryError::Graph(_)
            | DiscoveryError::OtherVariables { .. } => Self::failed(error),
            _ => Self::usage(error),
        }
    }
}

impl From<LearningError> for Failure {
    fn from(error: LearningError) -> Self {
        match error {
            LearningError::Environment(error) => Self::from(error),
            LearningError::Discovery(error) => Self::from(error),
            LearningError::Data(error) => Self::from(error),
            LearningError::Setting(_) => Self::usage(error),
            LearningError::Endless { .. } => {
                Self::failed(error).with_advice("The option is --env-option max_episode_steps=N.")
            }
            _ => Self::failed(error),
        }
    }
}

impl From<ExplainError> for Failure {
    fn from(error: ExplainError) -> Self {
        match error {
            ExplainError::Environment(error) => Self::from(error),
            ExplainError::Chain(
                ChainError::Trajectory(TrajectoryError::Size { .. }) | ChainError::NoRewards,
            )
            | ExplainError::Schema { .. }
            | ExplainError::Stopped
            | ExplainError::NotFinite { .. }
            | ExplainError::Audit(_) => Self::failed(error),
            _ => Self::usage(error),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Schema { file, error } => Self::schema(&file, &error),
            Error::Data(error) => Self::from(error),
            Error::Discovery(error) => Self::from(error),
            Error::Explain(error) => Self::from(error),
            Error::Environment(error) => Self::from(error),
            Error::Learning(error) => Self::from(error),
            Error::Parameter { .. } => Self::usage(error),
            Error::Memory { .. } => Self::failed(error).with_advice(MORE_MEMORY),
            _ => Self::failed(error),
        }
    }
}

/// A mistake under its line of the text.
fn show(name: &str, text: &str, mistake: &Mistake) -> String {
    let line = text.lines().nth(mistake.line - 1).unwrap_or_default();
    let marked = text.get(mistake.span.clone()).unwrap_or_default();
    // What is marked may continue in the next line; only the first is shown.
    let marks = marked.lines().next().unwrap_or_default().chars().count().max(1);
    let gutter = " ".repeat(mistake.line.to_string().len());
    let indent: String = line
        .chars()
        .take(mistake.column - 1)
        .map(|letter| if letter == '\t' { '\t' } else { ' ' })
        .collect();
    let mut output = format!(
        "\n{name}:{}:{}: {}\n{gutter} |\n{} | {line}\n{gutter} | {indent}{}\n",
        mistake.line,
        mistake.column,
        mistake.message,
        mistake.line,
        "^".repeat(marks),
    );
    if let Some(help) = &mistake.help {
        let _ = writeln!(output, "{gutter} = {help}");
    }
    output
}

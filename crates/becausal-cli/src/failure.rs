//! What went wrong, for people, with the exit code.

use std::fmt::{self, Write};
use std::process::ExitCode;

use becausal::Error;
use becausal::data::{DataError, Problem};
use becausal::discovery::DiscoveryError;
use becausal::env::EnvironmentError;
use becausal::explain::ExplainError;
use becausal::explain::chain::ChainError;
use becausal::learn::LearningError;
use becausal::schema::{Mistake, SchemaError};
use becausal::trajectory::TrajectoryError;

/// A command that could not be carried out.
#[derive(Debug)]
pub struct Failure {
    kind: FailureKind,
    text: String,
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

impl Failure {
    /// Something in the world is wrong: a file, a value.
    pub fn failed(text: impl fmt::Display) -> Self {
        Self { kind: FailureKind::Failed, text: format!("error: {text}\n") }
    }

    /// Ctrl-C ended the command before it was done; `result` is what came of it, for standard
    /// output.
    pub fn interrupted(result: String) -> Self {
        Self { kind: FailureKind::Interrupted, text: result }
    }

    /// The same with what to do next.
    #[must_use]
    pub fn with_advice(mut self, advice: &str) -> Self {
        let _ = write!(self.text, "\n{advice}\n");
        self
    }

    /// The command line is wrong.
    pub fn usage(text: impl fmt::Display) -> Self {
        Self {
            kind: FailureKind::Usage,
            text: format!("error: {text}\n\nFor more information, try '--help'.\n"),
        }
    }

    /// Mistakes in a schema, shown where they stand in its text.
    pub fn schema(name: &str, error: &SchemaError) -> Self {
        let count = error.mistakes.len();
        let plural = if count == 1 { "" } else { "s" };
        let mut text = format!("error: {name}: {count} mistake{plural} in the schema\n");
        for mistake in &error.mistakes {
            text.push_str(&show(name, &error.text, mistake));
        }
        Self { kind: FailureKind::Failed, text }
    }

    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            FailureKind::Failed => 1,
            FailureKind::Usage => 2,
            FailureKind::Interrupted => INTERRUPTED,
        })
    }

    /// Whether the text is a result, not a complaint.
    pub fn is_result(&self) -> bool {
        self.kind == FailureKind::Interrupted
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
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
            EnvironmentError::Action { .. } | EnvironmentError::Over { .. } => Self::failed(error),
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

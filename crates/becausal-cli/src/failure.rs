//! What went wrong, for people, with the exit code.

use std::fmt;
use std::io::IsTerminal;
use std::process::ExitCode;

use becausal::data::{DataError, Problem};
use becausal::discovery::DiscoveryError;
use becausal::env::EnvironmentError;
use becausal::schema::{Mistake, SchemaError};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report,
};

/// A command that could not be carried out.
#[derive(Debug)]
pub struct Failure {
    /// The command line itself is wrong.
    usage: bool,
    text: String,
}

impl Failure {
    /// Something in the world is wrong: a file, a value.
    pub fn failed(text: impl fmt::Display) -> Self {
        Self { usage: false, text: format!("error: {text}\n") }
    }

    /// The command line is wrong.
    pub fn usage(text: impl fmt::Display) -> Self {
        Self {
            usage: true,
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
        Self { usage: false, text }
    }

    pub fn code(&self) -> ExitCode {
        ExitCode::from(if self.usage { 2 } else { 1 })
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
            _ => Self::failed(error),
        }
    }
}

impl From<DiscoveryError> for Failure {
    fn from(error: DiscoveryError) -> Self {
        match error {
            DiscoveryError::Empty | DiscoveryError::Graph(_) => Self::failed(error),
            _ => Self::usage(error),
        }
    }
}

/// A mistake with the lines around it.
fn show(name: &str, text: &str, mistake: &Mistake) -> String {
    let label = LabeledSpan::new_with_span(None, mistake.span.clone());
    let mut diagnostic = MietteDiagnostic::new(format!(
        "line {}, column {}: {}",
        mistake.line, mistake.column, mistake.message
    ))
    .with_label(label);
    if let Some(help) = &mistake.help {
        diagnostic = diagnostic.with_help(help.clone());
    }
    let report = Report::new(diagnostic)
        .with_source_code(NamedSource::new(name, text.to_owned()).with_language("TOML"));
    let theme = if std::io::stderr().is_terminal() {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let mut output = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_width(100).with_context_lines(1);
    match handler.render_report(&mut output, report.as_ref()) {
        Ok(()) => output,
        Err(_) => format!("  {mistake}\n"),
    }
}

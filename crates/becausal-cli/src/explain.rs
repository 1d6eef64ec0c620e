//! `becausal explain`: why this action, why not another, what if?

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use becausal::data::{schema_path, write_atomically};
use becausal::explain::ExplainError;
use becausal::{
    Answer, Ask, Error, FoundDecision, Moment, ReadParams, Run, Worth, quoted_path, read,
};
use serde_json::{Value, json};

use crate::arguments::{Common, Explain};
use crate::describe;
use crate::failure::Failure;
use crate::place;
use crate::progress::{Shown, opening};

/// Pixels of a PNG for each unit of the picture: sharp on a screen of today.
const PNG_SCALE: f64 = 2.0;

/// The ways an explanation can be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Text,
    Json,
    Svg,
    Png,
    Dot,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Dot => "dot",
        }
    }
}

pub fn run(common: &Common, arguments: &Explain) -> Result<String, Failure> {
    let format = format(common, arguments)?;
    let ask = Ask {
        horizon: arguments.horizon,
        tau: arguments.tau,
        rewards: arguments.reward.clone(),
        discount: arguments.discount,
        preset: arguments.preset,
        influence: arguments.influence,
        model_only: arguments.model_only,
    };
    ask.check().map_err(Failure::usage)?;
    if let Some(path) = &arguments.output {
        let inputs = arguments.data.iter().flat_map(|data| [data.clone(), schema_path(data)]);
        place::check(path, &inputs.collect::<Vec<_>>())?;
    }
    let mut run = Run::open_with(&arguments.run, &opening(common))?;
    if let Some(path) = &arguments.policy {
        run = run.with_policy_of(path)?;
    }
    if let Some(name) = &arguments.find {
        return found(common, arguments, &run, name, &ask);
    }
    let moment = moment(common, arguments, &run)?;
    if let Some(action) = &arguments.until_action {
        return turning(common, &run, &moment, action);
    }
    let answer = match (&arguments.why_not, &arguments.what_if) {
        (Some(action), _) => run.why_not(&moment, action, &ask).map_err(wrong_action)?,
        (None, Some(change)) => run.what_if(&moment, change, &ask).map_err(wrong_action)?,
        (None, None) => run.why(&moment, &ask)?,
    };
    let content = match format {
        Format::Text if arguments.brief => format!("{}\n", answer.sentence()).into_bytes(),
        Format::Text if arguments.details => answer.details().into_bytes(),
        Format::Text => answer.text().into_bytes(),
        Format::Json => describe::line(&answer.json()).into_bytes(),
        Format::Dot => answer.dot()?.into_bytes(),
        Format::Svg => drawing(&answer, arguments)?.svg().into_bytes(),
        Format::Png => drawing(&answer, arguments)?.png(PNG_SCALE).map_err(Failure::failed)?,
    };
    if let Some(path) = &arguments.output {
        write_atomically(path, &content)?;
        if !common.json {
            return Ok(format!("{}: {}\n", path.display(), answer.sentence()));
        }
    }
    if !common.json || (format == Format::Json && arguments.output.is_none()) {
        return String::from_utf8(content).map_err(Failure::failed);
    }
    // Standard output has one JSON object, whatever else was asked for.
    let mut value = answer.json();
    value["format"] = json!(format.name());
    match &arguments.output {
        Some(path) => value["file"] = json!(path.display().to_string()),
        None => value["content"] = json!(String::from_utf8(content).map_err(Failure::failed)?),
    }
    Ok(describe::line(&value))
}

/// The decisions that are worth a look.
fn found(
    common: &Common,
    arguments: &Explain,
    run: &Run,
    name: &str,
    ask: &Ask,
) -> Result<String, Failure> {
    let worth = Worth::ALL.into_iter().find(|worth| worth.name() == name);
    let worth = worth.ok_or_else(|| Failure::usage(format!("cannot look for `{name}`")))?;
    let found = run.find(worth, arguments.count, ask)?;
    if common.json {
        let found: Vec<Value> = found.iter().map(FoundDecision::json).collect();
        return Ok(describe::line(
            &json!({ "find": name, "amount": worth.meaning(), "found": found }),
        ));
    }
    if found.is_empty() {
        let what = match worth {
            Worth::Mistakes => "mistakes".to_owned(),
            _ => format!("{name} decisions"),
        };
        return Ok(format!("No {what} were found.\n"));
    }
    let mut text = String::new();
    let agent = arguments.policy.as_deref();
    let agent = agent.map_or_else(String::new, |path| format!("--policy {} ", quoted_path(path)));
    for (place, decision) in (1..).zip(&found) {
        let _ = write!(
            text,
            "{place}. {} at step {}: {}\n   {}\n   becausal explain {} {agent}{}\n",
            decision.action,
            decision.found.step,
            decision.amount(worth),
            decision.sentence,
            quoted_path(&arguments.run),
            decision.options()
        );
    }
    Ok(text)
}

/// What would have turned the agent.
fn turning(common: &Common, run: &Run, moment: &Moment, action: &str) -> Result<String, Failure> {
    let action = Some(action).filter(|action| *action != "any");
    let found = run.until_action(moment, action).map_err(|error| match error {
        Error::Explain(ExplainError::SameAction { action }) => Failure::usage(format!(
            "--until-action: the agent's most likely action is {action} already"
        )),
        error => wrong_action(error),
    })?;
    if common.json {
        let found = found.map_or(Value::Null, |found| found.json());
        return Ok(describe::line(&json!({ "until_action": found })));
    }
    Ok(match found {
        Some(found) => {
            let possible = match found.possible {
                Some(true) => " In the environment, put into that state, it does.",
                Some(false) => " But in the environment, put into that state, it does not.",
                None => "",
            };
            format!("{}{possible}\n", found.sentence)
        }
        None => "No state within the range of the data was found in which the agent does that.\n"
            .to_owned(),
    })
}

fn drawing(answer: &Answer, arguments: &Explain) -> Result<becausal::render::Drawing, Failure> {
    let worth = if arguments.show == "worth" { answer.worth()? } else { None };
    Ok(match worth {
        Some(worth) => worth,
        None => answer.drawing()?,
    })
}

/// An unknown action is a mistake in the command.
fn wrong_action(error: Error) -> Failure {
    match error {
        Error::Environment(error) | Error::Explain(ExplainError::Environment(error)) => {
            Failure::usage(error)
        }
        error => Failure::from(error),
    }
}

/// The format that was asked for, by name or by the ending of the file.
fn format(common: &Common, arguments: &Explain) -> Result<Format, Failure> {
    let ending = arguments.output.as_deref().and_then(Path::extension);
    let ending = ending.map(|ending| ending.to_string_lossy().to_lowercase());
    let format = match (arguments.format.as_deref(), ending.as_deref()) {
        (Some(name), _) => name,
        (None, None) if common.json => "json",
        (None, Some("txt") | None) => "text",
        (None, Some(ending)) => ending,
    };
    match format {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Json),
        "svg" => Ok(Format::Svg),
        "dot" => Ok(Format::Dot),
        "png" if arguments.output.is_none() => {
            Err(Failure::usage("a PNG cannot be printed to a terminal: give -o FILE.png"))
        }
        "png" => Ok(Format::Png),
        _ => Err(Failure::usage(format!(
            "unknown format `{format}`: expected a name that ends in .txt, .json, .svg, .png or \
             .dot, or --format"
        ))),
    }
}

/// The step that is asked about: of a new episode, of a file, or of the run's own data.
fn moment(common: &Common, arguments: &Explain, run: &Run) -> Result<Moment, Failure> {
    let Explain { episode, step, .. } = *arguments;
    let step = step.unwrap_or_default();
    if let Some(seed) = arguments.episode_seed {
        let played = run.play(seed).map_err(|error| match error {
            Error::Missing { .. } => Failure::usage(format!(
                "--episode-seed: {error} of the run itself, or of --data DATA"
            )),
            error => Failure::from(error),
        })?;
        return played.at(step).map_err(Failure::usage);
    }
    if let Some(path) = &arguments.data {
        let params = ReadParams::default().memory(common.memory());
        let params = params.progress(Shown::new(common.quiet));
        let log = read(path, &params.schema(Arc::clone(run.schema())))?;
        return Ok(Moment::recorded(log.transitions(), episode, step)?);
    }
    Ok(run.recorded(episode, step)?)
}

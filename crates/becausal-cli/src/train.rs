//! `becausal train`: learning to act.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use becausal::env::find;
use becausal::learn::Imagination;
use becausal::run::{RunDirectory, Saved, TrainConfig};
use becausal::text::read_text;
use becausal::{
    Error, Method, TrainParams, TrainSummary, Trained, quoted_path, resume_policy, train_policy,
};
use serde_json::json;

use crate::arguments::{Common, Train};
use crate::describe;
use crate::failure::Failure;
use crate::progress::Shown;
use crate::stop::Stop;
use becausal::render::number::{brief, counted};

pub fn run(common: &Common, arguments: &Train) -> Result<String, Failure> {
    let started = Instant::now();
    let entry = find(&arguments.env)?;
    if arguments.resume {
        refuse_other(&arguments.output, entry.id)?;
    }
    let again = again(arguments, entry.id);
    let params = params(common, arguments, &again)?;
    let trained = if arguments.resume {
        resume_policy(&arguments.output, &params)
    } else {
        params.settings(entry.id).map_err(Failure::usage)?;
        train_policy(entry.id, &arguments.output, &params)
    };
    let trained = trained.map_err(|error| match error {
        Error::Stopped(saved) => Failure::interrupted(stopped(common, arguments, saved, &again)),
        error => failed(error, arguments, &again),
    })?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(if common.json {
        json_of(arguments, &trained.summary, &trained.config, seconds)
    } else {
        told(arguments, &trained, seconds)
    })
}

fn params(common: &Common, arguments: &Train, again: &str) -> Result<TrainParams, Failure> {
    let stop = Stop::on_interrupt(
        "stopping after this epoch (Ctrl-C again: at once, from the last checkpoint)",
        &format!("stopped; to resume from the last checkpoint: {again}"),
    );
    let mut params = TrainParams::default()
        .options(arguments.environment.options())
        .preset(&arguments.preset)
        .seed(arguments.environment.seed)
        .memory(common.memory())
        .progress(Shown::stoppable(common.quiet, stop));
    if let Some(model) = arguments.model.as_deref().and_then(Imagination::of) {
        params = params.model(model);
    }
    if let Some(method) = arguments.method.as_deref().and_then(Method::of) {
        params = params.method(method);
    }
    if let Some(file) = &arguments.config {
        let text = read_text(file, MAX_CONFIG_BYTES).map_err(|error| {
            Failure::failed(format!("{}: cannot read the settings: {error}", file.display()))
        })?;
        params = params.change(text, file.display().to_string());
    }
    for change in &arguments.set {
        params = params.change(change, "--set");
    }
    if let Some(steps) = arguments.steps {
        params = params.steps(steps.get());
    }
    if let Some(until) = arguments.until {
        params = params.until(until);
    }
    Ok(params)
}

/// Maximum size of a file of settings in bytes.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// A training is resumed in its own environment.
fn refuse_other(path: &Path, id: &str) -> Result<(), Failure> {
    let text = RunDirectory::open(path).and_then(|run| run.read_config()).map_err(Error::from)?;
    match TrainConfig::parse(&text) {
        Ok(config) if config.environment != id => Err(Failure::usage(format!(
            "{}: the run is of {}, not of {id}",
            path.display(),
            config.environment
        ))),
        // Whatever else is wrong with it, resuming says.
        _ => Ok(()),
    }
}

/// The command that resumes a training.
fn again(arguments: &Train, id: &str) -> String {
    let output = quoted_path(&arguments.output);
    let until = arguments.until.map_or_else(String::new, |until| format!(" --until {until}"));
    format!("becausal train {id} -o {output}{until} --resume")
}

/// What went wrong, and what is not lost.
fn failed(error: Error, arguments: &Train, again: &str) -> Failure {
    let advice = match &error {
        Error::Run(wrong) if wrong.problem.contains("resume it") => {
            Some("--resume resumes it.".to_owned())
        }
        Error::Run(wrong) if wrong.problem.contains("is in use by") => None,
        Error::Learning(_) | Error::Run(_) => {
            Saved::read(&arguments.output).map(|Saved { epoch, real_steps }| {
                let steps = counted(real_steps, "real step");
                format!("Epoch {epoch} ({steps}) is saved. Once this is fixed, resume: {again}")
            })
        }
        _ => None,
    };
    let failure = Failure::from(error);
    match advice {
        Some(advice) => failure.with_advice(&advice),
        None => failure,
    }
}

/// What is said after Ctrl-C.
fn stopped(common: &Common, arguments: &Train, saved: Saved, again: &str) -> String {
    let Saved { epoch, real_steps } = saved;
    if common.json {
        return describe::line(&json!({
            "interrupted": true,
            "real_steps": real_steps,
            "epochs": epoch,
            "run": arguments.output.display().to_string(),
        }));
    }
    format!(
        "{}: stopped after epoch {epoch}, {}\n\nTo resume: {again}\n",
        arguments.output.display(),
        counted(real_steps, "real step"),
    )
}

fn json_of(
    arguments: &Train,
    summary: &TrainSummary,
    config: &TrainConfig,
    seconds: f64,
) -> String {
    describe::line(&json!({
        "real_steps": summary.real_steps,
        "recorded_steps": summary.recorded_steps,
        "forked_steps": summary.forked_steps,
        "eval_mean": summary.evaluation.mean(),
        "eval_std": summary.evaluation.deviation(),
        "native_eval_mean": summary.evaluation.native_mean(),
        "seconds": seconds,
        "learning_seconds": summary.learning_seconds,
        "edges": summary.edges,
        "until": arguments.until,
        "reached_at": summary.reached_at,
        "evaluation_episodes": summary.evaluated.episodes,
        "evaluation_steps": summary.evaluated.steps,
        "epochs": summary.epochs,
        "model": config.settings.model.name(),
        "preset": config.preset.name(),
        "method": config.settings.method.name(),
        "environment": config.environment,
        "seed": config.seed,
        "run": arguments.output.display().to_string(),
    }))
}

fn told(arguments: &Train, trained: &Trained, seconds: f64) -> String {
    let summary = &trained.summary;
    let evaluation = &summary.evaluation;
    let forked = match summary.forked_steps {
        0 => String::new(),
        steps => format!(
            ", and {} made to try other actions in copies of the environment",
            counted(steps, "step")
        ),
    };
    let mut text = format!(
        "{}: {} in {} ({} s, of which {} s learning), then {} recorded to explain it{}\n\
         {} with {} chose the policy beside them\n\
         mean return of the best policy in {}: {} as the environment pays, {} by the schema's \
         reward terms (standard deviation {})\n",
        arguments.output.display(),
        counted(summary.real_steps, "real step"),
        counted(summary.epochs, "epoch"),
        brief(seconds),
        brief(summary.learning_seconds),
        counted(summary.recorded_steps, "real step"),
        forked,
        counted(summary.evaluated.episodes, "evaluation episode"),
        counted(summary.evaluated.steps, "step"),
        counted(evaluation.returns.len(), "new episode"),
        brief(evaluation.native_mean()),
        brief(evaluation.mean()),
        brief(evaluation.deviation()),
    );
    match (arguments.until, summary.reached_at) {
        (Some(until), Some(steps)) => {
            let steps = counted(steps, "real step");
            let _ = writeln!(text, "two evaluations reached {} after {steps}", brief(until));
        }
        (Some(until), None) => {
            let _ = writeln!(
                text,
                "no policy reached {} in two evaluations with different episodes",
                brief(until)
            );
        }
        _ => {}
    }
    let run = quoted_path(&arguments.output);
    let _ = if trained.has_model {
        writeln!(text, "\nNext: becausal explain {run} --episode-seed 0 --step 0")
    } else {
        let environment = &trained.config.environment;
        writeln!(
            text,
            "there is no world model to explain it with (final_fit_steps = 0)\n\n\
             Next: becausal collect {environment} -n 10000 -o played.parquet --policy {run}"
        )
    };
    text
}

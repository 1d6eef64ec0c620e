//! `becausal collect`: transitions of an environment.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use becausal::Policy;
use becausal::data::{Format, Origin, Writer};
use becausal::env::BuildOrder;
use becausal::env::{collect, find, random_action};
use becausal::{Environment, Schema, Transitions, read_policy};
use serde_json::json;

use crate::arguments::{Collect, Common};
use crate::failure::Failure;
use crate::place;
use crate::progress::Bar;
use crate::stop::Stop;
use becausal::render::number;

use crate::describe;

pub fn run(common: &Common, arguments: &Collect) -> Result<String, Failure> {
    let started = Instant::now();
    let entry = find(&arguments.env)?;
    let environment = entry.make(&arguments.environment.options())?;
    let schema = environment.schema();
    let policy: Option<Box<dyn Policy>> = match arguments.policy.as_str() {
        "random" => None,
        "scripted" => Some(Box::new(scripted(schema)?)),
        run => Some(Box::new(read_policy(run, schema)?)),
    };
    let origin = Origin {
        environment: entry.id.to_owned(),
        options: arguments.environment.options(),
        seed: Some(arguments.environment.seed),
        policy: arguments.policy.clone(),
    };
    Format::of(&arguments.output)?;
    // Before the first part file: Ctrl-C never leaves one.
    let stop = Stop::on_interrupt("stopping (Ctrl-C again: at once)", "stopped");
    place::check(&arguments.output, &[])?;
    let mut writer = Writer::create_of(&arguments.output, schema, true, Some(&origin))?;
    let mut progress = Bar::new(0, arguments.rows.get(), "transitions", common.quiet);
    let mut record = Tally::default();
    collect(
        &environment,
        arguments.rows.get(),
        arguments.environment.seed,
        |state, stream, action| match &policy {
            _ if stop.is_asked() => Err(stopped(common, &arguments.output)),
            None => random_action(schema, stream, action).map_err(Failure::from),
            Some(policy) => {
                action.copy_from_slice(&policy.sample(state, stream));
                Ok(())
            }
        },
        |transitions| {
            record.add(transitions);
            progress.advance(transitions.len());
            writer.append(transitions).map_err(Failure::from)
        },
    )?;
    writer.finish()?;
    progress.finish();
    let seed = arguments.environment.seed;
    let seconds = started.elapsed().as_secs_f64();
    let text = record.report(common, entry.id, seed, &arguments.output, seconds);
    if stop.is_asked() {
        // Too late: the file was complete.
        return Err(Failure::interrupted(text));
    }
    // In a demo other work follows, which does not listen.
    stop.next_is_at_once();
    Ok(text)
}

/// What is said after Ctrl-C.
fn stopped(common: &Common, file: &Path) -> Failure {
    Failure::interrupted(if common.json {
        describe::line(&json!({ "interrupted": true, "file": file, "rows": 0 }))
    } else {
        format!("{}: stopped, nothing was written\n", file.display())
    })
}

/// The policy that is written by hand, for the environment that has one.
fn scripted(schema: &Arc<Schema>) -> Result<BuildOrder, Failure> {
    BuildOrder::of(schema).ok_or_else(|| {
        Failure::usage(format!(
            "--policy scripted: {} has no scripted policy, {} has one",
            schema.name(),
            BuildOrder::ENVIRONMENT
        ))
    })
}

/// What was recorded.
#[derive(Default)]
pub struct Tally {
    rows: usize,
    episodes: usize,
    terminated: usize,
    /// What the environment paid.
    paid: f64,
    /// What the schema's reward terms sum to.
    terms: f64,
}

impl Tally {
    pub fn add(&mut self, transitions: &Transitions) {
        self.rows += transitions.len();
        self.episodes += transitions.episodes();
        self.terminated += transitions.terminated().iter().filter(|&&end| end).count();
        self.paid += transitions.reward().unwrap_or_default().iter().sum::<f64>();
        self.terms += transitions.total_reward().iter().sum::<f64>();
    }

    pub fn report(
        &self,
        common: &Common,
        id: &str,
        seed: u64,
        file: &Path,
        seconds: f64,
    ) -> String {
        let each = |total: f64| total / self.episodes.max(1) as f64;
        if common.json {
            return describe::line(&json!({
                "environment": id,
                "seed": seed,
                "file": file.display().to_string(),
                "rows": self.rows,
                "episodes": self.episodes,
                "terminated": self.terminated,
                "mean_length": each(self.rows as f64),
                "mean_return": each(self.terms),
                "native_mean_return": each(self.paid),
                "seconds": seconds,
            }));
        }
        format!(
            "{}: {} of {id} in {}, {} of them ended by its rules\n\
             return per episode: {} by the schema's reward terms, {} as the environment pays\n",
            file.display(),
            number::counted(self.rows, "transition"),
            number::counted(self.episodes, "episode"),
            number::count(self.terminated),
            number::brief(each(self.terms)),
            number::brief(each(self.paid)),
        )
    }
}

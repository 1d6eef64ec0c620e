//! `becausal report`: one page about a run.

use becausal::data::write_atomically;
use becausal::progress::Listener;
use becausal::render::{AuditText, Explained};
use becausal::{Audit, Error, ReportPage, ReportParams, Run};
use serde_json::json;

use crate::arguments::{Common, Report};
use crate::describe;
use crate::failure::Failure;
use crate::output::say;
use crate::place;
use crate::progress::{Shown, opening};
use becausal::render::number::{brief, counted};

pub fn run(common: &Common, arguments: &Report) -> Result<String, Failure> {
    place::check(&arguments.output, &[])?;
    let run = Run::open_with(&arguments.run, &opening(common))?;
    let params = ReportParams {
        episode: arguments.episode,
        episode_seed: arguments.episode_seed,
        steps: usize::from(arguments.steps),
        horizon: arguments.horizon,
        states: arguments.states,
        file: arguments.output.clone(),
        made_by: Vec::new(),
        progress: Listener::new(Shown::new(common.quiet)),
    };
    if !common.quiet {
        say(&format!(
            "explaining {} and auditing {}",
            counted(params.steps, "step"),
            counted(params.states, "state")
        ));
    }
    let page = run.report(&params).map_err(|error| match error {
        Error::Missing { part: "policy", .. } => {
            Failure::usage(format!("--episode-seed: {error} (--episode)"))
        }
        error => Failure::from(error),
    })?;
    write_atomically(&arguments.output, page.html.as_bytes())?;
    Ok(told(common, arguments, &page))
}

fn told(common: &Common, arguments: &Report, page: &ReportPage) -> String {
    let first = page.opening.why.chain.trajectory().first();
    if common.json {
        return describe::line(&json!({
            "file": arguments.output.display().to_string(),
            "bytes": page.html.len(),
            "episode": page.episode_seed.is_none().then_some(page.episode),
            "episode_seed": page.episode_seed,
            "steps": page.steps,
            "opens_at": first,
            "audit": page.audit.as_ref().ok().map(Audit::json),
        }));
    }
    format!(
        "{}: {} of {} explained, {} kB, opens at step {first}\n{}\n",
        arguments.output.display(),
        counted(page.steps, "step"),
        match page.episode_seed {
            Some(seed) => format!("a new episode from seed {seed}"),
            None => format!("episode {}", page.episode),
        },
        brief((page.html.len() / 1000) as f64),
        page.opening.why.sentence(),
    )
}

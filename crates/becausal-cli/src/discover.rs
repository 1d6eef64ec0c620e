//! `becausal discover`: which variables influence which?

use std::path::Path;
use std::time::Instant;

use becausal::data::write_atomically;
use becausal::discovery::{ByAction, Method};
use becausal::progress::Listener;
use becausal::render::{graph_summary, graph_text};
use becausal::{CausalGraph, DiscoverParams, check_discovery, discover, read};
use serde_json::{Value, json};

use crate::arguments::{Common, Discover};
use crate::describe;
use crate::failure::Failure;
use crate::picture::{check_format, draw_graph};
use crate::place;
use crate::progress::Shown;
use crate::stop::Stop;

pub fn run(common: &Common, arguments: &Discover) -> Result<String, Failure> {
    let started = Instant::now();
    let inputs = place::inputs_of_log(&arguments.data, &arguments.columns);
    place::check(&arguments.output, &inputs)?;
    if let Some(path) = &arguments.picture {
        check_format(path)?;
        place::check(path, &inputs)?;
        place::check_apart(path, &arguments.output)?;
    }
    let progress = Listener::new(Shown::new(common.quiet));
    let log = read(&arguments.data, &arguments.columns.params(common, &progress)?)?;
    check_discovery(log.transitions(), common.memory())?;
    let stop = Stop::on_interrupt(
        "stopping: what is finished will be kept (Ctrl-C again: at once)",
        "stopped; nothing was written",
    );
    let params = DiscoverParams {
        method: if arguments.method == "fcit" { Method::Fcit } else { Method::Auto },
        eta: arguments.eta,
        seed: arguments.seed,
        required: arguments.require.clone(),
        forbidden: arguments.forbid.clone(),
        by_action: arguments.by_action.then_some(if arguments.direct {
            ByAction::Direct
        } else {
            ByAction::Within
        }),
        bootstrap: arguments.bootstrap,
        correct: arguments.correct.is_some(),
        progress: Listener::new(Shown::stoppable(common.quiet, stop.clone())),
        ..DiscoverParams::default()
    };
    let graph = discover(log.transitions(), &params)?;
    write_atomically(&arguments.output, graph.to_json().as_bytes())?;
    if let Some(path) = &arguments.picture {
        draw_graph(path, &graph, log.schema())?;
    }
    let text = if common.json {
        let seconds = started.elapsed().as_secs_f64();
        describe::line(&summary(&graph, &arguments.output, seconds, stop.is_asked())?)
    } else {
        let interrupted = if stop.is_asked() { ", INTERRUPTED" } else { "" };
        format!(
            "{}: {}{interrupted}\n\n{}",
            arguments.output.display(),
            graph_summary(&graph),
            graph_text(&graph)
        )
    };
    if stop.is_asked() { Err(Failure::interrupted(text)) } else { Ok(text) }
}

fn summary(
    graph: &CausalGraph,
    path: &Path,
    seconds: f64,
    interrupted: bool,
) -> Result<Value, Failure> {
    let mut value: Value = serde_json::from_str(&graph.to_json()).map_err(Failure::failed)?;
    value["file"] = json!(path.display().to_string());
    value["seconds"] = json!(seconds);
    value["interrupted"] = json!(interrupted);
    Ok(value)
}

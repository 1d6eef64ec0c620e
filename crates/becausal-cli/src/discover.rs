//! `becausal discover`: which variables influence which?

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use becausal::CausalGraph;
use becausal::data::{ReadOptions, read, write_atomically};
use becausal::discovery::{ByAction, Given, Method, Options, Pair, Unfinished, Verdict, go_on};
use serde_json::{Value, json};

use crate::arguments::{Common, Discover};
use crate::check::load_schema;
use crate::describe;
use crate::failure::{Failure, INTERRUPTED};
use crate::number::{brief, counted};
use crate::output::refuse_unwritable;
use crate::picture::{check_format, draw_graph};
use crate::progress::EdgeProgress;

pub fn run(common: &Common, arguments: &Discover) -> Result<String, Failure> {
    let started = Instant::now();
    refuse_unwritable(&arguments.output)?;
    if let Some(path) = &arguments.picture {
        check_format(path)?;
        refuse_unwritable(path)?;
    }
    let schema = match &arguments.schema {
        Some(path) => Some(Arc::new(load_schema(path)?)),
        None => None,
    };
    let recording =
        read(&arguments.data, &ReadOptions { schema, ignore: arguments.ignore.clone() })?;
    let options = Options {
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
    };
    let beside = unfinished_path(&arguments.output);
    let unfinished = if arguments.resume {
        let text = std::fs::read_to_string(&beside).map_err(|error| {
            let path = beside.display();
            Failure::failed(format!(
                "cannot go on: {path}: cannot read: {error}; without --resume discovery begins anew"
            ))
        })?;
        Unfinished::from_json(&text, &recording.transitions, &options)?
    } else {
        Unfinished::default()
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&interrupted);
    // A second Ctrl-C ends the program at once. Without a handler the first one does: no harm.
    let _ = ctrlc::set_handler(move || {
        if heard.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        eprintln!("stopping: what is finished will be kept (Ctrl-C again: at once)");
    });
    let progress = EdgeProgress::new(common.quiet);
    let graph = go_on(&recording.transitions, &options, &unfinished, &|step| {
        progress.show(step);
        if interrupted.load(Ordering::SeqCst) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    progress.finish();
    let text = graph.to_json();
    write_atomically(&arguments.output, text.as_bytes())?;
    if let Some(path) = &arguments.picture {
        draw_graph(path, &graph, recording.transitions.schema())?;
    }
    let stopped = interrupted.load(Ordering::SeqCst);
    if stopped {
        let text = unfinished.to_json(&recording.transitions, &options);
        write_atomically(&beside, text.as_bytes())?;
    } else if beside.exists() {
        // It is of a discovery that is finished now, or was begun anew.
        let _ = std::fs::remove_file(&beside);
    }
    let text = if common.json {
        let seconds = started.elapsed().as_secs_f64();
        describe::line(&summary(&graph, &arguments.output, seconds, stopped)?)
    } else {
        report(&graph, &arguments.output, stopped)
    };
    if stopped { Err(Failure::interrupted(text)) } else { Ok(text) }
}

/// Where what an interrupted discovery has found is kept: beside its graph.
fn unfinished_path(graph: &Path) -> PathBuf {
    let mut name = graph.as_os_str().to_owned();
    name.push(".unfinished");
    PathBuf::from(name)
}

fn summary(
    graph: &CausalGraph,
    path: &Path,
    seconds: f64,
    interrupted: bool,
) -> Result<Value, Failure> {
    let mut value: Value = serde_json::from_str(&graph.to_json())
        .map_err(|error| Failure::failed(format!("the graph is not JSON: {error}")))?;
    value["file"] = json!(path);
    value["seconds"] = json!(seconds);
    value["interrupted"] = json!(interrupted);
    Ok(value)
}

/// The graph as a table, effect by effect.
fn report(graph: &CausalGraph, path: &Path, interrupted: bool) -> String {
    let mut text = format!(
        "{}: {} of {} by {} (eta {}) from {} in {}{}\n",
        path.display(),
        counted(graph.edges().count(), "edge"),
        counted(graph.pairs.len(), "pair"),
        graph.method,
        brief(graph.eta),
        counted(graph.rows, "row"),
        counted(graph.episodes, "episode"),
        if interrupted { ", INTERRUPTED" } else { "" },
    );
    table(&mut text, &graph.pairs);
    for part in &graph.by_action {
        let _ = writeln!(text, "\n{} = {}:", part.variable, part.label);
        let causes: Vec<&Pair> =
            part.pairs.iter().filter(|pair| pair.verdict == Verdict::Edge).collect();
        let width = part.pairs.iter().map(|pair| pair.effect.chars().count()).max().unwrap_or(0);
        let mut effects: Vec<&str> = Vec::new();
        for pair in &part.pairs {
            if !effects.contains(&pair.effect.as_str()) {
                effects.push(&pair.effect);
            }
        }
        for effect in effects {
            let names: Vec<&str> = causes
                .iter()
                .filter(|pair| pair.effect == effect)
                .map(|pair| pair.cause.as_str())
                .collect();
            let names = if names.is_empty() { "-".into() } else { names.join(", ") };
            let _ = writeln!(text, "  {effect:width$} <- {names}");
        }
    }
    let untold: Vec<&Pair> =
        graph.pairs.iter().filter(|pair| pair.verdict == Verdict::Untestable).collect();
    if !untold.is_empty() {
        let _ = writeln!(text, "\ncannot be told from this data:");
        // One line for each reason, with all the pairs that it stands for.
        let mut reasons: Vec<&str> = Vec::new();
        for pair in &untold {
            let reason = pair.reason.as_deref().unwrap_or("");
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        for reason in reasons {
            let pairs: Vec<String> = untold
                .iter()
                .filter(|pair| pair.reason.as_deref().unwrap_or("") == reason)
                .map(|pair| format!("{} -> {}", pair.cause, pair.effect))
                .collect();
            let shown = if pairs.len() > 6 {
                format!("{} and {} more", pairs[..5].join(", "), pairs.len() - 5)
            } else {
                pairs.join(", ")
            };
            let _ = writeln!(text, "  {reason}\n    {shown}");
        }
    }
    if interrupted {
        text.push_str("\nTo go on: the same command with --resume\n");
    }
    text
}

fn table(text: &mut String, pairs: &[Pair]) {
    let edges: Vec<&Pair> = pairs.iter().filter(|pair| pair.verdict == Verdict::Edge).collect();
    if edges.is_empty() {
        text.push_str("\nno edges\n");
        return;
    }
    let wide = |name: fn(&Pair) -> &str, least: usize| {
        edges.iter().map(|pair| name(pair).chars().count()).max().unwrap_or(0).max(least)
    };
    let (cause, effect) = (wide(|pair| &pair.cause, 5), wide(|pair| &pair.effect, 6));
    let confident = edges.iter().any(|pair| pair.confidence.is_some());
    let corrected = edges.iter().any(|pair| pair.adjusted_p.is_some());
    let _ = write!(
        text,
        "\n{:effect$}     {:cause$}  {:>8}  {:>8}",
        "effect", "cause", "strength", "p"
    );
    if corrected {
        let _ = write!(text, "  {:>8}", "adjusted");
    }
    if confident {
        let _ = write!(text, "  {:>10}", "confidence");
    }
    text.push('\n');
    let mut last = "";
    for pair in edges {
        // The effect stands once, before the first of its causes.
        let shown = if pair.effect == last { "" } else { &pair.effect };
        last = &pair.effect;
        let _ = write!(
            text,
            "{shown:effect$} <-  {:cause$}  {:>8.3}  {:>8}",
            pair.cause,
            pair.strength,
            probability(pair.p)
        );
        if corrected {
            let _ = write!(text, "  {:>8}", pair.adjusted_p.map_or_else(String::new, probability));
        }
        if confident {
            let share = pair.confidence.map_or(String::new(), |c| format!("{:.0} %", 100.0 * c));
            let _ = write!(text, "  {share:>10}");
        }
        if pair.given == Some(Given::Required) {
            text.push_str("  required");
        }
        if pair.proxy {
            text.push_str("  may only stand for others");
        }
        text.push('\n');
    }
}

fn probability(p: f64) -> String {
    if p == 0.0 {
        "0".into()
    } else if p < 1e-99 {
        "<1e-99".into()
    } else if p < 0.001 {
        format!("{p:.0e}")
    } else {
        format!("{p:.3}")
    }
}

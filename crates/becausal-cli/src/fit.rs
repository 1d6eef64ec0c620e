//! `becausal fit`: what follows from a state and an action?

use std::fmt::Write;
use std::time::Instant;

use becausal::model::{ModelKind, Scores, Shortfall};
use becausal::progress::Listener;
use becausal::render::{Alignment, Table, noise_words};
use becausal::run::Claim;
use becausal::{
    Error, FitParams, FitSummary, Method, Preset, ReadParams, Run, ScoredOn, fit, quoted_path, read,
};
use serde_json::{Value, json};

use crate::arguments::{Common, Fit, reading};
use crate::describe;
use crate::failure::Failure;
use crate::place;
use crate::progress::Shown;
use becausal::render::number::{brief, count, counted};

pub fn run(common: &Common, arguments: &Fit) -> Result<String, Failure> {
    let started = Instant::now();
    let place = claimed(arguments)?;
    let progress = Listener::new(Shown::new(common.quiet));
    let log = read(&arguments.data, &arguments.columns.params(common, &progress)?)?;
    // Whatever is read is read before anything that takes long: a mistake shows at once.
    let mut params = FitParams::default()
        .model(ModelKind::of(&arguments.model).unwrap_or(ModelKind::Causal))
        .members(arguments.members.get())
        .preset(arguments.preset)
        .seed(arguments.seed)
        .compare(arguments.compare)
        .memory(common.memory())
        .progress(progress.clone());
    if let Some(steps) = arguments.steps {
        params = params.steps(steps.get());
    }
    if let Some(method) = arguments.method.as_deref().and_then(Method::of) {
        params = params.method(method);
    }
    if let Some(eta) = arguments.eta {
        params = params.eta(eta);
    }
    if let Some(path) = &arguments.test {
        let columns = &arguments.columns;
        let same = ReadParams::default().memory(common.memory()).progress(progress);
        let same = same.schema(log.schema().clone());
        let same = reading(same, &columns.ignore, columns.missing.as_deref());
        params = params.test(read(path, &same)?);
    }
    if let Some(path) = &arguments.graph {
        params = params.graph_file(path)?;
    }
    if let Some(path) = &arguments.policy {
        params = params.policy_file(path);
    }
    let run = fit(&log, &params)?;
    run.save_to(&place)?;
    let seconds = started.elapsed().as_secs_f64();
    let Some(summary) = run.fit_summary() else {
        return Err(Failure::failed("the fit left no summary"));
    };
    if common.json {
        return Ok(describe::line(&json_of(arguments, &run, summary, seconds)));
    }
    let mut text = told(arguments, &run, summary);
    text.push_str(&told_policy(&run, summary));
    text.push_str(&told_shortfalls(&summary.shortfalls));
    let scored = run.scores();
    if arguments.compare {
        text.push_str(&comparison(&summary.compared, scored.on));
    } else {
        text.push_str(&scores_table(&scored.scores, scored.on));
    }
    let output = quoted_path(&arguments.output);
    let plays = run.policy().is_some() && run.environment().is_some();
    let which = if plays { "--episode-seed 0 " } else { "" };
    let _ = writeln!(text, "\nNext: becausal explain {output} {which}--step 0");
    Ok(text)
}

/// The folder of the run, for this process alone until it is saved, and apart from what is read.
fn claimed(arguments: &Fit) -> Result<Claim, Failure> {
    let place = Claim::to_replace(&arguments.output).map_err(Error::from)?;
    let mut inputs = place::inputs_of_log(&arguments.data, &arguments.columns);
    inputs.extend(arguments.test.clone());
    inputs.extend(arguments.graph.clone());
    inputs.extend(arguments.policy.clone());
    for input in inputs {
        place.refuse_input(&input).map_err(Error::from)?;
    }
    Ok(place)
}

fn json_of(arguments: &Fit, run: &Run, summary: &FitSummary, seconds: f64) -> Value {
    let members: Vec<Value> = summary
        .report
        .members
        .iter()
        .map(|m| json!({ "steps": m.steps, "best_step": m.best_step, "held_out": m.held_out }))
        .collect();
    let shortfalls: Vec<Value> = summary
        .shortfalls
        .iter()
        .map(|Shortfall { effect, gain, errors, used }| {
            json!({ "effect": effect, "gain": gain, "errors": errors, "used": used })
        })
        .collect();
    let scored = run.scores();
    let mut value = json!({
        "run": arguments.output.display().to_string(),
        "model": run.model().kind().name(),
        "preset": run.preset().name(),
        "method": run.graph().get().map(|graph| graph.method.as_str()),
        "rows": run.data().len(),
        "episodes": run.data().episodes(),
        "edges": run.graph().get().map_or(0, |graph| graph.edges().count()),
        "parameters": run.model().parameters(),
        "members": members,
        "scores": scores_json(&scored.scores),
        "scored_on": scored.on.words(),
        "seconds": seconds,
        "shortfalls": shortfalls,
        "policy": arguments.policy,
        "agreement": summary.agreement,
    });
    if arguments.compare {
        let each = summary
            .compared
            .iter()
            .map(|(kind, scores)| (kind.name().to_owned(), scores_json(scores)));
        value["compared"] = Value::Object(each.collect());
    }
    value
}

fn scores_json(scores: &Scores) -> Value {
    let variables: Vec<Value> = scores
        .variables
        .iter()
        .map(|v| {
            json!({
                "name": v.name,
                "error": v.error,
                "change_error": v.change_error,
                "explained": v.explained,
                "log_likelihood": v.log_likelihood,
                "coverage": v.coverage,
                "chance": v.chance,
            })
        })
        .collect();
    let groups: Vec<Value> = scores
        .groups
        .iter()
        .map(|group| json!({ "name": group.name, "rows": group.rows, "errors": group.errors }))
        .collect();
    json!({
        "groups": groups,
        "rows": scores.rows,
        "mean_error": scores.mean_error(),
        "log_likelihood": scores.log_likelihood(),
        "variables": variables,
    })
}

fn told(arguments: &Fit, run: &Run, summary: &FitSummary) -> String {
    let steps = summary.report.members.iter().map(|member| member.steps).max().unwrap_or(0);
    let (model, data) = (run.model(), run.data());
    let each = if model.members() == 1 { "" } else { " each" };
    format!(
        "{}: {} of {} parameters{each}, {} over {}, from {} in {} (at most {}{each})\n{}\n",
        arguments.output.display(),
        counted(model.members(), "network"),
        count(model.parameters()),
        model.kind().name(),
        counted(model.structure().edges(), "edge"),
        counted(data.len(), "row"),
        counted(data.episodes(), "episode"),
        counted(steps, "step"),
        told_preset(run),
    )
}

/// Whose policy the run explains, and whether the log is one of it.
fn told_policy(run: &Run, summary: &FitSummary) -> String {
    let Some(owner) = run.policy_owner() else { return String::new() };
    let agreement = summary.agreement.map_or_else(String::new, |share| {
        format!(
            "; its most likely action is the recorded one in {:.1} % of the rows",
            100.0 * share
        )
    });
    format!("Answers are about {}{agreement}.\n\n", owner.words())
}

/// Whose way the run was made and by which test, where it is not ours.
fn told_preset(run: &Run) -> String {
    let Some(graph) = run.graph().get() else { return String::new() };
    let test = format!("edges by {} with p at most {}", graph.method, brief(graph.eta));
    match run.preset() {
        Preset::Paper => format!("made by the paper's method: {test}\n"),
        Preset::Default if graph.method != Method::Auto.name() => format!("{test}\n"),
        Preset::Default => String::new(),
    }
}

/// Effects that the causes found do not explain fully.
fn told_shortfalls(shortfalls: &[Shortfall]) -> String {
    let mut text = String::new();
    for Shortfall { effect, gain, errors: [causes, everything], used } in shortfalls {
        let _ = write!(
            text,
            "{effect}: the unrestricted model predicts it with an error of {:.2} %, the causes found with {:.2} % ({gain:+.3} nats a row)",
            100.0 * everything,
            100.0 * causes,
        );
        let _ = match used.as_slice() {
            [] => writeln!(text, "; the graph lacks a cause"),
            used => writeln!(text, ": its networks also read {}", used.join(", ")),
        };
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn scores_table(scores: &Scores, on: ScoredOn) -> String {
    let mut table = Table::new([
        ("one step ahead", Alignment::Left),
        ("error", Alignment::Right),
        ("of the change", Alignment::Right),
        ("log-likelihood", Alignment::Right),
        ("in 90 % interval", Alignment::Right),
    ]);
    for v in &scores.variables {
        table.push([
            v.name.clone(),
            percent(v.error),
            v.change_error.map_or_else(String::new, percent),
            format!("{:.3}", v.log_likelihood),
            noise_words(v),
        ]);
    }
    let by_chance = scores.variables.iter().any(|v| v.coverage.is_none() && !v.is_certain());
    let chance = " Chance: how often the model expects another label than the likeliest.";
    format!(
        "{}\nScored on {} of {}. Error: root mean square over the variable's standard deviation (100 %: \
         no better than its mean), and over its usual change.{}\n",
        table.lines(),
        counted(scores.rows, "row"),
        on.words(),
        if by_chance { chance } else { "" }
    ) + &groups_table(scores)
}

/// The errors by the labels and flags of the state.
fn groups_table(scores: &Scores) -> String {
    if scores.groups.is_empty() {
        return String::new();
    }
    let mut columns =
        vec![("error where".to_owned(), Alignment::Left), ("rows".to_owned(), Alignment::Right)];
    columns.extend(scores.variables.iter().map(|v| (v.name.clone(), Alignment::Right)));
    let mut table = Table::new(columns);
    for group in &scores.groups {
        let errors = group.errors.iter().map(|&error| percent(error));
        table.push([group.name.clone(), count(group.rows)].into_iter().chain(errors));
    }
    format!("\n{}", table.lines())
}

fn comparison(compared: &[(ModelKind, Scores)], on: ScoredOn) -> String {
    let mut columns = vec![("error one step ahead".to_owned(), Alignment::Left)];
    columns.extend(compared.iter().map(|(kind, _)| (kind.name().to_owned(), Alignment::Right)));
    let mut table = Table::new(columns);
    let Some((_, first)) = compared.first() else { return String::new() };
    for (index, variable) in first.variables.iter().enumerate() {
        let errors = compared.iter().map(|(_, scores)| percent(scores.variables[index].error));
        table.push(std::iter::once(variable.name.clone()).chain(errors));
    }
    let each = |title: &str, value: fn(&Scores) -> String| {
        let values = compared.iter().map(|(_, scores)| value(scores));
        std::iter::once(title.to_owned()).chain(values).collect::<Vec<_>>()
    };
    table.push(each("mean", |scores| percent(scores.mean_error())));
    table.push(each("log-likelihood", |scores| format!("{:.3}", scores.log_likelihood())));
    for (index, variable) in first.variables.iter().enumerate() {
        let each = compared.iter().map(|(_, scores)| noise_words(&scores.variables[index]));
        table.push(std::iter::once(format!("{} in 90 % interval", variable.name)).chain(each));
    }
    format!(
        "{}\nScored on {} of {}. Error: root mean square over the variable's standard deviation.\n",
        table.lines(),
        counted(first.rows, "row"),
        on.words()
    )
}

fn percent(share: f64) -> String {
    format!("{} %", brief(100.0 * share))
}

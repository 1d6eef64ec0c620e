//! `becausal fit`: what follows from a state and an action?

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use becausal::data::{ReadOptions, read};
use becausal::discovery::{Options, discover};
use becausal::model::{
    Checked, FitReport, ModelKind, ModelParams, Scores, Shortfall, Structure, WorldModel,
};
use becausal::render::{Alignment, Table};
use becausal::run::RunDirectory;
use becausal::{CausalGraph, Stream, Transitions};
use serde_json::{Value, json};

use crate::arguments::{Common, Fit};
use crate::check::load_schema;
use crate::describe;
use crate::failure::Failure;
use crate::number::{brief, counted};
use crate::progress::{EdgeProgress, MemberProgress};

/// The share of the episodes that nothing is learned from: they show how good the model is.
const TEST_SHARE: f64 = 0.1;

pub fn run(common: &Common, arguments: &Fit) -> Result<String, Failure> {
    let started = Instant::now();
    RunDirectory::refuse_others(&arguments.output)?;
    if arguments.output.join("policy").exists() {
        return Err(Failure::failed(format!(
            "{}: holds a trained policy, which a fit would replace; give another name",
            arguments.output.display()
        )));
    }
    let schema = match &arguments.schema {
        Some(path) => Some(Arc::new(load_schema(path)?)),
        None => None,
    };
    let recording =
        read(&arguments.data, &ReadOptions { schema, ignore: arguments.ignore.clone() })?;
    let data = recording.transitions;
    // Before anything that takes long: a mistake in it shows at once.
    let other = match &arguments.test {
        Some(path) => {
            let schema = Some(Arc::clone(data.schema()));
            let ignore = arguments.ignore.clone();
            Some(read(path, &ReadOptions { schema, ignore })?.transitions)
        }
        None => None,
    };
    let mut graph = find_graph(common, arguments, &data)?;
    let structure = Structure::of(data.schema(), &graph);
    let (learned, kept_apart) = split(&data, arguments.seed);
    let kept_apart = other.unwrap_or(kept_apart);
    let kinds: Vec<ModelKind> =
        if arguments.compare { ModelKind::ALL.to_vec() } else { vec![kind(arguments)] };
    let mut fitted = Vec::new();
    let mut shortfalls = Vec::new();
    for kind in kinds {
        let (model, report) = if kind == ModelKind::Causal {
            let checked = Checked::fit(&learned, &mut graph, |kind, structure, most| {
                fit(common, arguments, (kind, most), structure, &learned)
            })?;
            shortfalls = checked.shortfalls;
            (checked.model, checked.report)
        } else {
            fit(common, arguments, (kind, usize::MAX), &structure, &learned)?
        };
        let scores = model.score(&kept_apart);
        fitted.push((model, report, scores));
    }
    let chosen = fitted.iter().position(|(model, _, _)| model.kind() == kind(arguments));
    let (model, report, scores) = &fitted[chosen.unwrap_or(0)];
    RunDirectory::replace(&arguments.output, data.schema(), |run| {
        run.write_config(&config(arguments))?;
        run.write_data(&data)?;
        run.write_graph(&graph)?;
        run.write_model(model)
    })?;
    let seconds = started.elapsed().as_secs_f64();
    if common.json {
        let mut value = summary(arguments, &data, &graph, model, report, scores);
        value["seconds"] = json!(seconds);
        let told = |s: &Shortfall| {
            let Shortfall { effect, gain, errors, used } = s;
            json!({ "effect": effect, "gain": gain, "errors": errors, "used": used })
        };
        value["shortfalls"] = shortfalls.iter().map(told).collect();
        if arguments.compare {
            let each = fitted
                .iter()
                .map(|(model, _, scores)| (model.kind().name().to_owned(), scores_json(scores)));
            value["compared"] = Value::Object(each.collect());
        }
        return Ok(describe::line(&value));
    }
    let mut text = told(arguments, &data, model, report);
    text.push_str(&told_shortfalls(&shortfalls));
    if arguments.compare {
        text.push_str(&comparison(&fitted));
    } else {
        text.push_str(&scores_table(scores));
    }
    let _ = writeln!(text, "\nNext: becausal explain {} --step 0", arguments.output.display());
    Ok(text)
}

fn kind(arguments: &Fit) -> ModelKind {
    ModelKind::of(&arguments.model).unwrap_or(ModelKind::Causal)
}

/// The graph that was given, or the one the data show.
fn find_graph(
    common: &Common,
    arguments: &Fit,
    data: &Transitions,
) -> Result<CausalGraph, Failure> {
    if let Some(path) = &arguments.graph {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::failed(format!("{}: cannot read the graph: {error}", path.display()))
        })?;
        let graph = CausalGraph::from_json(&text)
            .map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
        check_names(&graph, data)
            .map_err(|problem| Failure::failed(format!("{}: {problem}", path.display())))?;
        return Ok(match arguments.eta {
            Some(eta) => graph.with_eta(eta),
            None => graph,
        });
    }
    let options = Options { eta: arguments.eta, seed: arguments.seed, ..Options::default() };
    let progress = EdgeProgress::new(common.quiet);
    let graph = discover(data, &options, &|step| {
        progress.show(step);
        ControlFlow::Continue(())
    })?;
    progress.finish();
    Ok(graph)
}

/// A graph of other variables would be passed over in silence.
fn check_names(graph: &CausalGraph, data: &Transitions) -> Result<(), String> {
    let expected = becausal::model::effects(data.schema());
    let known: Vec<&str> = data.schema().variables().iter().map(|v| v.name.as_str()).collect();
    for pair in &graph.pairs {
        if !expected.contains(&pair.effect) || !known.contains(&pair.cause.as_str()) {
            return Err(format!(
                "its pair `{} -> {}` is not of the schema `{}`: the graph was made from other data",
                pair.cause,
                pair.effect,
                data.schema().name()
            ));
        }
    }
    Ok(())
}

/// Episodes to learn from and episodes to score on. With fewer than four, all are both.
pub fn split(data: &Transitions, seed: u64) -> (Transitions, Transitions) {
    if data.episodes() < 4 {
        return (data.clone(), data.clone());
    }
    let split = data.split_episodes(TEST_SHARE, &mut Stream::keyed(seed, &[7]));
    (data.select_episodes(&split.train), data.select_episodes(&split.held_out))
}

fn fit(
    common: &Common,
    arguments: &Fit,
    (kind, most): (ModelKind, usize),
    structure: &Structure,
    data: &Transitions,
) -> Result<(WorldModel, FitReport), Failure> {
    let options = ModelParams {
        members: arguments.members.get().min(most),
        steps: arguments.steps.get(),
        seed: arguments.seed,
        ..ModelParams::default()
    };
    let progress = MemberProgress::new(kind.name(), options.members, options.steps, common.quiet);
    let fitted = WorldModel::fit(data, kind, structure, &options, &|step| progress.show(step))?;
    progress.finish();
    Ok(fitted)
}

fn config(arguments: &Fit) -> String {
    let mut text = String::from("command = \"fit\"\n");
    let _ = writeln!(text, "data = {:?}", arguments.data.display().to_string());
    let _ = writeln!(text, "model = {:?}", kind(arguments).name());
    let _ = writeln!(text, "members = {}", arguments.members);
    let _ = writeln!(text, "steps = {}", arguments.steps);
    if let Some(eta) = arguments.eta {
        let _ = writeln!(text, "eta = {eta:?}");
    }
    let _ = writeln!(text, "seed = {}", arguments.seed);
    text
}

fn summary(
    arguments: &Fit,
    data: &Transitions,
    graph: &CausalGraph,
    model: &WorldModel,
    report: &FitReport,
    scores: &Scores,
) -> Value {
    let members: Vec<Value> = report
        .members
        .iter()
        .map(|m| json!({ "steps": m.steps, "best_step": m.best_step, "held_out": m.held_out }))
        .collect();
    json!({
        "run": arguments.output,
        "model": model.kind().name(),
        "rows": data.len(),
        "episodes": data.episodes(),
        "edges": graph.edges().count(),
        "parameters": model.parameters(),
        "members": members,
        "scores": scores_json(scores),
    })
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
            })
        })
        .collect();
    json!({
        "rows": scores.rows,
        "mean_error": scores.mean_error(),
        "log_likelihood": scores.log_likelihood(),
        "variables": variables,
    })
}

fn told(arguments: &Fit, data: &Transitions, model: &WorldModel, report: &FitReport) -> String {
    let steps = report.members.iter().map(|member| member.steps).max().unwrap_or(0);
    format!(
        "{}: {} networks of {} numbers each, {} over {}, from {} in {} ({} each at most)\n\n",
        arguments.output.display(),
        model.members(),
        crate::number::count(model.parameters()),
        model.kind().name(),
        counted(model.structure().edges(), "edge"),
        counted(data.len(), "row"),
        counted(data.episodes(), "episode"),
        counted(steps, "step"),
    )
}

/// What the causes found do not tell.
fn told_shortfalls(shortfalls: &[Shortfall]) -> String {
    let mut text = String::new();
    for Shortfall { effect, gain, errors: [causes, everything], used } in shortfalls {
        let _ = write!(
            text,
            "{effect}: networks over all variables predict it with an error of {:.2} %, those over its causes with {:.2} % ({gain:+.3} nats a row)",
            100.0 * everything,
            100.0 * causes,
        );
        let _ = match used.as_slice() {
            [] => writeln!(text, "; a cause is missing in the graph"),
            used => writeln!(text, ": its networks also read {}", used.join(", ")),
        };
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn scores_table(scores: &Scores) -> String {
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
            v.coverage
                .map_or_else(|| "no noise".to_owned(), |share| format!("{:.0} %", 100.0 * share)),
        ]);
    }
    format!(
        "{}\nOn {} of episodes that nothing was learned from. Error: root mean square over the \
         variable's spread (100 %: no better than its mean), and over its usual change.\n",
        table.lines(),
        counted(scores.rows, "row")
    )
}

fn comparison(fitted: &[(WorldModel, FitReport, Scores)]) -> String {
    let mut columns = vec![("error one step ahead".to_owned(), Alignment::Left)];
    columns.extend(
        fitted.iter().map(|(model, _, _)| (model.kind().name().to_owned(), Alignment::Right)),
    );
    let mut table = Table::new(columns);
    let names = fitted[0].2.variables.iter().map(|variable| variable.name.clone());
    for (at, name) in names.enumerate() {
        let each = fitted.iter().map(|(_, _, scores)| percent(scores.variables[at].error));
        table.push(std::iter::once(name).chain(each));
    }
    let mean = fitted.iter().map(|(_, _, scores)| percent(scores.mean_error()));
    table.push(std::iter::once("mean".to_owned()).chain(mean));
    let likelihood = fitted.iter().map(|(_, _, scores)| format!("{:.3}", scores.log_likelihood()));
    table.push(std::iter::once("log-likelihood".to_owned()).chain(likelihood));
    for (at, variable) in fitted[0].2.variables.iter().enumerate() {
        let each = fitted.iter().map(|(_, _, scores)| match scores.variables[at].coverage {
            Some(share) => format!("{:.0} %", 100.0 * share),
            None => "no noise".to_owned(),
        });
        table.push(std::iter::once(format!("{} in 90 % interval", variable.name)).chain(each));
    }
    format!(
        "{}\nOn {} of episodes that nothing was learned from; root mean square over the variable's \
         spread.\n",
        table.lines(),
        counted(fitted[0].2.rows, "row")
    )
}

fn percent(share: f64) -> String {
    format!("{} %", brief(100.0 * share))
}

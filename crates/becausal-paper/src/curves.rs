//! `becausal reproduce curves`: the paper's learning curves. Does a causal model learn as well?

use std::fmt::Write;
use std::path::Path;

use becausal::Environment;
use becausal::data::write_atomically;
use becausal::env::BuildOrder;
use becausal::env::{self, AnyEnvironment, find};
use becausal::learn::{Exploration, Imagination, Settings, Training, interact};
use becausal::render::{Alignment, Chart, Series, SeriesPoint, Table};
use serde_json::{Value, json};

use crate::arguments::{Common, ReproduceCurves};
use crate::describe;
use crate::failure::Failure;
use crate::number::{brief, count, counted};
use crate::progress::Progress;

/// An environment of the paper.
struct Arena {
    id: &'static str,
    /// After how many steps the paper cuts its episodes.
    cap: Option<&'static str>,
    /// Real steps with `--quick`.
    quick_steps: usize,
}

const ARENAS: [Arena; 4] = [
    Arena { id: "CartPole-v1", cap: Some("200"), quick_steps: 800 },
    Arena { id: "LunarLander-v3", cap: Some("400"), quick_steps: 2000 },
    Arena { id: "LunarLanderContinuous-v3", cap: Some("400"), quick_steps: 2000 },
    Arena { id: "BuildMarine-v0", cap: None, quick_steps: 2000 },
];

/// What is compared, in the order of the table.
pub const MODELS: [&str; 4] = ["none", "mlp", "full", "causal"];

/// Points of a curve.
const POINTS: usize = 20;

/// `--quick`: networks and updates that are done in seconds.
const QUICK: &str = "members = 2\nmodel_width = 32\nfit_batch = 128\nfit_steps_first = 150\n\
                     fit_steps_graph = 40\nfit_steps = 40\nrounds = 5\nsamples = 1024\n\
                     evaluation_episodes = 5";
/// Its epochs, with a model.
const QUICK_EPOCHS: usize = 8;

/// One training: real steps and mean evaluation after every epoch, and the final evaluation.
pub struct Curve {
    pub model: &'static str,
    pub seed: u64,
    pub points: Vec<(usize, f64)>,
    pub last: f64,
    pub seconds: f64,
}

/// The trainings of an environment.
pub struct Curves {
    pub id: &'static str,
    pub each: Vec<Curve>,
    /// The mean return of a policy that is written by hand, where there is one.
    pub by_hand: Option<f64>,
    /// Episodes of the final evaluations.
    pub episodes: usize,
}

pub fn run(common: &Common, arguments: &ReproduceCurves) -> Result<String, Failure> {
    let measured = measure(common, arguments)?;
    if common.json {
        let values: Vec<Value> = measured.iter().map(as_json).collect();
        return Ok(describe::line(&json!({ "environments": values, "folder": arguments.output })));
    }
    let mut text: String = measured.iter().map(told).collect();
    let _ = writeln!(
        text,
        "Mean return as the environment pays, of the best policy of each seed in {} new episodes; \
         curves as .csv, .svg and .png in {}.",
        measured.first().map_or(0, |curves| curves.episodes),
        arguments.output.display()
    );
    if arguments.quick {
        text.push_str("--quick shows that everything works; it is too little to compare by.\n");
    }
    Ok(text)
}

/// Trains with every kind of model and writes the curves of each environment when they are complete.
pub fn measure(common: &Common, arguments: &ReproduceCurves) -> Result<Vec<Curves>, Failure> {
    std::fs::create_dir_all(&arguments.output).map_err(|error| {
        Failure::failed(format!("{}: cannot make it: {error}", arguments.output.display()))
    })?;
    let arenas: Vec<&Arena> = ARENAS
        .iter()
        .filter(|arena| arguments.env.is_empty() || arguments.env.iter().any(|id| id == arena.id))
        .collect();
    let seeds = match (arguments.seeds.as_slice(), arguments.quick) {
        ([], true) => vec![1, 2],
        ([], false) => vec![1, 2, 3],
        (seeds, _) => seeds.to_vec(),
    };
    let total = arenas.len() * MODELS.len() * seeds.len();
    let mut bar = Progress::new(total, "trainings", common.quiet);
    let mut measured = Vec::new();
    for arena in arenas {
        let id = arena.id;
        let mut each = Vec::new();
        for model in MODELS {
            for &seed in &seeds {
                bar.at(&format!("{id}, {model}, seed {seed}"));
                each.push(train(arguments, arena, model, seed)?);
                bar.advance(1);
            }
        }
        let by_hand = by_hand(arena, &seeds)?;
        let episodes = settings(arguments, arena, "causal")?.evaluation_episodes;
        let curves = Curves { id, each, by_hand, episodes };
        write_files(&arguments.output, &curves)?;
        measured.push(curves);
    }
    bar.finish();
    Ok(measured)
}

fn make(arena: &Arena) -> Result<AnyEnvironment, Failure> {
    let mut options = env::Options::default();
    if let Some(cap) = arena.cap {
        options.set("max_episode_steps", cap);
    }
    Ok(find(arena.id)?.make(&options)?)
}

/// How a model of this kind learns: as its preset says, but all with the same number of real steps.
fn settings(arguments: &ReproduceCurves, arena: &Arena, model: &str) -> Result<Settings, Failure> {
    let causal = Settings::preset(arena.id, &arguments.preset, None)?;
    let mut settings = Settings::preset(arena.id, &arguments.preset, Imagination::of(model))?;
    settings.steps = causal.steps;
    if arguments.quick {
        settings.change(QUICK, "--quick")?;
        settings.steps = arena.quick_steps;
        settings.warm_up = settings.warm_up.min(settings.steps / 4);
        settings.epoch_steps = settings.steps / QUICK_EPOCHS;
        settings.graph_from = settings.graph_from.min(settings.steps / 2);
    }
    if let Some(change) = arguments.change {
        settings.change(change, "the curves' settings")?;
    }
    if settings.model == Imagination::None {
        // Its preset is for more steps than a model needs: with few of them it has to learn more often.
        settings.epoch_steps = settings.epoch_steps.min(settings.steps.div_ceil(POINTS));
        settings.samples = settings.samples.min(settings.epoch_steps);
    }
    Ok(settings)
}

fn train(
    arguments: &ReproduceCurves,
    arena: &Arena,
    model: &'static str,
    seed: u64,
) -> Result<Curve, Failure> {
    let started = std::time::Instant::now();
    let environment = make(arena)?;
    let settings = settings(arguments, arena, model)?;
    let mut training = Training::new(&environment, &settings, seed)?;
    let mut points = Vec::new();
    while !training.is_done() {
        let report = training.run_epoch()?;
        if let Some(evaluation) = report.evaluation {
            points.push((report.real_steps, evaluation.native_mean()));
        }
    }
    let last = training.final_evaluation()?.native_mean();
    Ok(Curve { model, seed, points, last, seconds: started.elapsed().as_secs_f64() })
}

/// The mean return of the policy that is written by hand, where there is one.
fn by_hand(arena: &Arena, seeds: &[u64]) -> Result<Option<f64>, Failure> {
    const ROWS: usize = 600;
    let environment = make(arena)?;
    let Some(policy) = BuildOrder::of(environment.schema()) else { return Ok(None) };
    let (mut paid, mut episodes) = (0.0, 0);
    for &seed in seeds {
        let played = interact(&environment, &policy, (ROWS, usize::MAX), Exploration::NONE, seed)?;
        paid += played.reward().unwrap_or_default().iter().sum::<f64>();
        episodes += played.episodes();
    }
    Ok(Some(paid / episodes.max(1) as f64))
}

/// The curve at evenly spaced steps, straight lines between what was measured.
fn resampled(curve: &Curve, steps: f64) -> Option<f64> {
    let after = curve.points.iter().position(|(at, _)| *at as f64 >= steps)?;
    let (x1, y1) = curve.points[after];
    let Some((x0, y0)) = after.checked_sub(1).map(|before| curve.points[before]) else {
        return (x1 as f64 == steps).then_some(y1);
    };
    Some(y0 + (y1 - y0) * (steps - x0 as f64) / (x1 - x0).max(1) as f64)
}

pub fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    (mean, (squares / count).sqrt())
}

pub fn of_model<'a>(curves: &'a [Curve], model: &'a str) -> impl Iterator<Item = &'a Curve> {
    curves.iter().filter(move |curve| curve.model == model)
}

fn write_files(folder: &Path, curves: &Curves) -> Result<(), Failure> {
    let id = curves.id;
    let mut csv = String::from("model,seed,real_steps,mean_return\n");
    for curve in &curves.each {
        for (steps, mean) in &curve.points {
            let _ = writeln!(csv, "{},{},{steps},{mean}", curve.model, curve.seed);
        }
    }
    write_atomically(&folder.join(format!("{id}.csv")), csv.as_bytes())?;
    let drawing = chart(curves)?.drawing();
    write_atomically(&folder.join(format!("{id}.svg")), drawing.svg().as_bytes())?;
    let png = drawing.png(2.0).map_err(Failure::failed)?;
    Ok(write_atomically(&folder.join(format!("{id}.png")), &png)?)
}

/// The mean curve of each kind of model, with its range over the seeds.
pub fn chart(curves: &Curves) -> Result<Chart, Failure> {
    let (id, by_hand, curves) = (curves.id, curves.by_hand, curves.each.as_slice());
    let end = curves.iter().filter_map(|c| c.points.last()).map(|(x, _)| *x).min().unwrap_or(1);
    let mut series = Vec::new();
    for model in MODELS {
        let at = |point: usize| {
            let x = end as f64 * point as f64 / POINTS as f64;
            let each: Option<Vec<f64>> =
                of_model(curves, model).map(|curve| resampled(curve, x)).collect();
            let each = each?;
            let (mean, _) = mean_and_spread(&each);
            // From the worst to the best seed: a deviation would promise returns that cannot be had.
            let low = each.iter().copied().fold(mean, f64::min);
            let high = each.iter().copied().fold(mean, f64::max);
            Some(SeriesPoint { x, mean, low, high })
        };
        let points: Vec<SeriesPoint> = (1..=POINTS).filter_map(at).collect();
        if !points.is_empty() {
            series.push(Series { name: name(model).to_owned(), points });
        }
    }
    if let (Some(mean), Some(first)) = (by_hand, series.iter().map(first_step).reduce(f64::min)) {
        let at = |x: f64| SeriesPoint { x, mean, low: mean, high: mean };
        series.push(Series { name: BY_HAND.to_owned(), points: vec![at(first), at(end as f64)] });
    }
    let seeds = of_model(curves, MODELS[0]).count();
    let title = format!("{id}: mean and range of {}", counted(seeds, "seed"));
    Chart::new(title, "real steps", "mean return", series).map_err(Failure::failed)
}

fn first_step(series: &Series) -> f64 {
    series.points.first().map_or(0.0, |point| point.x)
}

/// The reference line where there is a policy that is written by hand.
const BY_HAND: &str = "build order by hand";

pub fn name(model: &str) -> &'static str {
    match model {
        "none" => "no model",
        "mlp" => "dense model",
        "full" => "full graph",
        _ => "causal graph",
    }
}

fn told(curves: &Curves) -> String {
    let (id, by_hand, curves) = (curves.id, curves.by_hand, curves.each.as_slice());
    let mut table = Table::new([
        (id, Alignment::Left),
        ("return", Alignment::Right),
        ("spread", Alignment::Right),
        ("of each seed", Alignment::Left),
        ("real steps", Alignment::Right),
        ("seconds each", Alignment::Right),
    ]);
    for model in MODELS {
        let last: Vec<f64> = of_model(curves, model).map(|curve| curve.last).collect();
        let (mean, spread) = mean_and_spread(&last);
        let seconds: Vec<f64> = of_model(curves, model).map(|curve| curve.seconds).collect();
        let steps = of_model(curves, model).filter_map(|c| c.points.last()).map(|(x, _)| *x).max();
        table.push([
            name(model).to_owned(),
            format!("{mean:.1}"),
            format!("{spread:.1}"),
            last.iter().map(|last| format!("{last:.1}")).collect::<Vec<_>>().join(" "),
            count(steps.unwrap_or(0)),
            brief(mean_and_spread(&seconds).0),
        ]);
    }
    if let Some(mean) = by_hand {
        let rest = [String::new(), String::new(), String::new(), String::new()];
        let [spread, each, steps, seconds] = rest;
        table.push([BY_HAND.to_owned(), format!("{mean:.1}"), spread, each, steps, seconds]);
    }
    format!("{}\n", table.lines())
}

pub fn as_json(curves: &Curves) -> Value {
    let each: Vec<Value> = curves
        .each
        .iter()
        .map(|curve| {
            json!({
                "model": curve.model,
                "seed": curve.seed,
                "final_return": curve.last,
                "seconds": curve.seconds,
                "curve": curve.points,
            })
        })
        .collect();
    json!({ "environment": curves.id, "trainings": each, "by_hand": curves.by_hand })
}

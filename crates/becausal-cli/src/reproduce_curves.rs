//! `becausal reproduce curves`: the paper's learning curves. Does a causal model learn as well?

use std::fmt::Write;
use std::path::Path;

use becausal::data::write_atomically;
use becausal::env::{self, AnyEnvironment, find};
use becausal::policy::{Imagination, Settings, Training};
use becausal::render::{Alignment, Chart, Series, SeriesPoint, Table};
use serde_json::{Value, json};

use crate::arguments::{Common, ReproduceCurves};
use crate::describe;
use crate::failure::Failure;
use crate::number::{brief, count};
use crate::progress::Progress;

/// The environments of the paper, with the caps of its episodes.
const ENVIRONMENTS: [(&str, Option<&str>); 4] = [
    ("CartPole-v1", Some("200")),
    ("LunarLander-v3", Some("400")),
    ("LunarLanderContinuous-v3", Some("400")),
    ("BuildMarine-v0", None),
];

/// What is compared, in the order of the table.
pub const MODELS: [&str; 4] = ["none", "mlp", "full", "causal"];

/// Points of a curve.
const POINTS: usize = 20;

/// How much smaller `--quick` is.
const QUICK: &str = "steps = 800\nfinal_fit_steps = 0";

/// One training: real steps and mean evaluation after every epoch, and the final evaluation.
pub struct Curve {
    pub model: &'static str,
    pub seed: u64,
    pub points: Vec<(usize, f64)>,
    pub last: f64,
    pub seconds: f64,
}

/// The trainings of an environment, by its id.
pub type Curves = (&'static str, Vec<Curve>);

pub fn run(common: &Common, arguments: &ReproduceCurves) -> Result<String, Failure> {
    let measured = measure(common, arguments)?;
    if common.json {
        let values: Vec<Value> = measured.iter().map(|(id, curves)| as_json(id, curves)).collect();
        return Ok(describe::line(&json!({ "environments": values, "folder": arguments.output })));
    }
    let mut text: String = measured.iter().map(|(id, curves)| told(id, curves)).collect();
    let _ = writeln!(
        text,
        "Mean return as the environment pays, of the best policy of each seed in 20 new episodes; \
         curves as .csv, .svg and .png in {}.",
        arguments.output.display()
    );
    Ok(text)
}

/// Trains with every kind of model and writes the curves of each environment when they are complete.
pub fn measure(common: &Common, arguments: &ReproduceCurves) -> Result<Vec<Curves>, Failure> {
    std::fs::create_dir_all(&arguments.output).map_err(|error| {
        Failure::failed(format!("{}: cannot make it: {error}", arguments.output.display()))
    })?;
    let environments: Vec<(&'static str, Option<&str>)> = ENVIRONMENTS
        .into_iter()
        .filter(|(id, _)| match arguments.env.as_slice() {
            [] => !arguments.quick || *id == "CartPole-v1",
            chosen => chosen.iter().any(|chosen| chosen == id),
        })
        .collect();
    let seeds = match (arguments.seeds.as_slice(), arguments.quick) {
        ([], true) => vec![1, 2],
        ([], false) => vec![1, 2, 3],
        (seeds, _) => seeds.to_vec(),
    };
    let total = environments.len() * MODELS.len() * seeds.len();
    let mut bar = Progress::new(total, "trainings", common.quiet);
    let mut measured = Vec::new();
    for (id, cap) in environments {
        let mut curves = Vec::new();
        for model in MODELS {
            for &seed in &seeds {
                bar.at(&format!("{id}, {model}, seed {seed}"));
                curves.push(train(arguments, id, cap, model, seed)?);
                bar.advance(1);
            }
        }
        write_files(&arguments.output, id, &curves)?;
        measured.push((id, curves));
    }
    bar.finish();
    Ok(measured)
}

fn train(
    arguments: &ReproduceCurves,
    id: &str,
    cap: Option<&str>,
    model: &'static str,
    seed: u64,
) -> Result<Curve, Failure> {
    let started = std::time::Instant::now();
    let mut options = env::Options::default();
    if let Some(cap) = cap {
        options.set("max_episode_steps", cap);
    }
    let environment: AnyEnvironment = find(id)?.make(&options)?;
    let causal = Settings::preset(id, &arguments.preset, None)?;
    let mut settings = Settings::preset(id, &arguments.preset, Imagination::of(model))?;
    // All get the same number of real steps.
    settings.steps = causal.steps;
    settings.epoch_steps = settings.epoch_steps.min(causal.steps.div_ceil(POINTS));
    settings.samples = match settings.model {
        Imagination::None => settings.samples.min(settings.epoch_steps),
        Imagination::Model(_) => settings.samples,
    };
    if arguments.quick {
        settings.change(QUICK, "--quick")?;
    }
    if let Some(change) = arguments.change {
        settings.change(change, "the curves' settings")?;
    }
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

fn write_files(folder: &Path, id: &str, curves: &[Curve]) -> Result<(), Failure> {
    let mut csv = String::from("model,seed,real_steps,mean_return\n");
    for curve in curves {
        for (steps, mean) in &curve.points {
            let _ = writeln!(csv, "{},{},{steps},{mean}", curve.model, curve.seed);
        }
    }
    write_atomically(&folder.join(format!("{id}.csv")), csv.as_bytes())?;
    let drawing = chart(id, curves)?.drawing();
    write_atomically(&folder.join(format!("{id}.svg")), drawing.svg().as_bytes())?;
    let png = drawing.png(2.0).map_err(Failure::failed)?;
    Ok(write_atomically(&folder.join(format!("{id}.png")), &png)?)
}

/// The mean curve of each kind of model, with its spread over the seeds.
pub fn chart(id: &str, curves: &[Curve]) -> Result<Chart, Failure> {
    let end = curves.iter().filter_map(|c| c.points.last()).map(|(x, _)| *x).min().unwrap_or(1);
    let mut series = Vec::new();
    for model in MODELS {
        let at = |point: usize| {
            let x = end as f64 * point as f64 / POINTS as f64;
            let each: Option<Vec<f64>> =
                of_model(curves, model).map(|curve| resampled(curve, x)).collect();
            let (mean, spread) = mean_and_spread(&each?);
            Some(SeriesPoint { x, mean, low: mean - spread, high: mean + spread })
        };
        let points: Vec<SeriesPoint> = (1..=POINTS).filter_map(at).collect();
        if !points.is_empty() {
            series.push(Series { name: name(model).to_owned(), points });
        }
    }
    Chart::new(id, "real steps", "mean return", series).map_err(Failure::failed)
}

pub fn name(model: &str) -> &'static str {
    match model {
        "none" => "no model",
        "mlp" => "dense model",
        "full" => "full graph",
        _ => "causal graph",
    }
}

fn told(id: &str, curves: &[Curve]) -> String {
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
    format!("{}\n", table.lines())
}

pub fn as_json(id: &str, curves: &[Curve]) -> Value {
    let each: Vec<Value> = curves
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
    json!({ "environment": id, "trainings": each })
}

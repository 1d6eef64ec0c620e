//! `becausal-paper curves`: the paper's learning curves. Does a causal model learn as well?

use std::fmt::Write;
use std::path::{Path, PathBuf};

use becausal::Environment;
use becausal::data::write_atomically;
use becausal::env::BuildOrder;
use becausal::learn::{Exploration, Imagination, Settings, interact};
use becausal::output::Output;
use becausal::progress::Listener;
use becausal::render::{Alignment, Chart, Series, SeriesPoint, Table};
use clap::Args;
use serde_json::{Value, json};

use crate::benchmark::{Benchmark, chosen, environments};
use crate::curve::{self, Curve, Task};
use crate::mask::Masks;
use crate::number::{brief, count, counted, mean_and_deviation};
use crate::{Common, Failure, progress};

/// What is compared, in the order of the table.
pub const MODELS: [&str; 4] = ["none", "mlp", "full", "causal"];

/// Points of a curve in the chart.
const CHART_POINTS: usize = 20;

/// Pixels of the PNG per unit of the drawing.
const PNG_SCALE: f64 = 2.0;

/// Arguments of `becausal-paper curves`.
#[derive(Args)]
pub struct Arguments {
    /// The folder for curves and charts
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// An environment (repeatable; default: the paper's four)
    #[arg(long, value_name = "ENV", value_parser = environments())]
    pub env: Vec<String>,
    /// Seeds, one training of each kind per seed (default: 1,2,3; with --quick 1,2)
    #[arg(long, value_name = "S,S", value_delimiter = ',')]
    pub seeds: Vec<u64>,
    /// A kind of training (repeatable; default: all four)
    #[arg(long, value_name = "MODEL", value_parser = MODELS)]
    pub model: Vec<String>,
    /// The settings: ours, or those in the paper's table
    #[arg(long, default_value = "default", value_parser = ["default", "paper"])]
    pub preset: String,
    /// Continue what an earlier command left in DIR: trainings that are done are not repeated, one that was
    /// stopped continues from its last epoch
    #[arg(long)]
    pub resume: bool,
    /// A small version with few steps, small networks and short evaluations: does everything work?
    #[arg(long)]
    pub quick: bool,
}

/// The trainings in one environment.
pub struct Curves {
    pub id: &'static str,
    pub trainings: Vec<Curve>,
    /// The mean return of a hand-written policy, where there is one.
    by_hand: Option<f64>,
    /// Episodes of each final evaluation.
    pub final_episodes: usize,
    /// All pairs of a cause and an effect.
    pub pairs: usize,
}

impl Curves {
    /// The masks of the trainings with the causal model.
    pub fn masks(&self) -> Masks<'_> {
        Masks { trainings: of_model(&self.trainings, "causal").collect(), pairs: self.pairs }
    }
}

pub fn run(common: &Common, arguments: &Arguments) -> Result<String, Failure> {
    let measured = measure(&progress::lines(common.quiet), arguments, None)?;
    if common.json {
        let values: Vec<Value> = measured.iter().map(as_json).collect();
        let value = json!({ "environments": values, "folder": arguments.output });
        return Ok(format!("{value}\n"));
    }
    let mut text: String = measured.iter().map(as_text).collect();
    let _ = writeln!(text, "Curves: .csv, .svg and .png files in {}", arguments.output.display());
    if arguments.quick {
        text.push_str(
            "--quick only shows that everything works: it trains too little to compare.\n",
        );
    }
    Ok(text)
}

/// The columns of a table of curves.
const HEADER: &str = "model,seed,real_steps,mean_return";

/// The columns of a table of edges.
const EDGES_HEADER: &str = "model,seed,real_steps,edges_found,edges_in_use,pairs";

/// The folder of the trainings, within that of the curves.
pub const TRAININGS: &str = "trainings";

/// Trains with every kind of model. The files of an environment are written when its trainings are
/// complete. `change` are settings in TOML that override all others.
pub fn measure(
    listener: &Listener,
    arguments: &Arguments,
    change: Option<&str>,
) -> Result<Vec<Curves>, Failure> {
    let folder = &arguments.output;
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("{}: cannot create the folder: {error}", folder.display()))?;
    let benchmarks = chosen(&arguments.env);
    for benchmark in &benchmarks {
        refuse_other(&folder.join(format!("{}.csv", benchmark.id)), HEADER)?;
        refuse_other(&folder.join(format!("{}-edges.csv", benchmark.id)), EDGES_HEADER)?;
    }
    let seeds = match (arguments.seeds.as_slice(), arguments.quick) {
        ([], true) => vec![1, 2],
        ([], false) => vec![1, 2, 3],
        (seeds, _) => seeds.to_vec(),
    };
    let is_asked =
        |model: &&str| arguments.model.is_empty() || arguments.model.iter().any(|m| m == model);
    let models: Vec<&str> = MODELS.into_iter().filter(is_asked).collect();
    let total = benchmarks.len() * models.len() * seeds.len();
    let mut begun = 0;
    let mut measured = Vec::new();
    for benchmark in benchmarks {
        let mut trainings = Vec::new();
        for &model in &models {
            let settings = settings(arguments, benchmark, model, change)?;
            for &seed in &seeds {
                begun += 1;
                let note = format!("training {begun} of {total}");
                let task = Task {
                    entry: benchmark.entry()?,
                    options: &benchmark.options(),
                    preset: arguments.preset.parse()?,
                    settings: &settings,
                    kind: model,
                    seed,
                    folder: &folder.join(TRAININGS),
                    resume: arguments.resume,
                };
                trainings.push(task.train(listener, &note)?);
            }
        }
        let curves = Curves {
            id: benchmark.id,
            trainings,
            by_hand: by_hand(benchmark, &seeds)?,
            final_episodes: settings(arguments, benchmark, "causal", change)?.final_episodes,
            pairs: benchmark.pairs()?,
        };
        write_files(folder, &curves)?;
        measured.push(curves);
    }
    Ok(measured)
}

/// Refuses, before hours of training, a file that cannot be written or that is not a table of curves.
pub fn refuse_other(file: &Path, header: &str) -> Result<(), Failure> {
    Output::check(file)?;
    match std::fs::read(file) {
        Ok(bytes) if !bytes.starts_with(header.as_bytes()) => Err(format!(
            "{}: this is not a table of curves and would be lost; choose another folder with -o",
            file.display()
        )
        .into()),
        _ => Ok(()),
    }
}

/// The settings of a training: those of its preset, but all with the same number of real steps.
fn settings(
    arguments: &Arguments,
    benchmark: &Benchmark,
    model: &str,
    change: Option<&str>,
) -> Result<Settings, Failure> {
    let causal = Settings::preset(benchmark.id, &arguments.preset, None)?;
    let mut settings = Settings::preset(benchmark.id, &arguments.preset, Imagination::of(model))?;
    settings.steps = causal.steps;
    if arguments.quick {
        benchmark.quicken(&mut settings)?;
    }
    if let Some(change) = change {
        settings.change(change, "the settings of the curves")?;
    }
    if settings.model == Imagination::None {
        // Its preset is for more steps than a model needs. With few steps, update more often.
        settings.epoch_steps = settings.epoch_steps.min(settings.steps.div_ceil(CHART_POINTS));
        settings.samples = settings.samples.min(settings.epoch_steps);
    }
    Ok(settings)
}

/// The mean return of the hand-written policy, where there is one.
fn by_hand(benchmark: &Benchmark, seeds: &[u64]) -> Result<Option<f64>, Failure> {
    /// Rows to record with each seed, at least: about a dozen episodes.
    const MIN_ROWS: usize = 600;
    let environment = benchmark.make()?;
    let Some(policy) = BuildOrder::of(environment.schema()) else { return Ok(None) };
    let (mut reward, mut episodes) = (0.0, 0);
    for &seed in seeds {
        let rows = (MIN_ROWS, usize::MAX);
        let played = interact(&environment, &policy, rows, Exploration::NONE, seed)?;
        reward += played.reward().unwrap_or_default().iter().sum::<f64>();
        episodes += played.episodes();
    }
    Ok(Some(reward / episodes.max(1) as f64))
}

/// The curve at a number of steps, interpolated linearly between the evaluations.
fn interpolated(curve: &Curve, steps: f64) -> Option<f64> {
    let after = curve.points.iter().position(|(at, _)| *at as f64 >= steps)?;
    let (x1, y1) = curve.points[after];
    let Some((x0, y0)) = after.checked_sub(1).map(|before| curve.points[before]) else {
        return (x1 as f64 == steps).then_some(y1);
    };
    Some(y0 + (y1 - y0) * (steps - x0 as f64) / (x1 - x0).max(1) as f64)
}

/// The kinds of model that there are trainings of.
fn present(trainings: &[Curve]) -> Vec<&'static str> {
    MODELS.into_iter().filter(|model| of_model(trainings, model).next().is_some()).collect()
}

pub fn of_model<'a>(trainings: &'a [Curve], model: &'a str) -> impl Iterator<Item = &'a Curve> {
    trainings.iter().filter(move |curve| curve.kind == model)
}

fn write_files(folder: &Path, curves: &Curves) -> Result<(), Failure> {
    let id = curves.id;
    let mut csv = format!("{HEADER}\n");
    for curve in &curves.trainings {
        for (steps, mean) in &curve.points {
            let _ = writeln!(csv, "{},{},{steps},{mean}", curve.kind, curve.seed);
        }
    }
    write_atomically(&folder.join(format!("{id}.csv")), csv.as_bytes())?;
    let drawing = chart(curves)?.drawing();
    write_atomically(&folder.join(format!("{id}.svg")), drawing.svg().as_bytes())?;
    write_atomically(&folder.join(format!("{id}.png")), &drawing.png(PNG_SCALE)?)?;
    write_atomically(&folder.join(format!("{id}-edges.csv")), edges_csv(curves).as_bytes())?;
    if !curves.masks().trainings.is_empty() {
        let drawing = curves.masks().chart(id)?.drawing();
        write_atomically(&folder.join(format!("{id}-edges.svg")), drawing.svg().as_bytes())?;
    }
    Ok(())
}

/// Every epoch with a model: the edges that were found, where a graph is, and the pairs that the networks read.
fn edges_csv(curves: &Curves) -> String {
    let mut csv = format!("{EDGES_HEADER}\n");
    for curve in &curves.trainings {
        for (steps, in_use) in &curve.edges_in_use {
            let found = curve.edges.iter().find(|(at, _)| at == steps);
            let found = found.map_or_else(String::new, |(_, edges)| edges.to_string());
            let Curve { kind, seed, .. } = curve;
            let _ = writeln!(csv, "{kind},{seed},{steps},{found},{in_use},{}", curves.pairs);
        }
    }
    csv
}

/// The mean curve of each kind of model, with its range over the seeds.
pub fn chart(curves: &Curves) -> Result<Chart, Failure> {
    let Curves { id, trainings, by_hand, .. } = curves;
    let end = trainings.iter().filter_map(|c| c.points.last()).map(|(x, _)| *x).min().unwrap_or(1);
    let mut series = Vec::new();
    for model in present(trainings) {
        let point = |number: usize| {
            let x = end as f64 * number as f64 / CHART_POINTS as f64;
            let of_seeds: Option<Vec<f64>> =
                of_model(trainings, model).map(|curve| interpolated(curve, x)).collect();
            let of_seeds = of_seeds?;
            let (mean, _) = mean_and_deviation(&of_seeds);
            // Worst to best seed: mean ± deviation could show returns that are impossible.
            let low = of_seeds.iter().copied().fold(mean, f64::min);
            let high = of_seeds.iter().copied().fold(mean, f64::max);
            Some(SeriesPoint { x, mean, low, high })
        };
        let points: Vec<SeriesPoint> = (1..=CHART_POINTS).filter_map(point).collect();
        if !points.is_empty() {
            series.push(Series { name: name(model).to_owned(), points });
        }
    }
    let first_steps = series.iter().filter_map(|series| series.points.first());
    let first_step = first_steps.map(|point| point.x).reduce(f64::min);
    if let (Some(mean), Some(first)) = (*by_hand, first_step) {
        let at = |x: f64| SeriesPoint { x, mean, low: mean, high: mean };
        series.push(Series { name: BY_HAND.to_owned(), points: vec![at(first), at(end as f64)] });
    }
    let seeds = present(trainings).first().map_or(0, |model| of_model(trainings, model).count());
    let title = format!("{id}: mean and range of {}", counted(seeds, "seed"));
    Ok(Chart::new(title, "real steps", "mean return", series)?)
}

/// The name of the hand-written policy.
const BY_HAND: &str = "hand-written build order";

/// The name of a kind of model, for people.
pub fn name(model: &str) -> &'static str {
    match model {
        "none" => "no model",
        "mlp" => "dense model",
        "full" => "full graph",
        _ => "causal graph",
    }
}

fn as_text(curves: &Curves) -> String {
    let trainings = curves.trainings.as_slice();
    let mut table = Table::new([
        (curves.id, Alignment::Left),
        ("return", Alignment::Right),
        ("std", Alignment::Right),
        ("each seed", Alignment::Left),
        ("real steps", Alignment::Right),
        ("evaluation episodes", Alignment::Right),
        ("seconds", Alignment::Right),
    ]);
    for model in present(trainings) {
        let returns: Vec<f64> = of_model(trainings, model).map(|c| c.final_return).collect();
        let (mean, deviation) = mean_and_deviation(&returns);
        let seconds: Vec<f64> = of_model(trainings, model).map(|curve| curve.seconds).collect();
        let steps =
            of_model(trainings, model).filter_map(|c| c.points.last()).map(|(x, _)| *x).max();
        table.push([
            name(model).to_owned(),
            format!("{mean:.1}"),
            format!("{deviation:.1}"),
            returns.iter().map(|value| format!("{value:.1}")).collect::<Vec<_>>().join(" "),
            count(steps.unwrap_or(0)),
            count(of_model(trainings, model).map(|c| c.evaluation_episodes).max().unwrap_or(0)),
            brief(mean_and_deviation(&seconds).0),
        ]);
    }
    if let Some(mean) = curves.by_hand {
        table.push([BY_HAND.to_owned(), format!("{mean:.1}")]);
    }
    format!(
        "{}Return: the environment's own reward, mean over {} of the best policy of each seed, which the evaluation \
         episodes beside the real steps chose. Seconds: mean per training.\n{}\n",
        table.lines(),
        counted(curves.final_episodes, "new episode"),
        if curves.masks().trainings.is_empty() { String::new() } else { curves.masks().words() },
    )
}

pub fn as_json(curves: &Curves) -> Value {
    let trainings: Vec<Value> = curves.trainings.iter().map(curve::as_json).collect();
    json!({
        "environment": curves.id,
        "pairs": curves.pairs,
        "trainings": trainings,
        "by_hand": curves.by_hand,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_interpolated_between_its_evaluations_and_not_beyond() {
        let points = vec![(100, 10.0), (300, 30.0)];
        let curve = Curve {
            kind: "none".to_owned(),
            seed: 1,
            points,
            edges: Vec::new(),
            edges_in_use: Vec::new(),
            evaluation_episodes: 40,
            final_return: 30.0,
            seconds: 1.0,
        };
        assert_eq!(interpolated(&curve, 50.0), None);
        assert_eq!(interpolated(&curve, 100.0), Some(10.0));
        assert_eq!(interpolated(&curve, 250.0), Some(25.0));
        assert_eq!(interpolated(&curve, 301.0), None);
    }
}

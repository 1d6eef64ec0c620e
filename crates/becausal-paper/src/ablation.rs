//! `becausal-paper ablation`: which settings that work against discovery are needed?

use std::fmt::Write;
use std::path::PathBuf;

use becausal::Preset;
use becausal::data::write_atomically;
use becausal::learn::Settings;
use becausal::progress::Listener;
use becausal::render::{Alignment, Table};
use clap::Args;
use serde_json::{Value, json};

use crate::benchmark::{Benchmark, chosen, environments};
use crate::curve::{self, Curve, Task};
use crate::curves::{TRAININGS, refuse_other};
use crate::number::{brief, counted, mean_and_deviation};
use crate::{Common, Failure, progress};

/// The settings as they are. It is the training of the curves with the causal graph: one in the same folder is used.
const OURS: &str = "causal";

/// Settings that make the model read more than a strict discovery from all rows finds, each as if it were not there: the
/// threshold of `fit`, edges forgotten, all rows looked at, and nothing read but edges.
const CHANGES: [&str; 4] =
    ["eta = 0.001", "keep_edges = false", "graph_rows = 1000000", "parents = \"edges\""];

/// Arguments of `becausal-paper ablation`.
#[derive(Args)]
pub struct Arguments {
    /// The folder for the results; that of `curves` may be the same
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// An environment (repeatable; default: the paper's four)
    #[arg(long, value_name = "ENV", value_parser = environments())]
    env: Vec<String>,
    /// Seeds, one training of each kind per seed
    #[arg(long, value_name = "S,S", value_delimiter = ',', default_value = "51,52,53")]
    seeds: Vec<u64>,
    /// Real steps of each training (default: as the preset says)
    #[arg(long, value_name = "N")]
    steps: Option<std::num::NonZeroUsize>,
    /// Continue what an earlier command left in DIR
    #[arg(long)]
    resume: bool,
    /// A small version with few steps and small networks: does everything work?
    #[arg(long)]
    quick: bool,
}

/// The trainings in one environment.
struct Ablation {
    id: &'static str,
    pairs: usize,
    /// Our settings, then every change that changes something.
    kinds: Vec<&'static str>,
    trainings: Vec<Curve>,
}

/// The columns of the table of all evaluations.
const HEADER: &str = "change,seed,real_steps,mean_return";

pub fn run(common: &Common, arguments: &Arguments) -> Result<String, Failure> {
    let listener = progress::lines(common.quiet);
    std::fs::create_dir_all(&arguments.output).map_err(|error| {
        format!("{}: cannot create the folder: {error}", arguments.output.display())
    })?;
    let benchmarks = chosen(&arguments.env);
    let file = |id: &str| arguments.output.join(format!("{id}-ablation.csv"));
    for benchmark in &benchmarks {
        refuse_other(&file(benchmark.id), HEADER)?;
    }
    let mut measured = Vec::new();
    for benchmark in benchmarks {
        let ablation = Ablation::measure(&listener, arguments, benchmark)?;
        write_atomically(&file(benchmark.id), ablation.csv().as_bytes())?;
        measured.push(ablation);
    }
    if common.json {
        let values: Vec<Value> = measured.iter().map(Ablation::json).collect();
        let value = json!({ "environments": values, "folder": arguments.output });
        return Ok(format!("{value}\n"));
    }
    let mut text: String = measured.iter().map(Ablation::text).collect();
    if arguments.quick {
        text.push_str(
            "--quick only shows that everything works: it trains too little to compare.\n",
        );
    }
    Ok(text)
}

impl Ablation {
    fn measure(
        listener: &Listener,
        arguments: &Arguments,
        benchmark: &Benchmark,
    ) -> Result<Self, Failure> {
        let mut ours = Settings::preset(benchmark.id, "default", None)?;
        if arguments.quick {
            benchmark.quicken(&mut ours)?;
        }
        ours.steps = arguments.steps.map_or(ours.steps, std::num::NonZeroUsize::get);
        let mut variants = vec![(OURS, ours.clone())];
        for change in CHANGES {
            let mut settings = ours.clone();
            settings.change(change, "the ablation")?;
            if has_effect(&ours, &settings) {
                variants.push((change, settings));
            }
        }
        let total = variants.len() * arguments.seeds.len();
        let mut trainings = Vec::new();
        for (kind, settings) in &variants {
            for &seed in &arguments.seeds {
                let note = format!("training {} of {total}", trainings.len() + 1);
                let task = Task {
                    entry: benchmark.entry()?,
                    options: &benchmark.options(),
                    preset: Preset::Default,
                    settings,
                    kind,
                    seed,
                    folder: &arguments.output.join(TRAININGS),
                    resume: arguments.resume,
                };
                trainings.push(task.train(listener, &note)?);
            }
        }
        let kinds = variants.iter().map(|(kind, _)| *kind).collect();
        Ok(Self { id: benchmark.id, pairs: benchmark.pairs()?, kinds, trainings })
    }

    fn of(&self, kind: &str) -> Vec<&Curve> {
        self.trainings.iter().filter(|curve| curve.kind == kind).collect()
    }

    fn csv(&self) -> String {
        let mut csv = format!("{HEADER}\n");
        for curve in &self.trainings {
            for (steps, mean) in &curve.points {
                let _ = writeln!(csv, "{},{},{steps},{mean}", curve.kind, curve.seed);
            }
        }
        csv
    }

    fn text(&self) -> String {
        let mut table = Table::new([
            (self.id, Alignment::Left),
            ("return", Alignment::Right),
            ("std", Alignment::Right),
            ("each seed", Alignment::Left),
            ("along", Alignment::Right),
            ("at the end", Alignment::Right),
            ("pairs in use", Alignment::Right),
            ("seconds", Alignment::Right),
        ]);
        for kind in &self.kinds {
            let of_kind = self.of(kind);
            let all = |value: fn(&Curve) -> f64| -> Vec<f64> {
                of_kind.iter().map(|curve| value(curve)).collect()
            };
            let returns = all(|curve| curve.final_return);
            let (mean, deviation) = mean_and_deviation(&returns);
            let mean_of = |value: fn(&Curve) -> f64| brief(mean_and_deviation(&all(value)).0);
            table.push([
                if *kind == OURS { "ours".to_owned() } else { (*kind).to_owned() },
                format!("{mean:.1}"),
                format!("{deviation:.1}"),
                returns.iter().map(|value| format!("{value:.1}")).collect::<Vec<_>>().join(" "),
                mean_of(along),
                mean_of(|curve| curve.points.last().map_or(0.0, |(_, mean)| *mean)),
                mean_of(|curve| curve.edges_in_use.last().map_or(0.0, |(_, edges)| *edges)),
                mean_of(|curve| curve.seconds),
            ]);
        }
        format!(
            "{}Return: of the best policy in new episodes. Along: mean of all evaluations, at the end: the last one. Pairs in \
             use: of {} at the end. Means over {}.\n\n",
            table.lines(),
            self.pairs,
            counted(self.of(OURS).len(), "seed"),
        )
    }

    fn json(&self) -> Value {
        let trainings: Vec<Value> = self.trainings.iter().map(curve::as_json).collect();
        json!({ "environment": self.id, "pairs": self.pairs, "trainings": trainings })
    }
}

/// The mean of all evaluations: how soon and how high it learns.
fn along(curve: &Curve) -> f64 {
    let returns: Vec<f64> = curve.points.iter().map(|(_, mean)| *mean).collect();
    mean_and_deviation(&returns).0
}

/// Whether a change makes a difference: a limit on rows that the buffer never has makes none.
fn has_effect(ours: &Settings, changed: &Settings) -> bool {
    // A buffer has an episode more than the steps of a training, at most.
    let rows = |settings: &Settings| settings.graph_rows.min(settings.steps.saturating_mul(2));
    let same_rows = Settings { graph_rows: ours.graph_rows, ..changed.clone() };
    same_rows != *ours || rows(ours) != rows(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effects(id: &str) -> Vec<&'static str> {
        let ours = Settings::preset(id, "default", None).expect("a preset");
        let has = |change: &&&'static str| {
            let mut settings = ours.clone();
            settings.change(change, "a test").expect("a setting");
            has_effect(&ours, &settings)
        };
        CHANGES.iter().filter(has).copied().collect()
    }

    #[test]
    fn only_what_a_preset_sets_is_taken_away() {
        let edges = "parents = \"edges\"";
        assert_eq!(effects("CartPole-v1"), [edges]);
        assert_eq!(effects("BuildMarine-v0"), [edges]);
        assert_eq!(
            effects("LunarLander-v3"),
            ["keep_edges = false", "graph_rows = 1000000", edges]
        );
    }
}

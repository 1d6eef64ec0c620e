//! `becausal-paper tradeoff`: the paper's trade-off between a sparse graph and an accurate model, measured.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use becausal::data::write_atomically;
use becausal::discovery::CausalGraph;
use becausal::env::{self, find};
use becausal::explain::Ask;
use becausal::learn::Settings;
use becausal::model::ModelParams;
use becausal::progress::{Advance, Listener};
use becausal::render::{Alignment, Chart, Series, SeriesPoint, Table};
use becausal::{Preset, Recipe};
use clap::Args;
use serde_json::{Value, json};

use crate::number::{brief, counted, mean_and_deviation};
use crate::sheet::{Sheet, cell};
use crate::trial::{Rows, changes, influences, train};
use crate::{Common, Failure, progress};

/// The thresholds of p-values: from hardly any edge to every edge.
const ETAS: [f64; 9] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.3, 1.0];

/// The thresholds of influences.
const TAUS: [f64; 5] = [0.02, 0.05, 0.1, 0.2, 0.4];

/// The paper's threshold of influences: what is shown in the table and the picture.
const PAPER_TAU: f64 = 0.1;

/// The same as a cell of the file.
pub const SHOWN_TAU: &str = "0.1";

/// The name of the file.
pub const FILE: &str = "tradeoff.csv";

/// The columns of the file; the first nine say what was done.
pub const HEADER: &[&str] = &[
    "environment",
    "preset",
    "rows",
    "fit_steps",
    "members",
    "training_steps",
    "seed",
    "eta",
    "tau",
    "edges",
    "error",
    "log_likelihood",
    "chain",
    "complete",
    "minimal",
    "precision",
    "recall",
    "influence_precision",
    "influence_recall",
    "policy_return",
];

/// How many of the columns say what was done.
pub const KEYS: usize = 9;

/// Arguments of `becausal-paper tradeoff`.
#[derive(Args)]
pub struct Arguments {
    /// The folder for the table and the picture; rows that it has are not measured again
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// The environment
    #[arg(long, value_name = "ENV", default_value = "CartPole-v1")]
    pub env: String,
    /// Whose test, networks and chains: the paper's, or ours
    #[arg(long, value_name = "PRESET", default_value = "paper")]
    pub preset: Preset,
    /// Transitions to learn from, recorded under random actions
    #[arg(long, value_name = "N", default_value_t = 5000)]
    pub rows: usize,
    /// Maximum number of training steps of each network
    #[arg(long, value_name = "N", default_value = "2000")]
    pub steps: NonZeroUsize,
    /// Networks of each model
    #[arg(long, value_name = "N", default_value = "5")]
    pub members: NonZeroUsize,
    /// Real steps of each training of a policy; 0 for none (default: as our preset says)
    #[arg(long, value_name = "N")]
    pub training_steps: Option<usize>,
    /// States of each audit
    #[arg(long, value_name = "N", default_value = "60")]
    pub states: NonZeroUsize,
    /// Seeds, one repetition each
    #[arg(long, value_name = "S,S", value_delimiter = ',', default_value = "1,2,3")]
    pub seeds: Vec<u64>,
}

impl Arguments {
    /// What was done with a seed and a threshold, as the file says it.
    fn key(&self, training_steps: usize, seed: u64, eta: f64, tau: f64) -> Vec<String> {
        let words = [self.env.clone(), self.preset.name().to_owned()];
        let counts = [self.rows, self.steps.get(), self.members.get(), training_steps];
        let counts = counts.map(|count| count.to_string());
        let numbers = [seed.to_string(), eta.to_string(), tau.to_string()];
        words.into_iter().chain(counts).chain(numbers).collect()
    }

    fn recipe(&self) -> Recipe {
        let recipe = Recipe::of(self.preset);
        let (members, steps) = (self.members.get(), self.steps.get());
        // Every edge counts, and only edges: what a threshold costs is the question.
        Recipe {
            parents: becausal::model::Parents::Edges,
            checked: false,
            model: ModelParams { members, steps, ..recipe.model },
            ..recipe
        }
    }

    /// Our settings for a policy, but with the test and the edges that are asked about.
    fn settings(&self, recipe: &Recipe) -> Result<Settings, Failure> {
        let mut settings = Settings::preset(&self.env, "default", None)?;
        settings.steps = self.training_steps.unwrap_or(settings.steps);
        settings.method = recipe.method;
        settings.parents = recipe.parents;
        settings.keep_edges = false;
        Ok(settings)
    }
}

pub fn run(common: &Common, arguments: &Arguments) -> Result<String, Failure> {
    let sheet = measure(&progress::lines(common.quiet), arguments)?;
    let drawing = chart(&sheet, arguments)?.drawing();
    let name = picture_name(arguments);
    let place = |ending: &str| arguments.output.join(format!("{name}.{ending}"));
    write_atomically(&place("svg"), drawing.svg().as_bytes())?;
    if common.json {
        return Ok(format!("{}\n", as_json(&sheet, arguments)));
    }
    Ok(as_text(&sheet, arguments))
}

fn picture_name(arguments: &Arguments) -> String {
    format!("tradeoff-{}-{}", arguments.env, arguments.preset)
}

/// Measures every threshold that the file does not have yet.
fn measure(listener: &Listener, arguments: &Arguments) -> Result<Sheet, Failure> {
    let folder = &arguments.output;
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("{}: cannot create the folder: {error}", folder.display()))?;
    let mut sheet = Sheet::open(&folder.join(FILE), HEADER, KEYS)?;
    let recipe = arguments.recipe();
    let settings = arguments.settings(&recipe)?;
    let total = arguments.seeds.len() * ETAS.len();
    let mut done = 0;
    for &seed in &arguments.seeds {
        let missing = |eta: &&f64| {
            let key = |tau: &f64| arguments.key(settings.steps, seed, **eta, *tau);
            !TAUS.iter().all(|tau| sheet.find(&key(tau)).is_some())
        };
        let etas: Vec<f64> = ETAS.iter().filter(missing).copied().collect();
        done += ETAS.len() - etas.len();
        if etas.is_empty() {
            continue;
        }
        let rows = Rows::record(&arguments.env, arguments.rows, seed)?;
        let tested = rows.discover(listener, &recipe)?;
        // Graphs with the same edges have the same model.
        let mut last: Option<(Vec<Vec<bool>>, Cells)> = None;
        for eta in etas {
            let note = format!("seed {seed}, eta {eta}");
            let at = Advance { task: "tradeoff", unit: "thresholds", done, total, note: &note };
            progress::advance(listener, &at);
            let graph = tested.clone().with_eta(eta);
            let edges = graph.matrix();
            let cells = match last.take() {
                Some((same, cells)) if same == edges => cells,
                _ => of_graph(listener, arguments, &recipe, &rows, graph)?,
            };
            let policy =
                of_policy(listener, arguments, &Settings { eta, ..settings.clone() }, seed)?;
            let row = |(tau, cells): (&f64, &Vec<String>)| {
                let key = arguments.key(settings.steps, seed, eta, *tau);
                key.into_iter().chain(cells.clone()).chain([cell(policy)]).collect()
            };
            sheet.push(TAUS.iter().zip(&cells).map(row).collect())?;
            last = Some((edges, cells));
            done += 1;
        }
    }
    Ok(sheet)
}

/// The cells of a graph, for every threshold of influences.
type Cells = Vec<Vec<String>>;

/// What a graph is worth, for every threshold of influences.
fn of_graph(
    listener: &Listener,
    arguments: &Arguments,
    recipe: &Recipe,
    rows: &Rows,
    graph: CausalGraph,
) -> Result<Cells, Failure> {
    /// Recorded steps whose explanations are measured.
    const DECISIONS: usize = 40;
    let edges = graph.edges().count() as f64;
    let fitted = rows.fit(listener, recipe, graph)?;
    let by = Ask::default().preset(arguments.preset).influence_by();
    let of_tau = |&tau: &f64| -> Result<Vec<String>, Failure> {
        let sizes = fitted.sizes(arguments.preset, tau, DECISIONS)?;
        let audit = fitted.audit(listener, tau, arguments.states.get())?;
        let [precision, recall] = changes(&audit);
        let [influence_precision, influence_recall] = influences(&audit, by);
        let numbers = [
            Some(edges),
            Some(fitted.scores.mean_error()),
            Some(fitted.scores.log_likelihood()),
            Some(sizes.chain),
            Some(sizes.complete),
            Some(sizes.minimal),
            precision,
            recall,
            influence_precision,
            influence_recall,
        ];
        Ok(numbers.into_iter().map(cell).collect())
    };
    TAUS.iter().map(of_tau).collect()
}

/// The return of a policy that is trained with a threshold; `None` where none is trained.
fn of_policy(
    listener: &Listener,
    arguments: &Arguments,
    settings: &Settings,
    seed: u64,
) -> Result<Option<f64>, Failure> {
    if settings.steps == 0 {
        return Ok(None);
    }
    let environment = find(&arguments.env)?.make(&env::Options::default())?;
    Ok(Some(train(listener, &environment, settings, seed, None)?.final_return))
}

/// The mean of a column over the seeds, with its lowest and highest value.
fn over_seeds(
    sheet: &Sheet,
    arguments: &Arguments,
    column: &str,
    eta: f64,
    tau: f64,
) -> Option<(f64, f64, f64)> {
    let training_steps = arguments.settings(&arguments.recipe()).ok()?.steps;
    let at = HEADER.iter().position(|known| *known == column)?;
    let of_seed =
        |&seed: &u64| sheet.find(&arguments.key(training_steps, seed, eta, tau))?[at].parse().ok();
    let values: Vec<f64> = arguments.seeds.iter().filter_map(of_seed).collect();
    let (mean, _) = mean_and_deviation(&values);
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (!values.is_empty()).then_some((mean, low.min(mean), high.max(mean)))
}

/// The lines of the picture: a name, a column, and whether it is shown as a share of its largest value.
const LINES: [(&str, &str, bool); 6] = [
    ("edges", "edges", true),
    ("facts in an answer", "complete", true),
    ("one-step error", "error", true),
    ("precision of changes", "precision", false),
    ("recall of changes", "recall", false),
    ("return of a policy", "policy_return", true),
];

/// All columns on one axis, from 0 to 1.
fn chart(sheet: &Sheet, arguments: &Arguments) -> Result<Chart, Failure> {
    let mut series = Vec::new();
    for (name, column, relative) in LINES {
        let point = |eta: f64| {
            let (mean, low, high) = over_seeds(sheet, arguments, column, eta, PAPER_TAU)?;
            Some(SeriesPoint { x: eta.log10(), mean, low, high })
        };
        let mut points: Vec<SeriesPoint> = ETAS.into_iter().filter_map(point).collect();
        let most = points.iter().map(|point| point.high).fold(0.0, f64::max);
        if relative && most > 0.0 {
            for point in &mut points {
                let SeriesPoint { x, mean, low, high } = *point;
                *point = SeriesPoint { x, mean: mean / most, low: low / most, high: high / most };
            }
        }
        if !points.is_empty() {
            series.push(Series { name: name.to_owned(), points });
        }
    }
    let title = format!(
        "{}, {} method: what a threshold of p-values costs ({})",
        arguments.env,
        if arguments.preset == Preset::Paper { "the paper's" } else { "our" },
        counted(arguments.seeds.len(), "seed")
    );
    Ok(Chart::new(
        title,
        "threshold eta, as a power of ten",
        "share, or share of the largest",
        series,
    )?)
}

/// The columns of the table that people read, with the decimals of each.
const SHOWN: [(&str, usize); 10] = [
    ("edges", 1),
    ("error", 4),
    ("log_likelihood", 2),
    ("chain", 1),
    ("complete", 1),
    ("minimal", 1),
    ("precision", 3),
    ("recall", 3),
    ("influence_precision", 3),
    ("policy_return", 1),
];

fn as_text(sheet: &Sheet, arguments: &Arguments) -> String {
    let table = |first: &'static str, rows: &[(String, f64, f64)]| {
        let columns = SHOWN.iter().map(|(name, _)| (*name, Alignment::Right));
        let mut table = Table::new([(first, Alignment::Right)].into_iter().chain(columns));
        for (name, eta, tau) in rows {
            let shown = |&(column, decimals): &(&str, usize)| {
                over_seeds(sheet, arguments, column, *eta, *tau)
                    .map_or_else(String::new, |(mean, ..)| format!("{mean:.decimals$}"))
            };
            table.push([name.clone()].into_iter().chain(SHOWN.iter().map(shown)));
        }
        table.lines()
    };
    let recipe = arguments.recipe();
    let etas: Vec<(String, f64, f64)> =
        ETAS.iter().map(|&eta| (format!("{eta}"), eta, PAPER_TAU)).collect();
    let taus: Vec<(String, f64, f64)> =
        TAUS.iter().map(|&tau| (brief(tau), nearest(recipe.eta), tau)).collect();
    format!(
        "{}: test {}, {} under random actions, {}; means.\n\n{}\n\
         Influences above tau count; with eta {}:\n\n{}\n\
         Error: one step ahead on held-out episodes, in standard deviations, mean of the effects. Chain: its \
         influences over 4 steps; complete, minimal: facts of the explanan. Precision: of the changes that \
         explanations claim, the share that happens; recall: of those that happen, the share that is claimed. \
         Influence_precision: of the single influences claimed, the share that is real.\n\
         Policies are trained with our settings, this test and its edges alone.\n{}\n",
        arguments.env,
        recipe.method.name(),
        counted(arguments.rows, "row"),
        counted(arguments.seeds.len(), "seed"),
        table("eta", &etas),
        nearest(recipe.eta),
        table("tau", &taus),
        arguments.output.join(format!("{}.svg", picture_name(arguments))).display(),
    )
}

/// The threshold of the grid that is nearest to another one.
fn nearest(eta: f64) -> f64 {
    let distance = |other: &f64| (other.log10() - eta.log10()).abs();
    ETAS.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(eta)
}

fn as_json(sheet: &Sheet, arguments: &Arguments) -> Value {
    let of_eta = |&eta: &f64| {
        let columns = HEADER[KEYS..].iter().map(|&column| {
            let mean = over_seeds(sheet, arguments, column, eta, PAPER_TAU).map(|(mean, ..)| mean);
            (column.to_owned(), json!(mean))
        });
        let mut value: serde_json::Map<String, Value> = columns.collect();
        value.insert("eta".to_owned(), json!(eta));
        Value::Object(value)
    };
    json!({
        "environment": arguments.env,
        "preset": arguments.preset.name(),
        "tau": PAPER_TAU,
        "seeds": arguments.seeds,
        "thresholds": ETAS.iter().map(of_eta).collect::<Vec<Value>>(),
        "folder": arguments.output,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_has_the_thresholds_of_both_tests() {
        for preset in Preset::ALL {
            let eta = Recipe::of(preset).eta;
            assert_eq!(nearest(eta), eta);
        }
        assert!(TAUS.contains(&PAPER_TAU));
        assert_eq!(PAPER_TAU.to_string(), SHOWN_TAU);
    }
}

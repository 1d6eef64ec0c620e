//! `becausal-paper ladder`: from the paper's method to ours, one change at a time.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use becausal::discovery::Method;
use becausal::env::{self, find};
use becausal::explain::InfluenceBy;
use becausal::learn::{Ramp, Settings};
use becausal::model::{ModelParams, Parents};
use becausal::progress::{Advance, Listener};
use becausal::render::{Alignment, Table};
use becausal::{Preset, Recipe};
use clap::Args;
use serde_json::{Value, json};

use crate::number::{counted, mean_and_deviation};
use crate::sheet::{Sheet, cell};
use crate::trial::{Rows, changes, influences, train};
use crate::{Common, Failure, aim, progress};

/// The environment that models are audited in.
const AUDITED: &str = "BuildMarine-v0";

/// The environment that policies are trained in, with the paper's cap of an episode.
const TRAINED: (&str, &str) = ("CartPole-v1", "200");

/// A mean return of an evaluation that solves it: the usual threshold of episodes of 200 steps.
const SOLVED: f64 = 195.0;

/// The threshold of influences in the audit.
const TAU: f64 = 0.1;

/// A change from the paper's method towards ours. Every rung has all changes before it.
struct Rung {
    key: &'static str,
    name: &'static str,
    /// Whether it changes how a model is fitted to a log.
    fits: bool,
    /// Whether it changes how a policy is trained.
    trains: bool,
}

/// The rungs in their order. What makes everything after it quicker to measure comes first.
const RUNGS: [Rung; 10] = [
    Rung { key: "paper", name: "the paper's method", fits: true, trains: true },
    Rung { key: "loop", name: "our learning loop", fits: false, trains: true },
    Rung { key: "optimiser", name: "our networks' sizes, inputs, tails and optimiser", fits: true, trains: true },
    Rung { key: "test", name: "our test (auto)", fits: true, trains: true },
    Rung { key: "parents", name: "cautious parents", fits: true, trains: true },
    Rung { key: "skip", name: "a number keeps its value", fits: true, trains: true },
    Rung { key: "balance", name: "balanced gradients", fits: true, trains: true },
    Rung { key: "hold", name: "attention held at first", fits: true, trains: false },
    Rung { key: "prune", name: "pruning", fits: true, trains: false },
    Rung { key: "check", name: "checked by unrestricted networks", fits: true, trains: false },
];

/// The place of a rung.
fn place(key: &str) -> usize {
    RUNGS.iter().position(|rung| rung.key == key).unwrap_or(RUNGS.len())
}

/// The name of the file.
pub const FILE: &str = "ladder.csv";

/// The columns of the file; the first eight say what was done.
pub const HEADER: &[&str] = &[
    "aim_rows",
    "marine_rows",
    "fit_steps",
    "members",
    "training_steps",
    "states",
    "seed",
    "rung",
    "aim_attention",
    "aim_effect",
    "aim_error",
    "marine_error",
    "marine_edges",
    "precision",
    "recall",
    "influence_precision",
    "influence_recall",
    "attention_precision",
    "attention_recall",
    "cart_pole_steps",
    "cart_pole_return",
];

/// How many of the columns say what was done.
pub const KEYS: usize = 8;

/// How many columns are about models that are fitted to a log; the others are about policies.
const FITTED: usize = 11;

/// Arguments of `becausal-paper ladder`.
#[derive(Args)]
pub struct Arguments {
    /// The folder for the table; rows that it has are not measured again
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Transitions of AimTest-v0 to learn from
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub rows: usize,
    /// Transitions of BuildMarine-v0 to learn from
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub marine_rows: usize,
    /// Maximum number of training steps of each network (default: as each recipe says)
    #[arg(long, value_name = "N")]
    pub steps: Option<NonZeroUsize>,
    /// Networks of each model (default: 5)
    #[arg(long, value_name = "N", default_value = "5")]
    pub members: NonZeroUsize,
    /// Real steps of each training in CartPole-v1, at most; 0 for no training
    #[arg(long, value_name = "N", default_value_t = 6000)]
    pub training_steps: usize,
    /// States of each audit
    #[arg(long, value_name = "N", default_value = "60")]
    pub states: NonZeroUsize,
    /// Measure only these rungs (default: all)
    #[arg(long, value_name = "RUNG", value_delimiter = ',', value_parser = RUNGS.map(|rung| rung.key).to_vec())]
    pub rung: Vec<String>,
    /// Seeds, one repetition each
    #[arg(long, value_name = "S,S", value_delimiter = ',', default_value = "1,2,3")]
    pub seeds: Vec<u64>,
}

impl Arguments {
    fn key(&self, seed: u64, rung: &Rung) -> Vec<String> {
        let steps = self.steps.map_or_else(|| "preset".to_owned(), |steps| steps.to_string());
        let rows = [self.rows.to_string(), self.marine_rows.to_string()];
        let rest = [self.members.get(), self.training_steps, self.states.get()];
        let rest = rest.map(|count| count.to_string()).into_iter().chain([seed.to_string()]);
        rows.into_iter().chain([steps]).chain(rest).chain([rung.key.to_owned()]).collect()
    }

    /// How a rung fits a model to a log; the paper's threshold for the table of influences is `eta`.
    fn recipe(&self, rung: usize, eta: f64) -> Recipe {
        let (paper, ours) = (Recipe::of(Preset::Paper), Recipe::of(Preset::Default));
        let is_ours = |key: &str| rung >= place(key);
        let networks = if is_ours("optimiser") { &ours.model } else { &paper.model };
        let balance = if is_ours("balance") { ours.model.balance } else { paper.model.balance };
        let hold = if is_ours("hold") { ours.model.hold } else { paper.model.hold };
        let prune = if is_ours("prune") { ours.model.prune } else { paper.model.prune };
        let model = ModelParams {
            members: self.members.get(),
            steps: self.steps.map_or(networks.steps, NonZeroUsize::get),
            balance,
            hold,
            prune,
            persist: is_ours("skip"),
            ..networks.clone()
        };
        Recipe {
            method: if is_ours("test") { ours.method } else { paper.method },
            eta: if is_ours("test") { ours.eta } else { eta },
            parents: if is_ours("parents") { ours.parents } else { paper.parents },
            checked: is_ours("check"),
            model,
        }
    }

    /// How a rung trains a policy.
    fn settings(&self, rung: usize) -> Result<Settings, Failure> {
        let paper = Settings::preset(TRAINED.0, "paper", None)?;
        let mut settings = Settings::preset(TRAINED.0, "default", None)?;
        let is_ours = |key: &str| rung >= place(key);
        if !is_ours("loop") {
            settings = paper.clone();
        } else if !is_ours("optimiser") {
            settings.model_width = paper.model_width;
            settings.hidden_width = paper.hidden_width;
            settings.action_width = paper.action_width;
            settings.key_width = paper.key_width;
            settings.fit_rate = paper.fit_rate;
            settings.fit_annealed = paper.fit_annealed;
            settings.fit_decay = paper.fit_decay;
            settings.fit_clip = paper.fit_clip;
            settings.fit_batch = paper.fit_batch;
            settings.plain = paper.plain;
        }
        settings.method = if is_ours("test") { Method::Auto } else { Method::Fcit };
        settings.parents = if is_ours("parents") { Parents::Cautious } else { Parents::Edges };
        settings.persist = is_ours("skip");
        settings.balance = if is_ours("balance") { 1.0 } else { 0.0 };
        // What changes over the course of a training changes over that of its preset.
        let share = self.training_steps as f64 / settings.steps as f64;
        for ramp in [&mut settings.rollout, &mut settings.policy_rate, &mut settings.entropy] {
            *ramp = Ramp { from: ramp.from, to: ramp.at(share.min(1.0)) };
        }
        settings.steps = self.training_steps;
        Ok(settings)
    }
}

pub fn run(common: &Common, arguments: &Arguments) -> Result<String, Failure> {
    let sheet = measure(&progress::lines(common.quiet), arguments)?;
    Ok(if common.json {
        format!("{}\n", as_json(&sheet, arguments))
    } else {
        as_text(&sheet, arguments)
    })
}

/// Measures every rung that the file does not have yet.
fn measure(listener: &Listener, arguments: &Arguments) -> Result<Sheet, Failure> {
    let folder = &arguments.output;
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("{}: cannot create the folder: {error}", folder.display()))?;
    let mut sheet = Sheet::open(&folder.join(FILE), HEADER, KEYS)?;
    let total = arguments.seeds.len() * RUNGS.len();
    for (number, &seed) in arguments.seeds.iter().enumerate() {
        for (place, rung) in RUNGS.iter().enumerate() {
            let is_wanted =
                arguments.rung.is_empty() || arguments.rung.iter().any(|key| key == rung.key);
            let key = arguments.key(seed, rung);
            if !is_wanted || sheet.find(&key).is_some() {
                continue;
            }
            let (done, note) = (number * RUNGS.len() + place, format!("{}, seed {seed}", rung.key));
            let at = Advance { task: "ladder", unit: "rungs", done, total, note: &note };
            progress::advance(listener, &at);
            // What a rung does not change is as before.
            let before = place.checked_sub(1).and_then(|place| {
                sheet.find(&arguments.key(seed, &RUNGS[place])).map(|row| row[KEYS..].to_vec())
            });
            let fitted = match &before {
                Some(before) if !rung.fits => before[..FITTED].to_vec(),
                _ => of_fits(listener, arguments, place, seed)?,
            };
            let trained = match &before {
                Some(before) if !rung.trains => before[FITTED..].to_vec(),
                _ => of_training(listener, arguments, place, seed)?,
            };
            sheet.push(vec![key.into_iter().chain(fitted).chain(trained).collect()])?;
        }
    }
    Ok(sheet)
}

/// What the models of a rung are worth.
fn of_fits(
    listener: &Listener,
    arguments: &Arguments,
    rung: usize,
    seed: u64,
) -> Result<Vec<String>, Failure> {
    let influence = arguments.recipe(rung, aim::PAPER_ETA);
    let found = aim::recover(listener, &influence, arguments.rows, seed)?;
    let recipe = arguments.recipe(rung, Recipe::of(Preset::Paper).eta);
    let rows = Rows::record(AUDITED, arguments.marine_rows, seed)?;
    let graph = rows.discover(listener, &recipe)?;
    let fitted = rows.fit(listener, &recipe, graph)?;
    let audit = fitted.audit(listener, TAU, arguments.states.get())?;
    let numbers = [
        [Some(found.by_attention.accuracy()), Some(found.by_effect.accuracy())],
        [Some(found.error), Some(fitted.scores.mean_error())],
        [Some(fitted.model.structure().edges() as f64), changes(&audit)[0]],
        [changes(&audit)[1], influences(&audit, InfluenceBy::State)[0]],
        [influences(&audit, InfluenceBy::State)[1], influences(&audit, InfluenceBy::Attention)[0]],
        [influences(&audit, InfluenceBy::Attention)[1], None],
    ];
    Ok(numbers.into_iter().flatten().take(FITTED).map(cell).collect())
}

/// The real steps until CartPole is solved, empty where it is not, and the return of the best policy.
fn of_training(
    listener: &Listener,
    arguments: &Arguments,
    rung: usize,
    seed: u64,
) -> Result<Vec<String>, Failure> {
    if arguments.training_steps == 0 {
        return Ok(vec![String::new(), String::new()]);
    }
    let mut options = env::Options::default();
    options.set("max_episode_steps", TRAINED.1);
    let environment = find(TRAINED.0)?.make(&options)?;
    let settings = arguments.settings(rung)?;
    let trained = train(listener, &environment, &settings, seed, Some(SOLVED))?;
    Ok(vec![cell(trained.reached_at.map(|steps| steps as f64)), cell(Some(trained.final_return))])
}

/// The numbers of a column of a rung, seed by seed.
fn numbers(sheet: &Sheet, arguments: &Arguments, rung: &Rung, column: &str) -> Vec<f64> {
    let of_seed = |&seed: &u64| {
        let row = sheet.find(&arguments.key(seed, rung))?;
        row[HEADER.iter().position(|known| *known == column)?].parse().ok()
    };
    arguments.seeds.iter().filter_map(of_seed).collect()
}

/// Whether a rung was measured with some seed.
fn is_measured(sheet: &Sheet, arguments: &Arguments, rung: &Rung) -> bool {
    arguments.seeds.iter().any(|&seed| sheet.find(&arguments.key(seed, rung)).is_some())
}

/// The columns that people read: heading, column, factor and decimals.
const SHOWN: [(&str, &str, f64, usize); 10] = [
    ("AIM by attention %", "aim_attention", 100.0, 1),
    ("AIM by effect %", "aim_effect", 100.0, 1),
    ("AIM error %", "aim_error", 100.0, 2),
    ("error %", "marine_error", 100.0, 2),
    ("edges", "marine_edges", 1.0, 1),
    ("precision %", "precision", 100.0, 1),
    ("recall %", "recall", 100.0, 1),
    ("chains right %", "influence_precision", 100.0, 1),
    ("attention right %", "attention_precision", 100.0, 1),
    ("CartPole return", "cart_pole_return", 1.0, 1),
];

fn as_text(sheet: &Sheet, arguments: &Arguments) -> String {
    let headings = SHOWN.iter().map(|(heading, ..)| (*heading, Alignment::Right));
    let columns = [("", Alignment::Left)].into_iter().chain(headings);
    let mut table = Table::new(columns.chain([("steps to solve, each seed", Alignment::Left)]));
    for rung in RUNGS.iter().filter(|rung| is_measured(sheet, arguments, rung)) {
        let shown = |&(_, column, factor, decimals): &(&str, &str, f64, usize)| {
            let values = numbers(sheet, arguments, rung, column);
            let mean = factor * mean_and_deviation(&values).0;
            if values.is_empty() { String::new() } else { format!("{mean:.decimals$}") }
        };
        let solved = numbers(sheet, arguments, rung, "cart_pole_steps");
        let trained = numbers(sheet, arguments, rung, "cart_pole_return").len();
        let mut steps: Vec<String> = solved.iter().map(|steps| format!("{steps:.0}")).collect();
        steps.extend((solved.len()..trained).map(|_| format!("> {}", arguments.training_steps)));
        let cells = [rung.name.to_owned()].into_iter().chain(SHOWN.iter().map(shown));
        table.push(cells.chain([steps.join(" ")]));
    }
    format!(
        "From the paper's method to ours; every row has the changes of the rows before it. Means of {}.\n\n{}\n\
         AIM: influences recovered under each action of AimTest-v0. Error, edges and audit: BuildMarine-v0, {} \
         under random actions; errors one step ahead, in standard deviations. Precision and recall: of the changes \
         that explanations claim. Chains right, attention right: of the influences claimed in a state, the share \
         that is real. CartPole-v1: real steps until an evaluation reaches {SOLVED} of 200.\n",
        counted(arguments.seeds.len(), "seed"),
        table.lines(),
        counted(arguments.marine_rows, "row"),
    )
}

fn as_json(sheet: &Sheet, arguments: &Arguments) -> Value {
    let of_rung = |rung: &Rung| {
        let columns = HEADER[KEYS..]
            .iter()
            .map(|&column| (column.to_owned(), json!(numbers(sheet, arguments, rung, column))));
        let mut value: serde_json::Map<String, Value> = columns.collect();
        value.insert("rung".to_owned(), json!(rung.key));
        value.insert("name".to_owned(), json!(rung.name));
        Value::Object(value)
    };
    let measured = RUNGS.iter().filter(|rung| is_measured(sheet, arguments, rung));
    json!({
        "seeds": arguments.seeds,
        "rungs": measured.map(of_rung).collect::<Vec<Value>>(),
        "folder": arguments.output,
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn arguments() -> Arguments {
        Program::try_parse_from(["ladder", "-o", "here"]).expect("arguments").arguments
    }

    #[test]
    fn the_first_rung_is_the_papers_and_the_last_one_ours() {
        let arguments = arguments();
        let paper = Recipe::of(Preset::Paper);
        assert_eq!(arguments.recipe(0, paper.eta), paper);
        assert_eq!(arguments.recipe(RUNGS.len() - 1, paper.eta), Recipe::of(Preset::Default));
        let steps = arguments.training_steps;
        let settings = |rung| arguments.settings(rung).expect("settings");
        let last = Settings::preset(TRAINED.0, "default", None).expect("ours");
        assert_eq!(settings(RUNGS.len() - 1), Settings { steps, ..last });
        let first = settings(0);
        assert!(first.method == Method::Fcit && first.parents == Parents::Edges && !first.persist);
        assert_eq!(first.fit_rate, 1e-4);
    }

    #[test]
    fn every_rung_changes_what_it_says_and_nothing_else() {
        let arguments = arguments();
        for (rung, here) in RUNGS.iter().enumerate().skip(1) {
            let recipes = [rung - 1, rung].map(|rung| arguments.recipe(rung, 0.05));
            assert_eq!(recipes[0] != recipes[1], here.fits, "{}", here.key);
            let settings = [rung - 1, rung].map(|rung| arguments.settings(rung).expect("settings"));
            assert_eq!(settings[0] != settings[1], here.trains, "{}", here.key);
        }
    }
}

//! `becausal-paper aim`: the paper's Table 1. Is the influence under each action recovered?

use std::num::NonZeroUsize;

use becausal::discovery::{ActionGraph, ByAction, CausalGraph, DiscoverParams, Score, discover};
use becausal::env::{self, ActionTruth, Truth, find, record_at_random};
use becausal::model::{FitData, Influence, ModelKind, ModelParams, Structure, WorldModel};
use becausal::progress::{Advance, Listener};
use becausal::render::{Alignment, Table};
use becausal::{Preset, Recipe, Transitions};
use clap::Args;
use serde_json::{Map, Value, json};

use crate::number::{brief, count, counted, mean_and_deviation};
use crate::{Common, Failure, progress};

const ID: &str = "AimTest-v0";

/// Influences above this count as edges: the paper's threshold, used for its weights and for ours.
const TAU: f64 = 0.1;

/// Networks of each model with our preset.
const MEMBERS: usize = 3;

/// The threshold of p-values that the paper's published program uses for this table.
pub const PAPER_ETA: f64 = 0.2;

/// A row of the table.
struct Method {
    /// Its name in JSON.
    key: &'static str,
    name: &'static str,
    /// The accuracy that the paper reports; empty where it reports none.
    paper: &'static str,
}

const METHODS: [Method; 7] = [
    Method { key: "direct", name: "Direct: test the rows of each action", paper: "97.0 %" },
    Method { key: "full_attention", name: "Full graph, attention weights", paper: "90.0 %" },
    Method { key: "causal_attention", name: "Causal graph, attention weights", paper: "99.3 %" },
    Method { key: "effect", name: "Causal graph, by effect (becausal's)", paper: "" },
    Method { key: "identity", name: "baseline: each state affects only itself", paper: "" },
    Method { key: "empty", name: "baseline: no influence", paper: "" },
    Method { key: "action_blind", name: "baseline: causal graph for every action", paper: "" },
];

/// Arguments of `becausal-paper aim`.
#[derive(Args)]
pub struct Arguments {
    /// Transitions to learn from, recorded under random actions
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub rows: usize,
    /// Seeds, one repetition each
    #[arg(long, value_name = "S,S", value_delimiter = ',', default_value = "1,2,3")]
    pub seeds: Vec<u64>,
    /// Maximum number of training steps of each network (default: 2000; 5000 with --preset paper)
    #[arg(long, value_name = "N")]
    pub steps: Option<NonZeroUsize>,
    /// Whose method: ours, or the paper's as it stands
    #[arg(long, value_name = "PRESET", default_value = "default")]
    pub preset: Preset,
}

impl Arguments {
    /// The recipe that the table is measured with.
    pub fn recipe(&self) -> Recipe {
        let recipe = Recipe::of(self.preset);
        let (eta, members) = match self.preset {
            Preset::Default => (recipe.eta, MEMBERS),
            Preset::Paper => (PAPER_ETA, recipe.model.members),
        };
        let steps = self.steps.map_or(recipe.model.steps, NonZeroUsize::get);
        Recipe { eta, model: ModelParams { members, steps, ..recipe.model }, ..recipe }
    }
}

/// Whether each state influences each effect, action by action: `[action][effect][state]`.
type Edges = Vec<Vec<Vec<bool>>>;

/// The scores of each method in the order of the table, seed by seed.
pub type Scores = Vec<Vec<Score>>;

/// How well a method does, over the seeds.
pub struct TableRow {
    pub key: &'static str,
    name: &'static str,
    paper: &'static str,
    /// The share of the edges that are right: mean, standard deviation and worst seed.
    pub accuracy: f64,
    deviation: f64,
    worst: f64,
    f1: f64,
    /// The mean structural Hamming distance: edges that are wrong.
    distance: f64,
}

pub fn run(common: &Common, arguments: &Arguments) -> Result<String, Failure> {
    let scores = measure(&progress::lines(common.quiet), arguments)?;
    Ok(if common.json {
        format!("{}\n", as_json(arguments, &scores))
    } else {
        as_text(arguments, &scores)
    })
}

/// Recovers the influences with every method.
pub fn measure(listener: &Listener, arguments: &Arguments) -> Result<Scores, Failure> {
    let mut scores: Scores = vec![Vec::new(); METHODS.len()];
    for (done, &seed) in arguments.seeds.iter().enumerate() {
        let (total, note) = (arguments.seeds.len(), format!("next: seed {seed}"));
        let at = Advance { task: "aim", unit: "seeds", done, total, note: &note };
        progress::advance(listener, &at);
        for (of_method, score) in scores.iter_mut().zip(one_seed(listener, arguments, seed)?) {
            of_method.push(score);
        }
    }
    Ok(scores)
}

/// The table, row by row.
pub fn rows(scores: &[Vec<Score>]) -> Vec<TableRow> {
    let row = |(method, scores): (&Method, &Vec<Score>)| {
        let over_seeds = |value: &dyn Fn(&Score) -> f64| {
            mean_and_deviation(&scores.iter().map(value).collect::<Vec<f64>>())
        };
        let (accuracy, deviation) = over_seeds(&Score::accuracy);
        TableRow {
            key: method.key,
            name: method.name,
            paper: method.paper,
            accuracy,
            deviation,
            worst: scores.iter().map(Score::accuracy).fold(1.0, f64::min),
            f1: over_seeds(&Score::f1).0,
            distance: over_seeds(&|score| score.distance() as f64).0,
        }
    };
    METHODS.iter().zip(scores).map(row).collect()
}

/// The scores of the methods, in the order of the table.
fn one_seed(
    listener: &Listener,
    arguments: &Arguments,
    seed: u64,
) -> Result<[Score; METHODS.len()], Failure> {
    let entry = find(ID)?;
    let truth = entry.truth().ok_or("AimTest-v0 has no known true graph")?;
    let environment = entry.make(&env::Options::default())?;
    let data = record_at_random(&environment, arguments.rows, seed)?;
    let recipe = arguments.recipe();
    let discovery = DiscoverParams {
        method: recipe.method,
        eta: Some(recipe.eta),
        seed,
        by_action: Some(ByAction::Direct),
        progress: listener.clone(),
        ..DiscoverParams::default()
    };
    let graph = discover(&data, &discovery)?;
    let structure = Structure::of_edges(data.schema(), &graph);
    let params = ModelParams { seed, progress: listener.clone(), ..recipe.model };
    let prepared = FitData::new(&data, &params)?;
    let (full, _) = WorldModel::fit_to(&prepared, ModelKind::Full, &structure, &params)?;
    let (causal, report) = WorldModel::fit_to(&prepared, ModelKind::Causal, &structure, &params)?;
    let held_out = data.select_episodes(&report.held_out);
    let known = known(&truth);
    let candidates: [Edges; METHODS.len()] = [
        direct(&graph, &truth),
        by_weight(&full, known.len()),
        by_weight(&causal, known.len()),
        by_effect(&causal, &held_out, known.len(), seed),
        same_for_all(&known, |effect, state| effect == state),
        same_for_all(&known, |_, _| false),
        same_for_all(&known, |effect, state| structure.parents(effect).contains(&state)),
    ];
    Ok(candidates.map(|edges| Score::of(&edges.concat(), &known.concat())))
}

/// What a causal model that is made by a recipe recovers.
pub struct Recovered {
    pub by_attention: Score,
    pub by_effect: Score,
    /// The mean error one step ahead on held-out episodes, in standard deviations.
    pub error: f64,
}

/// Recovers the influences with the causal model of a recipe.
pub fn recover(
    listener: &Listener,
    recipe: &Recipe,
    rows: usize,
    seed: u64,
) -> Result<Recovered, Failure> {
    let entry = find(ID)?;
    let truth = entry.truth().ok_or("AimTest-v0 has no known true graph")?;
    let data = record_at_random(&entry.make(&env::Options::default())?, rows, seed)?;
    let discovery = DiscoverParams {
        method: recipe.method,
        eta: Some(recipe.eta),
        seed,
        progress: listener.clone(),
        ..DiscoverParams::default()
    };
    let mut graph = discover(&data, &discovery)?;
    let model = ModelParams { seed, progress: listener.clone(), ..recipe.model.clone() };
    let recipe = Recipe { model, ..recipe.clone() };
    let prepared = FitData::new(&data, &recipe.model)?;
    let made = recipe.fit(data.schema(), &prepared, &mut graph)?;
    let held_out = data.select_episodes(&made.report.held_out);
    let known = known(&truth);
    let score = |found: Edges| Score::of(&found.concat(), &known.concat());
    Ok(Recovered {
        by_attention: score(by_weight(&made.model, known.len())),
        by_effect: score(by_effect(&made.model, &held_out, known.len(), seed)),
        error: made.model.score(&held_out).mean_error(),
    })
}

/// The true influences under each action.
fn known(truth: &Truth) -> Edges {
    truth.by_action.iter().map(|truth| truth.graph.clone()).collect()
}

/// The influences under each action, by attention.
fn by_weight(model: &WorldModel, actions: usize) -> Edges {
    let of_action = |action: usize| model.influence_by_weight(&[action as f64]);
    (0..actions).filter_map(of_action).map(|influence| edges(&influence)).collect()
}

/// The influences under each action, by effect; none under an action that no row has.
fn by_effect(model: &WorldModel, held_out: &Transitions, actions: usize, seed: u64) -> Edges {
    let structure = model.structure();
    let of_action = |action: usize| {
        let rows = rows_under(held_out, action);
        if rows.is_empty() {
            return vec![vec![false; structure.states()]; structure.effects()];
        }
        edges(&model.influence_by_effect(&rows, seed))
    };
    (0..actions).map(of_action).collect()
}

/// The rows in which an action was taken.
fn rows_under(data: &Transitions, action: usize) -> Transitions {
    let slot = data.schema().action_slots().start;
    let rows: Vec<usize> = (0..data.len()).filter(|&row| data.code(slot, row) == action).collect();
    data.select_rows(&rows)
}

/// `[effect][state]`: the influences above the threshold.
fn edges(influence: &Influence) -> Vec<Vec<bool>> {
    let row = |effect| (0..influence.states()).map(move |s| influence.weight(effect, s) > TAU);
    (0..influence.effects()).map(|effect| row(effect).collect()).collect()
}

/// The same edges under every action, of the same shape as `like`.
fn same_for_all(like: &Edges, edge: impl Fn(usize, usize) -> bool) -> Edges {
    let row = |(effect, row): (usize, &Vec<bool>)| -> Vec<bool> {
        (0..row.len()).map(|state| edge(effect, state)).collect()
    };
    like.iter().map(|action| action.iter().enumerate().map(row).collect()).collect()
}

/// The graph that was discovered under each action.
fn direct(graph: &CausalGraph, truth: &Truth) -> Edges {
    let of_action = |action: &ActionTruth| {
        let found = graph.by_action.iter().find(|part| part.label == action.action);
        let none = || action.graph.iter().map(|row| vec![false; row.len()]).collect();
        found.map_or_else(none, ActionGraph::matrix)
    };
    truth.by_action.iter().map(of_action).collect()
}

pub fn as_json(arguments: &Arguments, scores: &[Vec<Score>]) -> Value {
    let mut methods = Map::new();
    for (row, scores) in rows(scores).iter().zip(scores) {
        let entry = json!({
            "accuracy": row.accuracy,
            "accuracy_std": row.deviation,
            "f1": row.f1,
            "shd": row.distance,
            "per_seed": scores.iter().map(Score::accuracy).collect::<Vec<f64>>(),
        });
        methods.insert(row.key.to_owned(), entry);
    }
    let recipe = arguments.recipe();
    json!({
        "preset": arguments.preset.name(),
        "method": recipe.method.name(),
        "eta": recipe.eta,
        "rows": arguments.rows,
        "seeds": arguments.seeds,
        "tau": TAU,
        "methods": methods,
    })
}

/// The headings of the table's columns.
pub const HEADINGS: [&str; 7] = ["", "paper", "accuracy", "std", "worst", "F1", "SHD"];

impl TableRow {
    /// Its cells.
    pub fn cells(&self) -> [String; HEADINGS.len()] {
        [
            self.name.to_owned(),
            self.paper.to_owned(),
            format!("{:.1} %", 100.0 * self.accuracy),
            format!("{:.1}", 100.0 * self.deviation),
            format!("{:.0} %", 100.0 * self.worst),
            format!("{:.3}", self.f1),
            format!("{:.1}", self.distance),
        ]
    }
}

fn as_text(arguments: &Arguments, scores: &[Vec<Score>]) -> String {
    let align = |(column, heading): (usize, &'static str)| match column {
        0 => (heading, Alignment::Left),
        _ => (heading, Alignment::Right),
    };
    let mut table = Table::new(HEADINGS.into_iter().enumerate().map(align));
    for row in rows(scores) {
        table.push(row.cells());
    }
    format!(
        "Which states influence which effects under each action of {ID}: {} edges to recover \
         from {} rows under random actions, tau {TAU}, {}, {}.\n\n{}\nAccuracy: mean, standard \
         deviation and worst over the seeds. SHD: structural Hamming distance, the mean number of \
         wrong edges.\n",
        scores.first().and_then(|of_method| of_method.first()).map_or(0, |score| score.pairs),
        count(arguments.rows),
        counted(arguments.seeds.len(), "seed"),
        method_words(arguments),
        table.lines()
    )
}

/// Whose method it is.
fn method_words(arguments: &Arguments) -> String {
    let Recipe { method, eta, .. } = arguments.recipe();
    let whose = match arguments.preset {
        Preset::Default => "becausal's",
        Preset::Paper => "the paper's",
    };
    format!("{whose} method (test {} with eta {})", method.name(), brief(eta))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_graph_by_action_nothing_is_recovered_directly() {
        let entry = find(ID).expect("known");
        let truth = entry.truth().expect("known");
        let schema = entry.schema();
        let graph = CausalGraph::new("auto", 0.05, &schema.causes(), &schema.effects());
        let found = direct(&graph, &truth);
        assert_eq!(found, same_for_all(&found, |_, _| false));
        assert_eq!(found.concat().concat().len(), 100);
    }

    #[test]
    fn a_row_has_the_mean_and_the_worst_seed() {
        let right = Score { right: 26, false_edges: 0, missed: 0, pairs: 100 };
        let half = Score { right: 0, false_edges: 24, missed: 26, pairs: 100 };
        let rows = rows(&vec![vec![right, half]; METHODS.len()]);
        assert_eq!(rows[0].cells()[2..], ["75.0 %", "25.0", "50 %", "0.500", "25.0"]);
    }
}

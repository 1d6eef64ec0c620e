//! `becausal reproduce aim`: the paper's Table 1. Is the influence of each action recovered?

use std::fmt::Write;
use std::sync::Arc;

use becausal::Transitions;
use becausal::discovery::{ByAction, CausalGraph, Options, Score, Verdict, discover_quietly};
use becausal::env::{self, ActionTruth, Truth, find, record_at_random};
use becausal::model::{Influence, ModelKind, ModelParams, Structure, WorldModel};
use becausal::render::{Alignment, Table};
use serde_json::{Map, Value, json};

use crate::arguments::{Common, ReproduceAim};
use crate::describe;
use crate::failure::Failure;
use crate::progress::Progress;

/// The threshold of the paper, for its weights and for ours.
const TAU: f64 = 0.1;

/// Networks of each model.
const MEMBERS: usize = 3;

/// The methods, in the order of the table, with what the paper reports.
const METHODS: [(&str, &str, &str); 7] = [
    ("direct", "Direct: each action's rows alone", "97.0 %"),
    ("full_attention", "Full + attention", "90.0 %"),
    ("causal_attention", "Causal + attention", "99.3 %"),
    ("effect", "Causal, by effect", ""),
    ("identity", "each variable on itself only", ""),
    ("empty", "no influence at all", ""),
    ("action_blind", "the graph, whatever the action", ""),
];

/// Whether each state matters to each effect, action by action: `[action][effect][state]`.
type Edges = Vec<Vec<Vec<bool>>>;

/// The scores of each method in the order of the table, seed by seed.
pub type Scores = Vec<Vec<Score>>;

/// A line of the table.
pub struct Figures {
    pub key: &'static str,
    pub name: &'static str,
    /// What the paper reports; empty where it does not.
    pub paper: &'static str,
    /// Shares of the edges that are right: mean, spread and the worst seed.
    pub accuracy: f64,
    pub spread: f64,
    pub worst: f64,
    pub f1: f64,
    /// Edges that are wrong.
    pub distance: f64,
}

pub fn run(common: &Common, arguments: &ReproduceAim) -> Result<String, Failure> {
    let found = measure(common, arguments)?;
    Ok(if common.json {
        describe::line(&as_json(arguments, &found))
    } else {
        told(arguments, &found)
    })
}

/// Recovers the influences with every method.
pub fn measure(common: &Common, arguments: &ReproduceAim) -> Result<Scores, Failure> {
    let mut bar = Progress::new(arguments.seeds.len(), "seeds", common.quiet);
    let mut found: Scores = vec![Vec::new(); METHODS.len()];
    for &seed in &arguments.seeds {
        for (at, score) in one_seed(arguments, seed)?.into_iter().enumerate() {
            found[at].push(score);
        }
        bar.advance(1);
    }
    bar.finish();
    Ok(found)
}

/// The table, line by line.
pub fn figures(found: &[Vec<Score>]) -> Vec<Figures> {
    let line = |(&(key, name, paper), scores): (&(_, _, _), &Vec<Score>)| {
        let mean = |of: &dyn Fn(&Score) -> f64| {
            mean_and_spread(&scores.iter().map(of).collect::<Vec<f64>>())
        };
        let (accuracy, spread) = mean(&Score::accuracy);
        Figures {
            key,
            name,
            paper,
            accuracy,
            spread,
            worst: scores.iter().map(Score::accuracy).fold(1.0, f64::min),
            f1: mean(&Score::f1).0,
            distance: mean(&|score| score.distance() as f64).0,
        }
    };
    METHODS.iter().zip(found).map(line).collect()
}

fn one_seed(arguments: &ReproduceAim, seed: u64) -> Result<Vec<Score>, Failure> {
    let entry = find("AimTest-v0")?;
    let truth = entry.truth().ok_or_else(|| Failure::failed("AimTest-v0 has no known truth"))?;
    let environment = entry.make(&env::Options::default())?;
    let data = record_at_random(&environment, arguments.rows, seed)?;
    let options = Options { seed, by_action: Some(ByAction::Direct), ..Options::default() };
    let graph = discover_quietly(&data, &options)?;
    let structure = Structure::of(data.schema(), &graph);
    let fit = ModelParams {
        members: MEMBERS,
        steps: arguments.steps.get(),
        seed,
        ..ModelParams::default()
    };
    let actions = truth.by_action.len();
    let (full, _) = WorldModel::fit(&data, ModelKind::Full, &structure, &fit)?;
    let (causal, report) = WorldModel::fit(&data, ModelKind::Causal, &structure, &fit)?;
    let held_out = data.select_episodes(&report.held_out);
    let weights = |model: &WorldModel| -> Edges {
        let of = |action: usize| model.influence_by_weight(&[action as f64]);
        (0..actions).filter_map(of).map(|influence| edges(&influence)).collect()
    };
    let effects: Edges = (0..actions)
        .map(|action| {
            let part = under(&held_out, action);
            if part.is_empty() {
                return vec![vec![false; structure.states()]; structure.effects()];
            }
            edges(&causal.influence_by_effect(&part, seed))
        })
        .collect();
    let known: Edges = truth.by_action.iter().map(|truth| truth.graph.clone()).collect();
    let itself = |effect: usize, state: usize| effect == state;
    let blind = |effect: usize, state: usize| structure.parents(effect).contains(&state);
    let candidates: [Edges; 7] = [
        direct(&graph, &truth),
        weights(&full),
        weights(&causal),
        effects,
        constant(&known, itself),
        constant(&known, |_, _| false),
        constant(&known, blind),
    ];
    let flat = |edges: &Edges| -> Vec<Vec<bool>> { edges.concat() };
    Ok(candidates.iter().map(|edges| Score::of(&flat(edges), &flat(&known))).collect())
}

/// The rows in which an action was taken.
fn under(data: &Transitions, action: usize) -> Transitions {
    let slot = data.schema().action_slots().start;
    let mut part = Transitions::new(Arc::clone(data.schema()));
    for row in (0..data.len()).filter(|&row| data.code(slot, row) == action) {
        part.append(&data.slice(row..row + 1));
    }
    part
}

fn edges(influence: &Influence) -> Vec<Vec<bool>> {
    let row = |effect| (0..influence.states()).map(move |s| influence.weight(effect, s) > TAU);
    (0..influence.effects()).map(|effect| row(effect).collect()).collect()
}

/// The same edges under every action.
fn constant(like: &Edges, edge: impl Fn(usize, usize) -> bool) -> Edges {
    let row = |(effect, row): (usize, &Vec<bool>)| -> Vec<bool> {
        (0..row.len()).map(|state| edge(effect, state)).collect()
    };
    like.iter().map(|action| action.iter().enumerate().map(row).collect()).collect()
}

/// The graph that was found under each action.
fn direct(graph: &CausalGraph, truth: &Truth) -> Edges {
    let of = |action: &ActionTruth| -> Vec<Vec<bool>> {
        let found = graph.by_action.iter().find(|part| part.label == action.action);
        let edge = |effect: &String, cause: &String| {
            found.is_some_and(|part| {
                part.pairs.iter().any(|pair| {
                    pair.verdict == Verdict::Edge && pair.effect == *effect && pair.cause == *cause
                })
            })
        };
        let states = truth.causes.len() - 1;
        let row = |effect| truth.causes[..states].iter().map(move |cause| edge(effect, cause));
        truth.effects.iter().map(|effect| row(effect).collect()).collect()
    };
    truth.by_action.iter().map(of).collect()
}

fn mean_and_spread(numbers: &[f64]) -> (f64, f64) {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let squares: f64 = numbers.iter().map(|number| (number - mean) * (number - mean)).sum();
    (mean, (squares / numbers.len() as f64).sqrt())
}

pub fn as_json(arguments: &ReproduceAim, found: &[Vec<Score>]) -> Value {
    let mut methods = Map::new();
    for (line, scores) in figures(found).iter().zip(found) {
        let entry = json!({
            "accuracy": line.accuracy,
            "accuracy_spread": line.spread,
            "f1": line.f1,
            "shd": line.distance,
            "per_seed": scores.iter().map(Score::accuracy).collect::<Vec<f64>>(),
        });
        methods.insert(line.key.to_owned(), entry);
    }
    json!({ "rows": arguments.rows, "seeds": arguments.seeds, "tau": TAU, "methods": methods })
}

/// What the columns of the table are.
pub const HEADINGS: [&str; 7] = ["", "paper", "accuracy", "spread", "worst", "F1", "distance"];

impl Figures {
    /// The cells of its line.
    pub fn cells(&self) -> [String; 7] {
        [
            self.name.to_owned(),
            self.paper.to_owned(),
            format!("{:.1} %", 100.0 * self.accuracy),
            format!("{:.1}", 100.0 * self.spread),
            format!("{:.0} %", 100.0 * self.worst),
            format!("{:.3}", self.f1),
            format!("{:.1}", self.distance),
        ]
    }
}

fn told(arguments: &ReproduceAim, found: &[Vec<Score>]) -> String {
    let align = |(place, heading): (usize, &'static str)| match place {
        0 => (heading, Alignment::Left),
        _ => (heading, Alignment::Right),
    };
    let mut table = Table::new(HEADINGS.into_iter().enumerate().map(align));
    for line in figures(found) {
        table.push(line.cells());
    }
    let mut text = String::new();
    let _ = writeln!(
        text,
        "Which states matter to which effects under each action of AimTest-v0: 4 actions x 5 effects \
         x 5 states = 100 edges, from {} random-policy rows, tau {TAU}, {}.\n\n{}",
        crate::number::count(arguments.rows),
        crate::number::counted(arguments.seeds.len(), "seed"),
        table.lines()
    );
    text
}

//! The lander's graph against what trying shows.
//!
//! `-- lander` scores graphs of a scripted pilot's flights. `-- lander flights.csv` scores the graph of a recording, of a
//! trained agent for instance (`becausal collect LunarLander-v3 -n 20000 --policy RUN -o flights.csv`).
//!
//! Two lists of edges are asked for: those that move the effect by more than 1 % of its usual change in random flights, the
//! same for all logs, and those that do so in the flights of the log itself.

use std::path::Path;

use becausal_core::Transitions;
use becausal_core::data::{ReadOptions, read};
use becausal_core::env::{Environment, Options, record_with_detours};
use becausal_discovery::{CausalGraph, DiscoverParams, Pair, Verdict, discover};
use becausal_envs::{Pilot, Trial, find};

const ID: &str = "LunarLander-v3";
const ROWS: usize = 20_000;
/// Effects of at most this share of the usual change are not asked for.
const SHARE: f64 = 0.01;

pub fn lander(files: &[String]) {
    let trial = find(ID).expect("an environment").trial().expect("tried");
    println!("{ID}: edges by trying, effects above {:.0} % of the usual change", 100.0 * SHARE);
    if files.is_empty() {
        for seed in 0..3 {
            score(&format!("a scripted pilot, seed {seed}"), &flights(seed), &trial);
        }
    }
    for file in files {
        let schema = Some(find(ID).expect("an environment").schema());
        let options = ReadOptions { schema, ..ReadOptions::default() };
        let recording = read(Path::new(file), &options).expect("a recording of the lander");
        score(file, &recording.transitions, &trial);
    }
}

fn score(name: &str, data: &Transitions, trial: &Trial) {
    let graph: CausalGraph = discover(data, &DiscoverParams::default()).expect("a graph");
    let own = find(ID).expect("an environment").trial_of_log(data).expect("tried");
    let moved = |trial: &Trial, place: usize, pair: &Pair| {
        trial.circumstances[place].moves[pair.effect.0][pair.cause.0]
    };
    let name_of =
        |pair: &Pair| format!("{} -> {}", graph.cause(pair.cause), graph.effect(pair.effect));
    let is_edge = |pair: &Pair| pair.verdict == Verdict::Edge;
    // What cannot be changed alone, as the legs, cannot be told.
    let tried = || graph.pairs().iter().filter(|pair| moved(trial, 0, pair).is_some());
    let is_asked = |trial: &Trial, pair: &Pair| moved(trial, 0, pair).is_some_and(|m| m > SHARE);
    let recall = |trial: &Trial| {
        let asked: Vec<&Pair> = tried().filter(|pair| is_asked(trial, pair)).collect();
        let found = asked.iter().filter(|pair| is_edge(pair)).count();
        format!("{found} of {}", asked.len())
    };
    let edges = tried().filter(|pair| is_edge(pair)).count();
    let is_wrong = |pair: &&Pair| {
        (0..trial.circumstances.len())
            .all(|place| moved(trial, place, pair).is_none_or(|moved| moved == 0.0))
    };
    let wrong: Vec<String> =
        tried().filter(|pair| is_edge(pair)).filter(is_wrong).map(name_of).collect();
    println!(
        "  {name}: {} rows, found {} edges of random flights, {} of the log's own flights; {} of {edges} edges true {}",
        data.len(),
        recall(trial),
        recall(&own),
        edges - wrong.len(),
        wrong.join(", ")
    );
    let is_missed =
        |pair: &&Pair| !is_edge(pair) && (is_asked(trial, pair) || is_asked(&own, pair));
    for pair in tried().filter(is_missed) {
        println!(
            "    {}: {}, moves it by {:.1} % of its usual change, in this log by {:.2} % (p {:.1e}, strength {:.4})",
            name_of(pair),
            pair.verdict.word(),
            100.0 * moved(trial, 0, pair).unwrap_or(0.0),
            100.0 * moved(&own, 0, pair).unwrap_or(0.0),
            pair.p,
            pair.strength
        );
    }
}

/// Flights of a scripted pilot; every tenth action is a random one.
fn flights(seed: u64) -> Transitions {
    let lander = find(ID).expect("known").make(&Options::default()).expect("made");
    let pilot = Pilot::of(lander.schema()).expect("a lander");
    record_with_detours(&lander, &pilot, 0.1, ROWS, seed).expect("flown")
}

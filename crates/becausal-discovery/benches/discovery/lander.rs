//! The lander's graph against what trying shows.
//!
//! `-- lander` scores graphs of a scripted pilot's flights. `-- lander flights.csv` scores the graph of a recording, of a
//! trained agent for instance (`becausal collect LunarLander-v3 -n 20000 --policy RUN -o flights.csv`).

use std::path::Path;

use becausal_core::Transitions;
use becausal_core::data::{ReadOptions, read};
use becausal_core::env::{Environment, Options, record_with_detours};
use becausal_discovery::{CausalGraph, DiscoverParams, Verdict, discover};
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
    let flight = &trial.circumstances[0];
    let (mut found, mut known, mut right, mut edges, mut open) = (0, 0, 0, 0, 0);
    let mut wrong = Vec::new();
    for pair in graph.pairs() {
        let (cause, effect) = (pair.cause.0, pair.effect.0);
        let moved = |place: usize| trial.circumstances[place].moves[effect][cause];
        // What cannot be changed alone, as the legs, cannot be told.
        let Some(in_flight) = moved(0) else { continue };
        let anywhere =
            (0..trial.circumstances.len()).any(|place| moved(place).is_some_and(|m| m > 0.0));
        let is_edge = pair.verdict == Verdict::Edge;
        if in_flight > SHARE {
            known += 1;
            found += usize::from(is_edge);
            open += usize::from(pair.verdict == Verdict::Untestable);
        }
        if is_edge {
            edges += 1;
            if anywhere {
                right += 1;
            } else {
                wrong.push(format!("{} -> {}", graph.cause(pair.cause), graph.effect(pair.effect)));
            }
        }
    }
    println!(
        "  {name}: {} rows, {found} of {known} edges of the flight found, {open} untestable; {right} of {edges} edges true {}",
        data.len(),
        wrong.join(", ")
    );
    let missed = graph.pairs().iter().filter(|pair| pair.verdict != Verdict::Edge);
    for pair in missed {
        let share = flight.moves[pair.effect.0][pair.cause.0].filter(|&share| share > SHARE);
        if let Some(share) = share {
            println!(
                "    {} -> {}: {}, moves it by {:.0} % of its usual change (p {:.1e}, strength {:.4})",
                graph.cause(pair.cause),
                graph.effect(pair.effect),
                pair.verdict.word(),
                100.0 * share,
                pair.p,
                pair.strength
            );
        }
    }
}

/// Flights of a scripted pilot; every tenth action is a random one.
fn flights(seed: u64) -> Transitions {
    let lander = find(ID).expect("known").make(&Options::default()).expect("made");
    let pilot = Pilot::of(lander.schema()).expect("a lander");
    record_with_detours(&lander, &pilot, 0.1, ROWS, seed).expect("flown")
}

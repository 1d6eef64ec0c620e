//! What discovery is worth: `cargo bench --bench discovery -- truth|development|test|probes|calibration|speed`.

mod worlds;

use std::time::Instant;

use becausal::discovery::{CausalGraph, Method, Options, Score, Verdict, discover_quietly};
use becausal::env::{EnvironmentError, collect, find, random_action};
use becausal::Transitions;

use worlds::{World, families};

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let wanted = |name: &str| arguments.is_empty() || arguments.iter().any(|a| a == name);
    if wanted("truth") {
        truth();
    }
    if wanted("development") {
        worlds(false);
    }
    if wanted("test") {
        worlds(true);
    }
}

/// Rows of an environment under random actions.
fn record(id: &str, rows: usize, seed: u64) -> Transitions {
    let entry = find(id).expect("an environment");
    let environment = entry.make(&becausal::env::Options::default()).expect("an environment");
    let schema = entry.schema();
    let mut data = Transitions::new(schema.clone());
    collect(
        &environment,
        rows,
        seed,
        |_, stream, action| random_action(&schema, stream, action),
        |part| {
            data.append(part);
            Ok::<(), EnvironmentError>(())
        },
    )
    .expect("transitions");
    data
}

fn graph(data: &Transitions, method: Method) -> CausalGraph {
    discover_quietly(data, &Options { method, ..Options::default() }).expect("a graph")
}

fn truth() {
    for (id, rows) in [("AimTest-v0", 20_000), ("AimTest-v0", 5_000), ("CartPole-v1", 20_000), ("Vacuum-v0", 5_000)] {
        let truth = find(id).expect("an environment").truth();
        let edges = truth.graph.iter().flatten().filter(|edge| **edge).count();
        let mut f1 = Vec::new();
        let mut seconds = 0.0;
        println!("{id}, {rows} rows, {edges} edges:");
        for seed in 0..10 {
            let data = record(id, rows, seed);
            let started = Instant::now();
            let graph = graph(&data, Method::Auto);
            seconds += started.elapsed().as_secs_f64();
            let score = Score::of(&graph.matrix(), &truth.graph);
            f1.push(score.f1());
            let wrong: Vec<String> = graph
                .pairs
                .iter()
                .zip(truth.graph.iter().flatten())
                .filter(|(pair, truth)| (pair.verdict == Verdict::Edge) != **truth)
                .map(|(pair, _)| {
                    format!("{}->{} {} p {:.1e} {:.1e}", pair.cause, pair.effect, pair.verdict.word(), pair.p, pair.strength)
                })
                .collect();
            let proxies = graph.pairs.iter().filter(|p| p.proxy).count();
            println!("  seed {seed}: F1 {:.4}, {} right, {} false, {} missed, {proxies} proxies {}", score.f1(), score.right, score.false_edges, score.missed, wrong.join("; "));
        }
        println!("  mean F1 {:.4}, {:.2} s a graph", f1.iter().sum::<f64>() / 10.0, seconds / 10.0);
    }
}

fn worlds(test: bool) {
    for family in families(test) {
        let (mut total, mut untold, mut flagged) = (Score::default(), 0, 0);
        let mut ambiguous = (0, 0);
        let mut f1 = Vec::new();
        let started = Instant::now();
        let mut wrong = Vec::new();
        for seed in 0..6 {
            let world = World::new(family, seed + if test { 1000 } else { 0 });
            let graph = graph(&world.record(20_000, seed), Method::Auto);
            let mut found = graph.matrix();
            let causes = world.truth[0].len();
            for (place, pair) in graph.pairs.iter().enumerate() {
                let (effect, cause) = (place / causes, place % causes);
                if world.ambiguous[effect][cause] {
                    ambiguous.0 += 1;
                    ambiguous.1 += usize::from(pair.verdict == Verdict::Untestable);
                    found[effect][cause] = world.truth[effect][cause];
                    continue;
                }
                untold += usize::from(pair.verdict == Verdict::Untestable);
                flagged += usize::from(pair.proxy);
                if (pair.verdict == Verdict::Edge) != world.truth[effect][cause] {
                    wrong.push(format!("{seed}: {}->{} {} p {:.1e} {:.1e}{}", pair.cause, pair.effect, pair.verdict.word(), pair.p, pair.strength, if pair.proxy { " proxy" } else { "" }));
                }
            }
            let score = Score::of(&found, &world.truth);
            f1.push(score.f1());
            total.right += score.right;
            total.false_edges += score.false_edges;
            total.missed += score.missed;
        }
        println!(
            "{family:18} F1 {:.4} (least {:.3}), {} right, {} false, {} missed, {untold} untestable, {flagged} flagged, ambiguous told apart {} of {}, {:.2} s a graph",
            f1.iter().sum::<f64>() / f1.len() as f64,
            f1.iter().copied().fold(1.0, f64::min),
            total.right, total.false_edges, total.missed, ambiguous.1, ambiguous.0,
            started.elapsed().as_secs_f64() / 6.0
        );
        for line in wrong {
            println!("    {line}");
        }
    }
}

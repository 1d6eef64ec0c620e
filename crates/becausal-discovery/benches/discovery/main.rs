//! Measures discovery: `cargo bench -p becausal-discovery --bench discovery -- truth|development|practice|test|probes|calibration|power|power-fresh|by-action|lander|speed|speed-lander|speed-largest`,
//! with `truth-fresh` and `truth-from FIRST` for other seeds of the known graphs, `family NAME FIRST COUNT` for other worlds of a family,
//! and `calibration-of CASE COUNT` for more repetitions of one case.

mod calibration;
mod lander;
mod power;
mod probes;
mod worlds;

use std::fmt::Write;
use std::time::Instant;

use becausal_core::Transitions;
use becausal_core::env::{EnvironmentError, collect, random_action};
use becausal_discovery::{ByAction, CausalGraph, DiscoverParams, Method, Score, Verdict, discover};
use becausal_envs::find;

use calibration::Case;
use probes::{Answer, PROBES};
use worlds::{PRACTICE, World, families};

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let wanted = |name: &str| arguments.is_empty() || arguments.iter().any(|a| a == name);
    // family NAME FIRST COUNT: worlds of one family. Those of test families from 1000 on are for the end.
    if let [command, name, first, count] = arguments.as_slice()
        && command == "family"
    {
        let known = families(false).iter().chain(&PRACTICE).chain(families(true));
        let family: Vec<&str> = known.copied().filter(|family| family == name).collect();
        worlds(&family, first.parse().expect("a seed"), count.parse().expect("a count"));
    }
    // calibration-of CASE COUNT: more repetitions of one case without an effect.
    if let [command, name, count] = arguments.as_slice()
        && command == "calibration-of"
    {
        let case = calibration::CASES.into_iter().find(|case| format!("{case:?}") == *name);
        let alphas = [0.001, 0.05, 0.2, 0.5];
        let count = count.parse().expect("a count");
        println!("{name} {}", shares(case.expect("a case"), false, count, &alphas));
    }
    // truth-from FIRST: other seeds of the known graphs.
    if let [command, first] = arguments.as_slice()
        && command == "truth-from"
    {
        truth(first.parse().expect("a seed"));
    }
    if wanted("truth") {
        truth(0);
    }
    if wanted("truth-fresh") {
        truth(900);
    }
    if wanted("probes") {
        probes();
    }
    if wanted("calibration") {
        calibration();
    }
    if wanted("development") {
        worlds(families(false), 0, 6);
    }
    if wanted("practice") {
        worlds(&PRACTICE, 500, 3);
    }
    if wanted("test") {
        worlds(families(true), 1000, 6);
    }
    let detailed = arguments.iter().any(|argument| argument == "detailed");
    if wanted("power") {
        power::power(false, detailed);
    }
    if wanted("power-fresh") {
        power::power(true, detailed);
    }
    if wanted("by-action") {
        by_action();
    }
    if wanted("lander") {
        let is_file = |argument: &&String| std::path::Path::new(argument).extension().is_some();
        let files: Vec<String> = arguments.iter().filter(is_file).cloned().collect();
        lander::lander(&files);
    }
    if wanted("speed") || wanted("speed-lander") {
        lander_speed();
    }
    if wanted("speed") || wanted("speed-largest") {
        chain_speed(wanted("speed"));
    }
}

/// Transitions of an environment with random actions.
fn record(id: &str, rows: usize, seed: u64) -> Transitions {
    let entry = find(id).expect("an environment");
    let environment = entry.make(&becausal_core::env::Options::default()).expect("an environment");
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
    discover(data, &DiscoverParams { method, ..DiscoverParams::default() }).expect("a graph")
}

fn truth(first: u64) {
    for (id, rows) in [
        ("AimTest-v0", 20_000),
        ("AimTest-v0", 5_000),
        ("CartPole-v1", 20_000),
        ("CartPole-v1", 10_000),
        ("Vacuum-v0", 5_000),
    ] {
        let truth = find(id).expect("an environment").truth().expect("a known truth");
        let edges = truth.graph.iter().flatten().filter(|edge| **edge).count();
        let mut f1 = Vec::new();
        let mut seconds = 0.0;
        println!("{id}, {rows} rows, {edges} edges:");
        for seed in first..first + 10 {
            let data = record(id, rows, seed);
            let started = Instant::now();
            let graph = graph(&data, Method::Auto);
            seconds += started.elapsed().as_secs_f64();
            let score = Score::of(&graph.matrix(), &truth.graph);
            f1.push(score.f1());
            let wrong: Vec<String> = graph
                .pairs()
                .iter()
                .zip(truth.graph.iter().flatten())
                .filter(|(pair, truth)| (pair.verdict == Verdict::Edge) != **truth)
                .map(|(pair, _)| {
                    format!(
                        "{}->{} {} p {:.1e} {:.1e}",
                        graph.cause(pair.cause),
                        graph.effect(pair.effect),
                        pair.verdict.word(),
                        pair.p,
                        pair.strength
                    )
                })
                .collect();
            let proxies = graph.pairs().iter().filter(|p| p.proxy).count();
            println!(
                "  seed {seed}: F1 {:.4}, {} right, {} false, {} missed, {proxies} proxies {}",
                score.f1(),
                score.right,
                score.false_edges,
                score.missed,
                wrong.join("; ")
            );
        }
        println!("  mean F1 {:.4}, {:.2} s a graph", f1.iter().sum::<f64>() / 10.0, seconds / 10.0);
    }
}

/// Discovers the graphs of `count` worlds of each family, from 20,000 rows each.
fn worlds(families: &[&'static str], first: u64, count: u64) {
    for family in families {
        let (mut total, mut untestable, mut flagged) = (Score::default(), 0, 0);
        let mut ambiguous = (0, 0);
        let mut f1 = Vec::new();
        let started = Instant::now();
        let mut wrong = Vec::new();
        let (mut absent, mut absent_untestable) = (0_usize, 0_usize);
        for seed in 0..count {
            let world = World::new(family, seed + first);
            let graph = graph(&world.record(20_000, seed), Method::Auto);
            let mut found = graph.matrix();
            let causes = world.truth[0].len();
            for (place, pair) in graph.pairs().iter().enumerate() {
                let (effect, cause) = (place / causes, place % causes);
                if world.ambiguous[effect][cause] {
                    ambiguous.0 += 1;
                    ambiguous.1 += usize::from(pair.verdict == Verdict::Untestable);
                    found[effect][cause] = world.truth[effect][cause];
                    continue;
                }
                let is_untestable = usize::from(pair.verdict == Verdict::Untestable);
                untestable += is_untestable;
                if !world.truth[effect][cause] {
                    absent += 1;
                    absent_untestable += is_untestable;
                }
                flagged += usize::from(pair.proxy);
                if (pair.verdict == Verdict::Edge) != world.truth[effect][cause] {
                    wrong.push(format!(
                        "{seed}: {}->{} {} p {:.1e} {:.1e}{}",
                        graph.cause(pair.cause),
                        graph.effect(pair.effect),
                        pair.verdict.word(),
                        pair.p,
                        pair.strength,
                        if pair.proxy { " proxy" } else { "" }
                    ));
                }
            }
            let score = Score::of(&found, &world.truth);
            f1.push(score.f1());
            total.right += score.right;
            total.false_edges += score.false_edges;
            total.missed += score.missed;
        }
        println!(
            "{family:18} F1 {:.4} (least {:.3}), {} right, {} false, {} missed, {untestable} untestable ({:.1} % of the absent), {flagged} flagged, ambiguous untestable {} of {}, {:.2} s a graph",
            f1.iter().sum::<f64>() / f1.len() as f64,
            f1.iter().copied().fold(1.0, f64::min),
            total.right,
            total.false_edges,
            total.missed,
            100.0 * absent_untestable as f64 / absent.max(1) as f64,
            ambiguous.1,
            ambiguous.0,
            started.elapsed().as_secs_f64() / count as f64
        );
        for line in wrong {
            println!("    {line}");
        }
    }
}

/// The share of right answers on the probes.
fn probes() {
    println!("{:44} {:>7} {:>7}", "probe (20 repetitions)", "1,500", "10,000");
    for (probe, (name, answer)) in PROBES.iter().enumerate() {
        let share = |rows: usize| {
            let right = (0..20).filter(|&seed| {
                let graph = graph(&probes::record(probe, rows, seed), Method::Auto);
                let pair = graph.find("x", "y").expect("the pair");
                let cannot = pair.verdict == Verdict::Untestable;
                match answer {
                    Answer::Edge => pair.verdict == Verdict::Edge,
                    Answer::None => pair.verdict == Verdict::None,
                    Answer::CannotTell => cannot,
                    Answer::NoneOrFlagged => pair.verdict != Verdict::Edge || pair.proxy,
                    Answer::EdgeOrCannotTell => cannot || pair.verdict == Verdict::Edge,
                }
            });
            right.count() as f64 / 20.0
        };
        println!("{name:44} {:>7.2} {:>7.2}   {answer:?}", share(1500), share(10_000));
    }
}

/// The p-values of a pair without an effect in data of many kinds, and the power beside them.
fn calibration() {
    const REPETITIONS: u64 = 500;
    const MANY: u64 = 5000;
    println!(
        "share of p-values at most alpha, {REPETITIONS} repetitions of 1,000 rows in 50 episodes"
    );
    println!("{:16} without an effect              5 % explained", "");
    println!(
        "{:16} {:>6} {:>6} {:>6} {:>6}  {:>6} {:>6}",
        "", ".001", ".05", ".2", ".5", ".001", ".05"
    );
    for case in calibration::CASES {
        println!(
            "{:16} {}  {}",
            format!("{case:?}"),
            shares(case, false, REPETITIONS, &[0.001, 0.05, 0.2, 0.5]),
            shares(case, true, REPETITIONS / 5, &[0.001, 0.05]),
        );
    }
    let many = shares(Case::Independent, false, MANY, &[0.001, 0.05]);
    println!("Independent, {MANY} repetitions: at most .001 and .05 {many}");
}

/// The shares of p-values that are at most each alpha.
fn shares(case: Case, effect: bool, repetitions: u64, alphas: &[f64]) -> String {
    let seeds = if effect { 10_000..10_000 + repetitions } else { 0..repetitions };
    let p: Vec<f64> = seeds.map(|seed| calibration::p_value(case, effect, seed)).collect();
    let share = |alpha: &f64| p.iter().filter(|p| *p <= alpha).count() as f64 / p.len() as f64;
    alphas.iter().map(|alpha| format!("{:>6.4}", share(alpha))).collect::<Vec<_>>().join(" ")
}

/// AimTest's 100 edges by action, found in both ways.
fn by_action() {
    let truth = find("AimTest-v0").expect("an environment").truth().expect("a known truth");
    for rows in [20_000, 5_000] {
        for (name, way) in [("within", ByAction::Within), ("direct", ByAction::Direct)] {
            let mut shares = Vec::new();
            for seed in 0..10 {
                let data = record("AimTest-v0", rows, seed);
                let options = DiscoverParams { by_action: Some(way), ..DiscoverParams::default() };
                let graph = discover(&data, &options).expect("a graph");
                let (mut right, mut all) = (0, 0);
                for (found, truth) in graph.by_action.iter().zip(&truth.by_action) {
                    let score = Score::of(&found.matrix(), &truth.graph);
                    right += score.pairs - score.distance();
                    all += score.pairs;
                }
                shares.push(100.0 * right as f64 / all as f64);
            }
            let mean = shares.iter().sum::<f64>() / 10.0;
            let least = shares.iter().copied().fold(100.0, f64::min);
            println!(
                "AimTest-v0, {rows} rows, by action, {name}: {mean:.1} % right (least {least:.0} %)"
            );
        }
    }
}

/// A chain of `count` numbers, each influenced by two others and by one of three actions.
fn chain(count: usize, rows: usize) -> Transitions {
    let mut text = String::from("name = \"Chain\"\n[state]\n");
    for state in 0..count - 1 {
        let _ = writeln!(text, "s{state} = {{ kind = \"continuous\" }}");
    }
    text.push_str("[action]\na = { kind = \"categorical\", labels = [\"0\", \"1\", \"2\"] }\n");
    let schema = std::sync::Arc::new(becausal_core::Schema::parse(&text).expect("a schema"));
    let mut data = Transitions::new(schema);
    let mut stream = becausal_core::Stream::new(1);
    let mut state = vec![0.0; count - 1];
    for row in 0..rows {
        if row % 100 == 0 {
            data.begin_episode();
            for value in &mut state {
                *value = stream.normal();
            }
        }
        let action = stream.below(3) as f64;
        let next: Vec<f64> = (0..count - 1)
            .map(|i| {
                let before = state[(i + count - 2) % (count - 1)];
                let far = state[(i * 7 + 3) % (count - 1)];
                let pushed = if i % 3 == 0 && action == 1.0 { 0.4 * before } else { 0.1 * before };
                0.5 * state[i] + pushed - 0.2 * far.abs() + 0.5 * stream.normal()
            })
            .collect();
        data.push(&becausal_core::data::Row {
            state: &state,
            action: &[action],
            outcomes: &[],
            next: &next,
            reward: 0.0,
            terminated: false,
            truncated: false,
        });
        state = next;
    }
    data
}

/// Finds a graph; gives it, the seconds that passed, and those of the processor.
fn timed(data: &Transitions) -> (CausalGraph, f64, f64) {
    let (started, before) = (Instant::now(), processor_seconds());
    let graph = graph(data, Method::Auto);
    (graph, started.elapsed().as_secs_f64(), processor_seconds() - before)
}

/// The time for many rows of the lander.
fn lander_speed() {
    let (found, seconds, processor) = timed(&record("LunarLanderContinuous-v3", 150_000, 0));
    println!(
        "LunarLanderContinuous-v3, 150,000 rows, {} pairs: {seconds:.2} s, {processor:.2} s of processor time, {} edges",
        found.pairs().len(),
        found.edges().count()
    );
}

/// The time and memory for more variables and rows, or for the most of both alone.
fn chain_speed(all: bool) {
    const LARGEST: (usize, usize) = (50, 1_000_000);
    let sizes =
        [10_000, 100_000, 1_000_000].into_iter().flat_map(|rows| [10, 20, 50].map(|n| (n, rows)));
    println!("{:>4} {:>9} {:>9} {:>9} {:>12}", "n", "rows", "seconds", "processor", "memory (MiB)");
    for (count, rows) in sizes.filter(|&size| all || size == LARGEST) {
        let (graph, seconds, processor) = timed(&chain(count, rows));
        println!(
            "{count:>4} {rows:>9} {seconds:>9.2} {processor:>9.2} {:>12}   {} edges",
            peak(),
            graph.edges().count()
        );
    }
}

/// The processor time of this process in seconds, of all threads: what a busy machine does not change.
fn processor_seconds() -> f64 {
    /// Linux counts in hundredths of a second.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS
}

/// The peak memory of this process, in MiB.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.map_or_else(|| "?".into(), |kib| (kib / 1024).to_string())
}

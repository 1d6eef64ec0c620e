//! Steps per second of every environment, on one core and in batches on all cores.
//!
//! `cargo bench -p becausal-envs --bench environments` prints a table; with `-- --json` one JSON line.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use becausal_core::env::{AnyEnvironment, Batch, Options, random_action};
use becausal_core::{Environment, Stream};
use becausal_envs::entries;

/// Duration of each measurement.
const DURATION: Duration = Duration::from_secs(1);

/// Repetitions. The best one counts, because it is the least disturbed.
const REPEATS: usize = 3;

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    let mut results = Vec::new();
    for entry in entries() {
        let environment = entry.make(&Options::default()).expect("an environment");
        let best = |measure: &dyn Fn() -> f64| (0..REPEATS).map(|_| measure()).fold(0.0, f64::max);
        let alone = best(&|| alone(environment.clone()));
        let batch = best(&|| batched(&environment));
        results.push((entry.id, alone, batch));
    }
    if json {
        let parts: Vec<String> = results
            .iter()
            .map(|(id, alone, batch)| {
                format!("\"{id}\":{{\"steps_per_s\":{alone:.0},\"batch_steps_per_s\":{batch:.0}}}")
            })
            .collect();
        println!("{{{}}}", parts.join(","));
        return;
    }
    println!(
        "{:16} {:>18} {:>26}",
        "environment", "steps/s (one core)", "steps/s (batch, all cores)"
    );
    for (id, alone, batch) in results {
        println!("{id:26} {alone:>18.0} {batch:>26.0}");
    }
}

/// Random actions, drawn in advance so that only the environment is measured.
fn actions(environment: &AnyEnvironment, count: usize) -> Vec<Vec<f64>> {
    let schema = Arc::clone(environment.schema());
    let mut stream = Stream::new(0);
    (0..count)
        .map(|_| {
            let mut action = vec![0.0; schema.action_slots().len()];
            random_action(&schema, &mut stream, &mut action).expect("an action");
            action
        })
        .collect()
}

/// One environment with resets, like `env.step` in a loop.
fn alone(mut environment: AnyEnvironment) -> f64 {
    let actions = actions(&environment, 20_000);
    environment.reset(0);
    let (mut steps, mut seed) = (0_u64, 0);
    let started = Instant::now();
    while started.elapsed() < DURATION {
        for action in &actions[..1000] {
            let step = environment.step(action).expect("a step");
            let over = step.terminated || step.truncated;
            black_box(step.state);
            steps += 1;
            if over {
                seed += 1;
                environment.reset(seed);
            }
        }
    }
    steps as f64 / started.elapsed().as_secs_f64()
}

/// Many copies stepped together, with resets.
fn batched(environment: &AnyEnvironment) -> f64 {
    const COPIES: usize = 512;
    let seeds: Vec<u64> = (0..COPIES as u64).collect();
    let mut batch = Batch::new(environment, &seeds);
    let actions: Vec<f64> = actions(environment, COPIES).concat();
    let (mut steps, mut seed) = (0_u64, COPIES as u64);
    let started = Instant::now();
    while started.elapsed() < DURATION {
        batch.step(&actions).expect("a step");
        steps += COPIES as u64;
        for copy in 0..COPIES {
            if batch.terminated()[copy] || batch.truncated()[copy] {
                seed += 1;
                batch.reset(copy, seed);
            }
        }
    }
    steps as f64 / started.elapsed().as_secs_f64()
}

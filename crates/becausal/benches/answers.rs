//! The time that an answer takes: `cargo bench -p becausal --bench answers`.
//!
//! Networks are fitted for a moment only: what an answer costs does not depend on how good it is.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use becausal::data::Row;
use becausal::env::{Options, find, record_at_random};
use becausal::learn::ActorCritic;
use becausal::{Ask, FitParams, Log, Schema, Stream, Transitions, fit};

/// Steps that an answer looks ahead.
const HORIZON: usize = 60;

fn main() {
    let lander = find("LunarLander-v3").expect("built in").make(&Options::default()).expect("made");
    measure("LunarLander-v3", &record_at_random(&lander, 4000, 1).expect("recorded"));
    measure("50 variables", &neighbours(50));
}

/// Episodes of variables of which each follows its neighbour; the action pushes every fifth one.
fn neighbours(count: usize) -> Transitions {
    let states: Vec<String> =
        (0..count).map(|at| format!("x{at} = {{ kind = \"continuous\" }}\n")).collect();
    let states = states.concat();
    let text = format!(
        "name = \"Neighbours\"\n[state]\n{states}[action]\npush = {{ kind = \"boolean\" }}\n[reward]\nr = \"x0'\"\n"
    );
    let schema = Arc::new(Schema::parse(&text).expect("a schema"));
    let mut data = Transitions::new(schema);
    let mut stream = Stream::new(3);
    for _ in 0..30 {
        data.begin_episode();
        let mut state: Vec<f64> = (0..count).map(|_| stream.normal()).collect();
        for step in 0..100 {
            let push = stream.below(2) as f64;
            let next: Vec<f64> = (0..count)
                .map(|at| {
                    let pushed = if at % 5 == 0 { push } else { 0.0 };
                    0.7 * state[at] + 0.2 * state[(at + 1) % count] + pushed + 0.1 * stream.normal()
                })
                .collect();
            let (terminated, truncated) = (false, step == 99);
            let row = Row {
                state: &state,
                action: &[push],
                outcomes: &[],
                next: &next,
                reward: next[0],
                terminated,
                truncated,
            };
            data.push(&row);
            state = next;
        }
    }
    data
}

/// Times answers about a run of this data, with five networks and a policy of two layers of 64.
fn measure(what: &str, data: &Transitions) {
    let params = FitParams::default().members(5).steps(20);
    let run = fit(&Log::new(data.clone(), None), &params).expect("a run");
    let policy = ActorCritic::new(data.schema(), &[64, 64], &mut Stream::new(1)).expect("a policy");
    let run = run.with_policy(Arc::new(policy)).expect("the same variables");
    println!("{what}: {} influences of states", run.model().structure().edges());
    for (horizon, ask) in [
        ("5 steps", Ask::default().horizon(5)),
        ("60 steps", Ask::default().horizon(HORIZON)),
        ("auto", Ask::default()),
    ] {
        report(&format!("{what}, {horizon}: why with its text"), || {
            let moment = run.recorded(0, 0).expect("a step");
            black_box(run.why(&moment, &ask).expect("an answer").text());
        });
    }
}

/// Prints the shortest time of some repetitions, which is the least disturbed, and the least time of all processors.
fn report(what: &str, mut work: impl FnMut()) {
    let (mut best, mut least) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..5 {
        let (started, before) = (Instant::now(), processor_seconds());
        work();
        best = best.min(started.elapsed().as_secs_f64());
        least = least.min(processor_seconds() - before);
    }
    let (best, least) = (1000.0 * best, 1000.0 * least);
    println!("{what:50} {best:9.1} ms, {least:9.1} ms of processor time");
}

/// The processor time of all threads of this process in seconds: what a busy machine does not change.
fn processor_seconds() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let texts =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")).ok());
    let nanoseconds = texts.filter_map(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.sum::<f64>() / 1e9
}

//! Times of the world model. `cargo bench -p becausal-model --bench model -- training|rollouts|products [--threads N]`
//!
//! `training` fits networks of the size of CartPole and of LunarLander to random numbers and prints
//! the milliseconds per batch of 1024 rows, averaged over all members that train in parallel.
//! `rollouts` steps a model of CartPole's size with batches of 4096. `products` multiplies matrices of
//! LunarLander's size on one core, as an upper limit for the speed of training.

use std::sync::Arc;
use std::time::Instant;

use becausal_core::data::Row;
use becausal_core::{Schema, Stream, Transitions};
use becausal_model::{ModelKind, ModelParams, Sizes, Structure, WorldModel};
use ndarray::Array2;
use ndarray::linalg::general_mat_mul;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let what = arguments.first().map_or("all", String::as_str);
    if what == "training" || what == "all" {
        training("CartPole's size", &cart_pole(), 4, 64);
        training("LunarLander's size, full graph", &lander(), 7, 128);
        training("LunarLander's size, 3 parents", &lander(), 3, 128);
    }
    if what == "rollouts" || what == "all" {
        rollouts();
    }
    if what == "products" || what == "all" {
        products();
    }
}

/// Four numbers, one action with two values.
fn cart_pole() -> Arc<Schema> {
    schema(4, "push = { kind = \"categorical\", labels = [\"left\", \"right\"] }", 0)
}

/// Seven numbers, two continuous actions, three outcomes.
fn lander() -> Arc<Schema> {
    let bounded = "{ kind = \"continuous\", low = -1.0, high = 1.0 }";
    schema(7, &format!("main = {bounded}\nlateral = {bounded}"), 3)
}

fn schema(states: usize, actions: &str, outcomes: usize) -> Arc<Schema> {
    let numbers = |letter: char, count: usize| -> String {
        let number = |at| format!("{letter}{at} = {{ kind = \"continuous\" }}\n");
        (0..count).map(number).collect::<Vec<_>>().concat()
    };
    let text = format!(
        "name = \"Bench\"\n[state]\n{}[action]\n{actions}\n[outcome]\n{}[reward]\n\"one\" = \"s0\"\n",
        numbers('s', states),
        numbers('o', outcomes)
    );
    Arc::new(Schema::parse(&text).expect("a schema"))
}

/// Random numbers, 64 rows per episode.
fn noise(schema: &Arc<Schema>, rows: usize) -> Transitions {
    let mut data = Transitions::new(Arc::clone(schema));
    let mut stream = Stream::new(0);
    for row in 0..rows {
        if row % 64 == 0 {
            data.begin_episode();
        }
        let mut draw = |count: usize| -> Vec<f64> { (0..count).map(|_| stream.normal()).collect() };
        let state = draw(schema.state_slots().len());
        let outcomes = draw(schema.outcome_slots().len());
        let next = draw(schema.next_slots().len());
        let mut action = vec![0.0; schema.action_slots().len()];
        becausal_core::env::random_action(schema, &mut stream, &mut action).expect("bounds");
        data.push(&Row {
            state: &state,
            action: &action,
            outcomes: &outcomes,
            next: &next,
            reward: 0.0,
            terminated: false,
            truncated: row % 64 == 63,
        });
    }
    data
}

fn training(name: &str, schema: &Arc<Schema>, parents: usize, width: usize) {
    let data = noise(schema, 20_000);
    let full = Structure::full(schema);
    let mut stream = Stream::new(1);
    let some = (0..full.effects())
        .map(|_| {
            let mut chosen = stream.permutation(full.states());
            chosen.truncate(parents);
            chosen.extend(full.states()..full.states() + full.actions());
            chosen.sort_unstable();
            chosen
        })
        .collect();
    let structure = Structure::new(full.states(), full.actions(), some);
    let threads = rayon::current_num_threads();
    let (few, many) = (10, 40);
    let seconds = |steps| {
        let options = ModelParams {
            members: threads,
            sizes: Sizes { encoder: width, hidden: 128, action: 64, key: 64 },
            batch: 1024,
            steps,
            interval: usize::MAX,
            hold: 0.0,
            prune: 1.0,
            ..ModelParams::default()
        };
        let start = Instant::now();
        let fitted = WorldModel::fit(&data, ModelKind::Causal, &structure, &options);
        let (model, _) = fitted.expect("a fit");
        (start.elapsed().as_secs_f64(), model.parameters())
    };
    let (short, _) = seconds(few);
    let (long, parameters) = seconds(many);
    let batches = ((many - few) * threads) as f64;
    println!(
        "{{\"size\": \"{name}\", \"ms_per_batch\": {:.2}, \"threads\": {threads}, \"parameters\": {parameters}}}",
        1e3 * (long - short) / batches
    );
}

fn rollouts() {
    let schema = cart_pole();
    let data = noise(&schema, 4_096);
    let options = ModelParams { steps: 1, ..ModelParams::default() };
    let structure = Structure::full(&schema);
    let fitted = WorldModel::fit(&data, ModelKind::Causal, &structure, &options);
    let (model, _) = fitted.expect("a fit");
    let (rows, states) = (4096, schema.state_slots().len());
    let mut now: Vec<f64> = vec![0.0; rows * states];
    let mut stream = Stream::new(2);
    let steps = 50;
    let start = Instant::now();
    for _ in 0..steps {
        let push: Vec<f64> = (0..rows).map(|_| stream.below(2) as f64).collect();
        let value = |row: usize, slot: usize| {
            if slot < states { now[row * states + slot] } else { push[row] }
        };
        let drawn = model.sample(rows, value, 1.0, &mut stream);
        now = drawn.iter().map(|value| value.clamp(-3.0, 3.0)).collect();
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{{\"rollouts\": \"CartPole's size, batches of {rows}\", \"steps_per_s\": {:.0}, \"members\": {}}}",
        (steps * rows) as f64 / seconds,
        model.members()
    );
}

/// Batches of 1024 rows through layers of 128, forward and backward.
fn products() {
    let (rows, width, times) = (1024, 128, 2000);
    let numbers = |rows: usize, columns: usize| {
        Array2::from_shape_fn((rows, columns), |(row, column)| (row * 31 + column) as f32 % 7.0)
    };
    let (batch, weights) = (numbers(rows, width), numbers(width, width));
    let (mut outputs, mut gradients) = (numbers(rows, width), numbers(width, width));
    let operations = 2.0 * (rows * width * width * times) as f64;
    let started = Instant::now();
    for _ in 0..times {
        general_mat_mul(1.0, &batch, &weights, 0.0, &mut outputs);
    }
    let forward = operations / started.elapsed().as_secs_f64();
    let started = Instant::now();
    for _ in 0..times {
        general_mat_mul(1.0, &batch.t(), &outputs, 0.0, &mut gradients);
    }
    let backward = operations / started.elapsed().as_secs_f64();
    println!(
        "products [1024, 128] x [128, 128]: {:.0} GFLOP/s, transposed {:.0} GFLOP/s, on one core",
        forward / 1e9,
        backward / 1e9
    );
}

//! Rows per second of bulk evaluation of each reward term, and of writing and reading each file
//! format.
//!
//! `cargo bench -p becausal-core --bench expressions` prints a table. `-- --rows N` sets the size.

use std::sync::Arc;
use std::time::Instant;

use becausal_core::data::{ReadOptions, Row, read, write};
use becausal_core::{Schema, Stream, Transitions};

const SCHEMA: &str = r#"
name = "Bench"
[state]
x = { kind = "continuous" }
y = { kind = "continuous" }
vx = { kind = "continuous" }
vy = { kind = "continuous" }
legs = { kind = "boolean", size = 2 }
[action]
engine = { kind = "categorical", labels = ["none", "left", "main", "right"] }
[reward]
"getting close" = "100 * (hypot(x, y) - hypot(x', y'))"
"slowing down" = "100 * (sqrt(vx^2 + vy^2) - sqrt(vx'^2 + vy'^2))"
"landed legs" = "if(legs'[0], 10, 0) - if(legs[0], 10, 0) + if(legs'[1], 10, 0) - if(legs[1], 10, 0)"
"fuel" = "if(engine == main, -0.3, if(engine == none, 0, -0.03))"
"#;

fn main() {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--rows").skip(1);
    let rows: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let transitions = random(rows);
    println!("{:24} {:>14}", "", "rows/s");
    let report = |name: &str, started: Instant| {
        println!("{name:24} {:>14.0}", rows as f64 / started.elapsed().as_secs_f64());
    };
    for reward in transitions.schema().rewards() {
        let started = Instant::now();
        std::hint::black_box(transitions.evaluate(&reward.expression));
        report(&reward.name, started);
    }
    let folder = tempfile::tempdir().expect("a folder");
    for ending in ["csv", "parquet", "npz"] {
        let path = folder.path().join(format!("data.{ending}"));
        let started = Instant::now();
        write(&path, &transitions).expect("written");
        report(&format!("write .{ending}"), started);
        let started = Instant::now();
        read(&path, &ReadOptions::default()).expect("read");
        report(&format!("read .{ending}"), started);
    }
}

fn random(rows: usize) -> Transitions {
    let schema = Arc::new(Schema::parse(SCHEMA).expect("a valid schema"));
    let mut transitions = Transitions::new(schema);
    let mut stream = Stream::new(0);
    let state = |stream: &mut Stream| {
        let mut state: Vec<f64> = (0..4).map(|_| stream.normal()).collect();
        state.extend((0..2).map(|_| stream.below(2) as f64));
        state
    };
    for row in 0..rows {
        if row % 200 == 0 {
            transitions.begin_episode();
        }
        transitions.push(&Row {
            state: &state(&mut stream),
            action: &[stream.below(4) as f64],
            outcomes: &[],
            next: &state(&mut stream),
            reward: 0.0,
            terminated: row % 200 == 199,
            truncated: false,
        });
    }
    transitions
}

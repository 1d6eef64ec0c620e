//! scratch
use becausal::learn::{Exploration, interact};
use becausal::{Log, Run};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let run = Run::open(&a[1]).expect("run");
    let rows: usize = a[2].parse().unwrap();
    let around = Exploration {
        share: a[5].parse().unwrap(),
        rate: a[6].parse().unwrap(),
        longest_urge: a[7].parse().unwrap(),
        greedy: 0.2,
        longest: 600,
    };
    let data = interact(
        run.environment().unwrap(),
        run.policy().unwrap(),
        (rows, usize::MAX),
        around,
        a[3].parse().unwrap(),
    )
    .expect("played");
    Log::new(data, None).save(&a[4]).expect("saved");
}

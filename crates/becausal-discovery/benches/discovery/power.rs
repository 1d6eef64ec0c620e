//! The verdicts on true and absent edges, with few rows and with many.

use becausal_core::Transitions;
use becausal_discovery::{Method, Verdict};
use becausal_envs::find;

use super::worlds::{World, families};
use super::{graph, record};

/// How often each verdict was given to true edges and to absent ones.
#[derive(Default)]
struct Tally {
    /// The counts of true edges: edge, none, untestable.
    there: [usize; 3],
    /// The same of absent edges.
    absent: [usize; 3],
    /// The true edges with the verdict none.
    denied: Vec<String>,
}

impl Tally {
    /// Adds the verdicts on some data. Ambiguous pairs are left out.
    fn add(&mut self, data: &Transitions, truth: &[Vec<bool>], ambiguous: &[Vec<bool>], seed: u64) {
        let graph = graph(data, Method::Auto);
        let known = graph.pairs().iter().zip(truth.iter().flatten());
        let ambiguous = ambiguous.iter().flatten().chain(std::iter::repeat(&false));
        for ((pair, &there), _) in known.zip(ambiguous).filter(|(_, ambiguous)| !**ambiguous) {
            let place = match pair.verdict {
                Verdict::Edge => 0,
                Verdict::None => 1,
                Verdict::Untestable => 2,
            };
            let counts = if there { &mut self.there } else { &mut self.absent };
            counts[place] += 1;
            if there && place == 1 {
                self.denied.push(format!(
                    "{seed}: {}->{}",
                    graph.cause(pair.cause),
                    graph.effect(pair.effect)
                ));
            }
        }
    }

    fn show(&self, name: &str, rows: usize, detailed: bool) {
        let share = |counts: &[usize; 3], place: usize| {
            100.0 * counts[place] as f64 / counts.iter().sum::<usize>().max(1) as f64
        };
        print!("{name:18} {rows:>6}");
        for counts in [&self.there, &self.absent] {
            print!("   ");
            for place in 0..3 {
                print!(" {:>5.1} %", share(counts, place));
            }
        }
        println!();
        if detailed {
            println!("    {}", self.denied.join("; "));
        }
    }
}

/// Prints the share of true and of absent edges that get each verdict, by number of rows.
///
/// `fresh` uses seeds on which nothing was chosen.
pub fn power(fresh: bool, detailed: bool) {
    let first = if fresh { 200 } else { 0 };
    println!("{:25}    {:23}    edges that are not there", "", "edges that are there");
    println!(
        "{:18} {:>6}    {:23}    edge, none, untestable",
        "data", "rows", "edge, none, untestable"
    );
    for id in ["BuildMarine-v0", "AimTest-v0", "CartPole-v1"] {
        let truth = find(id).expect("an environment").truth().expect("a known truth");
        for rows in [350, 1000, 2000, 5000, 20_000] {
            let mut tally = Tally::default();
            for seed in first..first + 6 {
                tally.add(&record(id, rows, seed), &truth.graph, &[], seed);
            }
            tally.show(id, rows, detailed);
        }
    }
    for family in families(fresh) {
        for rows in [1000, 5000, 20_000] {
            let mut tally = Tally::default();
            for seed in first..first + 4 {
                let world = World::new(family, seed);
                tally.add(&world.record(rows, seed), &world.truth, &world.ambiguous, seed);
            }
            tally.show(family, rows, detailed);
        }
    }
}

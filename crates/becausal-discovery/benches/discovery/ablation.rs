//! What each rule earns: the development families with one rule switched off at a time.

use std::sync::atomic::Ordering;
use std::time::Instant;

use becausal_core::Transitions;
use becausal_discovery::rules::{OFF, RULES};
use becausal_discovery::{Method, Score, Verdict};
use becausal_envs::find;

use super::worlds::{World, families};
use super::{graph, record};

#[derive(Default)]
struct Line {
    f1: Vec<f64>,
    score: Score,
    /// Of absent pairs: all, untestable, none. Of true edges: none.
    absent: usize,
    untestable: usize,
    denied: usize,
    seconds: f64,
}

impl Line {
    fn add(&mut self, data: &Transitions, truth: &[Vec<bool>]) {
        let started = Instant::now();
        let graph = graph(data, Method::Auto);
        self.seconds += started.elapsed().as_secs_f64();
        let score = Score::of(&graph.matrix(), truth);
        self.f1.push(score.f1());
        self.score.right += score.right;
        self.score.false_edges += score.false_edges;
        self.score.missed += score.missed;
        for (pair, &there) in graph.pairs().iter().zip(truth.iter().flatten()) {
            if there {
                self.denied += usize::from(pair.verdict == Verdict::None);
            } else {
                self.absent += 1;
                self.untestable += usize::from(pair.verdict == Verdict::Untestable);
            }
        }
    }
}

pub fn ablation(only: Option<usize>) {
    let mut data = Vec::new();
    for family in families(false) {
        for seed in 300..303 {
            let world = World::new(family, seed);
            data.push((world.record(20_000, seed), world.truth));
        }
    }
    for (id, rows) in [("AimTest-v0", 5000), ("CartPole-v1", 20_000)] {
        let truth = find(id).expect("an environment").truth().expect("a known truth");
        for seed in 300..303 {
            data.push((record(id, rows, seed), truth.graph.clone()));
        }
    }
    println!("{:44} worlds: F1    false missed denied untestable %  s | AimTest, CartPole: F1 false missed", "without");
    let all = (0..RULES.len()).map(Some);
    for rule in std::iter::once(None).chain(all) {
        if only.is_some() && rule != only {
            continue;
        }
        OFF.store(rule.map_or(0, |rule| 1 << rule), Ordering::Relaxed);
        let mut lines = [Line::default(), Line::default()];
        for (place, (data, truth)) in data.iter().enumerate() {
            lines[usize::from(place >= 18)].add(data, truth);
        }
        let name = rule.map_or("nothing", |rule| RULES[rule]);
        let [worlds, known] = &lines;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        println!(
            "{name:44} {:.4} {:>5} {:>5} {:>5} {:>6.1} {:>6.2} | {:.4} {:>3} {:>3}",
            mean(&worlds.f1),
            worlds.score.false_edges,
            worlds.score.missed,
            worlds.denied,
            100.0 * worlds.untestable as f64 / worlds.absent.max(1) as f64,
            worlds.seconds / 18.0,
            mean(&known.f1),
            known.score.false_edges,
            known.score.missed,
        );
    }
    OFF.store(0, Ordering::Relaxed);
}

//! p-values of a pair without an effect, and of one with an effect, on small data of many kinds.

use std::sync::Arc;

use becausal_core::data::Row;
use becausal_core::{Schema, Stream, Transitions};
use becausal_discovery::{DiscoverParams, discover};

/// A kind of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// Independent rows.
    Independent,
    /// Every variable and the noise are autocorrelated within an episode.
    Autocorrelated,
    /// The cause correlates with another input that matters.
    Correlated,
    /// The effect is a count.
    Count,
    /// The effect is a flag.
    Flag,
    /// The noise has no variance (Student's t with two degrees of freedom).
    HeavyTails,
}

/// All cases.
pub const CASES: [Case; 6] = [
    Case::Independent,
    Case::Autocorrelated,
    Case::Correlated,
    Case::Count,
    Case::Flag,
    Case::HeavyTails,
];

/// Rows of a sample, in 50 episodes.
const ROWS: usize = 1000;

/// The p-value of `x -> y` in one sample. With `effect`, x explains 5 % of the variance that z leaves.
pub fn p_value(case: Case, effect: bool, seed: u64) -> f64 {
    let data = sample(case, effect, seed);
    let graph = discover(&data, &DiscoverParams::default()).expect("a graph");
    graph.find("x", "y").expect("the pair").p
}

fn sample(case: Case, effect: bool, seed: u64) -> Transitions {
    let kind = match case {
        Case::Count => "integer",
        Case::Flag => "boolean",
        _ => "continuous",
    };
    let text = format!(
        "name = \"Case\"\n[state]\nz = {{ kind = \"continuous\" }}\n[action]\n\
         x = {{ kind = \"continuous\" }}\n[outcome]\ny = {{ kind = \"{kind}\" }}\n"
    );
    let mut data = Transitions::new(Arc::new(Schema::parse(&text).expect("a schema")));
    let mut stream = Stream::keyed(seed, &[case as u32, 41]);
    let mut walk = [0.0; 3];
    let weight = if effect { 0.23 } else { 0.0 };
    for row in 0..ROWS {
        if row % 20 == 0 {
            data.begin_episode();
            walk = [stream.normal(), stream.normal(), stream.normal()];
        }
        let fresh = [stream.normal(), stream.normal(), stream.normal()];
        let keep: f64 = if case == Case::Autocorrelated { 0.9 } else { 0.0 };
        for (value, fresh) in walk.iter_mut().zip(fresh) {
            *value = keep * *value + (1.0 - keep * keep).sqrt() * fresh;
        }
        let [z, mut x, mut noise] = walk;
        if case == Case::Correlated {
            x = 0.8 * z + 0.6 * x;
        }
        if case == Case::HeavyTails {
            let [one, other] = [stream.normal(), stream.normal()];
            noise /= f64::midpoint(one * one, other * other).sqrt();
        }
        let sum = 0.7 * z + 0.3 * z * z + weight * x + noise;
        let y = match case {
            Case::Count => (2.0 * sum + 3.0).round().clamp(0.0, 9.0),
            Case::Flag => f64::from(u8::from(sum > 0.5)),
            _ => sum,
        };
        data.push(&Row {
            state: &[z],
            action: &[x],
            outcomes: &[y],
            next: &[z],
            reward: 0.0,
            terminated: false,
            truncated: false,
        });
    }
    data
}

//! Small cases with known answers, on which independence tests often fail.

use std::sync::Arc;

use becausal_core::data::Row;
use becausal_core::{Schema, Stream, Transitions};

/// The right answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Edge,
    None,
    /// Untestable: the data cannot tell.
    CannotTell,
    /// No edge, or an edge flagged as a suspected proxy.
    NoneOrFlagged,
    /// An edge, or untestable: few rows show it.
    EdgeOrCannotTell,
}

/// The question is always whether x is a cause of y.
pub const PROBES: [(&str, Answer); 13] = [
    ("independent x correlated with z", Answer::None),
    ("y pure noise", Answer::None),
    ("y = z0 exactly, x = z0 + .1 e", Answer::None),
    ("y = z0 + z1 exactly, x = y + .05 e", Answer::None),
    ("y = sin(2 z0) z1 exactly, x = y + .05 e", Answer::NoneOrFlagged),
    ("x, z AR(.99), y with AR noise of its own", Answer::None),
    ("x an exact copy of z0", Answer::CannotTell),
    ("x = z0 + 1e-3 e", Answer::CannotTell),
    ("effect in 1 % of the rows", Answer::EdgeOrCannotTell),
    ("weak effect, R2 = .04", Answer::Edge),
    ("effect on the variance only", Answer::Edge),
    ("interaction only, y = x z0 + e", Answer::Edge),
    ("policy never varies x", Answer::CannotTell),
];

fn schema() -> Arc<Schema> {
    let text = "name = \"Probe\"\n[state]\nz0 = { kind = \"continuous\" }\nz1 = { kind = \"continuous\" }\n\
                [action]\nx = { kind = \"continuous\" }\n[outcome]\ny = { kind = \"continuous\" }\n";
    Arc::new(Schema::parse(text).expect("a schema"))
}

/// The data of a probe, in episodes of 50 rows (one episode for the autocorrelated probe).
pub fn record(probe: usize, rows: usize, seed: u64) -> Transitions {
    let mut stream = Stream::keyed(seed, &[u32::try_from(probe).expect("few probes")]);
    let mut data = Transitions::new(schema());
    let mut walk = [0.0_f64; 4];
    for row in 0..rows {
        let mut e = || stream.normal();
        let (z0, z1) = (e(), e());
        let (x, y) = (e(), e());
        let (z0, z1, x, y) = match probe {
            0 => (z0, z1, 0.8 * z0 + 0.6 * x, z0 + z1 + y),
            1 => (z0, z1, x, y),
            2 => (z0, z1, z0 + 0.1 * x, z0),
            3 => (z0, z1, z0 + z1 + 0.05 * x, z0 + z1),
            4 => (z0, z1, (2.0 * z0).sin() * z1 + 0.05 * x, (2.0 * z0).sin() * z1),
            5 => {
                for (value, innovation) in walk.iter_mut().zip([z0, z1, x, y]) {
                    *value = 0.99 * *value + 0.14 * innovation;
                }
                (walk[0], walk[1], walk[2], walk[0] + walk[3])
            }
            6 => (z0, z1, z0, z0 + y),
            7 => (z0, z1, z0 + 1e-3 * x, z0 + y),
            8 => (z0, z1, x, z0 + if z1 > 2.326 { 3.0 * x } else { 0.0 } + y),
            9 => (z0, z1, x, z0 + 0.29 * x + y),
            10 => (z0, z1, x, z0 + (0.3 + x.abs()) * y),
            11 => (z0, z1, x, x * z0 + y),
            _ => (z0, z1, 0.7, z0 + y),
        };
        if row == 0 || (row % 50 == 0 && probe != 5) {
            data.begin_episode();
        }
        push(&mut data, [z0, z1], x, y);
    }
    data
}

/// Adds a row in which the state does not change.
fn push(data: &mut Transitions, state: [f64; 2], x: f64, y: f64) {
    data.push(&Row {
        state: &state,
        action: &[x],
        outcomes: &[y],
        next: &state,
        reward: 0.0,
        terminated: false,
        truncated: false,
    });
}

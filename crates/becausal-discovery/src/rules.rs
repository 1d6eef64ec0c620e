//! Switches for the ablation bench.
use std::sync::atomic::{AtomicU64, Ordering};

/// The rules that are switched off, one bit each.
pub static OFF: AtomicU64 = AtomicU64::new(0);

/// The names of the rules.
pub const RULES: [&str; 29] = [
    "units: rows instead of episodes",
    "level: always the whole basis",
    "level of reduced models",
    "clipped losses",
    "spread",
    "innovation",
    "hints from few rows",
    "enough rows (remainder)",
    "gates of the remainder",
    "proxies",
    "margin 0.4 %",
    "floor of arithmetic and rounding",
    "clipped sums by unit",
    "trees",
    "pair products",
    "products of three, powers",
    "steps",
    "unclear p up to 0.2",
    "controller",
    "copies",
    "rarely varies (30 rows)",
    "determined by others",
    "only promising drops evaluated",
    "reduced trees only for suspects",
    "clamp of predictions, clip at 12 deviations",
    "margin of spread 1 %",
    "screening score 4 (2 instead)",
    "splits beat chance (14; 6 instead)",
    "absolute values, cubes",
];

/// Whether a rule is off.
pub fn off(rule: usize) -> bool {
    OFF.load(Ordering::Relaxed) >> rule & 1 == 1
}

//! Chains, contrasts and decisions in worlds whose rules are known.

mod chain;
mod decision;
#[allow(dead_code, reason = "the tests of becausal-render use the rest")]
mod exact;

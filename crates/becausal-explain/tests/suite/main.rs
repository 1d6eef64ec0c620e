//! Chains and decisions in worlds with known rules.

mod beyond;
mod chain;
mod choice;
mod decision;
#[allow(dead_code, reason = "the tests of becausal-render use the rest")]
mod exact;

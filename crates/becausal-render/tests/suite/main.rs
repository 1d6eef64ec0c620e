//! Texts, pictures and explanations, compared with golden files and known rules.

mod audit;
#[path = "../../../becausal-explain/tests/suite/exact.rs"]
mod exact;
mod explain;
mod explanations;
mod explanations_seen;
mod golden;
mod pictures;
mod render;

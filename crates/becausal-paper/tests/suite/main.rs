//! What the program prints, writes and refuses, in small versions.

mod aim;
#[path = "../../../becausal-cli/tests/suite/common.rs"]
mod common;
mod curves;
mod examples;
mod ladder;
mod tradeoff;

/// The program that is tested.
const PROGRAM: &str = "becausal-paper";

//! What the program prints, writes and refuses.

mod cli;
mod common;
mod discover;
mod documents;
mod files;
mod fit;
#[cfg(unix)]
mod interrupt;
mod limits;
mod policy;
mod report;
mod scripts;
mod train;
#[cfg(unix)]
mod view;

/// The program that is tested.
const PROGRAM: &str = "becausal";

//! stub
use super::finding::{Finding, Findings};
use super::frame::Frame;
use super::watch::Watch;
pub(super) fn fcit(frame: &Frame, _allowed: &[Vec<usize>], _seed: u64, _watch: &Watch<'_>) -> Findings {
    Findings { pairs: vec![vec![Finding::NOTHING; frame.inputs.len()]; frame.outputs.len()], unexplained: None }
}

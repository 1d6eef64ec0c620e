//! How certain an edge is: in how many resamplings of the episodes it is found again.

use super::discover::{DiscoverParams, graph_of, judge, test};
use super::frame::Frame;
use super::graph::{CausalGraph, Verdict};
use becausal_core::Stream;
use becausal_core::progress::Tracker;

/// Draws episodes (or stretches, where episodes are few) with replacement, discovers again, and
/// writes the share of samples in which each pair is an edge.
///
/// All copies of an episode stay in one fold, and count as one observation: nothing is judged by
/// what it was learned from. A sample that was interrupted does not count.
pub(super) fn confidences(
    graph: &mut CausalGraph,
    frame: &Frame,
    params: &DiscoverParams,
    watch: &Tracker<'_>,
) {
    let mut rows_of = vec![Vec::new(); frame.units.count()];
    for (row, &unit) in (0_u32..).zip(&frame.units.of_row) {
        rows_of[unit as usize].push(row);
    }
    let everything = vec![(0..frame.inputs.len()).collect::<Vec<usize>>(); frame.outputs.len()];
    let mut found = vec![0_usize; graph.pairs().len()];
    let mut samples = 0;
    for sample in 0..params.bootstrap {
        let key = u32::try_from(sample).unwrap_or(u32::MAX);
        let mut stream = Stream::keyed(params.seed, &[2, key]);
        let mut drawn: Vec<usize> =
            (0..rows_of.len()).map(|_| stream.below(rows_of.len())).collect();
        drawn.sort_unstable();
        let rows: Vec<u32> = drawn.iter().flat_map(|&unit| rows_of[unit].iter().copied()).collect();
        let part = frame.select(&rows);
        let findings = test(&part, &everything, params, watch);
        if watch.is_stopped() {
            break;
        }
        let mut again = graph_of(&graph.method, graph.eta, &part, &findings);
        for (pair, before) in again.pairs_mut().iter_mut().zip(graph.pairs()) {
            pair.given = before.given;
        }
        samples += 1;
        for (count, pair) in found.iter_mut().zip(judge(again, params).pairs()) {
            *count += usize::from(pair.verdict == Verdict::Edge);
        }
    }
    if samples > 0 {
        for (pair, count) in graph.pairs_mut().iter_mut().zip(found) {
            pair.confidence = Some(count as f64 / f64::from(samples));
        }
    }
}

//! States with the same labels and flags: in the air, on the ground.

use std::cmp::Ordering;

use becausal_core::data::{MAX_LABEL_GROUPS, label_slots, labels_text};
use becausal_core::schema::Schema;

use super::findings::{Findings, Source};
use super::score::Scores;

/// States with the same labels and flags.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Their labels and flags.
    pub name: String,
    /// States examined.
    pub states: usize,
    /// The explanations there.
    pub explanations: Scores,
    /// The best that data can teach, where it is known: see [`AuditAnswer::reachable`](super::AuditAnswer::reachable).
    pub reachable: Scores,
}

/// The findings by the labels and flags of the state.
pub(super) fn groups(findings: &[Findings], schema: &Schema, seed: u64) -> Vec<Group> {
    if label_slots(schema).is_empty() {
        return Vec::new();
    }
    let mut sorted: Vec<&Findings> = findings.iter().collect();
    sorted.sort_by(|left, right| {
        let pairs = left.group.iter().zip(&right.group);
        pairs.fold(Ordering::Equal, |order, (left, right)| order.then(left.total_cmp(right)))
    });
    let mut groups: Vec<Group> = sorted
        .chunk_by(|a, b| a.group == b.group)
        .map(|group| {
            let scores = |source: Source| {
                let sums = |found: &&Findings| (found.episode, found.sources[source as usize]);
                Scores::of(&group.iter().map(sums).collect::<Vec<_>>(), seed)
            };
            Group {
                name: labels_text(schema, &group[0].group),
                states: group.len(),
                explanations: scores(Source::Explanations),
                reachable: scores(Source::Reachable),
            }
        })
        .collect();
    if groups.len() > MAX_LABEL_GROUPS {
        return Vec::new();
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.states));
    groups
}

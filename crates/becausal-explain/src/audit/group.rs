//! States with the same labels and flags: in the air, on the ground.

use becausal_core::data::{MAX_LABEL_GROUPS, labels_order, labels_text};
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
    let mut sorted: Vec<&Findings> = findings.iter().collect();
    sorted.sort_by(|left, right| labels_order(&left.group, &right.group));
    let same = |left: &&Findings, right: &&Findings| left.group == right.group;
    if !(2..=MAX_LABEL_GROUPS).contains(&sorted.chunk_by(same).count()) {
        return Vec::new();
    }
    let mut groups: Vec<Group> = sorted
        .chunk_by(same)
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
    groups.sort_by_key(|group| std::cmp::Reverse(group.states));
    groups
}

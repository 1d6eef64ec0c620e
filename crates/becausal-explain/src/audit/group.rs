//! States with the same labels and flags: in the air, on the ground.

use std::cmp::Ordering;

use becausal_core::schema::Schema;

use super::findings::{Findings, Source, is_label};
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

/// Groups told, at most: more are not read.
const MAX_GROUPS: usize = 8;

/// The findings by the labels and flags of the state.
pub(super) fn groups(findings: &[Findings], schema: &Schema, seed: u64) -> Vec<Group> {
    let slots: Vec<usize> = schema.state_slots().filter(|&slot| is_label(schema, slot)).collect();
    if slots.is_empty() {
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
            let label = |(&slot, &value): (&usize, &f64)| {
                let shown = schema.variable_of(slot).kind.show(value);
                format!("{} = {shown}", schema.slots()[slot].name)
            };
            let labels: Vec<String> = slots.iter().zip(&group[0].group).map(label).collect();
            Group {
                name: labels.join(", "),
                states: group.len(),
                explanations: scores(Source::Explanations),
                reachable: scores(Source::Reachable),
            }
        })
        .collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.states));
    groups.truncate(MAX_GROUPS);
    groups
}

//! Rows whose states have the same labels and flags: in the air, on the ground.

use std::cmp::Ordering;

use super::transitions::Transitions;
use crate::schema::Schema;

/// Groups at most: in a world of labels every state is a group of its own, and says nothing about the others.
pub const MAX_LABEL_GROUPS: usize = 8;

/// Rows whose states have the same labels and flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelGroup {
    /// The labels and flags, for instance `legs[0] = false, legs[1] = false`.
    pub name: String,
    /// The rows, in ascending order.
    pub rows: Vec<usize>,
}

impl LabelGroup {
    /// The groups of some data, the largest first. None where all rows have the same labels, or there are more
    /// than [`MAX_LABEL_GROUPS`].
    #[must_use]
    pub fn of(data: &Transitions) -> Vec<Self> {
        let schema = data.schema();
        let slots = label_slots(schema);
        if slots.is_empty() {
            return Vec::new();
        }
        let labels = |row: usize| -> Vec<f64> {
            slots.iter().map(|&slot| data.column(slot).get(row)).collect()
        };
        let mut rows: Vec<(Vec<f64>, usize)> =
            (0..data.len()).map(|row| (labels(row), row)).collect();
        rows.sort_by(|(left, _), (right, _)| labels_order(left, right));
        let mut groups: Vec<Self> = rows
            .chunk_by(|(left, _), (right, _)| left == right)
            .map(|group| Self {
                name: labels_text(schema, &group[0].0),
                rows: group.iter().map(|(_, row)| *row).collect(),
            })
            .collect();
        if !(2..=MAX_LABEL_GROUPS).contains(&groups.len()) {
            return Vec::new();
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.rows.len()));
        groups
    }
}

/// The state slots that hold labels and flags.
#[must_use]
pub fn label_slots(schema: &Schema) -> Vec<usize> {
    schema.state_slots().filter(|&slot| schema.variable_of(slot).kind.is_label()).collect()
}

/// Labels and flags in words, given their values in the order of [`label_slots`].
#[must_use]
pub fn labels_text(schema: &Schema, labels: &[f64]) -> String {
    let label = |(slot, &value): (usize, &f64)| {
        let shown = schema.variable_of(slot).kind.show(value);
        format!("{} = {shown}", schema.slots()[slot].name)
    };
    let labels: Vec<String> = label_slots(schema).into_iter().zip(labels).map(label).collect();
    labels.join(", ")
}

/// The order of two lists of labels.
#[must_use]
pub fn labels_order(left: &[f64], right: &[f64]) -> Ordering {
    let pairs = left.iter().zip(right);
    pairs.fold(Ordering::Equal, |order, (left, right)| order.then(left.total_cmp(right)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::data::Row;

    #[test]
    fn rows_are_grouped_by_the_flags_of_their_states() {
        let schema = Schema::parse(
            "name = \"test\"\n[state]\nx = { kind = \"continuous\" }\ndown = { kind = \"boolean\" }\n\
             [action]\na = { kind = \"boolean\" }\n[reward]\n\"x\" = \"x'\"",
        );
        let mut data = Transitions::new(Arc::new(schema.expect("a schema")));
        data.begin_episode();
        assert!(LabelGroup::of(&data).is_empty());
        for down in [0.0, 1.0, 0.0] {
            data.push(&Row {
                state: &[0.5, down],
                action: &[0.0],
                outcomes: &[],
                next: &[0.5, down],
                reward: 0.0,
                terminated: false,
                truncated: false,
            });
        }
        let groups = LabelGroup::of(&data);
        let told: Vec<(&str, &[usize])> =
            groups.iter().map(|group| (group.name.as_str(), &group.rows[..])).collect();
        assert_eq!(told, [("down = false", &[0, 2][..]), ("down = true", &[1])]);
    }
}

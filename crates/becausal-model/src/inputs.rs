//! The inputs of the networks.

use std::sync::Arc;

use becausal_nn::{Block, Shape};

/// The inputs of a network for some rows.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// `[states, rows, features]`
    pub states: Block,
    /// `[actions, distinct actions, features]`
    pub actions: Block,
    /// For each row, the index of its action among the distinct actions.
    pub action_of: Arc<[u32]>,
    /// Whether the distinct actions are all possible actions; otherwise there is one per row.
    pub table: bool,
    /// The values before the step, on the scale of the targets: `[targets, rows, 1]`.
    pub before: Block,
}

/// Inputs and targets, encoded once and read in batches.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// All inputs.
    pub inputs: Inputs,
    /// All targets `[targets, rows, 1]`.
    pub targets: Block,
}

impl Inputs {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.states.shape.rows
    }

    /// Some rows, in this order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let (actions, action_of) = if self.table {
            (self.actions.clone(), rows.iter().map(|&row| self.action_of[row]).collect())
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "batches are small")]
            let each = (0..rows.len()).map(|row| row as u32).collect();
            (select(&self.actions, rows), each)
        };
        Self {
            states: select(&self.states, rows),
            actions,
            action_of,
            table: self.table,
            before: select(&self.before, rows),
        }
    }
}

impl Encoded {
    /// Some rows, in this order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Self { inputs: self.inputs.select(rows), targets: select(&self.targets, rows) }
    }
}

fn select(block: &Block, rows: &[usize]) -> Block {
    let Shape { groups, columns, .. } = block.shape;
    let shape = Shape::new(groups, rows.len(), columns);
    let mut values = Vec::with_capacity(shape.len());
    for group in 0..groups {
        let from = block.group(group);
        if columns == 1 {
            // Copying a single number as a slice costs a call.
            values.extend(rows.iter().map(|&row| from[row]));
            continue;
        }
        for &row in rows {
            values.extend_from_slice(&from[row * columns..][..columns]);
        }
    }
    Block::new(shape, values)
}

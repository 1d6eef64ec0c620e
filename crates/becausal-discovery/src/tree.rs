//! Exact regression trees (CART), grown once for every input that may be left out.
//!
//! A greedy node that does not split on an input is the same with and without that input. So the
//! tree without an input is the full tree in which only the subtrees below a split on that input are
//! grown again. All variants together cost as much as a few full trees, not one for each input.

use super::grower::Grower;
use super::table::Table;

/// No such node or column.
pub(super) const NONE: u32 = u32::MAX;

/// A node; a leaf has no column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub column: u32,
    pub threshold: f64,
    pub left: u32,
    pub right: u32,
    /// The node to continue with if the column's group is left out.
    pub without: u32,
    pub rows: u32,
}

/// A tree and its variants.
pub(super) struct Tree {
    pub nodes: Vec<Node>,
    /// The mean target of each node.
    pub values: Vec<f64>,
    pub outputs: usize,
}

impl Tree {
    /// Grows a tree on the rows marked in `training`. Nodes with fewer than `min_split` rows are not
    /// split. Of equally good splits, the one whose column comes first in `preference` is taken.
    pub(super) fn grow(
        table: &Table,
        training: &[bool],
        min_split: usize,
        preference: &[usize],
    ) -> Self {
        Grower::grow(table, training, min_split, preference)
    }

    /// Predicts a row, if wanted without one group, by the trees that would have been grown with each
    /// of `min_splits`: calls `give(index, prediction)` for each of them.
    pub(super) fn predict(
        &self,
        table: &Table,
        row: usize,
        without: Option<usize>,
        min_splits: &[usize],
        mut give: impl FnMut(usize, &[f64]),
    ) {
        let mut node = 0;
        let mut before = usize::MAX;
        loop {
            let at = &self.nodes[node];
            let leaf = at.column == NONE;
            if !leaf && without == Some(table.groups[at.column as usize]) && at.without != NONE {
                node = at.without as usize;
                continue;
            }
            let rows = at.rows as usize;
            for (index, &min_split) in min_splits.iter().enumerate() {
                // The tree would have stopped growing here, and not before.
                if before >= min_split && (leaf || rows < min_split) {
                    give(index, &self.values[node * self.outputs..][..self.outputs]);
                }
            }
            if leaf {
                return;
            }
            before = rows;
            let value = f64::from(table.columns[at.column as usize][row]);
            node = if value <= at.threshold { at.left } else { at.right } as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becausal_core::Stream;

    fn sample(rows: usize, seed: u64) -> (Vec<Vec<f32>>, Vec<f64>) {
        let mut stream = Stream::new(seed);
        #[expect(clippy::cast_possible_truncation, reason = "single precision is meant")]
        let columns: Vec<Vec<f32>> =
            (0..4).map(|_| (0..rows).map(|_| stream.normal() as f32).collect()).collect();
        let target = (0..rows)
            .map(|row| {
                f64::from(columns[0][row] * columns[1][row] + columns[2][row])
                    + 0.3 * stream.normal()
            })
            .collect();
        (columns, target)
    }

    fn predictions(
        tree: &Tree,
        table: &Table,
        without: Option<usize>,
        min_split: usize,
    ) -> Vec<f64> {
        let rows = table.targets.len() / table.outputs;
        let mut all = vec![f64::NAN; rows];
        for (row, into) in all.iter_mut().enumerate() {
            tree.predict(table, row, without, &[min_split], |_, value| *into = value[0]);
        }
        all
    }

    #[test]
    fn a_tree_without_a_variable_is_the_tree_grown_without_it() {
        let (columns, target) = sample(600, 4);
        let targets = [target];
        let training: Vec<bool> = (0..600).map(|row| row % 7 != 0).collect();
        let table = Table::new(columns.clone(), vec![0, 1, 1, 2], vec![true; 3], &targets);
        let tree = Tree::grow(&table, &training, 2, &[0, 1, 2, 3]);
        for (group, kept) in [(0, vec![1, 2, 3]), (1, vec![0, 3]), (2, vec![0, 1, 2])] {
            let alone = Tree::grow(&table, &training, 2, &kept);
            for min_split in [2, 20, 200] {
                let one = predictions(&tree, &table, Some(group), min_split);
                let other = predictions(&alone, &table, None, min_split);
                // The order of a sum changes its last digits.
                let near = one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-12);
                assert!(near, "without {group}, min_split {min_split}");
            }
        }
    }

    #[test]
    fn a_tree_cut_short_is_the_tree_grown_smaller() {
        let (columns, target) = sample(500, 9);
        let table = Table::new(columns, vec![0, 1, 2, 3], vec![false; 4], &[target]);
        let training = vec![true; 500];
        let full = Tree::grow(&table, &training, 2, &[0, 1, 2, 3]);
        for min_split in [2, 8, 64, 250, 1000] {
            let short = Tree::grow(&table, &training, min_split, &[0, 1, 2, 3]);
            assert_eq!(
                predictions(&full, &table, None, min_split),
                predictions(&short, &table, None, min_split)
            );
        }
        // A fully grown tree predicts every training row exactly.
        let known = predictions(&full, &table, None, 2);
        assert!(known.iter().zip(&table.targets).all(|(a, b)| (a - b).abs() < 1e-7));
    }

    #[test]
    fn a_tree_without_splits_predicts_the_mean() {
        let table =
            Table::new(vec![vec![1.0; 4]], vec![0], vec![true], &[vec![1.0, 2.0, 3.0, 6.0]]);
        let tree = Tree::grow(&table, &[true; 4], 2, &[0]);
        assert_eq!(predictions(&tree, &table, None, 2), [3.0; 4]);
        let bare = Tree::grow(&table, &[true, true, false, false], 2, &[]);
        assert_eq!(predictions(&bare, &table, None, 2), [1.5; 4]);
    }
}

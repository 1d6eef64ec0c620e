//! Growing exact trees by greedy splits, with and without each variable.

use super::table::Table;
use super::tree::{NONE, Node, Tree};

/// Values that differ by at most this count as equal, as in scikit-learn.
const EQUAL_DIFFERENCE: f32 = 1e-7;

/// A node whose variance is at most this is a leaf.
const PURE_VARIANCE: f64 = f64::EPSILON;

/// The most splits on a path. Data that would need more are split off one row at a time.
const MAX_DEPTH: usize = 3000;

/// A tree that is being grown.
pub(super) struct Grower<'a> {
    table: &'a Table,
    min_split: usize,
    tree: Tree,
    /// The rows of the nodes being grown, sorted by each of their columns.
    stack: Vec<u32>,
    goes_left: Vec<bool>,
}

#[derive(Clone, Copy)]
struct Split {
    /// The place of the column among the node's columns.
    place: usize,
    /// The number of rows that go left.
    left: usize,
    score: f64,
}

impl Grower<'_> {
    /// Grows a tree on the rows marked in `training`; see [`Tree::grow`].
    pub(super) fn grow(
        table: &Table,
        training: &[bool],
        min_split: usize,
        preference: &[usize],
    ) -> Tree {
        let mut grower = Grower {
            table,
            min_split: min_split.max(2),
            tree: Tree { nodes: Vec::new(), values: Vec::new(), outputs: table.outputs },
            stack: Vec::new(),
            goes_left: vec![false; training.len()],
        };
        let mut rows = 0;
        for &column in preference {
            let order = table.orders[column].iter().filter(|&&row| training[row as usize]);
            grower.stack.extend(order);
        }
        if let Some(&column) = preference.first() {
            rows = grower.stack.len() / preference.len();
            debug_assert_eq!(table.orders[column].len(), training.len());
        }
        if preference.is_empty() {
            // Nothing to split on: the mean.
            let all = (0_u32..).zip(training).filter(|(_, training)| **training);
            grower.stack.extend(all.map(|(row, _)| row));
            rows = grower.stack.len();
        }
        grower.node(0, rows, preference, None, 0);
        grower.tree
    }

    /// Grows a node from `rows` rows whose orders start at `from` in the stack.
    fn node(
        &mut self,
        from: usize,
        rows: usize,
        columns: &[usize],
        without: Option<usize>,
        depth: usize,
    ) -> u32 {
        let (sums, variance) = self.moments(from, rows);
        let number = u32::try_from(self.tree.nodes.len()).expect("nodes fit 32 bits");
        self.tree.nodes.push(Node {
            column: NONE,
            threshold: 0.0,
            left: NONE,
            right: NONE,
            without: NONE,
            rows: u32::try_from(rows).expect("rows fit 32 bits"),
        });
        self.tree.values.extend(sums.iter().map(|sum| sum / rows.max(1) as f64));
        if rows < self.min_split || variance <= PURE_VARIANCE || depth == MAX_DEPTH {
            return number;
        }
        let mut splits: Vec<Option<Split>> = Vec::with_capacity(columns.len());
        let mut varied: Vec<usize> = Vec::with_capacity(columns.len());
        for (place, &column) in columns.iter().enumerate() {
            let order = &self.stack[from + place * rows..][..rows];
            let values = &self.table.columns[column];
            if values[order[rows - 1] as usize] <= values[order[0] as usize] + EQUAL_DIFFERENCE {
                splits.push(None);
                continue;
            }
            varied.push(place);
            splits.push(self.best(order, values, place, &sums));
        }
        let best = |allowed: &dyn Fn(usize) -> bool| {
            let mut best: Option<Split> = None;
            for split in splits.iter().flatten().filter(|split| allowed(columns[split.place])) {
                if best.is_none_or(|best| split.score > best.score) {
                    best = Some(*split);
                }
            }
            best
        };
        let groups = &self.table.groups;
        let Some(split) = best(&|_| true) else { return number };
        let group = groups[columns[split.place]];
        let other = (without.is_none() && self.table.droppable[group])
            .then(|| best(&|column| groups[column] != group));
        self.split(number, (from, rows), columns, &varied, split, without, depth);
        if let Some(other) = other {
            // The same rows again, from here without the group.
            let again = u32::try_from(self.tree.nodes.len()).expect("nodes fit 32 bits");
            let copy = Node { column: NONE, without: NONE, ..self.tree.nodes[number as usize] };
            self.tree.nodes.push(copy);
            let outputs = self.table.outputs;
            let value = number as usize * outputs..(number as usize + 1) * outputs;
            self.tree.values.extend_from_within(value);
            self.tree.nodes[number as usize].without = again;
            if let Some(other) = other {
                let kept: Vec<usize> =
                    varied.into_iter().filter(|&place| groups[columns[place]] != group).collect();
                self.split(again, (from, rows), columns, &kept, other, Some(group), depth);
            }
        }
        number
    }

    /// Grows the two children of a node, from those of its columns that vary.
    #[expect(clippy::too_many_arguments, reason = "the state of a recursion")]
    fn split(
        &mut self,
        number: u32,
        (from, rows): (usize, usize),
        columns: &[usize],
        kept: &[usize],
        split: Split,
        without: Option<usize>,
        depth: usize,
    ) {
        let column = columns[split.place];
        let values = &self.table.columns[column];
        let order = &self.stack[from + split.place * rows..][..rows];
        let last = values[order[split.left - 1] as usize];
        let next = values[order[split.left] as usize];
        let mut threshold = f64::from(last) / 2.0 + f64::from(next) / 2.0;
        if threshold >= f64::from(next) {
            threshold = f64::from(last);
        }
        let inner: Vec<usize> = kept.iter().map(|&place| columns[place]).collect();
        let mut children = [NONE; 2];
        for (child, left) in children.iter_mut().zip([true, false]) {
            // Marked again for each child: growing the first one overwrites the marks.
            for (index, &row) in self.stack[from + split.place * rows..][..rows].iter().enumerate()
            {
                self.goes_left[row as usize] = index < split.left;
            }
            let start = self.stack.len();
            let count = if left { split.left } else { rows - split.left };
            for &place in kept {
                for index in from + place * rows..from + (place + 1) * rows {
                    let row = self.stack[index];
                    if self.goes_left[row as usize] == left {
                        self.stack.push(row);
                    }
                }
            }
            *child = self.node(start, count, &inner, without, depth + 1);
            self.stack.truncate(start);
        }
        let node = &mut self.tree.nodes[number as usize];
        node.column = u32::try_from(column).expect("few columns");
        node.threshold = threshold;
        [node.left, node.right] = children;
    }

    /// The sums of the targets and the mean of their variances.
    fn moments(&self, from: usize, rows: usize) -> (Vec<f64>, f64) {
        let outputs = self.table.outputs;
        let mut sums = vec![0.0; outputs];
        let mut squares = 0.0;
        for &row in &self.stack[from..(from + rows).min(self.stack.len())] {
            for (sum, value) in sums.iter_mut().zip(self.table.target(row)) {
                *sum += value;
                squares += value * value;
            }
        }
        let count = rows.max(1) as f64;
        let means: f64 = sums.iter().map(|sum| (sum / count) * (sum / count)).sum();
        (sums, (squares / count - means) / outputs.max(1) as f64)
    }

    /// The split of one column with the smallest sum of squared errors: the one with the largest sum
    /// of the squared means, weighted by rows.
    fn best(&self, order: &[u32], values: &[f32], place: usize, sums: &[f64]) -> Option<Split> {
        let rows = order.len();
        let mut best: Option<Split> = None;
        let mut consider = |left: usize, score: f64| {
            if best.is_none_or(|best| score > best.score) {
                best = Some(Split { place, left, score });
            }
        };
        if let [total] = *sums {
            let mut sum = 0.0;
            let mut value = values[order[0] as usize];
            for left in 1..rows {
                sum += self.table.targets[order[left - 1] as usize];
                let next = values[order[left] as usize];
                if next > value + EQUAL_DIFFERENCE {
                    let (few, many) = (left as f64, (rows - left) as f64);
                    consider(left, sum * sum / few + (total - sum) * (total - sum) / many);
                }
                value = next;
            }
            return best;
        }
        let mut partial = vec![0.0; sums.len()];
        for left in 1..rows {
            for (sum, value) in partial.iter_mut().zip(self.table.target(order[left - 1])) {
                *sum += value;
            }
            if values[order[left] as usize] > values[order[left - 1] as usize] + EQUAL_DIFFERENCE {
                let (few, many) = (left as f64, (rows - left) as f64);
                let score = partial
                    .iter()
                    .zip(sums)
                    .map(|(sum, total)| sum * sum / few + (total - sum) * (total - sum) / many);
                consider(left, score.sum());
            }
        }
        best
    }
}

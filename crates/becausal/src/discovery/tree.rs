//! Exact regression trees (CART), grown once for every input that may be left out.
//!
//! A greedy node that does not split on an input is the same with and without that input. So the
//! tree without an input is the full tree with only those subtrees grown again that begin with a
//! split on it. All of them together cost a few full trees, not one for each input.

/// Values nearer than this are taken as equal, as scikit-learn does.
const SAME: f32 = 1e-7;

/// A node whose variance is at most this is a leaf.
const PURE: f64 = f64::EPSILON;

/// No path is longer: what remains of such data is an order of single rows.
const DEEPEST: usize = 3000;

const NONE: u32 = u32::MAX;

/// What trees are grown from: columns in single precision, sorted once for all trees.
pub(super) struct Table {
    columns: Vec<Vec<f32>>,
    /// The rows in the order of each column.
    orders: Vec<Vec<u32>>,
    /// The group, a variable, that each column belongs to.
    groups: Vec<usize>,
    /// Groups for which the tree without them is wanted.
    droppable: Vec<bool>,
    /// Targets of each row, `outputs` numbers a row.
    targets: Vec<f64>,
    outputs: usize,
}

impl Table {
    /// `columns` with the group of each; `targets` are columns too.
    pub(super) fn new(
        columns: Vec<Vec<f32>>,
        groups: Vec<usize>,
        droppable: Vec<bool>,
        targets: &[Vec<f64>],
    ) -> Self {
        let orders = columns
            .iter()
            .map(|column| {
                let mut order: Vec<u32> =
                    (0..u32::try_from(column.len()).expect("rows fit 32 bits")).collect();
                order.sort_by(|&a, &b| column[a as usize].total_cmp(&column[b as usize]));
                order
            })
            .collect();
        let rows = targets.first().map_or(0, Vec::len);
        let targets_by_row =
            (0..rows).flat_map(|row| targets.iter().map(move |target| target[row])).collect();
        let outputs = targets.len();
        Self { columns, orders, groups, droppable, targets: targets_by_row, outputs }
    }

    /// Number of columns.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Number of targets.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// One target of a row.
    pub(super) fn value(&self, row: usize, output: usize) -> f64 {
        self.targets[row * self.outputs + output]
    }

    fn target(&self, row: u32) -> &[f64] {
        &self.targets[row as usize * self.outputs..][..self.outputs]
    }
}

#[derive(Debug, Clone, Copy)]
struct Node {
    column: u32,
    threshold: f64,
    left: u32,
    right: u32,
    /// The node to go on with when the column's group is left out.
    without: u32,
    rows: u32,
}

/// A tree and its variants.
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// The mean target of each node.
    values: Vec<f64>,
    outputs: usize,
}

impl Tree {
    /// Grows on the rows marked in `learned`. Nodes with fewer than `least` rows are not split.
    /// Of equally good splits that on the column first in `preference` is taken.
    pub(super) fn grow(
        table: &Table,
        learned: &[bool],
        least: usize,
        preference: &[usize],
    ) -> Self {
        let mut grower = Grower {
            table,
            least: least.max(2),
            tree: Self { nodes: Vec::new(), values: Vec::new(), outputs: table.outputs },
            stack: Vec::new(),
            goes_left: vec![false; learned.len()],
        };
        let mut rows = 0;
        for &column in preference {
            let order = table.orders[column].iter().filter(|&&row| learned[row as usize]);
            grower.stack.extend(order);
        }
        if let Some(&column) = preference.first() {
            rows = grower.stack.len() / preference.len();
            debug_assert_eq!(table.orders[column].len(), learned.len());
        }
        if preference.is_empty() {
            // Nothing to split on: the mean.
            let all = (0_u32..).zip(learned).filter(|(_, learned)| **learned);
            grower.stack.extend(all.map(|(row, _)| row));
            rows = grower.stack.len();
        }
        grower.node(0, rows, preference, None, 0);
        grower.tree
    }

    /// The predictions for a row, without one group if asked for, by the trees that a
    /// `least` of each of `leasts` would have given: calls `give(index, prediction)` for each.
    pub(super) fn predict(
        &self,
        table: &Table,
        row: usize,
        without: Option<usize>,
        leasts: &[usize],
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
            for (index, &least) in leasts.iter().enumerate() {
                // Here the growth would have ended, and not before.
                if before >= least && (leaf || rows < least) {
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

struct Grower<'a> {
    table: &'a Table,
    least: usize,
    tree: Tree,
    /// For each node being grown its rows in the order of each of its columns.
    stack: Vec<u32>,
    goes_left: Vec<bool>,
}

#[derive(Clone, Copy)]
struct Split {
    /// Place of the column among the node's columns.
    place: usize,
    /// Rows that go left.
    left: usize,
    score: f64,
}

impl Grower<'_> {
    /// Grows a node from `rows` rows whose orders begin at `from` in the stack.
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
        if rows < self.least || variance <= PURE || depth == DEEPEST {
            return number;
        }
        let mut splits: Vec<Option<Split>> = Vec::with_capacity(columns.len());
        let mut varied: Vec<usize> = Vec::with_capacity(columns.len());
        for (place, &column) in columns.iter().enumerate() {
            let order = &self.stack[from + place * rows..][..rows];
            let values = &self.table.columns[column];
            if values[order[rows - 1] as usize] <= values[order[0] as usize] + SAME {
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
            // The same rows once more, and from here on without the group.
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

    /// Grows the two children of a node from those of its columns that vary in it.
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
            // Marked anew for each child: growing the first one overwrites the marks.
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

    /// The split of one column after which the squares of the means weigh most.
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
                if next > value + SAME {
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
            if values[order[left] as usize] > values[order[left - 1] as usize] + SAME {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

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

    fn predictions(tree: &Tree, table: &Table, without: Option<usize>, least: usize) -> Vec<f64> {
        let rows = table.targets.len() / table.outputs;
        let mut all = vec![f64::NAN; rows];
        for (row, into) in all.iter_mut().enumerate() {
            tree.predict(table, row, without, &[least], |_, value| *into = value[0]);
        }
        all
    }

    #[test]
    fn a_tree_without_a_variable_is_the_tree_grown_without_it() {
        let (columns, target) = sample(600, 4);
        let targets = [target];
        let learned: Vec<bool> = (0..600).map(|row| row % 7 != 0).collect();
        let table = Table::new(columns.clone(), vec![0, 1, 1, 2], vec![true; 3], &targets);
        let tree = Tree::grow(&table, &learned, 2, &[0, 1, 2, 3]);
        for (group, kept) in [(0, vec![1, 2, 3]), (1, vec![0, 3]), (2, vec![0, 1, 2])] {
            let alone = Tree::grow(&table, &learned, 2, &kept);
            for least in [2, 20, 200] {
                let one = predictions(&tree, &table, Some(group), least);
                let other = predictions(&alone, &table, None, least);
                // Sums in another order differ in the last digits.
                let near = one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-12);
                assert!(near, "without {group}, least {least}");
            }
        }
    }

    #[test]
    fn cutting_a_tree_short_is_growing_a_shorter_one() {
        let (columns, target) = sample(500, 9);
        let table = Table::new(columns, vec![0, 1, 2, 3], vec![false; 4], &[target]);
        let learned = vec![true; 500];
        let full = Tree::grow(&table, &learned, 2, &[0, 1, 2, 3]);
        for least in [2, 8, 64, 250, 1000] {
            let short = Tree::grow(&table, &learned, least, &[0, 1, 2, 3]);
            assert_eq!(
                predictions(&full, &table, None, least),
                predictions(&short, &table, None, least)
            );
        }
        // Grown to the end, it knows every row by heart.
        let known = predictions(&full, &table, None, 2);
        assert!(known.iter().zip(&table.targets).all(|(a, b)| (a - b).abs() < 1e-7));
    }

    #[test]
    fn nothing_to_split_on_gives_the_mean() {
        let table =
            Table::new(vec![vec![1.0; 4]], vec![0], vec![true], &[vec![1.0, 2.0, 3.0, 6.0]]);
        let tree = Tree::grow(&table, &[true; 4], 2, &[0]);
        assert_eq!(predictions(&tree, &table, None, 2), [3.0; 4]);
        let bare = Tree::grow(&table, &[true, true, false, false], 2, &[]);
        assert_eq!(predictions(&bare, &table, None, 2), [1.5; 4]);
    }
}

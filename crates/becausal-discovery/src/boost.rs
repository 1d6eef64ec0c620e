//! Boosted regression trees on binned columns, for the residuals of a basis regression.

use super::bins::Bins;

/// The trees of an ensemble.
pub(super) const TREES: usize = 30;

/// The most splits on the path to a leaf.
const DEPTH: usize = 4;

/// The learning rate: the share of each tree's prediction that is added.
const RATE: f64 = 0.3;

/// The fewest rows of a leaf.
const MIN_LEAF: f64 = 10.0;

/// The options of growing an ensemble.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    /// The most trees.
    pub trees: usize,
    /// A split must reduce the sum of squares by this many times the residual variance.
    pub min_gain: f64,
}

/// Rows with a bin of at most `bin` in a column go to the left, the others to the right.
#[derive(Debug, Clone, Copy)]
struct Fork {
    column: u32,
    bin: u8,
}

impl Fork {
    /// Sends all rows to the left.
    const NONE: Self = Self { column: 0, bin: u8::MAX };
}

/// A tree whose leaves all lie at the same depth: the way to a leaf needs no decisions but the forks', which
/// a processor can prepare for several rows at a time. The children of node n are 2 n + 1 and 2 n + 2.
#[derive(Debug, Clone)]
struct Tree {
    forks: Vec<Fork>,
    values: Vec<f64>,
}

impl Tree {
    fn new(depth: usize) -> Self {
        Self { forks: vec![Fork::NONE; (1 << depth) - 1], values: vec![0.0; 1 << depth] }
    }

    /// Makes all rows that reach a node get this value.
    fn set(&mut self, mut node: usize, value: f64) {
        while node < self.forks.len() {
            node = 2 * node + 1;
        }
        self.values[node - self.forks.len()] = value;
    }

    fn predict(&self, row: &[u8]) -> f64 {
        let mut node = 0;
        while let Some(fork) = self.forks.get(node) {
            node = 2 * node + 1 + usize::from(row[fork.column as usize] > fork.bin);
        }
        self.values[node - self.forks.len()]
    }
}

/// Trees whose predictions add up.
#[derive(Debug, Clone, Default)]
pub(super) struct Ensemble {
    trees: Vec<Tree>,
    /// The reduction of the sum of squares by the splits on each column.
    gains: Vec<f64>,
}

impl Ensemble {
    /// Grows trees that predict `target` (one value for each of `rows`) from the `allowed` columns.
    /// Afterwards `target` holds the residuals.
    pub(super) fn grow(
        bins: &Bins,
        rows: &[u32],
        target: &mut [f64],
        allowed: &[bool],
        growth: &Growth,
    ) -> Self {
        let mut builder = Builder::new(bins, rows, allowed, growth);
        let trees = (0..growth.trees).map_while(|_| builder.tree(target)).collect();
        Self { trees, gains: builder.gains }
    }

    /// The sum of the trees' predictions for each of some rows, tree by tree: one tree at a time fits the
    /// fastest memory.
    pub(super) fn predict(&self, bins: &Bins, rows: &[u32]) -> Vec<f64> {
        let mut sums = vec![0.0; rows.len()];
        for tree in &self.trees {
            for (sum, &row) in sums.iter_mut().zip(rows) {
                *sum += tree.predict(bins.row(row as usize));
            }
        }
        sums
    }

    /// The reduction of the sum of squares by the splits on these columns, on the training rows.
    pub(super) fn gained(&self, columns: &[usize]) -> f64 {
        columns.iter().filter_map(|&column| self.gains.get(column)).sum()
    }

    /// Whether there are no trees.
    pub(super) fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }
}

/// The sum of the targets and the number of rows, for each bin of each column.
type Histogram = Vec<[f64; 2]>;

/// Histogram cells per column: one for each value of a byte.
const BINS: usize = 256;

struct Builder<'a> {
    bins: &'a Bins,
    rows: &'a [u32],
    columns: Vec<usize>,
    growth: &'a Growth,
    /// Positions in `rows`; those of one node are consecutive.
    order: Vec<u32>,
    spare: Vec<u32>,
    gains: Vec<f64>,
}

struct Pending {
    node: usize,
    from: usize,
    to: usize,
    depth: usize,
    histogram: Histogram,
}

#[derive(Clone, Copy)]
struct Split {
    column: usize,
    bin: usize,
    gain: f64,
}

impl<'a> Builder<'a> {
    fn new(bins: &'a Bins, rows: &'a [u32], allowed: &[bool], growth: &'a Growth) -> Self {
        let columns =
            (0..bins.width()).filter(|&column| allowed[column] && bins.count(column) > 1).collect();
        let gains = vec![0.0; bins.width()];
        Self { bins, rows, columns, growth, order: Vec::new(), spare: Vec::new(), gains }
    }

    /// Grows one tree and subtracts its predictions from the targets; `None` if no split is worth it.
    fn tree(&mut self, target: &mut [f64]) -> Option<Tree> {
        let count = self.rows.len();
        self.order.clear();
        self.order.extend(0..u32::try_from(count).expect("rows fit 32 bits"));
        let square = target.iter().map(|t| t * t).sum::<f64>() / count.max(1) as f64;
        let min_gain = self.growth.min_gain * square;
        let mut tree = Tree::new(DEPTH);
        let mut is_split = false;
        let histogram = self.histogram(0, count, target);
        let mut pending = vec![Pending { node: 0, from: 0, to: count, depth: 0, histogram }];
        while let Some(part) = pending.pop() {
            let deep = part.depth == DEPTH;
            let split = if deep { None } else { self.best(&part.histogram) };
            let Some(split) = split.filter(|split| split.gain > min_gain && split.gain > 0.0)
            else {
                if is_split {
                    tree.set(part.node, self.leaf(&part, target));
                }
                continue;
            };
            // Adding a share `rate` of a prediction removes rate * (2 - rate) of the squared error.
            self.gains[split.column] += split.gain * RATE * (2.0 - RATE);
            let middle = self.partition(&part, split);
            let (small, large) = if middle - part.from <= part.to - middle {
                (part.from..middle, middle..part.to)
            } else {
                (middle..part.to, part.from..middle)
            };
            is_split = true;
            tree.forks[part.node] = Fork {
                column: u32::try_from(split.column).expect("few columns"),
                bin: u8::try_from(split.bin).expect("a bin"),
            };
            let final_level = part.depth + 1 == DEPTH;
            let small_histogram = if final_level {
                Histogram::new()
            } else {
                self.histogram(small.start, small.end, target)
            };
            let mut large_histogram = part.histogram;
            for (parent, child) in large_histogram.iter_mut().zip(&small_histogram) {
                parent[0] -= child[0];
                parent[1] -= child[1];
            }
            for (range, histogram) in [(small, small_histogram), (large, large_histogram)] {
                let node = 2 * part.node + 1 + usize::from(range.start != part.from);
                let depth = part.depth + 1;
                pending.push(Pending { node, from: range.start, to: range.end, depth, histogram });
            }
        }
        is_split.then_some(tree)
    }

    /// The value of a leaf, which is subtracted from the targets.
    fn leaf(&self, part: &Pending, target: &mut [f64]) -> f64 {
        let rows = &self.order[part.from..part.to];
        let sum: f64 = rows.iter().map(|&row| target[row as usize]).sum();
        let value = RATE * sum / rows.len().max(1) as f64;
        for &row in rows {
            target[row as usize] -= value;
        }
        value
    }

    fn histogram(&self, from: usize, to: usize, target: &[f64]) -> Histogram {
        let mut histogram = vec![[0.0; 2]; self.columns.len() * BINS];
        for &position in &self.order[from..to] {
            let codes = self.bins.row(self.rows[position as usize] as usize);
            let value = target[position as usize];
            for (&column, cells) in self.columns.iter().zip(histogram.chunks_exact_mut(BINS)) {
                let cell = &mut cells[codes[column] as usize];
                cell[0] += value;
                cell[1] += 1.0;
            }
        }
        histogram
    }

    fn best(&self, histogram: &Histogram) -> Option<Split> {
        let mut best: Option<Split> = None;
        let mut left = [[0.0; 2]; BINS];
        let mut gains = [0.0; BINS];
        for (&column, cells) in self.columns.iter().zip(histogram.chunks_exact(BINS)) {
            let cells = &cells[..self.bins.count(column)];
            let mut total = [0.0; 2];
            for (left, cell) in left.iter_mut().zip(cells) {
                total = [total[0] + cell[0], total[1] + cell[1]];
                *left = total;
            }
            let base = total[0] * total[0] / total[1].max(1.0);
            // Without decisions, so that several bins are done at a time. A side without rows gives NaN.
            let gains = &mut gains[..cells.len() - 1];
            for (gain, left) in gains.iter_mut().zip(&left) {
                let right = [total[0] - left[0], total[1] - left[1]];
                let sum = left[0] * left[0] * right[1] + right[0] * right[0] * left[1];
                *gain = sum / (left[1] * right[1]) - base;
            }
            for (bin, (&gain, left)) in gains.iter().zip(&left).enumerate() {
                if best.is_none_or(|best| gain > best.gain)
                    && left[1] >= MIN_LEAF
                    && total[1] - left[1] >= MIN_LEAF
                    && cells[bin][1] != 0.0
                {
                    best = Some(Split { column, bin, gain });
                }
            }
        }
        best
    }

    /// Moves the rows that go left to the front; returns where the others start.
    fn partition(&mut self, part: &Pending, split: Split) -> usize {
        self.spare.resize(self.order.len(), 0);
        let (mut next, mut others) = (part.from, 0);
        for index in part.from..part.to {
            let position = self.order[index];
            let codes = self.bins.row(self.rows[position as usize] as usize);
            // Both are written and one is kept: half of all decisions would be guessed wrong.
            let goes_left = usize::from(usize::from(codes[split.column]) <= split.bin);
            self.order[next] = position;
            self.spare[others] = position;
            next += goes_left;
            others += 1 - goes_left;
        }
        self.order[next..part.to].copy_from_slice(&self.spare[..others]);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becausal_core::Stream;

    fn sample(rows: usize) -> (Vec<Vec<f64>>, Stream) {
        let mut stream = Stream::new(1);
        let column = |stream: &mut Stream| (0..rows).map(|_| stream.uniform(-1.0, 1.0)).collect();
        let columns = vec![column(&mut stream), column(&mut stream), column(&mut stream)];
        (columns, stream)
    }

    #[test]
    fn an_interaction_is_learned_and_noise_is_not() {
        let (columns, mut stream) = sample(4000);
        let bins = Bins::of_columns(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let rows: Vec<u32> = (0..4000).collect();
        let growth = Growth { trees: TREES, min_gain: 16.0 };
        let truth: Vec<f64> =
            (0..4000).map(|r| if columns[0][r] > 0.0 { columns[1][r] } else { 0.0 }).collect();
        let mut target = truth.clone();
        let ensemble = Ensemble::grow(&bins, &rows, &mut target, &[true; 3], &growth);
        let power = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>();
        assert!(power(&target) < 0.05 * power(&truth));
        assert!(ensemble.gained(&[0]) > 10.0 && ensemble.gained(&[1]) > 10.0);
        let lowered = power(&truth) - power(&target);
        assert!((ensemble.gained(&[0, 1, 2]) - lowered).abs() < 0.01 * lowered);
        let row = 17;
        assert!((ensemble.predict(&bins, &rows)[row] + target[row] - truth[row]).abs() < 1e-9);
        let mut noise: Vec<f64> = (0..4000).map(|_| stream.normal()).collect();
        assert!(Ensemble::grow(&bins, &rows, &mut noise, &[true; 3], &growth).is_empty());
    }

    #[test]
    fn columns_that_are_not_allowed_are_not_used() {
        let (columns, _) = sample(2000);
        let bins = Bins::of_columns(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let rows: Vec<u32> = (0..2000).collect();
        let mut target = columns[0].clone();
        let allowed = [false, true, true];
        let growth = Growth { trees: TREES, min_gain: 16.0 };
        let ensemble = Ensemble::grow(&bins, &rows, &mut target, &allowed, &growth);
        assert_eq!(ensemble.gained(&[0]), 0.0);
    }
}

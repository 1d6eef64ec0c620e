//! Boosted regression trees on binned columns, for the residuals of a basis regression.

use super::bins::Bins;

/// The options of growing an ensemble.
#[derive(Debug, Clone, Copy)]
pub(super) struct Growth {
    /// The most trees.
    pub trees: usize,
    /// The most splits on the path to a leaf.
    pub depth: usize,
    /// The learning rate: the share of each tree's prediction that is added.
    pub rate: f64,
    /// A split must reduce the sum of squares by this many times the residual variance. Chance alone
    /// reduces it by less.
    pub significance: f64,
    /// The fewest rows of a leaf.
    pub min_leaf: usize,
}

impl Growth {
    /// For data with this many candidate columns.
    pub(super) fn for_columns(columns: usize, min_gain: f64) -> Self {
        let significance = min_gain + 2.0 * (columns.max(1) as f64).ln();
        Self { trees: 30, depth: 4, rate: 0.3, significance, min_leaf: 10 }
    }

    /// To learn as much as possible, where overfitting does no harm.
    ///
    /// No single split reveals a product. Splits that may be due to chance are allowed, so that the
    /// next split can reveal it.
    pub(super) fn thorough() -> Self {
        Self { trees: 40, depth: 6, rate: 0.2, significance: 6.0, min_leaf: 5 }
    }
}

#[derive(Debug, Clone, Copy)]
enum Node {
    /// Rows with a bin of at most `bin` go to `left`, the others to the node after `left`.
    Split {
        column: u32,
        bin: u8,
        left: u32,
    },
    Leaf(f64),
}

/// Trees whose predictions add up.
#[derive(Debug, Clone, Default)]
pub(super) struct Ensemble {
    trees: Vec<Vec<Node>>,
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
        let mut ensemble = Self::default();
        while ensemble.trees.len() < growth.trees {
            let tree = builder.tree(target);
            if tree.len() < 3 {
                break;
            }
            ensemble.trees.push(tree);
        }
        ensemble.gains = builder.gains;
        ensemble
    }

    /// The sum of the trees' predictions for a row of bins.
    pub(super) fn predict(&self, row: &[u8]) -> f64 {
        let mut sum = 0.0;
        for tree in &self.trees {
            let mut node = 0;
            sum += loop {
                match tree[node] {
                    Node::Leaf(value) => break value,
                    Node::Split { column, bin, left } => {
                        node = left as usize + usize::from(row[column as usize] > bin);
                    }
                }
            };
        }
        sum
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

    /// Grows one tree and subtracts its predictions from the targets.
    fn tree(&mut self, target: &mut [f64]) -> Vec<Node> {
        let count = self.rows.len();
        self.order.clear();
        self.order.extend(0..u32::try_from(count).expect("rows fit 32 bits"));
        let square = target.iter().map(|t| t * t).sum::<f64>() / count.max(1) as f64;
        let min_gain = self.growth.significance * square;
        let mut nodes = vec![Node::Leaf(0.0)];
        let histogram = self.histogram(0, count, target);
        let mut pending = vec![Pending { node: 0, from: 0, to: count, depth: 0, histogram }];
        while let Some(part) = pending.pop() {
            let deep = part.depth == self.growth.depth;
            let split = if deep { None } else { self.best(&part.histogram) };
            let Some(split) = split.filter(|split| split.gain > min_gain && split.gain > 0.0)
            else {
                self.make_leaf(&part, &mut nodes, target);
                continue;
            };
            // Adding a share `rate` of a prediction removes rate * (2 - rate) of the squared error.
            self.gains[split.column] += split.gain * self.growth.rate * (2.0 - self.growth.rate);
            let middle = self.partition(&part, split);
            let (small, large) = if middle - part.from <= part.to - middle {
                (part.from..middle, middle..part.to)
            } else {
                (middle..part.to, part.from..middle)
            };
            let left = nodes.len();
            nodes[part.node] = Node::Split {
                column: u32::try_from(split.column).expect("few columns"),
                bin: u8::try_from(split.bin).expect("a bin"),
                left: u32::try_from(left).expect("few nodes"),
            };
            nodes.extend([Node::Leaf(0.0); 2]);
            let final_level = part.depth + 1 == self.growth.depth;
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
                let node = left + usize::from(range.start != part.from);
                let depth = part.depth + 1;
                pending.push(Pending { node, from: range.start, to: range.end, depth, histogram });
            }
        }
        nodes
    }

    /// Makes a leaf. A tree without splits adds nothing.
    fn make_leaf(&self, part: &Pending, nodes: &mut [Node], target: &mut [f64]) {
        if part.node == 0 {
            return;
        }
        let rows = &self.order[part.from..part.to];
        let sum: f64 = rows.iter().map(|&row| target[row as usize]).sum();
        let value = self.growth.rate * sum / rows.len().max(1) as f64;
        for &row in rows {
            target[row as usize] -= value;
        }
        nodes[part.node] = Node::Leaf(value);
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
        let min_leaf = self.growth.min_leaf as f64;
        for (&column, cells) in self.columns.iter().zip(histogram.chunks_exact(BINS)) {
            let cells = &cells[..self.bins.count(column)];
            let total =
                cells.iter().fold([0.0; 2], |sum, cell| [sum[0] + cell[0], sum[1] + cell[1]]);
            let base = total[0] * total[0] / total[1].max(1.0);
            let mut left = [0.0; 2];
            for (bin, cell) in cells[..cells.len() - 1].iter().enumerate() {
                left[0] += cell[0];
                left[1] += cell[1];
                let right = [total[0] - left[0], total[1] - left[1]];
                if left[1] < min_leaf || right[1] < min_leaf || cell[1] == 0.0 {
                    continue;
                }
                let gain = left[0] * left[0] / left[1] + right[0] * right[0] / right[1] - base;
                if best.is_none_or(|best| gain > best.gain) {
                    best = Some(Split { column, bin, gain });
                }
            }
        }
        best
    }

    /// Moves the rows that go left to the front; returns where the others start.
    fn partition(&mut self, part: &Pending, split: Split) -> usize {
        self.spare.clear();
        let mut next = part.from;
        for index in part.from..part.to {
            let position = self.order[index];
            let codes = self.bins.row(self.rows[position as usize] as usize);
            if usize::from(codes[split.column]) <= split.bin {
                self.order[next] = position;
                next += 1;
            } else {
                self.spare.push(position);
            }
        }
        self.order[next..part.to].copy_from_slice(&self.spare);
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
        let growth = Growth::for_columns(3, 14.0);
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
        assert!((ensemble.predict(bins.row(row)) + target[row] - truth[row]).abs() < 1e-9);
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
        let growth = Growth::for_columns(3, 14.0);
        let ensemble = Ensemble::grow(&bins, &rows, &mut target, &allowed, &growth);
        assert_eq!(ensemble.gained(&[0]), 0.0);
    }
}

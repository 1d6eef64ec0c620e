//! `fcit`: the fast conditional independence test (Chalupka, Perona, Eberhardt 2018) as published.
//!
//! One regression tree predicts the effect from all inputs, another one from all inputs except the
//! cause. On eight random splits of the rows (90 % training, 10 % test) the ratio of their errors
//! should exceed 1. Tree sizes are chosen on three further splits, separately for each side.
//!
//! The statistic is the published one. Work is shared where the result is the same: a smaller tree is
//! the largest one, cut short; the trees with all inputs serve all causes of an effect; and the trees
//! without a cause are regrown only where they differ (see `tree`).

use rayon::prelude::*;

use super::finding::{Finding, Findings};
use super::frame::Frame;
use super::gains::Gain;
use super::student::mean_above_zero;
use super::table::Table;
use super::tree::Tree;
use becausal_core::Stream;
use becausal_core::progress::Tracker;

/// Random splits on which the tree size is chosen.
const SIZE_SPLITS: usize = 3;

/// Random splits on which the errors are compared.
const TEST_SPLITS: usize = 8;

/// Added to both errors before the division, as in the reference code.
const ERROR_OFFSET: f64 = 1e-10;

/// The fewest rows that are tested: of fewer, too few would be left as test rows.
const MIN_ROWS: usize = 20;

/// The tree sizes tried, as the fewest rows of a node that may be split.
fn grid(training: usize) -> [usize; 7] {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of them")]
    let share = |share: f64| ((share * training as f64).ceil() as usize).max(2);
    [2, 8, 64, 512, share(0.01), share(0.2), share(0.4)]
}

/// Tests the pairs of `allowed[output]`, conditioning on the other inputs of `allowed[output]`.
pub(super) fn fcit(
    frame: &Frame,
    allowed: &[Vec<usize>],
    seed: u64,
    watch: &Tracker<'_>,
) -> Findings {
    let mut pairs = vec![vec![Finding::NOTHING; frame.inputs.len()]; frame.outputs.len()];
    if frame.rows() < MIN_ROWS {
        return Findings { pairs, unexplained: None, remembered: Vec::new(), valid: false };
    }
    let mut problems = Vec::new();
    for (output, allowed) in allowed.iter().enumerate() {
        if frame.output_is_constant(output) {
            continue;
        }
        let dimensions = frame.outputs[output].columns.len();
        let size = |input: usize| frame.inputs[input].columns.len();
        let tested = |input: &usize| !frame.input_is_constant(*input);
        let direct: Vec<usize> = allowed
            .iter()
            .copied()
            .filter(tested)
            .filter(|&input| size(input) >= dimensions)
            .collect();
        if !direct.is_empty() {
            problems.push(Problem { output, inputs: allowed, swapped: None, causes: direct });
        }
        // A cause with fewer dimensions than the effect is predicted from the effect.
        for &input in allowed.iter().filter(|input| tested(input) && size(**input) < dimensions) {
            let causes = vec![input];
            problems.push(Problem { output, inputs: allowed, swapped: Some(input), causes });
        }
    }
    let solved: Vec<Option<Vec<Finding>>> = problems
        .par_iter()
        .map(|problem| {
            if watch.is_stopped() {
                return None;
            }
            let found = problem.solve(frame, seed);
            for &input in &problem.causes {
                let effect = &frame.outputs[problem.output].name;
                watch.advance(1.0, &format!("{} -> {effect}", frame.inputs[input].name));
            }
            Some(found)
        })
        .collect();
    for (problem, found) in problems.iter().zip(solved) {
        let found = found.unwrap_or_else(|| vec![Finding::INTERRUPTED; problem.causes.len()]);
        for (&input, finding) in problem.causes.iter().zip(found) {
            pairs[problem.output][input] = finding;
        }
    }
    Findings { pairs, unexplained: None, remembered: Vec::new(), valid: false }
}

/// One regression problem: a target and the causes tested with it.
struct Problem<'a> {
    output: usize,
    /// The inputs used.
    inputs: &'a [usize],
    /// The input that is predicted from the output, if cause and effect are swapped.
    swapped: Option<usize>,
    /// The causes tested.
    causes: Vec<usize>,
}

/// A random split of the rows.
struct RandomSplit {
    /// Whether each row is a training row.
    training: Vec<bool>,
    test: Vec<usize>,
    /// The order of the columns among equally good splits.
    preference: Vec<usize>,
}

impl Problem<'_> {
    fn table(&self, frame: &Frame) -> Table {
        #[expect(clippy::cast_possible_truncation, reason = "trees see single precision")]
        let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect();
        let (mut columns, mut groups) = (Vec::new(), Vec::new());
        let mut droppable = vec![false; frame.inputs.len() + 1];
        for &input in self.inputs.iter().filter(|&&input| Some(input) != self.swapped) {
            for &column in &frame.inputs[input].columns {
                columns.push(single(&frame.u[column].values));
                groups.push(input);
            }
        }
        let standard = |series: &super::frame::Series| -> Vec<f64> {
            series.values.iter().map(|value| (value - series.mean) / series.scale).collect()
        };
        let effect = &frame.outputs[self.output].columns;
        let targets: Vec<Vec<f64>> = if let Some(input) = self.swapped {
            for &column in effect {
                columns.push(single(&frame.v[column].values));
                groups.push(frame.inputs.len());
            }
            droppable[frame.inputs.len()] = true;
            frame.inputs[input].columns.iter().map(|&column| standard(&frame.u[column])).collect()
        } else {
            for &input in &self.causes {
                droppable[input] = true;
            }
            effect.iter().map(|&column| standard(&frame.v[column])).collect()
        };
        Table::new(columns, groups, droppable, &targets)
    }

    fn solve(&self, frame: &Frame, seed: u64) -> Vec<Finding> {
        let table = self.table(frame);
        let rows = frame.rows();
        let key = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let swapped = self.swapped.map_or(0, |input| input + 1);
        let stream =
            |number: usize| Stream::keyed(seed, &[3, key(self.output), key(swapped), key(number)]);
        let split = |number: usize, test: usize| {
            let mut stream = stream(number);
            let order = stream.permutation(rows);
            let mut training = vec![true; rows];
            order[..test].iter().for_each(|&row| training[row] = false);
            let preference = stream.permutation(table.width());
            RandomSplit { training, test: order[..test].to_vec(), preference }
        };
        // The group left out; `None` for the trees with all inputs.
        let sides: Vec<Option<usize>> = std::iter::once(None)
            .chain(self.causes.iter().map(|&cause| {
                Some(if self.swapped.is_some() { frame.inputs.len() } else { cause })
            }))
            .collect();
        let chosen = choose(&table, &sides, &|number| split(number, rows.div_ceil(10)), rows);
        let smallest = chosen.iter().copied().min().unwrap_or(2);
        let errors: Vec<Vec<f64>> = (0..TEST_SPLITS)
            .into_par_iter()
            .map(|number| {
                let split = split(SIZE_SPLITS + number, rows / 10);
                let tree = Tree::grow(&table, &split.training, smallest, &split.preference);
                let side = |(side, &min_split): (&Option<usize>, &usize)| {
                    table.errors(&tree, &split.test, *side, &[min_split])[0].iter().sum::<f64>()
                        / (split.test.len() * table.outputs()) as f64
                };
                sides.iter().zip(&chosen).map(side).collect()
            })
            .collect();
        (1..sides.len())
            .map(|side| {
                let ratios: Vec<f64> = errors
                    .iter()
                    .map(|errors| (errors[side] + ERROR_OFFSET) / (errors[0] + ERROR_OFFSET) - 1.0)
                    .collect();
                let sum = |side: usize| errors.iter().map(|errors| errors[side]).sum::<f64>();
                let gain = (sum(side) - sum(0)).max(0.0);
                let strength = if sum(side) > 0.0 { gain / sum(side) } else { 0.0 };
                let p = mean_above_zero(&ratios);
                Finding {
                    gain: Gain { p, strength, size: gain / TEST_SPLITS as f64, ..Gain::NOTHING },
                    ..Finding::NOTHING
                }
            })
            .collect()
    }
}

/// For each side, the tree size with the best mean coefficient of determination.
fn choose(
    table: &Table,
    sides: &[Option<usize>],
    split: &(impl Fn(usize) -> RandomSplit + Sync),
    rows: usize,
) -> Vec<usize> {
    let min_splits = grid(rows - rows.div_ceil(10));
    let scores: Vec<Vec<[f64; 7]>> = (0..SIZE_SPLITS)
        .into_par_iter()
        .map(|number| {
            let split = split(number);
            let tree = Tree::grow(table, &split.training, 2, &split.preference);
            let totals = table.totals(&split.test);
            sides
                .iter()
                .map(|&side| {
                    let errors = table.errors(&tree, &split.test, side, &min_splits);
                    std::array::from_fn(|size| {
                        let determined = errors[size].iter().zip(&totals).map(|(error, total)| {
                            match (*error == 0.0, *total == 0.0) {
                                (true, true) => 1.0,
                                (false, true) => 0.0,
                                _ => 1.0 - error / total,
                            }
                        });
                        determined.sum::<f64>() / totals.len() as f64
                    })
                })
                .collect()
        })
        .collect();
    (0..sides.len())
        .map(|side| {
            let mean = |size: usize| scores.iter().map(|scores| scores[side][size]).sum::<f64>();
            let mut best = 0;
            for size in 1..min_splits.len() {
                if mean(size) > mean(best) {
                    best = size;
                }
            }
            min_splits[best]
        })
        .collect()
}

impl Table {
    /// The sum of squared errors over some rows, for each tree size and output.
    fn errors(
        &self,
        tree: &Tree,
        rows: &[usize],
        without: Option<usize>,
        min_splits: &[usize],
    ) -> Vec<Vec<f64>> {
        let mut errors = vec![vec![0.0; self.outputs()]; min_splits.len()];
        for &row in rows {
            tree.predict(self, row, without, min_splits, |size, predicted| {
                for (output, predicted) in predicted.iter().enumerate() {
                    let error = self.value(row, output) - predicted;
                    errors[size][output] += error * error;
                }
            });
        }
        errors
    }

    /// The sum of squared differences from the mean over some rows, for each output.
    fn totals(&self, rows: &[usize]) -> Vec<f64> {
        (0..self.outputs())
            .map(|output| {
                let values = rows.iter().map(|&row| self.value(row, output));
                let mean = values.clone().sum::<f64>() / rows.len().max(1) as f64;
                values.map(|value| (value - mean) * (value - mean)).sum()
            })
            .collect()
    }
}

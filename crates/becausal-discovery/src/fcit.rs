//! `fcit`: the fast conditional independence test (Chalupka, Perona, Eberhardt 2018) as published.
//!
//! A regression tree predicts the effect from all inputs, another one from all but the cause; on eight
//! random divisions of the rows, 90 to learn and 10 to judge, the ratio of their errors should
//! exceed 1. Tree sizes are chosen on three further divisions, for either side apart.
//!
//! The statistic is the published one. Work is shared where the outcome is the same: the tree of
//! every size is a cut of the largest one; the trees with all inputs serve all causes of an effect;
//! and the trees without a cause are regrown only where they differ (see `tree`).

use rayon::prelude::*;

use super::finding::{Finding, Findings};
use super::frame::Frame;
use super::student::mean_above_zero;
use super::table::Table;
use super::tree::Tree;
use becausal_core::Stream;
use becausal_core::progress::Tracker;

/// Divisions by which the tree size is chosen.
const CHOOSING: usize = 3;

/// Divisions by which is judged.
const JUDGING: usize = 8;

/// Added to both errors before dividing, as the reference code does.
const TINY: f64 = 1e-10;

/// Fewer rows leave too few to judge.
const LEAST_ROWS: usize = 20;

/// The sizes tried: the fewest rows of a node that may be split.
fn grid(learned: usize) -> [usize; 7] {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of them")]
    let share = |share: f64| ((share * learned as f64).ceil() as usize).max(2);
    [2, 8, 64, 512, share(0.01), share(0.2), share(0.4)]
}

/// Tests the pairs of `allowed[output]`, given the others of them.
pub(super) fn fcit(
    frame: &Frame,
    allowed: &[Vec<usize>],
    seed: u64,
    watch: &Tracker<'_>,
) -> Findings {
    let mut pairs = vec![vec![Finding::NOTHING; frame.inputs.len()]; frame.outputs.len()];
    if frame.rows() < LEAST_ROWS {
        return Findings { pairs, unexplained: None, valid: false };
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
        // A cause of fewer dimensions than the effect is predicted from it, not the other way.
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
    Findings { pairs, unexplained: None, valid: false }
}

/// One target with all its trees.
struct Problem<'a> {
    output: usize,
    /// The inputs that take part.
    inputs: &'a [usize],
    /// The input that is predicted from the output, where these are swapped.
    swapped: Option<usize>,
    /// The causes that this decides about.
    causes: Vec<usize>,
}

/// A random division of the rows.
struct Division {
    learned: Vec<bool>,
    judged: Vec<usize>,
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
        let stream = |division: usize| {
            Stream::keyed(seed, &[3, key(self.output), key(swapped), key(division)])
        };
        let divide = |division: usize, judged: usize| {
            let mut stream = stream(division);
            let order = stream.permutation(rows);
            let mut learned = vec![true; rows];
            order[..judged].iter().for_each(|&row| learned[row] = false);
            let preference = stream.permutation(table.width());
            Division { learned, judged: order[..judged].to_vec(), preference }
        };
        // Without a group; nothing for the trees with all.
        let sides: Vec<Option<usize>> = std::iter::once(None)
            .chain(self.causes.iter().map(|&cause| {
                Some(if self.swapped.is_some() { frame.inputs.len() } else { cause })
            }))
            .collect();
        let chosen = choose(&table, &sides, &|division| divide(division, rows.div_ceil(10)), rows);
        let least = chosen.iter().copied().min().unwrap_or(2);
        let errors: Vec<Vec<f64>> = (0..JUDGING)
            .into_par_iter()
            .map(|number| {
                let division = divide(CHOOSING + number, rows / 10);
                let tree = Tree::grow(&table, &division.learned, least, &division.preference);
                let side = |(side, &least): (&Option<usize>, &usize)| {
                    table.errors(&tree, &division.judged, *side, &[least])[0].iter().sum::<f64>()
                        / (division.judged.len() * table.outputs()) as f64
                };
                sides.iter().zip(&chosen).map(side).collect()
            })
            .collect();
        (1..sides.len())
            .map(|side| {
                let ratios: Vec<f64> = errors
                    .iter()
                    .map(|errors| (errors[side] + TINY) / (errors[0] + TINY) - 1.0)
                    .collect();
                let sum = |side: usize| errors.iter().map(|errors| errors[side]).sum::<f64>();
                let gain = (sum(side) - sum(0)).max(0.0);
                let strength = if sum(side) > 0.0 { gain / sum(side) } else { 0.0 };
                let p = mean_above_zero(&ratios);
                Finding { p, strength, gain: gain / JUDGING as f64, ..Finding::NOTHING }
            })
            .collect()
    }
}

/// For each side the tree size with the best mean coefficient of determination.
fn choose(
    table: &Table,
    sides: &[Option<usize>],
    divide: &(impl Fn(usize) -> Division + Sync),
    rows: usize,
) -> Vec<usize> {
    let leasts = grid(rows - rows.div_ceil(10));
    let scores: Vec<Vec<[f64; 7]>> = (0..CHOOSING)
        .into_par_iter()
        .map(|number| {
            let division = divide(number);
            let tree = Tree::grow(table, &division.learned, 2, &division.preference);
            let totals = table.totals(&division.judged);
            sides
                .iter()
                .map(|&side| {
                    let errors = table.errors(&tree, &division.judged, side, &leasts);
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
            for size in 1..leasts.len() {
                if mean(size) > mean(best) {
                    best = size;
                }
            }
            leasts[best]
        })
        .collect()
}

impl Table {
    /// For each size and output the sum of squared errors over some rows.
    fn errors(
        &self,
        tree: &Tree,
        rows: &[usize],
        without: Option<usize>,
        leasts: &[usize],
    ) -> Vec<Vec<f64>> {
        let mut errors = vec![vec![0.0; self.outputs()]; leasts.len()];
        for &row in rows {
            tree.predict(self, row, without, leasts, |size, predicted| {
                for (output, predicted) in predicted.iter().enumerate() {
                    let error = self.value(row, output) - predicted;
                    errors[size][output] += error * error;
                }
            });
        }
        errors
    }

    /// For each output the sum of squared distances from its mean over some rows.
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

//! Input columns in at most 255 bins each, so that columns are sorted once for all trees.

use rayon::prelude::*;

use super::frame::Series;

/// Bin limits are computed from about this many rows; more would hardly change them.
const SAMPLE_ROWS: usize = 100_000;

/// The most bins of a column: the number of a bin fits one byte.
const MAX_BINS: usize = 255;

/// All input columns, binned: one byte per value, row by row.
#[derive(Debug, Clone)]
pub(super) struct Bins {
    codes: Vec<u8>,
    /// Bins used by each column.
    counts: Vec<usize>,
}

impl Bins {
    /// Bins with about equal numbers of rows. If a column has few distinct values, each gets its own
    /// bin.
    pub(super) fn of(series: &[Series]) -> Self {
        let columns: Vec<&[f64]> = series.iter().map(|series| series.values.as_slice()).collect();
        Self::of_columns(&columns)
    }

    pub(super) fn of_columns(columns: &[&[f64]]) -> Self {
        let width = columns.len();
        let rows = columns.first().map_or(0, |column| column.len());
        let limits: Vec<Vec<f64>> = columns.par_iter().map(|column| limits(column)).collect();
        let mut codes = vec![0; width * rows];
        if width > 0 {
            codes.par_chunks_mut(width).enumerate().for_each(|(row, into)| {
                for ((code, column), limits) in into.iter_mut().zip(columns).zip(&limits) {
                    let bin = limits.partition_point(|&limit| limit < column[row]);
                    *code = u8::try_from(bin).unwrap_or(u8::MAX);
                }
            });
        }
        Self { codes, counts: limits.iter().map(|limits| limits.len() + 1).collect() }
    }

    /// The number of columns.
    pub(super) fn width(&self) -> usize {
        self.counts.len()
    }

    /// The number of bins of a column.
    pub(super) fn count(&self, column: usize) -> usize {
        self.counts[column]
    }

    /// The bins of all columns in a row.
    pub(super) fn row(&self, row: usize) -> &[u8] {
        &self.codes[row * self.width()..(row + 1) * self.width()]
    }
}

/// The upper limits of all bins except the last.
fn limits(column: &[f64]) -> Vec<f64> {
    let step = column.len().div_ceil(SAMPLE_ROWS).max(1);
    let mut sample: Vec<f64> = column.iter().copied().step_by(step).collect();
    sample.sort_unstable_by(f64::total_cmp);
    let mut distinct = sample.clone();
    distinct.dedup();
    let mut limits: Vec<f64> = if distinct.len() <= MAX_BINS {
        distinct.windows(2).map(|pair| pair[0] / 2.0 + pair[1] / 2.0).collect()
    } else {
        (1..MAX_BINS).map(|bin| sample[bin * sample.len() / MAX_BINS]).collect()
    };
    limits.dedup();
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_get_a_bin_each_and_many_are_binned_evenly() {
        let few = vec![3.0, 1.0, 2.0, 1.0];
        let bins = Bins::of_columns(&[&few, &[7.0; 4]]);
        assert_eq!((bins.count(0), bins.count(1)), (3, 1));
        assert_eq!([bins.row(0), bins.row(1), bins.row(2)], [[2, 0], [0, 0], [1, 0]]);
        let many: Vec<f64> = (0..10_000).map(|i| f64::from(i) * 0.5).collect();
        let bins = Bins::of_columns(&[&many]);
        let mut shares = [0; 256];
        (0..10_000).for_each(|row| shares[bins.row(row)[0] as usize] += 1);
        assert!(shares.iter().all(|&share| share <= 60), "{shares:?}");
    }
}

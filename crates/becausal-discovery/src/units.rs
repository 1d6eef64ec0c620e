//! Units of observation: a recording is one, or a stretch of a long recording.
//!
//! A recording is an episode, or several between which rows were left out.

use super::student::{mean_above_zero, typical};
use super::thresholds::Thresholds;
use becausal_core::Stream;
use becausal_core::data::Transitions;

/// Rows grouped into independent units, which are divided into two folds.
///
/// Neighbouring rows are correlated. A test that treats them as independent finds effects everywhere.
/// Both training and testing therefore use whole units.
#[derive(Debug, Clone)]
pub(super) struct Units {
    /// The unit of each row.
    pub of_row: Vec<u32>,
    /// The fold, 0 or 1, of each unit.
    pub fold: Vec<u8>,
    /// Whether units are stretches of recordings, so that neighbours may be correlated.
    pub stretches: bool,
}

impl Units {
    /// The units of recorded transitions.
    pub(super) fn of(transitions: &Transitions, seed: u64, thresholds: &Thresholds) -> Self {
        let mut lengths: Vec<usize> = Vec::new();
        let mut last = None;
        for episode in 0..transitions.episodes() {
            let rows = transitions.episode(episode).len();
            let recording = Some(transitions.recording_of(episode));
            match lengths.last_mut() {
                Some(length) if recording == last => *length += rows,
                _ => lengths.push(rows),
            }
            last = recording;
        }
        Self::of_lengths(&lengths, seed, thresholds)
    }

    /// The units of recordings with these numbers of rows.
    fn of_lengths(recordings: &[usize], seed: u64, thresholds: &Thresholds) -> Self {
        let rows: usize = recordings.iter().sum();
        let least = thresholds.stretch_rows.min(rows.div_ceil(thresholds.min_stretches));
        let length = rows.div_ceil(thresholds.max_stretches).max(least).max(1);
        let mut of_row = Vec::with_capacity(rows);
        let mut first_unit = Vec::with_capacity(recordings.len());
        let mut count = 0_u32;
        for &rows in recordings {
            first_unit.push(count);
            let parts = ((rows + length / 2) / length).clamp(1, rows.max(1));
            let size = rows.div_ceil(parts).max(1);
            of_row.extend((0..rows).map(|row| count + u32::try_from(row / size).unwrap_or(0)));
            count += u32::try_from(rows.div_ceil(size)).unwrap_or(0);
        }
        first_unit.push(count);
        let stretches = count as usize > recordings.len();
        let mut fold = vec![0; count as usize];
        if recordings.len() == 1 {
            let half = fold.len() / 2;
            fold[half..].fill(1);
        } else {
            let mut order = Stream::keyed(seed, &[1]).permutation(recordings.len());
            if stretches {
                order.sort_by_key(|&recording| std::cmp::Reverse(recordings[recording]));
            }
            let mut rows = [0; 2];
            for recording in order {
                let lighter = usize::from(rows[1] < rows[0]);
                rows[lighter] += recordings[recording];
                let units = first_unit[recording] as usize..first_unit[recording + 1] as usize;
                fold[units].fill(u8::from(lighter == 1));
            }
        }
        Self { of_row, fold, stretches }
    }

    /// The units of a selection of rows.
    pub(super) fn select(&self, rows: &[u32]) -> Self {
        let of_row = rows.iter().map(|&row| self.of_row[row as usize]).collect();
        Self { of_row, fold: self.fold.clone(), stretches: self.stretches }
    }

    /// The number of units, including those without rows.
    pub(super) fn count(&self) -> usize {
        self.fold.len()
    }

    /// The number of rows in each unit.
    pub(super) fn sizes(&self) -> Vec<f64> {
        let mut sizes = vec![0.0; self.count()];
        for &unit in &self.of_row {
            sizes[unit as usize] += 1.0;
        }
        sizes
    }

    /// The p-value of the hypothesis that the mean of `sums`, one for each unit of a fold, is at most 0; 1
    /// with too few.
    ///
    /// Sums are clipped. Where units are stretches, neighbours are merged by two as long as they are
    /// correlated and enough are left. If those left are still correlated, too few are independent.
    pub(super) fn p_value(&self, sums: &[f64], thresholds: &Thresholds) -> f64 {
        let min_units = thresholds.min_units / 2;
        if sums.len() < min_units {
            return 1.0;
        }
        let in_groups_of = |size: usize| -> Vec<f64> {
            sums.chunks(size).map(|chunk| chunk.iter().sum()).collect()
        };
        let clipped = |mut sums: Vec<f64>| -> Vec<f64> {
            let most = thresholds.max_deviations * typical(sums.iter().copied());
            if most > 0.0 {
                for sum in &mut sums {
                    *sum = sum.clamp(-most, most);
                }
            }
            sums
        };
        let mut size = 1;
        let mut merged = clipped(sums.to_vec());
        while self.stretches && merged.len() >= 4 * min_units && are_related(&merged) {
            size *= 2;
            merged = clipped(in_groups_of(size));
        }
        if size > 1 && are_related(&merged) {
            return 1.0;
        }
        mean_above_zero(&merged)
    }
}

/// Whether neighbouring values are correlated: more than chance explains in one of 40 cases.
fn are_related(values: &[f64]) -> bool {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let neighbours: f64 = values.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum();
    neighbours > 2.0 / count.sqrt() * square
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn episodes_are_units_and_long_ones_are_divided() {
        let many = Units::of_lengths(&[7; 30], 0, &Thresholds::default());
        assert_eq!(many.count(), 30);
        assert!(!many.stretches);
        assert_eq!(many.fold.iter().map(|&fold| usize::from(fold)).sum::<usize>(), 15);
        let long = Units::of_lengths(&[1000; 20], 0, &Thresholds::default());
        assert_eq!(long.count(), 200);
        let one = Units::of_lengths(&[1200], 0, &Thresholds::default());
        assert_eq!(one.count(), 48);
        assert!(one.stretches && one.fold[..24].iter().all(|&fold| fold == 0));
        assert!(one.fold[24..].iter().all(|&fold| fold == 1));
        let two = Units::of_lengths(&[100, 3000], 0, &Thresholds::default());
        let fold_of = |row: usize| two.fold[two.of_row[row] as usize];
        assert!((0..100).all(|row| fold_of(row) == fold_of(0)));
        assert!((100..3100).all(|row| fold_of(row) == 1 - fold_of(0)));
    }

    #[test]
    fn every_row_has_a_unit_whatever_the_lengths() {
        for lengths in [vec![1], vec![2, 1], vec![1; 19], vec![100, 1, 1], vec![3; 21], vec![]] {
            let units = Units::of_lengths(&lengths, 3, &Thresholds::default());
            assert_eq!(units.of_row.len(), lengths.iter().sum::<usize>());
            assert_eq!(units.sizes().iter().sum::<f64>(), units.of_row.len() as f64);
            assert!(units.sizes().iter().all(|&size| size > 0.0), "{lengths:?}");
        }
    }

    #[test]
    fn sums_that_last_are_merged_and_single_huge_ones_are_clipped() {
        let thresholds = Thresholds::default();
        let units = Units::of_lengths(&[20_000], 0, &thresholds);
        let mut stream = Stream::new(2);
        let mut small = 0;
        for _ in 0..200 {
            let mut level = 0.0;
            let sums: Vec<f64> = (0..100)
                .map(|_| {
                    level = 0.8 * level + stream.normal();
                    level
                })
                .collect();
            small += usize::from(units.p_value(&sums, &thresholds) <= 0.01);
        }
        // Without merging there are about 45.
        assert!(small <= 12, "{small}");
        let mut sums: Vec<f64> = (0..100).map(|_| 0.5 + stream.normal()).collect();
        sums[50] = -1000.0;
        assert!(units.p_value(&sums, &thresholds) < 0.01);
    }
}

//! Units of observation: a recording is one, or a stretch of a recording if there are few.
//!
//! A recording is an episode, or several between which rows were left out.

use super::student::mean_above_zero;
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
        let stretches = recordings.len() < thresholds.min_episodes;
        let rows: usize = recordings.iter().sum();
        let length = rows.div_ceil(thresholds.stretches).max(1);
        let mut of_row = Vec::with_capacity(rows);
        let mut first_unit = Vec::with_capacity(recordings.len());
        let mut count = 0_u32;
        for &rows in recordings {
            first_unit.push(count);
            let parts =
                if stretches { ((rows + length / 2) / length).clamp(1, rows.max(1)) } else { 1 };
            let size = rows.div_ceil(parts).max(1);
            of_row.extend((0..rows).map(|row| count + u32::try_from(row / size).unwrap_or(0)));
            count += u32::try_from(rows.div_ceil(size)).unwrap_or(0);
        }
        first_unit.push(count);
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

    /// The p-value of the hypothesis that the mean of `sums`, one for each unit, is at most 0; 1 with
    /// fewer than `min_units`.
    ///
    /// Where units are stretches, the test is repeated with neighbours merged by two, and the larger
    /// p-value counts.
    pub(super) fn p_value(&self, sums: &[f64], min_units: usize) -> f64 {
        if sums.len() < min_units {
            return 1.0;
        }
        let merges: &[usize] = if self.stretches { &[1, 2] } else { &[1] };
        let in_groups_of = |size: usize| -> Vec<f64> {
            sums.chunks(size).map(|chunk| chunk.iter().sum()).collect()
        };
        merges.iter().map(|&size| mean_above_zero(&in_groups_of(size))).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_episodes_are_units_and_few_are_divided() {
        let many = Units::of_lengths(&[7; 30], 0, &Thresholds::default());
        assert_eq!(many.count(), 30);
        assert!(!many.stretches);
        assert_eq!(many.fold.iter().map(|&fold| usize::from(fold)).sum::<usize>(), 15);
        let one = Units::of_lengths(&[4800], 0, &Thresholds::default());
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
}

//! What counts as one observation: an episode, or a stretch of one where episodes are few.

use super::student::mean_above_zero;
use becausal_core::Stream;
use becausal_core::data::Transitions;

/// From this many episodes on, each is one observation.
pub(super) const EPISODES: usize = 20;

/// Otherwise the rows are cut into about this many stretches.
const STRETCHES: usize = 48;

/// Fewer observations than this allow no test.
pub(super) const LEAST: usize = 8;

/// Rows grouped into independent observations, divided into two folds.
///
/// Neighbouring rows are alike; a test that took them for independent would find effects in
/// anything. Both learning and judging therefore handle whole units.
#[derive(Debug, Clone)]
pub(super) struct Units {
    /// The unit of each row.
    pub of_row: Vec<u32>,
    /// The fold, 0 or 1, of each unit.
    pub fold: Vec<u8>,
    /// Units are stretches of episodes, and neighbours may still be alike.
    pub stretches: bool,
}

impl Units {
    /// The units of recorded transitions.
    pub(super) fn of(transitions: &Transitions, seed: u64) -> Self {
        let episodes: Vec<usize> =
            (0..transitions.episodes()).map(|episode| transitions.episode(episode).len()).collect();
        Self::of_lengths(&episodes, seed)
    }

    fn of_lengths(episodes: &[usize], seed: u64) -> Self {
        let stretches = episodes.len() < EPISODES;
        let rows: usize = episodes.iter().sum();
        let length = rows.div_ceil(STRETCHES).max(1);
        let mut of_row = Vec::with_capacity(rows);
        let mut first_of_episode = Vec::with_capacity(episodes.len());
        let mut count = 0_u32;
        for &rows in episodes {
            first_of_episode.push(count);
            let parts =
                if stretches { ((rows + length / 2) / length).clamp(1, rows.max(1)) } else { 1 };
            let size = rows.div_ceil(parts).max(1);
            of_row.extend((0..rows).map(|row| count + u32::try_from(row / size).unwrap_or(0)));
            count += u32::try_from(rows.div_ceil(size)).unwrap_or(0);
        }
        first_of_episode.push(count);
        let mut fold = vec![0; count as usize];
        if episodes.len() == 1 {
            let half = fold.len() / 2;
            fold[half..].fill(1);
        } else {
            let mut order = Stream::keyed(seed, &[1]).permutation(episodes.len());
            if stretches {
                order.sort_by_key(|&episode| std::cmp::Reverse(episodes[episode]));
            }
            let mut rows = [0; 2];
            for episode in order {
                let lighter = usize::from(rows[1] < rows[0]);
                rows[lighter] += episodes[episode];
                let units =
                    first_of_episode[episode] as usize..first_of_episode[episode + 1] as usize;
                fold[units].fill(u8::from(lighter == 1));
            }
        }
        Self { of_row, fold, stretches }
    }

    /// The units of some of the rows.
    pub(super) fn select(&self, rows: &[u32]) -> Self {
        let of_row = rows.iter().map(|&row| self.of_row[row as usize]).collect();
        Self { of_row, fold: self.fold.clone(), stretches: self.stretches }
    }

    /// Number of units, with or without rows.
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

    /// The p-value of the hypothesis that what is summed in `sums` is at most 0 on average.
    ///
    /// Units without rows are left out. Where units are stretches, neighbours are also taken together, by two
    /// and by four, and the most doubtful answer counts.
    pub(super) fn p_value(&self, sums: &[f64], sizes: &[f64]) -> f64 {
        let filled: Vec<f64> =
            sums.iter().zip(sizes).filter(|(_, size)| **size > 0.0).map(|(sum, _)| *sum).collect();
        if filled.len() < LEAST {
            return 1.0;
        }
        let merges: &[usize] = if self.stretches { &[1, 2, 4] } else { &[1] };
        let together = |size: usize| -> Vec<f64> {
            filled.chunks(size).map(|chunk| chunk.iter().sum()).collect()
        };
        merges.iter().map(|&size| either(&together(size))).fold(0.0, f64::max)
    }
}

/// The better of two tests, times two: of the sums as they are, and of the sums with large gains cut.
///
/// A few units with huge gains make the mean uncertain however clear the others are. Cutting gains
/// but not losses can only weaken the evidence, never make it up.
fn either(sums: &[f64]) -> f64 {
    const MEDIANS: f64 = 4.0;
    let mut sizes: Vec<f64> = sums.iter().map(|sum| sum.abs()).collect();
    let middle = sizes.len() / 2;
    let (_, median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
    let most = MEDIANS * *median;
    let cut: Vec<f64> = sums.iter().map(|sum| sum.min(most)).collect();
    (2.0 * mean_above_zero(sums).min(mean_above_zero(&cut))).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_episodes_are_units_and_few_are_cut() {
        let many = Units::of_lengths(&[7; 30], 0);
        assert_eq!(many.count(), 30);
        assert!(!many.stretches);
        assert_eq!(many.fold.iter().map(|&fold| usize::from(fold)).sum::<usize>(), 15);
        let one = Units::of_lengths(&[4800], 0);
        assert_eq!(one.count(), 48);
        assert!(one.stretches && one.fold[..24].iter().all(|&fold| fold == 0));
        assert!(one.fold[24..].iter().all(|&fold| fold == 1));
        let two = Units::of_lengths(&[100, 3000], 0);
        let fold_of = |row: usize| two.fold[two.of_row[row] as usize];
        assert!((0..100).all(|row| fold_of(row) == fold_of(0)));
        assert!((100..3100).all(|row| fold_of(row) == 1 - fold_of(0)));
    }

    #[test]
    fn every_row_has_a_unit_whatever_the_lengths() {
        for lengths in [vec![1], vec![2, 1], vec![1; 19], vec![100, 1, 1], vec![3; 21], vec![]] {
            let units = Units::of_lengths(&lengths, 3);
            assert_eq!(units.of_row.len(), lengths.iter().sum::<usize>());
            assert_eq!(units.sizes().iter().sum::<f64>(), units.of_row.len() as f64);
            assert!(units.sizes().iter().all(|&size| size > 0.0), "{lengths:?}");
        }
    }
}

//! Units of observation: a recording is one, or a stretch of a long recording.
//!
//! A recording is an episode, or several between which rows were left out.

use super::student::{mean_above, typical};
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
    /// The recording of each unit.
    recording: Vec<u32>,
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
        let length = rows.div_ceil(thresholds.max_stretches).max(1);
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
        let recording = (0_u32..)
            .zip(first_unit.windows(2))
            .flat_map(|(recording, ends)| (ends[0]..ends[1]).map(move |_| recording))
            .collect();
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
        Self { of_row, fold, recording, stretches }
    }

    /// The units of a selection of rows.
    pub(super) fn select(&self, rows: &[u32]) -> Self {
        let of_row = rows.iter().map(|&row| self.of_row[row as usize]).collect();
        Self { of_row, ..self.clone() }
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

    /// The p-value of the hypothesis that the mean of the sums is at most that of the margins in both folds; `None`
    /// where the recordings hold too few independent pieces to tell.
    ///
    /// The smaller p-value of the two folds counts, times two (Bonferroni): the folds learn from each other,
    /// so they are not independent. Sums are clipped. Where units are stretches, neighbours may be
    /// correlated: a fold counts as many pieces as there are units in it, divided by the time for which its
    /// noise lasts. With too few of them whole recordings are the units.
    pub(super) fn p_value(&self, folds: &[UnitSums; 2], thresholds: &Thresholds) -> Option<f64> {
        let time = if self.stretches { self.lasting(folds, thresholds) } else { 1.0 };
        let found = folds.iter().filter_map(|fold| {
            let pieces = fold.units.len() as f64 / time;
            if !self.stretches || pieces >= thresholds.min_pieces {
                let recordings = self.by_recording(fold).units.len();
                fold.p_value(pieces, recordings, thresholds)
            } else {
                let whole = self.by_recording(fold);
                let recordings = whole.units.len();
                whole.p_value(recordings as f64, recordings, thresholds)
            }
        });
        found.reduce(f64::min).map(|p| (2.0 * p).min(1.0))
    }

    /// The sums of whole recordings.
    fn by_recording(&self, fold: &UnitSums) -> UnitSums {
        let mut whole = UnitSums::default();
        for (at, &unit) in fold.units.iter().enumerate() {
            let recording = self.recording[unit] as usize;
            if whole.units.last() != Some(&recording) {
                whole.push(recording, [0.0; 3]);
            }
            let last = whole.units.len() - 1;
            whole.sums[last] += fold.sums[at];
            whole.margins[last] += fold.margins[at];
            whole.noise[last] += fold.noise[at];
        }
        whole
    }

    /// For how many units noise lasts: 1 if those of a recording are independent.
    ///
    /// This is the integrated autocorrelation time 1 + 2 (r1 + r2 + ...), with the sum ended where two
    /// neighbouring terms together are not above 0 (Geyer 1992: the initial positive sequence).
    fn lasting(&self, folds: &[UnitSums; 2], thresholds: &Thresholds) -> f64 {
        let noise = folds.each_ref().map(|fold| standard(clipped(fold.noise.clone(), thresholds)));
        let correlation = |lag: usize| -> f64 {
            let (mut products, mut squares) = (0.0, 0.0);
            for (fold, noise) in folds.iter().zip(&noise) {
                squares += noise.iter().map(|value| value * value).sum::<f64>();
                for (later, before) in (lag..noise.len()).zip(0..) {
                    let of = |place: usize| self.recording[fold.units[place]];
                    if of(before) == of(later) {
                        products += noise[before] * noise[later];
                    }
                }
            }
            if squares > 0.0 { products / squares } else { 0.0 }
        };
        let lags = noise[0].len().max(noise[1].len());
        let pairs = (0..lags).step_by(2).map(|lag| correlation(lag) + correlation(lag + 1));
        let time = 2.0 * pairs.take_while(|&pair| pair > 0.0).sum::<f64>() - 1.0;
        time.max(1.0)
    }
}

/// What is summed up for the units of a fold.
#[derive(Debug, Clone, Default)]
pub(super) struct UnitSums {
    /// The units that have rows, in their order.
    pub units: Vec<usize>,
    /// Whose mean is above 0 if there is an influence.
    pub sums: Vec<f64>,
    /// What an imperfect model may add to the sums, which does not count.
    pub margins: Vec<f64>,
    /// The part of `sums` that no input explains.
    pub noise: Vec<f64>,
}

impl UnitSums {
    /// Adds a unit with its sum, its margin and its noise.
    pub(super) fn push(&mut self, unit: usize, [sum, margin, noise]: [f64; 3]) {
        self.units.push(unit);
        self.sums.push(sum);
        self.margins.push(margin);
        self.noise.push(noise);
    }

    /// The p-value of the hypothesis that the mean of the sums is at most that of the margins, from units that are
    /// worth this many independent pieces; `None` with too few units.
    ///
    /// The sums of true influences vary because episodes do, and that is no reason for doubt. So the variance of the
    /// t test is that under the hypothesis, as in a score test: of the sums as they would be if the input explained
    /// no more than the margins. Without a margin that is the variance of the noise; for an influence just as large
    /// as the margin, that of the sums as they are. In between, the variance of what the input explains shrinks in
    /// proportion to its mean, hence the root: in proportion to the squared mean, p is too small for episodes that
    /// differ much. Where the units are stretches of too few recordings, what varies between them is a doubt: two slow series
    /// go together for a while by chance.
    fn p_value(&self, pieces: f64, recordings: usize, thresholds: &Thresholds) -> Option<f64> {
        if (self.units.len() as f64) < thresholds.min_pieces / 2.0 {
            return None;
        }
        let total = |values: &[f64]| values.iter().sum::<f64>();
        let explained = total(&self.sums) - total(&self.noise);
        let kept = total(&self.margins) / explained;
        let many = recordings as f64 >= thresholds.min_pieces / 2.0;
        let kept = if many && explained > 0.0 { kept.min(1.0).sqrt() } else { 1.0 };
        let each = || self.sums.iter().zip(&self.margins).zip(&self.noise);
        let sums: Vec<f64> = each().map(|((sum, margin), _)| sum - margin).collect();
        let least = each().map(|((sum, margin), noise)| noise + kept * (sum - noise) - margin);
        Some(mean_above(&clipped(sums, thresholds), &clipped(least.collect(), thresholds), pieces))
    }
}

/// Sums beyond the most deviations count as these.
fn clipped(mut sums: Vec<f64>, thresholds: &Thresholds) -> Vec<f64> {
    let most = thresholds.max_deviations * typical(sums.iter().copied());
    if most > 0.0 {
        for sum in &mut sums {
            *sum = sum.clamp(-most, most);
        }
    }
    sums
}

/// Values with mean 0 and variance 1, or 0 if they are all alike.
fn standard(mut values: Vec<f64>) -> Vec<f64> {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
    let deviation = if square > 0.0 { square.sqrt() } else { f64::INFINITY };
    for value in &mut values {
        *value = (*value - mean) / deviation;
    }
    values
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
        assert_eq!(long.count(), 60);
        let one = Units::of_lengths(&[1200], 0, &Thresholds::default());
        assert_eq!(one.count(), 50);
        assert!(one.stretches && one.fold[..25].iter().all(|&fold| fold == 0));
        assert!(one.fold[25..].iter().all(|&fold| fold == 1));
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

    /// Sums that are all noise.
    fn noise(units: &Units, mut next: impl FnMut(usize) -> f64) -> [UnitSums; 2] {
        [0, 1].map(|number| {
            let of_fold = (0..units.count()).filter(|&unit| units.fold[unit] == number);
            let mut sums = UnitSums::default();
            for unit in of_fold {
                let noise = next(unit);
                sums.push(unit, [noise, 0.0, noise]);
            }
            sums
        })
    }

    /// How many of 1,000 p-values of sums of which each keeps `kept` of the one before are at most .01, and
    /// how many could not be told.
    fn small_and_unknown(units: &Units, kept: f64) -> (usize, usize) {
        let thresholds = Thresholds::default();
        let mut stream = Stream::new(2);
        let (mut small, mut unknown) = (0, 0);
        for _ in 0..1000 {
            let (mut level, mut of) = (0.0, u32::MAX);
            let folds = noise(units, |unit| {
                // Another recording begins anew.
                if of != units.recording[unit] {
                    (level, of) =
                        (stream.normal() / (1.0 - kept * kept).sqrt(), units.recording[unit]);
                }
                level = kept * level + stream.normal();
                level
            });
            match units.p_value(&folds, &thresholds) {
                Some(p) => small += usize::from(p <= 0.01),
                None => unknown += 1,
            }
        }
        (small, unknown)
    }

    #[test]
    fn noise_that_lasts_leaves_fewer_pieces_and_noise_that_hardly_changes_too_few() {
        let one = Units::of_lengths(&[20_000], 0, &Thresholds::default());
        let (small, unknown) = small_and_unknown(&one, 0.0);
        assert!((3..=18).contains(&small) && unknown <= 5, "{small}, {unknown}");
        // Of 25 units of a fold 0.2 leaves 17 pieces.
        let (small, unknown) = small_and_unknown(&one, 0.2);
        assert!(small <= 30 && unknown <= 100, "{small}, {unknown}");
        let (small, unknown) = small_and_unknown(&one, 0.97);
        assert!(small <= 40 && unknown >= 900, "{small}, {unknown}");
        // Recordings are independent of each other, so whole ones can always be compared.
        let many = Units::of_lengths(&[1000; 20], 0, &Thresholds::default());
        let (small, unknown) = small_and_unknown(&many, 0.97);
        assert!(small <= 25 && unknown == 0, "{small}, {unknown}");
    }

    /// The p-value of influences that differ by episode, with a small noise, beside margins.
    fn p_of(units: &Units, stream: &mut Stream, influence: f64, margin: f64) -> f64 {
        let folds = [0, 1].map(|number| {
            let mut sums = UnitSums::default();
            for unit in (0..units.count()).filter(|&unit| units.fold[unit] == number) {
                let noise = 0.02 * stream.normal();
                let explained = -influence * stream.uniform(0.0, 1.0).ln();
                sums.push(unit, [explained + noise, margin, noise]);
            }
            sums
        });
        units.p_value(&folds, &Thresholds::default()).expect("a p-value")
    }

    #[test]
    fn episodes_differ_and_that_is_a_doubt_only_at_the_margin() {
        let units = Units::of_lengths(&[100; 24], 0, &Thresholds::default());
        let mut stream = Stream::new(9);
        let mut at_most = |influence: f64, margin: f64, alpha: f64| {
            (0..2000).filter(|_| p_of(&units, &mut stream, influence, margin) <= alpha).count()
        };
        // As large as the margin: p is an error rate. With the noise alone as variance a half would be below .05.
        let (often, rarely) = (at_most(1.0, 1.0, 0.05), at_most(1.0, 1.0, 0.001));
        assert!(often <= 120 && rarely <= 7, "{often}, {rarely}");
        // Far above it.
        let found = at_most(1.0, 0.01, 0.001);
        assert!(found >= 1990, "{found}");
    }

    #[test]
    fn what_an_input_explains_may_last_and_single_huge_sums_are_clipped() {
        let thresholds = Thresholds::default();
        let units = Units::of_lengths(&[20_000], 0, &thresholds);
        let mut stream = Stream::new(3);
        let mut folds = noise(&units, |_| stream.normal());
        for fold in &mut folds {
            for (at, sum) in fold.sums.iter_mut().enumerate() {
                *sum += 2.0 + (at / 12) as f64;
            }
        }
        assert!(units.p_value(&folds, &thresholds).expect("a p-value") < 1e-6);
        let mut folds = noise(&units, |_| 1.0 + stream.normal());
        for fold in &mut folds {
            fold.sums[10] = -1000.0;
        }
        assert!(units.p_value(&folds, &thresholds).expect("a p-value") < 0.01);
    }
}

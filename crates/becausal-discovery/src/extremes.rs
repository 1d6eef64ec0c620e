//! Rows at the ends of the inputs' ranges: an influence that acts only there shows in few rows.
//!
//! A test over all rows misses an influence that acts in one row of a hundred. Among the rows in which
//! some input is at an end of its range, or has a rare label, we test whether the residuals of an
//! effect are correlated with the residuals of a cause. So few rows prove nothing, but if they hint at
//! an influence, we cannot rule out an edge.

use super::frame::Frame;
use super::reason::RowGroup;
use super::student::upper_tail;
use becausal_core::normal_quantile;
use becausal_core::schema::Kind;

/// The most rows at an end. Fewer are tried too: two thirds of them, and so on.
const MAX_ROWS: usize = 96;

/// The fewest rows that can give a hint.
const MIN_ROWS: usize = 8;

/// A label is rare if fewer than this share of the rows have it.
const RARE_SHARE: f64 = 0.1;

/// Where units are stretches of episodes, rows are taken from units at least this far apart.
const MIN_UNIT_DISTANCE: u32 = 2;

/// Rows in which one input is extreme, the most extreme first, each from a unit of its own.
#[derive(Debug)]
struct End {
    input: usize,
    /// Which rows these are.
    group: RowGroup,
    /// Their places among the rows of all ends.
    places: Vec<usize>,
}

/// The rows at all ends.
#[derive(Debug)]
pub(super) struct Extremes {
    ends: Vec<End>,
    rows: Vec<u32>,
    /// For each row of the frame its place in `rows`.
    places: Vec<u32>,
}

/// The residuals at each end, for each number of rows tried: with mean 0 and a sum of squares of 1.
pub(super) struct EndResiduals(Vec<Vec<Vec<f64>>>);

/// Weak evidence for an influence, from the rows at an end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hint {
    /// The p-value, corrected for the number of ends and sizes.
    pub p: f64,
    /// How many rows.
    pub rows: usize,
    /// Which rows.
    pub group: RowGroup,
}

impl Extremes {
    /// The extreme rows of a frame.
    pub(super) fn of(frame: &Frame) -> Self {
        let mut found: Vec<(usize, RowGroup, Vec<u32>)> = Vec::new();
        for (input, factor) in frame.inputs.iter().enumerate() {
            for &column in factor.columns.iter().filter(|&&column| !frame.u[column].constant) {
                let values = &frame.u[column].values;
                let of = || factor.name.clone();
                if matches!(factor.kind, Kind::Categorical(_) | Kind::Boolean) {
                    for value in rare_values(values) {
                        let score = |row: usize| (values[row] == value).then_some(0.0);
                        let group = RowGroup::Value { of: of(), value: factor.kind.show(value) };
                        found.push((input, group, most_extreme(frame, score)));
                    }
                } else {
                    let high = most_extreme(frame, |row| Some(values[row]));
                    let low = most_extreme(frame, |row| Some(-values[row]));
                    found.push((input, RowGroup::Largest { of: of() }, high));
                    found.push((input, RowGroup::Smallest { of: of() }, low));
                }
            }
        }
        let mut rows: Vec<u32> = found.iter().flat_map(|(_, _, rows)| rows).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        let mut places = vec![u32::MAX; frame.rows()];
        for (place, &row) in rows.iter().enumerate() {
            places[row as usize] = u32::try_from(place).expect("few rows");
        }
        let ends = found
            .into_iter()
            .map(|(input, group, rows)| {
                let place = |row: &u32| places[*row as usize] as usize;
                End { input, group, places: rows.iter().map(place).collect() }
            })
            .collect();
        Self { ends, rows, places }
    }

    /// The rows of all ends.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The place of a row among those of the ends.
    pub(super) fn place(&self, row: usize) -> Option<usize> {
        let place = self.places[row];
        (place != u32::MAX).then_some(place as usize)
    }

    /// The residuals of a cause at every end, as normal scores.
    pub(super) fn of_cause(&self, residuals: &[f64]) -> EndResiduals {
        self.at_ends(residuals, |residuals| normal_scores(&residuals))
    }

    /// The residuals of an effect at every end.
    pub(super) fn of_effect(&self, residuals: &[f64]) -> EndResiduals {
        self.at_ends(residuals, |residuals| residuals)
    }

    fn at_ends(&self, residuals: &[f64], scores: impl Fn(Vec<f64>) -> Vec<f64>) -> EndResiduals {
        let at = |end: &End, size: usize| {
            standard(scores(end.places[..size].iter().map(|&place| residuals[place]).collect()))
        };
        let of_end = |end: &End| sizes(end.places.len()).map(|size| at(end, size)).collect();
        EndResiduals(self.ends.iter().map(of_end).collect())
    }

    /// The strongest hint of an influence of an input, at the ends of the *other* inputs. `cause` and
    /// `effect` are their residuals.
    pub(super) fn hint(
        &self,
        input: usize,
        cause: &EndResiduals,
        effect: &EndResiduals,
    ) -> Option<Hint> {
        let mut best: Option<(f64, usize, &RowGroup)> = None;
        let mut tests = 0;
        for ((end, cause), effect) in self.ends.iter().zip(&cause.0).zip(&effect.0) {
            for (cause, effect) in cause.iter().zip(effect).filter(|_| end.input != input) {
                let p = correlation(cause, effect);
                tests += 1;
                if best.is_none_or(|best| p < best.0) {
                    best = Some((p, cause.len(), &end.group));
                }
            }
        }
        let (p, rows, group) = best?;
        let p = (p * f64::from(tests)).min(1.0);
        Some(Hint { p, rows, group: group.clone() })
    }
}

/// The numbers of rows tried: all, two thirds of them, and so on, down to [`MIN_ROWS`].
fn sizes(all: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(all), |size| Some(size * 2 / 3)).take_while(|&size| size >= MIN_ROWS)
}

/// The values that only few rows have.
fn rare_values(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let max_rows = RARE_SHARE * values.len() as f64;
    let groups = sorted.chunk_by(|one, other| one == other);
    groups.filter(|group| (group.len() as f64) < max_rows).map(|group| group[0]).collect()
}

/// The row with the highest score of each unit, the highest first.
fn most_extreme(frame: &Frame, score: impl Fn(usize) -> Option<f64>) -> Vec<u32> {
    let units = &frame.units;
    let mut best: Vec<Option<(f64, u32)>> = vec![None; units.count()];
    for (row, &unit) in units.of_row.iter().enumerate() {
        let place = &mut best[unit as usize];
        if let Some(score) = score(row)
            && place.is_none_or(|(best, _)| score > best)
        {
            *place = Some((score, u32::try_from(row).expect("rows fit 32 bits")));
        }
    }
    let mut rows: Vec<(f64, u32)> = best.into_iter().flatten().collect();
    rows.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let mut kept: Vec<u32> = Vec::new();
    for (_, row) in rows {
        let unit = |row: u32| units.of_row[row as usize];
        let near =
            |&other: &u32| units.stretches && unit(other).abs_diff(unit(row)) < MIN_UNIT_DISTANCE;
        if !kept.iter().any(near) {
            kept.push(row);
        }
        if kept.len() == MAX_ROWS {
            break;
        }
    }
    kept
}

/// The two-sided p-value of the correlation of normal scores with other values.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let sum: f64 = one.iter().zip(other).map(|(one, other)| one * other).sum();
    let correlation = sum.abs().min(1.0);
    let freedom = one.len() as f64 - 2.0;
    let t = correlation * (freedom / (1.0 - correlation * correlation).max(1e-12)).sqrt();
    (2.0 * upper_tail(t, freedom)).min(1.0)
}

/// Normal scores: the normal quantiles of the ranks; equal values share one score. The p-value of a
/// correlation with them is valid for any distribution of the values.
fn normal_scores(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| values[one].total_cmp(&values[other]));
    let mut scores = vec![0.0; values.len()];
    let mut from = 0;
    for group in order.chunk_by(|&one, &other| values[one] == values[other]) {
        let middle = from as f64 + f64::midpoint(group.len() as f64, 1.0);
        let score = normal_quantile(middle / (values.len() as f64 + 1.0));
        for &place in group {
            scores[place] = score;
        }
        from += group.len();
    }
    scores
}

/// Values shifted to mean 0 and scaled to a sum of squares of 1; constant values become 0.
fn standard(mut values: Vec<f64>) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    for value in &mut values {
        *value -= mean;
    }
    let size = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let factor = if size > 1e-12 { 1.0 / size } else { 0.0 };
    for value in &mut values {
        *value *= factor;
    }
    values
}

/// The lag in rows, a power of two, after which the autocorrelation of values is at most 0.1.
pub(super) fn decorrelation_lag(values: &[f64]) -> usize {
    const MAX_AUTOCORRELATION: f64 = 0.1;
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let covariance = |lag: usize| -> f64 {
        values.iter().zip(&values[lag..]).map(|(one, other)| (one - mean) * (other - mean)).sum()
    };
    let limit = MAX_AUTOCORRELATION * covariance(0);
    let mut lag = 1;
    while lag < values.len() && covariance(lag) > limit {
        lag *= 2;
    }
    lag
}

#[cfg(test)]
mod tests {
    use super::*;
    use becausal_core::Stream;

    #[test]
    fn scores_are_symmetric_around_zero_and_equal_values_share_them() {
        let scores = normal_scores(&[5.0, 1.0, 5.0, 9.0]);
        assert!(scores[0].abs() < 1e-12 && scores[0] == scores[2]);
        assert!(scores[3] > 0.8 && (scores[1] + scores[3]).abs() < 1e-12);
        assert_eq!(standard(vec![2.0; 3]), [0.0; 3]);
    }

    #[test]
    fn p_values_are_small_for_correlated_values_and_uniform_for_independent_ones() {
        let mut stream = Stream::new(4);
        // Heavy tails: the inverse of a normal number.
        let mut draw = || -> Vec<f64> { (0..12).map(|_| 1.0 / stream.normal()).collect() };
        let mut by_chance = || correlation(&standard(normal_scores(&draw())), &standard(draw()));
        let p: Vec<f64> = (0..2000).map(|_| by_chance()).collect();
        let share = |alpha: f64| p.iter().filter(|p| **p <= alpha).count();
        assert!((50..=140).contains(&share(0.05)), "{}", share(0.05));
        assert!(share(0.001) <= 8, "{}", share(0.001));
        let one = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0, 0.0, 9.0];
        let other: Vec<f64> = one.iter().map(|value| -3.0 * value).collect();
        assert!(correlation(&standard(normal_scores(&one)), &standard(other)) < 1e-4);
    }

    #[test]
    fn slower_series_have_longer_decorrelation_lags() {
        let mut stream = Stream::new(5);
        let mut level = 0.0;
        let mut walk = |keep: f64| -> Vec<f64> {
            (0..3000)
                .map(|_| {
                    level = keep * level + stream.normal();
                    level
                })
                .collect()
        };
        assert_eq!(decorrelation_lag(&walk(0.0)), 1);
        assert!((16..=64).contains(&decorrelation_lag(&walk(0.9))));
        assert!(decorrelation_lag(&walk(0.99)) >= 128);
    }

    #[test]
    fn sizes_shrink_by_a_third_down_to_the_minimum() {
        assert_eq!(sizes(40).collect::<Vec<_>>(), [40, 26, 17, 11]);
        assert_eq!(sizes(7).count(), 0);
    }
}

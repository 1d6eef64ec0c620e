//! Linear laws: a number that is a linear function of its parents, in most rows and nearly exactly.
//!
//! A position is its value before plus a multiple of the velocity, a tank's level a mix of two others. Networks come
//! close to such rules, but not close enough where the parents go together: of `0.9 x + 0.1 y` they would have to
//! learn the small difference of two large numbers, and whatever else goes together with it helps them to guess it. So
//! what is linear is not left to them: they predict what a law leaves.
//!
//! A law is fitted by least *absolute* deviations, so rows that follow another rule (contact with the ground) do not
//! bend it. It is taken where it leaves at most a tenth of what is left without it, in rows that it was not fitted to.

use becausal_discovery::regress;

/// Maximum number of rows of a regression: a law holds nearly exactly, so few rows tell its coefficients.
const MAX_ROWS: usize = 4000;

/// Minimum number of rows per coefficient.
const MIN_ROWS_PER_COEFFICIENT: usize = 20;

/// With more parents than this no law is looked for: dropping parents one by one takes the square of their number of
/// regressions.
const MAX_PARENTS: usize = 12;

/// A law leaves at most this share of what is left without it, by the median: it holds nearly exactly. What is only roughly
/// linear is left to the networks.
const MAX_SHARE_LEFT: f64 = 0.1;

/// A parent is dropped where what is left, by the median, grows by less than this share without it.
const MIN_GROWTH: f64 = 0.02;

/// Rounds of reweighting; the coefficients of a law hardly change after a few.
const ROUNDS: usize = 12;

/// Deviations below this share of the mean deviation are as good as none: weights stay finite.
const EXACT: f64 = 1e-3;

/// What may follow a linear law, in some rows.
pub(super) struct Observed {
    /// What is to be predicted.
    pub target: Vec<f64>,
    /// What it would be without a law, but for a constant.
    pub otherwise: Vec<f64>,
    /// The parents, standardised: `[parents][rows]`.
    pub parents: Vec<Vec<f64>>,
}

/// The coefficients of a law: one for each parent, 0 for those that it does without, and a constant.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Law {
    pub parents: Vec<f64>,
    pub constant: f64,
}

impl Observed {
    /// The law, if there is one.
    pub fn law(&self) -> Option<Law> {
        let all = self.target.len();
        let rows = all.min(2 * MAX_ROWS);
        let count = self.parents.len();
        if count == 0 || count > MAX_PARENTS || rows / 2 < MIN_ROWS_PER_COEFFICIENT * (count + 1) {
            return None;
        }
        // Every second row teaches, the others judge; all of them are spread over the whole recording.
        let place = |at: usize| at * all / rows;
        let taught: Vec<usize> = (0..rows).step_by(2).map(place).collect();
        let judged: Vec<usize> = (1..rows).step_by(2).map(place).collect();
        let change = |&row: &usize| self.target[row] - self.otherwise[row];
        let without = median_deviation(taught.iter().map(change), judged.iter().map(change));
        if !without.is_finite() || without <= 0.0 {
            return None;
        }
        let mut used: Vec<usize> = (0..count).collect();
        let (mut coefficients, mut left) = self.regress(&used, &taught);
        while used.len() > 1 {
            let shorter = (0..used.len()).map(|at| {
                let fewer = [&used[..at], &used[at + 1..]].concat();
                let (coefficients, left) = self.regress(&fewer, &taught);
                (fewer, coefficients, left)
            });
            let best = shorter.min_by(|(.., left), (.., right)| left.total_cmp(right))?;
            if best.2 > (1.0 + MIN_GROWTH) * left {
                break;
            }
            (used, coefficients, left) = best;
        }
        let (&constant, terms) = coefficients.split_first()?;
        let mut law = Law { parents: vec![0.0; count], constant };
        for (&parent, &coefficient) in used.iter().zip(terms) {
            law.parents[parent] = coefficient;
        }
        let is_finite = law.parents.iter().all(|coefficient| coefficient.is_finite());
        let mut deviations: Vec<f64> = judged
            .iter()
            .map(|&row| (self.target[row] - self.predicted(&law, row)).abs())
            .collect();
        let with = median(&mut deviations);
        (is_finite && law.constant.is_finite() && with <= MAX_SHARE_LEFT * without).then_some(law)
    }

    fn predicted(&self, law: &Law, row: usize) -> f64 {
        let terms = self.parents.iter().zip(&law.parents);
        law.constant + terms.map(|(values, coefficient)| coefficient * values[row]).sum::<f64>()
    }

    /// The coefficients of least absolute deviations, the constant first, and the median deviation that they leave: the mean
    /// would be that of the rows that follow another rule.
    fn regress(&self, used: &[usize], rows: &[usize]) -> (Vec<f64>, f64) {
        let mut weights = vec![1.0; rows.len()];
        let mut coefficients = Vec::new();
        let (mut least, mut left) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            let weighted = |values: &dyn Fn(usize) -> f64| -> Vec<f64> {
                rows.iter().zip(&weights).map(|(&row, weight)| weight * values(row)).collect()
            };
            let mut features = vec![weighted(&|_| 1.0)];
            features.extend(used.iter().map(|&parent| weighted(&|row| self.parents[parent][row])));
            let found = regress(&features, &weighted(&|row| self.target[row]));
            let deviation = |&row: &usize| {
                let terms = used.iter().zip(&found[1..]);
                let sum: f64 = terms.map(|(&parent, c)| c * self.parents[parent][row]).sum();
                (self.target[row] - found[0] - sum).abs()
            };
            let mut deviations: Vec<f64> = rows.iter().map(deviation).collect();
            let mean = deviations.iter().sum::<f64>() / rows.len().max(1) as f64;
            let improves = mean < least * (1.0 - 1e-4);
            for (weight, deviation) in weights.iter_mut().zip(&deviations) {
                // The square root, because both sides of the regression are multiplied by it.
                *weight = 1.0 / deviation.max(EXACT * mean).sqrt();
            }
            if mean < least {
                (coefficients, least, left) = (found, mean, median(&mut deviations));
            }
            if !improves || mean <= 0.0 {
                break;
            }
        }
        (coefficients, left)
    }
}

/// The median deviation of some numbers from the median of others.
fn median_deviation(taught: impl Iterator<Item = f64>, judged: impl Iterator<Item = f64>) -> f64 {
    let middle = median(&mut taught.collect::<Vec<f64>>());
    median(&mut judged.map(|number| (number - middle).abs()).collect::<Vec<f64>>())
}

fn median(numbers: &mut [f64]) -> f64 {
    if numbers.is_empty() {
        return 0.0;
    }
    let middle = numbers.len() / 2;
    *numbers.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use becausal_core::Stream;

    /// Two parents that go together closely, one that does not matter, and what follows from them.
    fn observed(target: impl Fn([f64; 3], &mut Stream) -> f64) -> Observed {
        let mut stream = Stream::new(4);
        let mut observed =
            Observed { target: Vec::new(), otherwise: Vec::new(), parents: vec![Vec::new(); 3] };
        for _ in 0..2000 {
            let first = stream.normal();
            let parents = [first, first + 0.02 * stream.normal(), stream.normal()];
            observed.target.push(target(parents, &mut stream));
            observed.otherwise.push(parents[0]);
            parents.iter().zip(&mut observed.parents).for_each(|(value, into)| into.push(*value));
        }
        observed
    }

    #[test]
    fn a_mix_of_parents_that_go_together_is_found_exactly() {
        let law = observed(|[a, b, _], stream| 2.0 + 0.9 * a + 0.1 * b + 1e-5 * stream.normal());
        let law = law.law().expect("a law");
        assert!((law.constant - 2.0).abs() < 1e-4, "{law:?}");
        assert!((law.parents[0] - 0.9).abs() < 1e-3, "{law:?}");
        assert!((law.parents[1] - 0.1).abs() < 1e-3, "{law:?}");
        assert_eq!(law.parents[2], 0.0, "it does not matter");
    }

    #[test]
    fn rows_of_another_rule_do_not_bend_it() {
        let law = observed(
            |[a, _, c], stream| {
                if stream.unit() < 0.2 { 10.0 * stream.normal() } else { a + 0.5 * c }
            },
        );
        let law = law.law().expect("a law");
        assert!((law.parents[2] - 0.5).abs() < 1e-3, "{law:?}");
        assert!((law.parents[0] + law.parents[1] - 1.0).abs() < 1e-3, "{law:?}");
    }

    #[test]
    fn a_small_part_is_kept_beside_rows_of_another_rule() {
        let law = observed(
            |[a, _, c], stream| {
                if stream.unit() < 0.2 { 10.0 * stream.normal() } else { a + 0.03 * c }
            },
        );
        let law = law.law().expect("a law");
        assert!((law.parents[2] - 0.03).abs() < 1e-3, "{law:?}");
    }

    #[test]
    fn numbers_beyond_all_bounds_are_no_law() {
        let mut huge = observed(|[a, ..], _| a);
        huge.target.iter_mut().for_each(|value| *value *= 1e308);
        huge.parents[0].iter_mut().for_each(|value| *value *= 1e308);
        assert_eq!(huge.law(), None);
    }

    #[test]
    fn noise_and_curves_are_no_laws() {
        assert_eq!(observed(|[a, ..], stream| a + stream.normal()).law(), None);
        assert_eq!(observed(|[a, _, c], _| a + (6.0 * c).sin()).law(), None);
        assert_eq!(observed(|[a, ..], _| a + 1.0).law(), None, "it persists, but for a constant");
    }
}

//! Scores: ratios of sums over states, with intervals over episodes.

use crate::contrast::Certainty;
use becausal_core::Stream;

/// Resamples of the episodes behind an interval. Its ends then vary by about a tenth of its width.
const RESAMPLES: usize = 1000;

/// Of fewer episodes there is no interval: their resamples hardly differ.
const MIN_EPISODES: usize = 5;

/// The share of resamples outside an interval, at each end.
const TAIL: f64 = 0.05;

/// A ratio whose parts are summed over cases: right claims of all claims, errors of all differences.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Ratio {
    pub part: f64,
    pub whole: f64,
}

impl Ratio {
    /// Counts a case.
    pub fn count(&mut self, right: bool) {
        self.add(Self { part: f64::from(u8::from(right)), whole: 1.0 });
    }

    /// Adds other parts.
    pub fn add(&mut self, other: Self) {
        self.part += other.part;
        self.whole += other.whole;
    }

    fn value(self) -> Option<f64> {
        (self.whole > 0.0).then(|| self.part / self.whole)
    }
}

/// What is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Of the changes claimed, the share that happened.
    Precision,
    /// Of the changes that happened, the share that was claimed.
    Recall,
    /// Of the changes claimed and real, the share with the right direction; for a label, the right value.
    Direction,
    /// The mean error of a change, divided by the mean size of the real ones, in standard deviations.
    ChangeError,
    /// Of the reward terms claimed to differ, the share that did.
    TermPrecision,
    /// Of the reward terms that differed, the share that was claimed.
    TermRecall,
    /// Of the reward differences that are not negligible, the share with the right sign.
    Sign,
    /// The mean error of the reward difference, divided by its mean size.
    SizeError,
    /// Of the states in which actions differ in their reward, the share in which the best one is named.
    BestAction,
    /// The share of cases in which the step that ends the episode is right.
    Ends,
    /// Of the changes that are told, because their interval leaves out 0, the share that happened in the
    /// direction told.
    Told,
    /// The share of intervals of the reward difference that hold the real one, of those that were drawn wider than what
    /// is negligible. They are to hold it in nine of ten cases, and are as wide as other episodes showed that they have to
    /// be ([`Calibration`](crate::Calibration)).
    WorthHeld,
    /// The same of intervals of a variable's value.
    ValueHeld,
    /// Of the reward differences and values whose interval was drawn narrower than what is negligible, the share that is
    /// right up to a negligible error: they are told as if nothing were left open.
    Exact,
    /// The same as [`WorthHeld`](Self::WorthHeld), of intervals as they were drawn.
    WorthHeldRaw,
    /// The same of intervals of a variable's value.
    ValueHeldRaw,
    /// The share of signs that are right where the answer is called sure.
    WhenSure,
    /// The same where it is called likely.
    WhenLikely,
    /// The same where it is called a guess.
    WhenGuess,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Precision,
        Self::Recall,
        Self::Direction,
        Self::ChangeError,
        Self::TermPrecision,
        Self::TermRecall,
        Self::Sign,
        Self::SizeError,
        Self::BestAction,
        Self::Ends,
        Self::Told,
        Self::WorthHeld,
        Self::ValueHeld,
        Self::Exact,
        Self::WorthHeldRaw,
        Self::ValueHeldRaw,
        Self::WhenSure,
        Self::WhenLikely,
        Self::WhenGuess,
    ];

    /// The ones that are told variable by variable.
    pub const OF_VARIABLES: [Self; 4] =
        [Self::Precision, Self::Recall, Self::Direction, Self::ChangeError];

    /// The measure of signs in answers that are so sure.
    #[must_use]
    pub fn when(certainty: Certainty) -> Self {
        match certainty {
            Certainty::Sure => Self::WhenSure,
            Certainty::Likely => Self::WhenLikely,
            Certainty::Guess => Self::WhenGuess,
        }
    }

    /// Its key in files.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Precision => "precision",
            Self::Recall => "recall",
            Self::Direction => "direction",
            Self::ChangeError => "change_error",
            Self::TermPrecision => "term_precision",
            Self::TermRecall => "term_recall",
            Self::Sign => "sign",
            Self::SizeError => "size_error",
            Self::BestAction => "best_action",
            Self::Ends => "ends",
            Self::Told => "told",
            Self::WorthHeld => "worth_held",
            Self::ValueHeld => "value_held",
            Self::Exact => "exact",
            Self::WorthHeldRaw => "worth_held_raw",
            Self::ValueHeldRaw => "value_held_raw",
            Self::WhenSure => "when_sure",
            Self::WhenLikely => "when_likely",
            Self::WhenGuess => "when_guess",
        }
    }

    /// Whether it is a share, of which 1 is the best; an error may be any number, and 0 is the best.
    #[must_use]
    pub fn is_share(self) -> bool {
        !matches!(self, Self::ChangeError | Self::SizeError)
    }
}

/// The parts of every measure, in the order of [`Measure::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sums([Ratio; Measure::ALL.len()]);

impl Sums {
    /// What is said about the reward difference of every other action in a state, taken minus other, and what it
    /// really is: `(said, real)`. Differences up to `negligible` have no sign.
    #[must_use]
    pub fn of_differences(differences: &[(f64, f64)], negligible: f64) -> Self {
        let mut sums = Self::default();
        for &(said, real) in differences {
            sums.sign(said, real, negligible);
            sums.size(said, real);
        }
        // The action that was taken is no better and no worse than itself.
        let others = differences.iter().map(|(said, real)| (-real, -said));
        let returns: Vec<(f64, f64)> = std::iter::once((0.0, 0.0)).chain(others).collect();
        sums.best_action(&returns, negligible);
        sums
    }

    /// Counts whether the sign of a reward difference is right.
    pub(super) fn sign(&mut self, said: f64, real: f64, negligible: f64) {
        if real.abs() > negligible {
            self.of(Measure::Sign).count(said * real > 0.0);
        }
    }

    /// Adds the error of a reward difference.
    pub(super) fn size(&mut self, said: f64, real: f64) {
        let (part, whole) = ((said - real).abs(), real.abs());
        self.of(Measure::SizeError).add(Ratio { part, whole });
    }

    /// Counts whether the action with the highest claimed return is the best one, unless the real returns are all
    /// alike. `returns` are (real, claimed).
    pub(super) fn best_action(&mut self, returns: &[(f64, f64)], negligible: f64) {
        let real = || returns.iter().map(|(real, _)| *real);
        let highest = real().fold(f64::NEG_INFINITY, f64::max);
        let lowest = real().fold(f64::INFINITY, f64::min);
        if highest - lowest <= negligible {
            return;
        }
        let first = returns.iter().fold(None, |best: Option<(f64, f64)>, &this| match best {
            Some(best) if best.1 >= this.1 => Some(best),
            _ => Some(this),
        });
        if let Some((real, _)) = first {
            self.of(Measure::BestAction).count(real >= highest - negligible);
        }
    }

    pub(super) fn of(&mut self, measure: Measure) -> &mut Ratio {
        &mut self.0[measure as usize]
    }

    /// Counts whether something was claimed, and whether it was so.
    pub(super) fn claim(&mut self, [precision, recall]: [Measure; 2], claimed: bool, real: bool) {
        if claimed {
            self.of(precision).count(real);
        }
        if real {
            self.of(recall).count(claimed);
        }
    }

    /// Adds the parts of others.
    pub fn add(&mut self, other: &Self) {
        for (sum, ratio) in self.0.iter_mut().zip(&other.0) {
            sum.add(*ratio);
        }
    }
}

/// A score and its 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The score over all cases.
    pub value: f64,
    /// The lower and upper end of the interval; `None` of fewer than five episodes.
    pub interval: Option<[f64; 2]>,
    /// What a share is a share of: claims, changes, cases or states. For an error, the sum of the real
    /// sizes.
    pub whole: f64,
}

/// The scores of one source of claims.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scores([Option<Score>; Measure::ALL.len()]);

impl Scores {
    /// A score; `None` where there was nothing to score.
    #[must_use]
    pub fn get(&self, measure: Measure) -> Option<Score> {
        self.0[measure as usize]
    }

    /// The value of a score; `None` where there was nothing to score.
    #[must_use]
    pub fn value(&self, measure: Measure) -> Option<f64> {
        self.get(measure).map(|score| score.value)
    }

    /// The scores of cases, each with its episode. Episodes are the units of the intervals: cases of one
    /// episode are not independent.
    #[must_use]
    pub fn of(cases: &[(usize, Sums)], seed: u64) -> Self {
        let mut cases = cases.to_vec();
        cases.sort_by_key(|(episode, _)| *episode);
        let episodes: Vec<Sums> = cases
            .chunk_by(|left, right| left.0 == right.0)
            .map(|group| {
                let mut sums = Sums::default();
                for (_, case) in group {
                    sums.add(case);
                }
                sums
            })
            .collect();
        let mut total = Sums::default();
        for sums in &episodes {
            total.add(sums);
        }
        let mut stream = Stream::keyed(seed, &[9]);
        let mut resampled: [Vec<f64>; Measure::ALL.len()] = Default::default();
        for _ in 0..RESAMPLES {
            let mut sums = Sums::default();
            for _ in 0..episodes.len() {
                sums.add(&episodes[stream.below(episodes.len())]);
            }
            for (values, ratio) in resampled.iter_mut().zip(sums.0) {
                values.extend(ratio.value());
            }
        }
        let mut scores = Self::default();
        for (measure, values) in Measure::ALL.into_iter().zip(&mut resampled) {
            let at = measure as usize;
            let units = episodes.iter().filter(|sums| sums.0[at].whole > 0.0).count();
            scores.0[at] = total.0[at].value().map(|value| {
                let interval =
                    (units >= MIN_EPISODES).then(|| interval(values, value, measure, units));
                Score { value, interval, whole: total.0[at].whole }
            });
        }
        scores
    }
}

/// The interval of a score, from its resamples.
fn interval(values: &mut [f64], value: f64, measure: Measure, units: usize) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    let quantile = |share: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        let at = (share * (values.len().max(1) - 1) as f64).round() as usize;
        values.get(at).copied().unwrap_or(value)
    };
    let (mut low, mut high) = (quantile(TAIL), quantile(1.0 - TAIL));
    if measure.is_share() {
        // If all episodes are right, so are all resamples. But an episode may still be wrong as often as
        // would be missed in this many with a probability of `TAIL`.
        let unseen = 1.0 - TAIL.powf(1.0 / units.max(1) as f64);
        if value >= 1.0 {
            low = low.min(1.0 - unseen);
        }
        if value <= 0.0 {
            high = high.max(unseen);
        }
    }
    [low.min(value), high.max(value)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(right: usize, cases: usize) -> Sums {
        let mut sums = Sums::default();
        (0..cases).for_each(|case| sums.of(Measure::Sign).count(case < right));
        sums
    }

    #[test]
    fn intervals_hold_the_truth_about_as_often_as_they_say() {
        // Episodes of ten cases that are all right or all wrong: counting cases would give intervals a
        // third as wide.
        let mut stream = Stream::new(5);
        let mut held = 0;
        for repetition in 0..200 {
            let cases: Vec<(usize, Sums)> = (0..60)
                .flat_map(|episode| {
                    let right = usize::from(stream.unit() < 0.7);
                    (0..10).map(move |_| (episode, sums(right, 1)))
                })
                .collect();
            let score = Scores::of(&cases, repetition).get(Measure::Sign).expect("cases");
            let [low, high] = score.interval.expect("enough episodes");
            held += usize::from(low <= 0.7 && 0.7 <= high);
        }
        assert!((165..=195).contains(&held), "{held} of 200, expected about 180");
    }

    #[test]
    fn a_perfect_score_of_few_episodes_is_not_certain() {
        let cases: Vec<(usize, Sums)> = (0..20).map(|episode| (episode, sums(1, 1))).collect();
        let score = Scores::of(&cases, 0).get(Measure::Sign).expect("cases");
        let [low, high] = score.interval.expect("enough episodes");
        assert_eq!((score.value, high), (1.0, 1.0));
        assert!((low - 0.05_f64.powf(0.05)).abs() < 1e-12, "{score:?}");
        let few = Scores::of(&cases[..4], 0).get(Measure::Sign).expect("cases");
        assert_eq!(few.interval, None);
    }

    #[test]
    fn claiming_nothing_has_no_precision_and_no_recall() {
        let mut silent = Sums::default();
        silent.claim([Measure::Precision, Measure::Recall], false, true);
        let scores = Scores::of(&[(0, silent)], 0);
        assert_eq!(scores.value(Measure::Precision), None);
        assert_eq!(scores.value(Measure::Recall), Some(0.0));
    }
}

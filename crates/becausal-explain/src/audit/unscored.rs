//! What cannot be scored before it is known how wide intervals have to be.

use super::findings::{Findings, Source};
use super::score::Measure;
use crate::calibration::{Calibration, Quantity};
use crate::contrast::{Agreement, Certainty};

/// A finding whose score depends on how wide intervals are.
#[derive(Debug, Clone)]
pub(super) enum Unscored {
    /// The interval of a number leaves nothing open, and the number is right up to a negligible error or not.
    Exact { is_right: bool },
    /// The interval of a number holds the real one if it is stretched by at least this.
    Held { quantity: Quantity, stretch: f64 },
    /// The change of an effect is told if intervals are stretched by less than this. It is right if it happened, in the
    /// direction told.
    Told { effect: usize, up_to: f64, is_right: bool },
    /// How sure the sign of a reward difference is, and whether it is right.
    Sign { agreement: Agreement, is_right: bool },
}

impl Findings {
    /// Scores what depends on how wide intervals are.
    pub fn score(&mut self, calibration: &Calibration) {
        for unscored in std::mem::take(&mut self.unscored) {
            let sums = &mut self.sources[Source::Explanations as usize];
            match unscored {
                Unscored::Held { quantity, stretch } => {
                    let [held, raw] = match quantity {
                        Quantity::Reward => [Measure::WorthHeld, Measure::WorthHeldRaw],
                        Quantity::Effect(_) => [Measure::ValueHeld, Measure::ValueHeldRaw],
                    };
                    sums.of(held).count(stretch <= calibration.factor(quantity));
                    sums.of(raw).count(stretch <= 1.0);
                }
                Unscored::Exact { is_right } => sums.of(Measure::Exact).count(is_right),
                Unscored::Told { effect, up_to, is_right } => {
                    if calibration.factor(Quantity::Effect(effect)) < up_to {
                        sums.of(Measure::Told).count(is_right);
                    }
                }
                Unscored::Sign { mut agreement, is_right } => {
                    let probability = agreement.probability(calibration.factor(Quantity::Reward));
                    sums.of(Measure::when(Certainty::of(probability))).count(is_right);
                }
            }
        }
    }

    /// By what factors intervals would have to be stretched to hold what is real.
    fn stretches(&self) -> impl Iterator<Item = (Quantity, f64)> {
        self.unscored.iter().filter_map(|unscored| match unscored {
            Unscored::Held { quantity, stretch } => Some((*quantity, *stretch)),
            _ => None,
        })
    }
}

/// Parts of the episodes, each of which is scored with what the others teach. Of two parts each teaches with half of the
/// cases, and what it teaches is further from what all of them teach: intervals of AimTest's values then held 0.826 (seed
/// 333), with ten parts 0.888.
const FOLDS: usize = 10;

/// Learns how wide intervals have to be, and scores every finding with what was learned from episodes other than its own.
/// `drawn` are the findings of states drawn in one or several ways. Returns what all of them teach.
pub(super) fn cross_fit(drawn: &mut [&mut [Findings]], effects: usize) -> Calibration {
    let all = drawn.iter().flat_map(|findings| findings.iter());
    let mut episodes: Vec<usize> = all.map(|found| found.episode).collect();
    episodes.sort_unstable();
    episodes.dedup();
    // Episodes go to the parts in turn.
    let fold =
        |found: &Findings| episodes.partition_point(|&episode| episode < found.episode) % FOLDS;
    let learned = |teaches: &dyn Fn(&Findings) -> bool| {
        let stretches = |findings: &&mut [Findings]| -> Vec<(Quantity, f64)> {
            let teachers = findings.iter().filter(|found| teaches(found));
            teachers.flat_map(Findings::stretches).collect()
        };
        Calibration::of(&drawn.iter().map(stretches).collect::<Vec<_>>(), effects)
    };
    let by_others: Vec<Calibration> =
        (0..FOLDS).map(|own| learned(&|found| fold(found) != own)).collect();
    let by_all = learned(&|_| true);
    for found in drawn.iter_mut().flat_map(|findings| findings.iter_mut()) {
        found.score(&by_others[fold(found)]);
    }
    by_all
}

#[cfg(test)]
mod tests {
    use super::super::score::Sums;
    use super::*;
    use becausal_core::Stream;

    /// Findings of an episode whose reward differences have a standard deviation, while their intervals are made as
    /// if it were 1.
    fn findings(episode: usize, deviation: f64, stream: &mut Stream) -> Findings {
        let said = crate::interval::Interval { low: -1.645, median: 0.0, high: 1.645 };
        let held = (0..5).map(|_| Unscored::Held {
            quantity: Quantity::Reward,
            stretch: said.stretch_to(deviation * stream.normal()),
        });
        Findings { unscored: held.collect(), ..Findings::empty(episode) }
    }

    fn share(findings: &[Findings], measure: Measure) -> f64 {
        let mut sums = Sums::default();
        for found in findings {
            sums.add(&found.sources[Source::Explanations as usize]);
        }
        let ratio = sums.of(measure);
        ratio.part / ratio.whole
    }

    #[test]
    fn intervals_that_are_too_narrow_or_too_wide_come_to_hold_nine_in_ten() {
        let mut stream = Stream::new(4);
        for (deviation, raw) in [(2.0, 0.589), (1.0, 0.9), (0.5, 0.999)] {
            let of_episode = |episode| findings(episode, deviation, &mut stream);
            let mut all: Vec<Findings> = (0..400).map(of_episode).collect();
            let calibration = cross_fit(&mut [&mut all], 0);
            let factor = calibration.factor(Quantity::Reward);
            assert!((factor / deviation - 1.0).abs() < 0.1, "{deviation}: {factor}");
            // Three standard errors of 2,000 numbers are 0.02, of the factor's quantile as much again.
            let held = share(&all, Measure::WorthHeld);
            assert!((held - 0.9).abs() < 0.03, "{deviation}: {held}");
            let as_drawn = share(&all, Measure::WorthHeldRaw);
            assert!((as_drawn - raw).abs() < 0.04, "{deviation}: {as_drawn}");
        }
    }

    #[test]
    fn no_episode_teaches_its_own_scores() {
        // Only one part of the episodes has large errors: what the others teach cannot hold them.
        let mut stream = Stream::new(5);
        let is_wild = |episode: usize| episode % FOLDS == 3;
        let mut of_episode =
            |episode| findings(episode, if is_wild(episode) { 50.0 } else { 1.0 }, &mut stream);
        let mut all: Vec<Findings> = (0..400).map(&mut of_episode).collect();
        cross_fit(&mut [&mut all], 0);
        let (wild, tame): (Vec<Findings>, Vec<Findings>) =
            all.into_iter().partition(|found| is_wild(found.episode));
        assert!(share(&wild, Measure::WorthHeld) < 0.1);
        assert!(share(&tame, Measure::WorthHeld) > 0.9);
    }

    #[test]
    fn what_is_told_and_how_sure_it_is_follow_the_factor() {
        let told = Unscored::Told { effect: 0, up_to: 1.5, is_right: true };
        let mut narrow = Findings { unscored: vec![told.clone()], ..Findings::empty(0) };
        let mut wide = narrow.clone();
        narrow.score(&Calibration::new(None, vec![Some(1.4)]).expect("sound"));
        wide.score(&Calibration::new(None, vec![Some(1.6)]).expect("sound"));
        let count = |found: &mut Findings, measure| found.sources[0].of(measure).whole;
        assert_eq!([&mut narrow, &mut wide].map(|found| count(found, Measure::Told)), [1.0, 0.0]);
    }
}

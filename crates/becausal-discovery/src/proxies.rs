//! Suspected edges, which are asked about again with better models.
//!
//! A weak cause, or one that the other inputs mostly explain (a proxy), may seem to act because the model of the
//! others is imperfect.

use rayon::prelude::*;

use super::auto::Engine;
use super::finding::Finding;
use super::fold::Effort;
use super::gains::Gain;
use super::question::{Answer, Question};
use becausal_core::progress::Tracker;

/// A cause may be a proxy if the other inputs leave less than this share of its variance unexplained.
const MAX_PROXY_UNEXPLAINED: f64 = 0.35;

/// A cause is flagged only if thorough learning leaves less than this share of its gain with a quarter
/// of the rows. Chosen on the probes, the calibration and CartPole; see docs/discovery.md.
const MAX_SHARE_OF_QUARTER_GAIN: f64 = 0.35;

/// It must also leave less than this share of the usual gain. Chosen in the same way.
const MAX_SHARE_OF_USUAL_GAIN: f64 = 0.75;

/// Residual variances that a split of a thorough model's tree must remove. No single split reveals a product, so
/// splits that may be due to chance are allowed, and the next split can reveal it.
const THOROUGH_SPLIT_GAIN: f64 = 6.0;

impl Engine<'_> {
    /// Asks about suspected edges again: with a quarter of the rows, and more thoroughly with all of them.
    /// An edge must also be one with the thorough models, so the larger p-value and the smaller strength
    /// count. The gain of a real cause stays. That of a proxy shrinks the better the model knows the others:
    /// if it shrinks much, the pair is flagged. The rows are those that decided. `usual` are the losses of
    /// each target with all inputs, in every part; `remembered` are the outputs with signs of a hidden state.
    pub(super) fn examine_proxies(
        &self,
        pairs: &mut [Vec<Finding>],
        unexplained: &[f64],
        usual: &[Vec<f64>],
        remembered: &[bool],
        watch: &Tracker<'_>,
    ) {
        let thresholds = &self.frame.thresholds;
        let may_stand_in = |input: usize| unexplained[input] < MAX_PROXY_UNEXPLAINED;
        let suspected = |output: usize, input: usize| {
            let pair: &Finding = &pairs[output][input];
            let is_weak = pair.gain.strength < thresholds.min_special_strength;
            pair.gain.is_edge(thresholds) && (is_weak || may_stand_in(input))
        };
        let suspects: Vec<Vec<usize>> = (0..pairs.len())
            .map(|output| (0..unexplained.len()).filter(|&i| suspected(output, i)).collect())
            .collect();
        if suspects.iter().all(Vec::is_empty) {
            return;
        }
        let count = self.allowed.iter().map(Vec::len).sum::<usize>() as f64;
        let asked = self.owners.iter().filter(|&&output| !suspects[output].is_empty()).count();
        let watch = watch.next("check for proxies", "targets", 2 * asked);
        let ask = |effort: Effort, min_split_gain: f64| -> Vec<Option<Answer>> {
            let folds = self.folds(effort, &watch);
            let indices = (0..self.owners.len()).into_par_iter();
            let asked = indices.map(|index| {
                let output = self.owners[index];
                if suspects[output].is_empty() || watch.is_stopped() {
                    return None;
                }
                let drops: Vec<Vec<usize>> = suspects[output].iter().map(|&i| vec![i]).collect();
                let question = self.question(index, &self.allowed[output], &drops, &folds, &watch);
                let answer = Question { min_split_gain, ..question }.answer();
                watch.advance(1.0, &self.frame.outputs[output].name);
                Some(answer)
            });
            asked.collect()
        };
        let little = ask(Effort::Quarter, thresholds.min_screening_score.powi(2));
        let much = ask(Effort::Thorough, THOROUGH_SPLIT_GAIN);
        if watch.is_stopped() {
            return;
        }
        // For each suspect, the gain with thorough models.
        let mut thorough: Vec<Vec<Gain>> =
            suspects.iter().map(|suspects| vec![Gain::NOTHING; suspects.len()]).collect();
        for (index, answers) in little.into_iter().zip(much).enumerate() {
            let (Some(little), Some(much)) = answers else { continue };
            let output = self.owners[index];
            let elements = self.elements(output);
            for (place, &input) in suspects[output].iter().enumerate() {
                let pair = &mut pairs[output][input];
                let part = pair.gain.part;
                let [little, much] = [&little, &much].map(|answer| &answer.parts[part]);
                let gain = much.of_drops[place];
                // Predicting the mean gives a loss of the variance; no model needs to be worse.
                let before = little.of_drops[place].size.min(little.variance - little.loss);
                let usual_gain = pair.gain.size;
                let remaining = usual_gain.min(much.loss + gain.size - usual[index][part]);
                let limit =
                    (MAX_SHARE_OF_QUARTER_GAIN * before).min(MAX_SHARE_OF_USUAL_GAIN * usual_gain);
                pair.proxy |= remaining < limit && may_stand_in(input);
                let gain = Gain { p: gain.p * elements, ..gain };
                let found = &mut thorough[output][place];
                *found = found.or(gain, thresholds);
            }
        }
        for (output, (suspects, thorough)) in suspects.iter().zip(thorough).enumerate() {
            for (&input, thorough) in suspects.iter().zip(thorough) {
                let pair = &mut pairs[output][input];
                pair.gain.p = pair.gain.p.max(thorough.p);
                pair.gain.strength = pair.gain.strength.min(thorough.strength);
                // Of many pairs some seem weakly related by chance, and what is weak, or what only a group of rows shows,
                // may be the error of a model, or stand for a state that is not in the log.
                let is_weak = pair.gain.strength < thresholds.min_special_strength;
                if is_weak {
                    pair.gain.p = (pair.gain.p * count).min(1.0);
                }
                let is_stand_in = pair.proxy && (is_weak || pair.gain.part > 0);
                if is_stand_in || is_weak && remembered[output] {
                    pair.gain.strength = 0.0;
                }
                // What is too weak for an edge needs no flag.
                pair.proxy &= pair.gain.strength >= thresholds.min_strength;
            }
        }
    }
}

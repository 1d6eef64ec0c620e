//! Causes that may only stand for others.

use rayon::prelude::*;

use super::auto::Engine;
use super::boost::Growth;
use super::finding::Finding;
use super::fold::Effort;
use super::question::Question;

/// A cause that the other inputs explain to more than this share may be a proxy.
const PROXY_UNEXPLAINED: f64 = 0.35;

/// A gain is shrinking when, the more is learned, it falls below this part of that with a quarter of
/// the rows.
const SHRINKING: f64 = 0.35;

/// It is still shrinking when learning more than usual leaves less than this part of it.
const STILL: f64 = 0.75;

impl Engine<'_> {
    /// Learns again with a quarter of the rows, and with all of them more thoroughly: what a real
    /// cause gains stays, what a stand-in for others gains shrinks the better the others are
    /// understood. `usual` are the losses with all inputs.
    pub(super) fn flag_proxies(
        &self,
        pairs: &mut [Vec<Finding>],
        unexplained: &[f64],
        usual: &[f64],
    ) {
        let suspected = |output: usize, input: usize| {
            let pair: &Finding = &pairs[output][input];
            pair.p <= 0.05 && unexplained[input] < PROXY_UNEXPLAINED
        };
        let suspects: Vec<Vec<usize>> = (0..pairs.len())
            .map(|output| (0..unexplained.len()).filter(|&i| suspected(output, i)).collect())
            .collect();
        if suspects.iter().all(Vec::is_empty) {
            return;
        }
        let losses = |effort: Effort, growth: Growth| -> Vec<(f64, Vec<f64>)> {
            let folds = self.folds(effort);
            let indices = (0..self.owners.len()).into_par_iter();
            let asked = indices.map(|index| {
                let output = self.owners[index];
                if suspects[output].is_empty() {
                    return (0.0, Vec::new());
                }
                let drops: Vec<Vec<usize>> = suspects[output].iter().map(|&i| vec![i]).collect();
                let question = self.question(index, &self.allowed[output], &drops, &folds);
                Question { growth, ..question }.losses()
            });
            asked.collect()
        };
        let little = losses(Effort::Quarter, self.growth);
        let much = losses(Effort::Thorough, Growth::thorough());
        for (index, ((with, little), (_, much))) in little.into_iter().zip(much).enumerate() {
            let output = self.owners[index];
            let variance = self.targets[index].variance(self.frame);
            for (place, &input) in suspects[output].iter().enumerate() {
                let pair = &mut pairs[output][input];
                // No model need be worse than one that knows nothing.
                let before = little[place].min(variance) - with;
                let left = pair.gain.min(much[place] - usual[index]);
                pair.proxy |= left < (SHRINKING * before).min(STILL * pair.gain);
            }
        }
    }
}

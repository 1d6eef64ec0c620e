//! `auto`: how much worse is an effect predicted, on episodes never learned from, without a cause?
//!
//! Two folds of whole episodes; on each a ridge regression on one basis for all effects, then
//! boosted trees on what it leaves over; both again without each cause. The differences of squared
//! errors are summed by episode, and a t test over the episodes asks whether they exceed a small
//! margin.

use rayon::prelude::*;

use super::bins::Bins;
use super::finding::{Finding, Findings};
use super::fold::Fold;
use super::frame::Frame;
use super::question::{Gain, Question};
use super::target::Target;
use super::watch::Watch;

/// Inputs that leave less than this share of each other's variance are copies.
const COPY: f64 = 1e-3;

/// Rows by which copies are recognised.
const COMPARED: usize = 20_000;

/// A cause that the other inputs explain to more than this share may be a proxy.
const PROXY_UNEXPLAINED: f64 = 0.5;

/// A gain is shrinking when it is below this part of that with a quarter of the rows.
const SHRINKING: f64 = 0.35;

/// Rows below which a quarter of them tells nothing.
const QUARTERED: usize = 1000;

/// Tests the pairs of `allowed[output]`, conditioning on these inputs only.
pub(super) fn auto(frame: &Frame, allowed: &[Vec<usize>], watch: &Watch<'_>) -> Findings {
    let engine = Engine::new(frame, allowed);
    let folds = engine.folds(1.0);
    let mut pairs = engine.pairs(&folds, watch);
    if watch.is_stopped() {
        return Findings { pairs, unexplained: None };
    }
    let unexplained = engine.unexplained(&folds);
    drop(folds);
    if frame.rows() >= QUARTERED {
        engine.flag_proxies(&mut pairs, &unexplained);
    }
    Findings { pairs, unexplained: Some(unexplained) }
}

struct Engine<'a> {
    frame: &'a Frame,
    allowed: &'a [Vec<usize>],
    bins: Bins,
    /// Those of the outputs first, then those of the inputs.
    targets: Vec<Target>,
    /// The output of each of the first targets.
    owners: Vec<usize>,
    /// Rows in each unit.
    sizes: Vec<f64>,
    /// For each input another one that is nearly the same.
    copies: Vec<Option<usize>>,
}

impl<'a> Engine<'a> {
    fn new(frame: &'a Frame, allowed: &'a [Vec<usize>]) -> Self {
        let mut targets = Vec::new();
        let mut owners = Vec::new();
        for (output, allowed) in allowed.iter().enumerate() {
            if !allowed.is_empty() {
                targets.extend(Target::of_output(frame, output));
                owners.resize(targets.len(), output);
            }
        }
        for input in 0..frame.inputs.len() {
            targets.extend(Target::of_input(frame, input));
        }
        Self {
            frame,
            allowed,
            bins: Bins::of(&frame.u),
            targets,
            owners,
            sizes: frame.units.sizes(),
            copies: copies(frame),
        }
    }

    /// Learning on a share of either fold, judging on the other.
    fn folds(&self, share: f64) -> [Fold; 2] {
        let fold = |number| Fold::new(self.frame, &self.targets, number, share);
        let (first, second) = rayon::join(|| fold(0), || fold(1));
        [first, second]
    }

    fn question<'q>(
        &'q self,
        index: usize,
        allowed: &'q [usize],
        drops: &'q [Vec<usize>],
        folds: &'q [Fold; 2],
    ) -> Question<'q> {
        Question {
            frame: self.frame,
            folds,
            bins: &self.bins,
            sizes: &self.sizes,
            target: &self.targets[index],
            index,
            allowed,
            drops,
            range: self.targets[index].range(self.frame),
        }
    }

    /// Tests every pair; a vector or a category is as significant as its best element, times
    /// their number (Bonferroni).
    fn pairs(&self, folds: &[Fold; 2], watch: &Watch<'_>) -> Vec<Vec<Finding>> {
        let frame = self.frame;
        let tested: Vec<Option<Vec<Finding>>> = (0..self.owners.len())
            .into_par_iter()
            .map(|index| {
                if watch.is_stopped() {
                    return None;
                }
                let output = self.owners[index];
                let allowed = &self.allowed[output];
                let drops = self.drops(allowed);
                let question = self.question(index, allowed, &drops, folds);
                let answer = question.answer();
                let spread = question.spread(&answer);
                let elements = self.owners.iter().filter(|&&owner| owner == output).count() as f64;
                let cause = allowed.last().map_or("", |&input| frame.inputs[input].name.as_str());
                let effect = &frame.outputs[output].name;
                watch.advance(allowed.len() as f64 / elements, cause, effect);
                let gains = combine(&answer.gains, spread.as_deref());
                Some(findings(allowed, &drops, &gains, elements))
            })
            .collect();
        let mut pairs = vec![vec![Finding::NOTHING; frame.inputs.len()]; frame.outputs.len()];
        for (findings, &output) in tested.into_iter().zip(&self.owners) {
            let Some(findings) = findings else {
                for &input in &self.allowed[output] {
                    pairs[output][input] = Finding::INTERRUPTED;
                }
                continue;
            };
            for (&input, finding) in self.allowed[output].iter().zip(findings) {
                let pair = &mut pairs[output][input];
                if pair.interrupted {
                    continue;
                }
                pair.copy = pair.copy.or(finding.copy);
                pair.strength = pair.strength.max(finding.strength);
                pair.gain = pair.gain.max(finding.gain);
                pair.p = pair.p.min(finding.p);
            }
        }
        pairs
    }

    /// Each input alone, then those that have a copy together with it.
    fn drops(&self, allowed: &[usize]) -> Vec<Vec<usize>> {
        let alone = allowed.iter().map(|&input| vec![input]);
        let together = allowed.iter().filter_map(|&input| {
            self.copies[input].filter(|copy| allowed.contains(copy)).map(|copy| vec![input, copy])
        });
        alone.chain(together).collect()
    }

    /// The share of each input that the others leave unexplained; of several columns the largest.
    fn unexplained(&self, folds: &[Fold; 2]) -> Vec<f64> {
        let inputs = self.frame.inputs.len();
        let shares: Vec<(usize, f64)> = (self.owners.len()..self.targets.len())
            .into_par_iter()
            .filter_map(|index| {
                let own = self.targets[index].own_input()?;
                let others: Vec<usize> = (0..inputs).filter(|&input| input != own).collect();
                Some((own, self.question(index, &others, &[], folds).answer().unexplained))
            })
            .collect();
        let mut unexplained = vec![0.0_f64; inputs];
        for (input, share) in shares {
            unexplained[input] = unexplained[input].max(share);
        }
        unexplained
    }

    /// Learns again with a quarter of the rows: what a real cause gains stays, what a stand-in for
    /// others gains shrinks the better the others are understood.
    fn flag_proxies(&self, pairs: &mut [Vec<Finding>], unexplained: &[f64]) {
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
        let folds = self.folds(0.25);
        let gains: Vec<(usize, Vec<Gain>)> = (0..self.owners.len())
            .into_par_iter()
            .filter(|&index| !suspects[self.owners[index]].is_empty())
            .map(|index| {
                let output = self.owners[index];
                let drops: Vec<Vec<usize>> = suspects[output].iter().map(|&i| vec![i]).collect();
                let question = self.question(index, &self.allowed[output], &drops, &folds);
                (output, question.answer().gains)
            })
            .collect();
        for (output, gains) in gains {
            for (&input, quarter) in suspects[output].iter().zip(gains) {
                let pair = &mut pairs[output][input];
                pair.proxy |= pair.gain < SHRINKING * quarter.size;
            }
        }
    }
}

/// What the gains of the drops tell about each allowed input.
fn findings(
    allowed: &[usize],
    drops: &[Vec<usize>],
    gains: &[Gain],
    elements: f64,
) -> Vec<Finding> {
    let together = |input: usize| {
        let found = drops.iter().position(|drop| drop.len() == 2 && drop[0] == input);
        found.filter(|&drop| gains[drop].p * elements <= 0.01).map(|drop| drops[drop][1])
    };
    allowed
        .iter()
        .zip(gains)
        .map(|(&input, gain)| Finding {
            p: (gain.p * elements).min(1.0),
            strength: gain.strength,
            gain: gain.size,
            copy: together(input),
            ..Finding::NOTHING
        })
        .collect()
}

/// Either the mean or the spread of the effect changes: the better of two tests, times two.
fn combine(mean: &[Gain], spread: Option<&[Gain]>) -> Vec<Gain> {
    let Some(spread) = spread else { return mean.to_vec() };
    mean.iter()
        .zip(spread)
        .map(|(mean, spread)| {
            let p = (2.0 * mean.p.min(spread.p)).min(1.0);
            let better = if spread.p < mean.p { spread } else { mean };
            Gain { p, size: mean.size, strength: better.strength }
        })
        .collect()
}

/// For each input the one that it resembles most, if they are nearly the same.
fn copies(frame: &Frame) -> Vec<Option<usize>> {
    let step = frame.rows().div_ceil(COMPARED).max(1);
    let differ = |one: usize, other: usize| {
        let (one, other) = (&frame.u[one], &frame.u[other]);
        if one.constant || other.constant {
            return if one.constant && other.constant { 0.0 } else { 1.0 };
        }
        let rows = (0..frame.rows()).step_by(step);
        let count = rows.clone().count().max(1) as f64;
        let product: f64 = rows.map(|row| one.standard(row) * other.standard(row)).sum();
        let correlation = product / count;
        1.0 - correlation * correlation
    };
    let inputs = frame.inputs.len();
    (0..inputs)
        .map(|input| {
            let columns = &frame.inputs[input].columns;
            (0..inputs)
                .filter(|&other| other != input && !frame.input_is_constant(input))
                .filter(|&other| frame.inputs[other].columns.len() == columns.len())
                .map(|other| {
                    let pairs = columns.iter().zip(&frame.inputs[other].columns);
                    (pairs.map(|(&a, &b)| differ(a, b)).fold(0.0, f64::max), other)
                })
                .filter(|&(difference, _)| difference < COPY)
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .map(|(_, other)| other)
        })
        .collect()
}

//! `auto`: how much worse is an effect predicted, on episodes never learned from, without a cause?
//!
//! Two folds of whole episodes; on each a ridge regression on one basis for all effects, then
//! boosted trees on what it leaves over; both again without each cause. The differences of squared
//! errors are summed by episode, and a t test over the episodes asks whether they exceed a small
//! margin.

use rayon::prelude::*;

use super::bins::Bins;
use super::boost::Growth;
use super::copies::copies;
use super::extremes::{Extremes, Hint, Rests, memory};
use super::finding::{Finding, Findings};
use super::fold::{Effort, Fold};
use super::frame::Frame;
use super::question::{Answer, Gain, Question};
use super::remainder::Parts;
use super::target::Target;
use becausal_core::progress::Tracker;
use becausal_core::schema::Role;

/// An influence may act only under a label of an action, or of a state whose own p-value is at most
/// this.
const GATE: f64 = 0.2;

/// Rows below which a quarter of them tells nothing.
const QUARTERED: usize = 1000;

/// Tests the pairs of `allowed[output]`, conditioning on these inputs only.
pub(super) fn auto(frame: &Frame, allowed: &[Vec<usize>], watch: &Tracker<'_>) -> Findings {
    let engine = Engine::new(frame, allowed);
    let folds = engine.folds(Effort::Usual);
    let others = engine.others(&folds);
    let unexplained = others.unexplained.clone();
    let (mut pairs, losses) = engine.pairs(&folds, &others, watch);
    drop(folds);
    if frame.rows() >= QUARTERED && !watch.is_stopped() {
        engine.flag_proxies(&mut pairs, &unexplained, &losses);
    }
    Findings { pairs, unexplained: Some(unexplained), valid: true }
}

/// What all questions about some rows share.
pub(super) struct Engine<'a> {
    pub frame: &'a Frame,
    pub allowed: &'a [Vec<usize>],
    bins: Bins,
    /// Those of the outputs first, then those of the inputs.
    pub targets: Vec<Target>,
    /// The output of each of the first targets.
    pub owners: Vec<usize>,
    /// Rows in each unit.
    sizes: Vec<f64>,
    /// For each input another one that is nearly the same.
    copies: Vec<Option<usize>>,
    /// The rows at the ends of the inputs' ranges.
    extremes: Extremes,
    pub growth: Growth,
}

/// What the other inputs tell of each input.
struct Others {
    /// The share that they leave unexplained; of several columns the largest.
    unexplained: Vec<f64>,
    /// For each column or label of each input what they leave over at the ends, and how long it
    /// remembers.
    rests: Vec<Vec<(Rests, usize)>>,
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
            extremes: Extremes::of(frame),
            growth: Growth::for_columns(frame.u.len()),
        }
    }

    /// Learning on either fold, judging on the other.
    pub(super) fn folds(&self, effort: Effort) -> [Fold; 2] {
        let fold = |number| Fold::new(self.frame, &self.targets, number, effort);
        let (first, second) = rayon::join(|| fold(0), || fold(1));
        [first, second]
    }

    /// What is asked about a target, by its number.
    pub(super) fn question<'q>(
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
            growth: self.growth,
            extremes: &self.extremes,
        }
    }

    /// Tests every pair; a vector or a category is as significant as its best element, times
    /// their number (Bonferroni).
    fn pairs(
        &self,
        folds: &[Fold; 2],
        others: &Others,
        watch: &Tracker<'_>,
    ) -> (Vec<Vec<Finding>>, Vec<f64>) {
        let frame = self.frame;
        let tested: Vec<Option<(Vec<Finding>, f64)>> = (0..self.owners.len())
            .into_par_iter()
            .map(|index| {
                if watch.is_stopped() {
                    return None;
                }
                let output = self.owners[index];
                let allowed = &self.allowed[output];
                let elements = self.owners.iter().filter(|&&owner| owner == output).count() as f64;
                let found = self.ask(index, elements, folds, others);
                let cause = allowed.last().map_or("", |&input| frame.inputs[input].name.as_str());
                let effect = &frame.outputs[output].name;
                watch.advance(allowed.len() as f64 / elements, &format!("{cause} -> {effect}"));
                Some(found)
            })
            .collect();
        let mut pairs = vec![vec![Finding::NOTHING; frame.inputs.len()]; frame.outputs.len()];
        let mut losses = vec![0.0; self.owners.len()];
        for (index, (tested, &output)) in tested.into_iter().zip(&self.owners).enumerate() {
            let Some((findings, loss)) = tested else {
                for &input in &self.allowed[output] {
                    pairs[output][input] = Finding::INTERRUPTED;
                }
                continue;
            };
            losses[index] = loss;
            for (&input, finding) in self.allowed[output].iter().zip(findings) {
                let pair = &mut pairs[output][input];
                if pair.interrupted {
                    continue;
                }
                pair.copy = pair.copy.or(finding.copy);
                pair.strength = pair.strength.max(finding.strength);
                pair.gain = pair.gain.max(finding.gain);
                pair.p = pair.p.min(finding.p);
                if finding.hint.as_ref().map_or(1.0, |hint| hint.p)
                    < pair.hint.as_ref().map_or(1.0, |hint| hint.p)
                {
                    pair.hint = finding.hint;
                }
                pair.remainder = match (pair.remainder.take(), finding.remainder) {
                    (Some(one), Some(other)) => Some(one.with(other)),
                    (one, other) => one.or(other),
                };
            }
        }
        (pairs, losses)
    }

    /// What is found about one target, one of so many of its effect, and its loss with all inputs.
    fn ask(
        &self,
        index: usize,
        elements: f64,
        folds: &[Fold; 2],
        others: &Others,
    ) -> (Vec<Finding>, f64) {
        let allowed = &self.allowed[self.owners[index]];
        let drops = self.drops(allowed);
        let question = self.question(index, allowed, &drops, folds);
        let answer = question.answer();
        let spread = question.spread(&answer);
        let gains = combine(&answer.gains, spread.as_deref());
        let mut findings = findings(allowed, &drops, &gains, elements);
        self.hint(&mut findings, allowed, &answer, others, elements);
        let floor = question.floor();
        let parts = Parts::of(self.frame, &answer.residuals, answer.cut, floor);
        let p_values: Vec<f64> = findings.iter().map(|finding| finding.p).collect();
        let matters = |input: usize| {
            let place = allowed.iter().position(|&other| other == input);
            self.frame.inputs[input].role == Role::Action
                || place.is_some_and(|place| p_values[place] <= GATE)
        };
        for (finding, &cause) in findings.iter_mut().zip(allowed) {
            finding.remainder = parts.least(|input| input == cause || matters(input));
        }
        (findings, answer.loss)
    }

    /// Each input alone, then those that have a copy together with it.
    fn drops(&self, allowed: &[usize]) -> Vec<Vec<usize>> {
        let alone = allowed.iter().map(|&input| vec![input]);
        let together = allowed.iter().filter_map(|&input| {
            self.copies[input].filter(|copy| allowed.contains(copy)).map(|copy| vec![input, copy])
        });
        alone.chain(together).collect()
    }

    /// Asks the ends of the other inputs' ranges about each pair without clear evidence.
    fn hint(
        &self,
        findings: &mut [Finding],
        allowed: &[usize],
        answer: &Answer,
        others: &Others,
        elements: f64,
    ) {
        if answer.is_own_error() {
            return;
        }
        let rows = self.extremes.rows().iter();
        let rests: Vec<f64> = rows.map(|&row| answer.residuals[row as usize]).collect();
        let with_all = self.extremes.of_effect(&rests);
        let memory = self.memory(&answer.residuals);
        for ((finding, &input), without) in findings.iter_mut().zip(allowed).zip(&answer.without) {
            let own = (*without != rests).then(|| self.extremes.of_effect(without));
            let effect = own.as_ref().unwrap_or(&with_all);
            let tests = elements * others.rests[input].len() as f64;
            let apart = others.rests[input].iter().filter(|(_, other)| memory.min(*other) <= 1);
            finding.hint = apart
                .filter_map(|(cause, _)| self.extremes.hint(input, cause, effect))
                .min_by(|one, other| one.p.total_cmp(&other.p))
                .map(|hint| Hint { p: (hint.p * tests).min(1.0), ..hint });
        }
    }

    /// For how many units values remember, where units follow each other; else 0.
    ///
    /// Two things that change slowly seem to go together wherever one looks.
    fn memory(&self, values: &[f64]) -> usize {
        let units = &self.frame.units;
        let length = self.frame.rows() / units.count().max(1);
        if units.stretches { memory(values) / length.max(1) } else { 0 }
    }

    /// Predicts each input from the others.
    fn others(&self, folds: &[Fold; 2]) -> Others {
        let inputs = self.frame.inputs.len();
        let found: Vec<(usize, f64, (Rests, usize))> = (self.owners.len()..self.targets.len())
            .into_par_iter()
            .filter_map(|index| {
                let own = self.targets[index].own_input()?;
                let others: Vec<usize> = (0..inputs).filter(|&input| input != own).collect();
                let answer = self.question(index, &others, &[], folds).answer();
                let rows = self.extremes.rows().iter();
                let rests: Vec<f64> = rows.map(|&row| answer.residuals[row as usize]).collect();
                let memory = self.memory(&answer.residuals);
                Some((own, answer.unexplained, (self.extremes.of_cause(&rests), memory)))
            })
            .collect();
        let mut others = Others {
            unexplained: vec![0.0; inputs],
            rests: std::iter::repeat_with(Vec::new).take(inputs).collect(),
        };
        for (input, share, rests) in found {
            others.unexplained[input] = others.unexplained[input].max(share);
            others.rests[input].push(rests);
        }
        others
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

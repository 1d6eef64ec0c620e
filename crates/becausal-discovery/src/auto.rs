//! `auto`: is a cause needed to predict an effect on held-out episodes?
//!
//! The episodes are divided into two folds. On each fold the models of all effects are learned, and
//! every pair is tested on the other fold ([`Question`]).

use rayon::prelude::*;

use super::bins::Bins;
use super::copies::copies;
use super::extremes::{EndResiduals, Extremes, Hint, decorrelation_lag};
use super::finding::{Finding, Findings};
use super::fold::{Effort, Fold};
use super::frame::Frame;
use super::gains::{Gain, Gains};
use super::groups::varied;
use super::memory::is_remembered;
use super::question::{Answer, Question};
use super::remainder::Remainder;
use super::target::Target;
use becausal_core::progress::Tracker;

/// Tests the pairs of `allowed[output]`, conditioning on these inputs only.
pub(super) fn auto(frame: &Frame, allowed: &[Vec<usize>], watch: &Tracker<'_>) -> Findings {
    let sample = frame.sample(frame.thresholds.max_rows);
    let frame = sample.as_ref().unwrap_or(frame);
    let engine = Engine::new(frame, allowed);
    let folds = engine.folds(Effort::Usual, watch);
    let others = engine.others(&folds, watch);
    // What was asked while that was done.
    watch.advance(0.0, "");
    let unexplained = others.unexplained.clone();
    let (mut pairs, losses, remembered) = engine.pairs(&folds, &others, watch);
    drop(folds);
    if !watch.is_stopped() {
        engine.examine_proxies(&mut pairs, &unexplained, &losses, &remembered, watch);
    }
    Findings { pairs, unexplained: Some(unexplained), remembered, valid: true }
}

/// The data that all questions about some rows share.
pub(super) struct Engine<'a> {
    pub frame: &'a Frame,
    pub allowed: &'a [Vec<usize>],
    bins: Bins,
    /// The targets of the outputs, then those of the inputs.
    pub targets: Vec<Target>,
    /// The output that each of the first targets belongs to.
    pub owners: Vec<usize>,
    /// For each input, another one with nearly the same values.
    copies: Vec<Option<usize>>,
    /// The rows at the ends of the inputs' ranges.
    extremes: Extremes,
    /// `[group][input]`: what varies in the groups of rows.
    varied: Vec<Vec<bool>>,
}

/// What is found about one target.
struct OfTarget {
    /// About each allowed input.
    findings: Vec<Finding>,
    /// The loss with all inputs, in all rows and in the groups.
    losses: Vec<f64>,
    /// Whether the residuals show a hidden state.
    is_remembered: bool,
}

/// How well each input is predicted from the others.
struct Others {
    /// The unexplained share of each input's variance; of several columns the largest.
    unexplained: Vec<f64>,
    /// For each column or label of each input, its residuals at the ends, and their decorrelation
    /// time in units.
    residuals: Vec<Vec<(EndResiduals, usize)>>,
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
            copies: copies(frame),
            extremes: Extremes::of(frame),
            varied: varied(frame),
        }
    }

    /// The two folds: each is trained on once and held out once.
    pub(super) fn folds(&self, effort: Effort, watch: &Tracker<'_>) -> [Fold; 2] {
        let rows = 2 * Fold::rows_read(self.frame, effort);
        let watch = watch.next("discover", "rows", rows);
        let fold = |number| Fold::new(self.frame, &self.targets, number, effort, &watch);
        let (first, second) = rayon::join(|| fold(0), || fold(1));
        // The count was an estimate.
        watch.advance(rows as f64, "");
        [first, second]
    }

    /// The question about the target with this index.
    pub(super) fn question<'q>(
        &'q self,
        index: usize,
        allowed: &'q [usize],
        drops: &'q [Vec<usize>],
        folds: &'q [Fold; 2],
        watch: &'q Tracker<'q>,
    ) -> Question<'q> {
        Question {
            frame: self.frame,
            folds,
            bins: &self.bins,
            target: &self.targets[index],
            index,
            allowed,
            drops,
            min_split_gain: self.frame.thresholds.min_screening_score.powi(2),
            range: self.targets[index].range(self.frame),
            extremes: &self.extremes,
            varied: &self.varied,
            watch,
        }
    }

    /// Tests every pair; gives the findings, the losses of each target with all inputs in every part, and whether the
    /// residuals of each output show a hidden state. The p-value of a vector or a category is that of its
    /// best element times the number of elements (Bonferroni).
    fn pairs(
        &self,
        folds: &[Fold; 2],
        others: &Others,
        watch: &Tracker<'_>,
    ) -> (Vec<Vec<Finding>>, Vec<Vec<f64>>, Vec<bool>) {
        let frame = self.frame;
        let tested: Vec<Option<OfTarget>> = (0..self.owners.len())
            .into_par_iter()
            .map(|index| {
                if watch.is_stopped() {
                    return None;
                }
                let output = self.owners[index];
                let allowed = &self.allowed[output];
                let elements = self.elements(output);
                let found = self.ask(index, elements, folds, others, watch);
                let cause = allowed.last().map_or("", |&input| frame.inputs[input].name.as_str());
                let effect = &frame.outputs[output].name;
                watch.advance(allowed.len() as f64 / elements, &format!("{cause} -> {effect}"));
                Some(found)
            })
            .collect();
        let mut pairs = vec![vec![Finding::NOTHING; frame.inputs.len()]; frame.outputs.len()];
        let mut losses = vec![Vec::new(); self.owners.len()];
        let mut remembered = vec![false; frame.outputs.len()];
        for (index, (tested, &output)) in tested.into_iter().zip(&self.owners).enumerate() {
            let Some(tested) = tested else {
                for &input in &self.allowed[output] {
                    pairs[output][input] = Finding::INTERRUPTED;
                }
                continue;
            };
            losses[index] = tested.losses;
            remembered[output] |= tested.is_remembered;
            for (&input, finding) in self.allowed[output].iter().zip(tested.findings) {
                let pair = &mut pairs[output][input];
                if pair.interrupted {
                    continue;
                }
                pair.copy = pair.copy.or(finding.copy);
                pair.gain = pair.gain.or(finding.gain, &frame.thresholds);
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
        (pairs, losses, remembered)
    }

    /// The number of targets of an output.
    pub(super) fn elements(&self, output: usize) -> f64 {
        self.owners.iter().filter(|&&owner| owner == output).count() as f64
    }

    /// The findings about one target, its loss with all inputs in every part, and whether its residuals show a
    /// hidden state. `elements` is the number of targets of its effect.
    fn ask(
        &self,
        index: usize,
        elements: f64,
        folds: &[Fold; 2],
        others: &Others,
        watch: &Tracker<'_>,
    ) -> OfTarget {
        let allowed = &self.allowed[self.owners[index]];
        let drops = self.drops(allowed);
        let question = self.question(index, allowed, &drops, folds, watch);
        let answer = question.answer();
        let thresholds = &self.frame.thresholds;
        let gains: Vec<Gain> =
            (0..drops.len()).map(|drop| Gains::decisive(&answer.parts, drop, thresholds)).collect();
        let mut findings = findings(allowed, &drops, &gains, elements);
        self.hint(&mut findings, allowed, &answer, others, elements);
        let remainder = Remainder::of(self.frame, &answer.residuals, answer.clip, question.floor());
        for finding in &mut findings {
            finding.remainder = Some(remainder.clone());
        }
        let is_remembered = !answer.is_own_error(self.frame)
            && is_remembered(self.frame, &answer.residuals, answer.clip);
        let losses = answer.parts.iter().map(|part| part.loss).collect();
        OfTarget { findings, losses, is_remembered }
    }

    /// The drops: each input alone, then each input that has a copy together with the copy.
    fn drops(&self, allowed: &[usize]) -> Vec<Vec<usize>> {
        let alone = allowed.iter().map(|&input| vec![input]);
        let together = allowed.iter().filter_map(|&input| {
            self.copies[input].filter(|copy| allowed.contains(copy)).map(|copy| vec![input, copy])
        });
        alone.chain(together).collect()
    }

    /// Looks for hints of each pair at the ends of the other inputs' ranges.
    fn hint(
        &self,
        findings: &mut [Finding],
        allowed: &[usize],
        answer: &Answer,
        others: &Others,
        elements: f64,
    ) {
        if answer.is_own_error(self.frame) {
            return;
        }
        let rows = self.extremes.rows().iter();
        let residuals: Vec<f64> = rows.map(|&row| answer.residuals[row as usize]).collect();
        let with_all = self.extremes.of_effect(&residuals);
        let time = self.decorrelation_units(&answer.residuals);
        for ((finding, &input), without) in findings.iter_mut().zip(allowed).zip(&answer.without) {
            let own = (*without != residuals).then(|| self.extremes.of_effect(without));
            let effect = own.as_ref().unwrap_or(&with_all);
            let tests = elements * others.residuals[input].len() as f64;
            let independent =
                others.residuals[input].iter().filter(|(_, other)| time.min(*other) <= 1);
            finding.hint = independent
                .filter_map(|(cause, _)| self.extremes.hint(input, cause, effect))
                .min_by(|one, other| one.p.total_cmp(&other.p))
                .map(|hint| Hint { p: (hint.p * tests).min(1.0), ..hint });
        }
    }

    /// The number of units after which values are uncorrelated, where units are stretches of
    /// episodes; otherwise 0.
    ///
    /// Two series that change slowly seem to be correlated even if they are independent.
    fn decorrelation_units(&self, values: &[f64]) -> usize {
        let units = &self.frame.units;
        let length = self.frame.rows() / units.count().max(1);
        if units.stretches { decorrelation_lag(values) / length.max(1) } else { 0 }
    }

    /// Predicts each input from the others.
    fn others(&self, folds: &[Fold; 2], watch: &Tracker<'_>) -> Others {
        let inputs = self.frame.inputs.len();
        let count = self.targets.len() - self.owners.len();
        let watch = watch.next("discover", "causes", count);
        let found: Vec<(usize, f64, (EndResiduals, usize))> = (self.owners.len()
            ..self.targets.len())
            .into_par_iter()
            .filter_map(|index| {
                let own = self.targets[index].own_input()?;
                if watch.is_stopped() {
                    return None;
                }
                let others: Vec<usize> = (0..inputs).filter(|&input| input != own).collect();
                let answer = self.question(index, &others, &[], folds, &watch).answer();
                watch.advance(1.0, &self.frame.inputs[own].name);
                let rows = self.extremes.rows().iter();
                let residuals: Vec<f64> = rows.map(|&row| answer.residuals[row as usize]).collect();
                let time = self.decorrelation_units(&answer.residuals);
                Some((own, answer.unexplained, (self.extremes.of_cause(&residuals), time)))
            })
            .collect();
        let mut others = Others {
            unexplained: vec![0.0; inputs],
            residuals: std::iter::repeat_with(Vec::new).take(inputs).collect(),
        };
        for (input, share, residuals) in found {
            others.unexplained[input] = others.unexplained[input].max(share);
            others.residuals[input].push(residuals);
        }
        others
    }
}

/// The findings about each allowed input, from the gains of the drops.
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
            gain: Gain { p: (gain.p * elements).min(1.0), ..*gain },
            copy: together(input),
            ..Finding::NOTHING
        })
        .collect()
}

//! The picture of a contrast: two chains in one picture, and the waterfall of their rewards.

use std::collections::BTreeMap;

use super::chain_picture::{headings, link_entry, node_entries, notes, untested_entry};
use super::explained::ContrastView;
use super::picture::{LegendEntry, LinkStyle, Picture, PictureError, Tone};
use super::sketch::Sketch;
use super::strokes::{Stroke, mark_untested, strokes, without_unchanged};
use super::waterfall::{Term, TermError, Waterfall};
use super::words::{after, arrow, instead, minus, signed};
use becausal_explain::CreditPart;
use becausal_explain::chain::{Node, Part, Way};

/// The maximum number of bars in a waterfall; the smallest terms share one bar.
const MAX_TERMS: usize = 10;

impl ContrastView<'_> {
    /// Both chains in one picture. Influences that carry the difference are in the accent colour;
    /// those of the other trajectory alone are in the second colour; those that no test has confirmed are
    /// dashed. If two values differ, both are shown.
    ///
    /// # Errors
    /// When a weight is not between 0 and 1, which never happens in a chain.
    pub fn picture(&self) -> Result<Picture, PictureError> {
        let (this, other) = self.chains();
        let schema = this.trajectory().schema();
        let steps = this.trajectory().len().max(other.trajectory().len());
        let value = |node: Node| (this.trajectory().value(node), other.trajectory().value(node));
        let differs = |node: Node| match value(node) {
            (None, None) => false,
            _ => self.differs(node).unwrap_or(true),
        };
        let sums = |node: Node| {
            let of = |value: fn(&CreditPart) -> f64| -> f64 {
                self.credit.parts.iter().filter(|p| p.reward == node.index).map(value).sum()
            };
            let sums = (of(|part| part.factual), of(|part| part.counterfactual));
            if self.is_what_if() { (sums.1, sums.0) } else { sums }
        };
        let look = |node: Node| {
            if node.part == Part::Reward {
                let (a, b) = sums(node);
                let text =
                    if a == b { signed(a) } else { format!("{}, not {}", signed(a), signed(b)) };
                return (minus(&text), a != b);
            }
            let text = match (value(node), node.variable(schema)) {
                ((Some(a), Some(b)), variable) if differs(node) => {
                    let (a, b) = instead(variable, a, b);
                    format!("{a}, not {b}")
                }
                ((Some(a), Some(_)), Some(variable)) => arrow(variable, None, a),
                ((Some(a), None), Some(variable)) => {
                    format!("{}, else ended", arrow(variable, None, a))
                }
                ((None, Some(b)), Some(variable)) => {
                    format!("ended, else {}", arrow(variable, None, b))
                }
                _ => String::new(),
            };
            (minus(&text), differs(node) || this.graph().origin().holds(node))
        };
        let difference = |node: Node| {
            let same = |part: &&CreditPart| part.reward == node.index && part.step == node.step;
            self.credit.parts.iter().find(same).map_or(0.0, CreditPart::difference)
        };
        let mut of_this = strokes(this, Tone::Accent, &difference);
        let mut of_other = strokes(other, Tone::Alternative, &difference);
        for strokes in [&mut of_this, &mut of_other] {
            mark_untested(strokes, &self.factual.evidence);
            mark_untested(strokes, &self.counterfactual.evidence);
        }
        let all = overlay(of_this, of_other, steps);
        let total = all.len();
        let kept = without_unchanged(all, &differs);
        let longer = if this.trajectory().len() >= other.trajectory().len() { this } else { other };
        let origin = this.graph().origin();
        Sketch {
            title: self.question(),
            schema,
            steps,
            headings: headings(longer).iter().map(|h| h.replace(" (predicted)", "")).collect(),
            legend: &|strokes| self.legend(strokes),
            footnotes: notes(
                self.sentence(),
                total - kept.len(),
                "values that are the same in both",
            ),
            strokes: kept,
            description: self.sentence(),
            look: &look,
            is_source: &|node| origin.holds(node),
        }
        .picture()
    }

    /// The contribution of each reward term to the difference in each step, and their sum.
    ///
    /// # Errors
    /// When a reward is not a finite number.
    pub fn waterfall(&self) -> Result<Waterfall, TermError> {
        let schema = self.factual.chain.trajectory().schema();
        let mut parts: Vec<&CreditPart> =
            self.credit.parts.iter().filter(|part| part.difference() != 0.0).collect();
        let mut rest = None;
        if parts.len() > MAX_TERMS {
            parts.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
            let smaller = parts.split_off(MAX_TERMS - 1);
            let sum = smaller.iter().map(|part| part.difference()).sum();
            rest = Some(Term { label: format!("{} smaller ones", smaller.len()), value: sum });
            parts.sort_by_key(|part| (part.step, part.reward));
        }
        let label = |part: &CreditPart| {
            format!("{}, {}", schema.rewards()[part.reward].name, after(part.step + 1))
        };
        let mut terms: Vec<Term> = parts
            .iter()
            .map(|part| Term { label: label(part), value: part.difference() })
            .collect();
        terms.extend(rest);
        for term in &mut terms {
            term.value = self.in_asked_direction(term.value);
        }
        let (this, other) = self.subjects_in_asked_order();
        Waterfall::new(
            format!("How much more reward {this} earns than {other}"),
            terms,
            "difference",
        )
    }

    fn legend(&self, strokes: &[Stroke]) -> Vec<LegendEntry> {
        let (_, other) = self.subjects_in_asked_order();
        let mut entries = Vec::new();
        let shown = |tone: Tone| strokes.iter().any(|s| s.tone == tone && s.way != Way::Policy);
        if shown(Tone::Accent) {
            entries.push(link_entry("carries the difference", LinkStyle::Solid, Tone::Accent));
        }
        if shown(Tone::Alternative) {
            let text = format!("only with {other}");
            entries.push(link_entry(&text, LinkStyle::Solid, Tone::Alternative));
        }
        if shown(Tone::Plain) {
            entries.push(link_entry("acts with it", LinkStyle::Solid, Tone::Plain));
        }
        if strokes.iter().any(|stroke| stroke.way == Way::Policy) {
            entries.push(link_entry("chosen by the policy", LinkStyle::Dotted, Tone::Accent));
        }
        entries.extend(untested_entry(strokes));
        entries.extend(node_entries(strokes));
        entries
    }
}

/// Both sets of influences in order of time. An influence in both has the larger weight.
fn overlay(this: Vec<Stroke>, other: Vec<Stroke>, steps: usize) -> Vec<Stroke> {
    // Rewards are in the last column of the longer trajectory.
    let with_last_reward = |mut stroke: Stroke| {
        if stroke.to.part == Part::Reward {
            stroke.to.step = steps;
        }
        stroke
    };
    let mut all: Vec<Stroke> = this.into_iter().map(with_last_reward).collect();
    let places: BTreeMap<(Node, Node), usize> =
        all.iter().enumerate().map(|(place, stroke)| ((stroke.from, stroke.to), place)).collect();
    for stroke in other.into_iter().map(with_last_reward) {
        match places.get(&(stroke.from, stroke.to)) {
            Some(&place) => all[place].weight = all[place].weight.max(stroke.weight),
            None => all.push(stroke),
        }
    }
    // Links into a node come before links out of it: sorted by time, choices before effects, rewards
    // last.
    all.sort_by_key(|s| (s.to.part == Part::Reward, s.from.step, s.way != Way::Policy));
    all
}

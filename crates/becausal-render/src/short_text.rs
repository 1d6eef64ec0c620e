//! The short text of an answer: the sentence, the agent's side, how sure it is, what differs, what could change it.

use std::fmt::Write;

use super::doubt;
use super::explained::ContrastView;
use super::interval_text::{between, in_brackets};
use super::words::{counted, over_first, signed, title};
use becausal_core::schema::Schema;
use becausal_explain::chain::Node;
use becausal_explain::{Certainty, Doubt, TrackRecord, Wrong};

/// Differences of variables that are listed, at most; the rest is counted.
const MAX_DIFFERENCES: usize = 4;

/// Reward terms that are listed, at most; the rest is counted.
const MAX_TERMS: usize = 4;

/// An interval of a value is told where it is wider than this share of the difference.
const MIN_WIDTH: f64 = 0.1;

/// Of fewer audited answers than this their number is told, not a percentage: it would say little.
const FEW_ANSWERS: f64 = 20.0;

impl ContrastView<'_> {
    /// How sure the answer is about the steps that its sentence is about.
    pub(super) fn certainty(&self) -> String {
        if let Some(tried) = self.tried() {
            return tried;
        }
        match self.claim().filter(|(steps, _)| *steps < self.steps()) {
            Some((steps, _)) => {
                let first = self.over(steps);
                let first = ContrastView(&first).how_sure();
                format!("How sure {}: {first}", over_first(steps))
            }
            None => format!("How sure: {}", self.how_sure()),
        }
    }

    /// That the other course was tried, and what the model alone says; `None` where the model predicts it.
    fn tried(&self) -> Option<String> {
        let predicted = self.predicted?;
        let difference = signed(self.in_asked_direction(predicted.difference));
        let interval =
            predicted.interval.map(|interval| self.interval_in_asked_direction(interval));
        let (wrong, chain) = (self.wrong(), self.is_wrong_about_chain());
        let wrong_words = match wrong {
            Some(Wrong::Sign) => ": the wrong sign",
            Some(Wrong::Size) => ": the wrong size",
            None => "",
        };
        let steps = if predicted.steps == self.steps() {
            String::new()
        } else {
            format!(" over {}", counted(predicted.steps, "step"))
        };
        let influences = match (chain, wrong) {
            (false, _) => String::new(),
            (true, Some(Wrong::Sign)) if self.chain_steps() == self.steps() => {
                " Do not rely on the influences that it shows.".to_owned()
            }
            (true, wrong) => format!(
                " Over the {} of the chain it has the wrong sign{}: do not rely on the influences that it shows.",
                counted(self.chain_steps(), "step"),
                if wrong == Some(Wrong::Sign) { ", too" } else { "" }
            ),
        };
        Some(format!(
            "How sure: certain. The other course was tried in a copy of the environment, which met the same noise. \
             The model alone predicts a reward difference of {difference}{}{steps}{wrong_words}.{influences}",
            in_brackets(interval)
        ))
    }

    fn how_sure(&self) -> String {
        if self.draws.is_empty() {
            return "a guess; the courses that the model draws leave the numbers it knows."
                .to_owned();
        }
        let probability = self.probability();
        let certainty = self.0.certainty();
        let (this, other) = self.subjects();
        let difference = self.credit.difference();
        let courses = match 100.0 * probability {
            all if all >= 99.95 => "in all possible courses".to_owned(),
            most => format!("in {:.0} % of the possible courses", most.clamp(1.0, 99.0)),
        };
        let claim = match difference {
            0.0 => format!("both earn the same {courses}"),
            _ if probability < 0.5 => {
                "the most likely course and most of the possible ones disagree".to_owned()
            }
            difference => {
                format!("{} earns more {courses}", if difference > 0.0 { this } else { other })
            }
        };
        let audited = self.audited(certainty);
        let unseen = self.never_varied().map_or_else(String::new, |node| {
            let title = title(self.courses[0].schema(), node);
            format!(" by the model, but the data never show what {title} does")
        });
        format!("{}; {claim}{unseen}.{audited}", certainty.word())
    }

    /// What the audit of the run says of such answers, and whether intervals follow it.
    fn audited(&self, certainty: Certainty) -> String {
        let right = self.track.and_then(|track| {
            let TrackRecord { share, answers, steps } = track.share(certainty, self.steps())?;
            let right = if answers < FEW_ANSWERS {
                let such = if answers == 1.0 { "such answer" } else { "such answers" };
                format!("there were only {answers:.0} {such}, {:.0} of them right", share * answers)
            } else if share < 1.0 && share > 0.99 {
                "more than 99 % of such answers were right".to_owned()
            } else {
                format!("{:.0} % of such answers were right", 100.0 * share)
            };
            Some(format!(" In the audit of this run, over {}, {right}", counted(steps, "step")))
        });
        match (right, self.draws.calibration().knows_reward_over(self.steps())) {
            (None, false) => String::new(),
            (Some(right), false) => format!("{right}."),
            (Some(right), true) => {
                format!("{right}; intervals are as wide as it showed they must be.")
            }
            (None, true) => " Intervals are as wide as the audit of this run, which tried other actions, showed they must \
                             be."
            .to_owned(),
        }
    }

    /// The short text of an answer.
    pub(super) fn told(&self, question: &str, sentence: &str, choice: Option<&str>) -> String {
        let schema = self.courses[0].schema();
        let mut text = format!("{question}\n\n{sentence}\n");
        if let Some(choice) = choice {
            let _ = writeln!(text, "\n{choice}");
        }
        let _ = writeln!(text, "\n{}", self.certainty());
        // What the sentence is about: all steps, or those over which something can be told.
        let steps = self.claim().map_or_else(|| self.steps(), |(steps, _)| steps);
        let about = self.over(steps);
        ContrastView(&about).list_differences(&mut text, schema);
        if let Some(ends) = self.ends_in_words() {
            let _ = writeln!(text, "\n{ends}");
        }
        ContrastView(&about).list_terms(&mut text);
        let mut all = self.all_doubts();
        if self.is_tried() {
            // What the model may get wrong does not change an answer that is not the model's.
            all.retain(|doubt| *doubt == Doubt::WithoutPolicy);
        }
        doubt::main(&mut text, schema, &all, (self.courses[0].first(), steps));
        text
    }

    /// The variables that differ most, each at the step where it differs most.
    fn list_differences(&self, text: &mut String, schema: &Schema) {
        let shape = self.courses[0].shape();
        let nodes = |step: usize| {
            let states = (0..shape.states.len()).map(move |index| Node::state(step + 1, index));
            states.chain((0..shape.outcomes.len()).map(move |index| Node::outcome(step, index)))
        };
        let mut largest: Vec<Node> = Vec::new();
        for node in (0..self.steps()).flat_map(nodes) {
            if self.differs(node) != Some(true) {
                continue;
            }
            match largest.iter_mut().find(|l| l.part == node.part && l.index == node.index) {
                Some(known) if self.size(node) > self.size(*known) => *known = node,
                Some(_) => {}
                None => largest.push(node),
            }
        }
        largest.sort_by(|a, b| self.by_size(*b, *a));
        let rest = largest.split_off(largest.len().min(MAX_DIFFERENCES)).len();
        if largest.is_empty() {
            return;
        }
        let _ = writeln!(text, "\nWhat differs most:");
        largest.sort_by_key(|node| (node.after(), *node));
        for node in largest {
            let Some(words) = self.differs_in_words(node) else { continue };
            let elements = self.courses[1].value(node).map_or(0, <[f64]>::len);
            let is_number = node.variable(schema).is_some_and(|v| !v.kind.is_label());
            let interval = if elements == 1 && is_number { self.range(node, 0) } else { None };
            let interval =
                interval.filter(|[low, high]| high - low > MIN_WIDTH * self.distance(node));
            let interval = interval.map_or_else(String::new, |interval| {
                format!(" (the other: {})", between(interval))
            });
            let _ = writeln!(text, "  {words}{interval}");
        }
        if rest > 0 {
            let _ = writeln!(text, "  and {rest} more");
        }
    }

    /// The reward terms that differ, with their intervals.
    fn list_terms(&self, text: &mut String) {
        let terms = self.terms();
        if terms.is_empty() {
            return;
        }
        let total = self.in_asked_direction(self.credit.difference());
        let discounted = if self.credit.discount < 1.0 {
            format!(", discounted by {} per step", self.credit.discount)
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "\nReward difference {}{}{discounted}:",
            signed(total),
            in_brackets(self.worth_in_asked_direction(None))
        );
        for term in terms.iter().take(MAX_TERMS) {
            let unsure = if term.is_told() { "" } else { ", which may be nothing" };
            let _ = writeln!(text, "  {}{unsure}", self.term_in_words(term));
        }
        if terms.len() > MAX_TERMS {
            let _ = writeln!(text, "  and {} more", terms.len() - MAX_TERMS);
        }
    }
}

//! The short answer: the reason first, what it is worth, how sure this is.

use std::cmp::Ordering;
use std::fmt::Write;

use super::doubt;
use super::explained::ContrastView;
use super::words::{
    after, be, counted, instead, list, number, over_first, over_next, signed, title,
};
use becausal_core::schema::{Kind, Role, Schema};
use becausal_explain::chain::{Node, Trajectory};
use becausal_explain::{Basis, Certainty, CreditPart, Rival};

/// Differences of variables that are listed, at most; the rest is counted.
const MAX_DIFFERENCES: usize = 4;

/// Reward terms that are listed, at most; the rest is counted.
const MAX_TERMS: usize = 4;

/// Reward terms that a sentence names beside the first one, at most.
const MAX_FURTHER: usize = 2;

/// A flag of an outcome is worth a word where it comes in at least this share of the possible courses, and at most in
/// the rest.
const MIN_CHANCE: f64 = 0.05;

/// An interval of a value is told where it is wider than this share of the difference; a reward term that is most
/// likely nothing where its interval reaches this share of the total.
const MIN_WIDTH: f64 = 0.1;

/// The difference of a reward term, in the direction that the text describes.
struct TermWorth {
    term: usize,
    difference: f64,
    interval: Option<[f64; 2]>,
}

impl TermWorth {
    /// Whether its interval leaves out 0.
    fn is_told(&self) -> bool {
        self.difference != 0.0 && self.interval.is_none_or(|[low, high]| low > 0.0 || high < 0.0)
    }
}

/// `2.1 to 6.3`.
fn between([low, high]: [f64; 2]) -> String {
    format!("{} to {}", number(low, 2), number(high, 2))
}

/// ` (2.1 to 6.3)`; nothing where an interval is one point, or there is none.
fn in_brackets(interval: Option<[f64; 2]>) -> String {
    let wide = interval.filter(|[low, high]| number(*low, 2) != number(*high, 2));
    wide.map_or_else(String::new, |interval| format!(" ({})", between(interval)))
}

/// Who the other action is: ` (the agent's second choice)`.
pub(super) fn apposition(rival: &Rival) -> &'static str {
    match rival.basis {
        Basis::FirstChoice => " (the agent's first choice)",
        Basis::SecondChoice => " (the agent's second choice)",
        Basis::Nothing => " (doing nothing)",
        Basis::BestOther => " (the best other action by the model)",
    }
}

impl ContrastView<'_> {
    /// The answer in one or two sentences.
    #[must_use]
    pub fn sentence(&self) -> String {
        self.sentence_against("")
    }

    /// The same; `apposition` says who the other action is.
    pub(super) fn sentence_against(&self, apposition: &str) -> String {
        let (this, other) = self.subjects_in_asked_order();
        let other = format!("{other}{apposition}");
        let interval = self.worth_in_asked_direction(None);
        let none = interval.is_none_or(|[low, high]| low == 0.0 && high == 0.0);
        let mut sentence = if self.credit.difference() == 0.0 && none {
            format!("No reward differs between {this} and {other} {}.", over_next(self.steps()))
        } else {
            match self.told_steps() {
                None => self.undecided(&this, &other),
                Some(steps) if steps == self.steps() => self.decided(&this, &other),
                Some(steps) => {
                    let first = self.shortened(steps);
                    let range = interval.map_or_else(String::new, |[low, high]| {
                        format!(" ({} to {})", signed(low), signed(high))
                    });
                    format!(
                        "{} Over all {} that were looked at it cannot be told{range}.",
                        ContrastView(&first).decided(&this, &other),
                        counted(self.steps(), "step")
                    )
                }
            }
        };
        if let Some([this, other]) = self.later {
            let later = self.in_asked_direction(this - other);
            if later != 0.0 {
                let _ = write!(
                    sentence,
                    " Beyond {}, the agent's own estimate is {}.",
                    counted(self.steps(), "step"),
                    signed(later)
                );
            }
        }
        for chance in self.chances_in_words() {
            let _ = write!(sentence, " {chance}");
        }
        sentence
    }

    /// It can be told which course earns more.
    fn decided(&self, this: &str, other: &str) -> String {
        let difference = self.in_asked_direction(self.credit.difference());
        let interval = self.worth_in_asked_direction(None);
        if self.is_what_if() {
            self.imagined(this, difference, interval)
        } else if difference > 0.0 {
            self.better(this, other, difference, interval)
        } else {
            self.worse(this, other, -difference, interval)
        }
    }

    /// The action taken earns more.
    fn better(&self, this: &str, other: &str, more: f64, interval: Option<[f64; 2]>) -> String {
        let steps = over_next(self.steps());
        let total = format!("{} more reward{}", number(more, 3), in_brackets(interval));
        match self.reason(1.0) {
            Some((because, worth)) => format!(
                "Because {because}, which earns {worth}. In all {this} earns {total} than {other} {steps}."
            ),
            None => format!("{this} earns {total} than {other} {steps}{}.", self.mostly(1.0)),
        }
    }

    /// The other action earns more.
    fn worse(&self, this: &str, other: &str, more: f64, interval: Option<[f64; 2]>) -> String {
        let steps = over_next(self.steps());
        let interval = interval.map(|[low, high]| [-high, -low]);
        let total = format!("{} more reward{}", number(more, 3), in_brackets(interval));
        let because = match self.reason(-1.0) {
            Some((because, worth)) => format!(": with {this} {because}, which costs {worth}"),
            None => self.mostly(-1.0),
        };
        format!(
            "By the model this was not the best choice: {other} would have earned {total} {steps}{because}."
        )
    }

    /// Nobody can tell which earns more.
    fn undecided(&self, this: &str, other: &str) -> String {
        let steps = over_next(self.steps());
        let difference = self.in_asked_direction(self.credit.difference());
        let range = self.worth_in_asked_direction(None).map_or_else(String::new, |[low, high]| {
            format!("between {} and {}, at a guess ", signed(low), signed(high))
        });
        let terms: Vec<String> = self
            .terms()
            .iter()
            .filter(|term| term.is_told())
            .take(MAX_FURTHER)
            .map(|term| self.term_in_words(term))
            .collect();
        let known = if terms.is_empty() {
            String::new()
        } else {
            format!(" What can be told: {}.", list(&terms))
        };
        let question = if self.is_what_if() {
            format!("Whether {this} would have been better than {other} cannot be told")
        } else {
            format!("Whether {this} earns more than {other} cannot be told")
        };
        format!("{question}: {steps} the difference is {range}{}.{known}", signed(difference))
    }

    /// What follows from another state.
    fn imagined(&self, this: &str, difference: f64, interval: Option<[f64; 2]>) -> String {
        let steps = over_next(self.steps());
        let (sign, word) = if difference > 0.0 { (1.0, "more") } else { (-1.0, "less") };
        let interval =
            if sign > 0.0 { interval } else { interval.map(|[low, high]| [-high, -low]) };
        let total =
            format!("{} {word} reward{}", number(difference.abs(), 3), in_brackets(interval));
        let verb = if sign > 0.0 { "earns" } else { "costs" };
        match self.reason(sign) {
            Some((because, worth)) => format!(
                "With {this}, {because}, which {verb} {worth}. In all the agent would earn {total} {steps}."
            ),
            None => {
                format!("With {this} the agent would earn {total} {steps}{}.", self.mostly(sign))
            }
        }
    }

    /// The reward term that makes up most of the difference, with the variable that it reads: what differs, and what
    /// that is worth. `sign` is the sign of the difference.
    fn reason(&self, sign: f64) -> Option<(String, String)> {
        let terms = self.terms();
        let term = terms.iter().find(|term| term.is_told() && term.difference * sign > 0.0)?;
        let because = match self.end_behind(term.term) {
            Some(end) => end,
            None => self.differs_in_words(self.behind(term.term)?)?,
        };
        let name = &self.courses[0].schema().rewards()[term.term].name;
        let amount = number(term.difference.abs(), 3);
        let word = if sign > 0.0 { " more" } else { "" };
        Some((because, format!("{amount}{word} for {name}")))
    }

    /// `, mostly for slowing down (+3.9)`: the largest terms where no variable can be named.
    fn mostly(&self, sign: f64) -> String {
        let words: Vec<String> = self
            .terms()
            .iter()
            .filter(|term| term.is_told() && term.difference * sign > 0.0)
            .take(MAX_FURTHER)
            .map(|term| {
                let name = &self.courses[0].schema().rewards()[term.term].name;
                format!("{name} ({})", number(term.difference.abs(), 3))
            })
            .collect();
        if words.is_empty() { String::new() } else { format!(", mostly for {}", list(&words)) }
    }

    /// The reward terms that differ, the largest first.
    fn terms(&self) -> Vec<TermWorth> {
        let total = self.credit.difference().abs();
        // A term that is most likely nothing counts where it could be a good part of the difference.
        let reaches = |interval: Option<[f64; 2]>| {
            interval.is_some_and(|[low, high]| high.max(-low) > MIN_WIDTH * total)
        };
        let mut terms: Vec<TermWorth> = self
            .credit
            .by_term()
            .into_iter()
            .map(|(term, difference)| TermWorth {
                term,
                difference: self.in_asked_direction(difference),
                interval: self.worth_in_asked_direction(Some(term)),
            })
            .filter(|term| term.difference != 0.0 || reaches(term.interval))
            .collect();
        terms.sort_by(|a, b| b.difference.abs().total_cmp(&a.difference.abs()));
        terms
    }

    fn term_in_words(&self, term: &TermWorth) -> String {
        let name = &self.courses[0].schema().rewards()[term.term].name;
        format!("{name} {}{}", signed(term.difference), in_brackets(term.interval))
    }

    /// The interval of the reward difference, in the direction that the text describes.
    pub(super) fn worth_in_asked_direction(&self, term: Option<usize>) -> Option<[f64; 2]> {
        let [low, high] = self.worth(term)?;
        Some(if self.is_what_if() { [0.0 - high, 0.0 - low] } else { [low, high] })
    }

    /// The step in which a reward term differs most; of equal ones the first.
    fn largest_part(&self, term: usize) -> Option<usize> {
        let parts = self.credit.parts.iter().filter(|part| part.reward == term);
        let larger = |a: &&CreditPart, b: &&CreditPart| {
            a.difference().abs().total_cmp(&b.difference().abs()).then(b.step.cmp(&a.step))
        };
        Some(parts.max_by(larger)?.step)
    }

    /// That one course ends earlier, where that is why a reward term differs.
    fn end_behind(&self, term: usize) -> Option<String> {
        let step = self.largest_part(term)?;
        let (this, other) = self.courses_in_asked_order();
        if step >= other.len() && other.terminated() {
            Some(format!("the episode goes on {}, where it would have ended", after(other.len())))
        } else if step >= this.len() && this.terminated() {
            Some(format!("the episode ends {}, where it would have gone on", after(this.len())))
        } else {
            None
        }
    }

    /// The variable that a reward term reads and that differs most, in standard deviations where they are known, at
    /// the step where the term differs most.
    fn behind(&self, term: usize) -> Option<Node> {
        let schema = self.courses[0].schema();
        let step = self.largest_part(term)?;
        let states = schema.of_role(Role::State).count();
        let actions = schema.of_role(Role::Action).count();
        let reads = schema.rewards()[term].expression.parents();
        let nodes = reads.iter().filter_map(|parent| {
            match schema.variables()[parent.variable].role {
                Role::State => Some(Node::state(step + usize::from(parent.next), parent.variable)),
                // That the actions differ is the question.
                Role::Action => None,
                Role::Outcome => Some(Node::outcome(step, parent.variable - states - actions)),
            }
        });
        let told = nodes.filter(|&node| node.after() > 0 && self.differs(node) == Some(true));
        told.max_by(|a, b| self.by_size(*a, *b))
    }

    /// Which of two nodes differs more.
    fn by_size(&self, a: Node, b: Node) -> Ordering {
        self.size(a).total_cmp(&self.size(b)).then(b.cmp(&a))
    }

    /// How much a node differs, in standard deviations where they are known.
    fn size(&self, node: Node) -> f64 {
        let [this, other] = &self.courses;
        match (this.value(node), other.value(node)) {
            (Some(this), Some(other)) => match &self.scale {
                Some((scale, _)) => scale.size(node, this, other),
                None => this.iter().zip(other).map(|(a, b)| (a - b).abs()).sum(),
            },
            _ => 0.0,
        }
    }

    /// How much the two values of a node differ.
    fn distance(&self, node: Node) -> f64 {
        let [this, other] = &self.courses;
        let pairs =
            this.value(node).into_iter().flatten().zip(other.value(node).into_iter().flatten());
        pairs.map(|(a, b)| (a - b).abs()).sum()
    }

    /// `after 4 steps marines are 6 instead of 0`.
    fn differs_in_words(&self, node: Node) -> Option<String> {
        let (this, other) = self.courses_in_asked_order();
        let schema = this.schema();
        let (this, other) = (this.value(node)?, other.value(node)?);
        let (this, other) = instead(node.variable(schema), this, other);
        let name = title(schema, node);
        let chance = self.chance_in_words(node, &this, &other);
        Some(format!(
            "{} {name} {} {this} instead of {other}{chance}",
            after(node.after()),
            be(name)
        ))
    }

    /// Flags of outcomes that come in some of the possible courses: `With engine = none there is crash in 3 of 10
    /// possible courses.`
    fn chances_in_words(&self) -> Vec<String> {
        let this = &self.courses[0];
        let schema = this.schema();
        let (_, subject) = self.subjects();
        let comes = |course: &Trajectory, index: usize| {
            (0..course.len()).any(|step| {
                course
                    .value(Node::outcome(step, index))
                    .is_some_and(|v| v.iter().any(|v| *v != 0.0))
            })
        };
        let mut words = Vec::new();
        for (index, variable) in schema.of_role(Role::Outcome).enumerate() {
            if !matches!(variable.kind, Kind::Boolean) {
                continue;
            }
            let share = self.draws.share(|_, other| comes(other, index));
            let open = share >= MIN_CHANCE && share <= 1.0 - MIN_CHANCE;
            if open && !self.draws.is_empty() {
                let happened = if comes(this, index) { "did" } else { "did not" };
                words.push(format!(
                    "With {subject} {} comes in {:.0} of 10 possible courses (it {happened} come).",
                    variable.title(),
                    (10.0 * share).round().clamp(1.0, 9.0)
                ));
            }
        }
        words
    }

    /// How sure the answer is about the steps that its sentence is about.
    pub(super) fn certainty(&self) -> String {
        match self.told_steps().filter(|&steps| steps < self.steps()) {
            Some(steps) => {
                let first = self.shortened(steps);
                let first = ContrastView(&first).how_sure();
                format!("How sure {}: {first}", over_first(steps))
            }
            None => format!("How sure: {}", self.how_sure()),
        }
    }

    fn how_sure(&self) -> String {
        let probability = self.probability();
        let certainty = Certainty::of(probability);
        let (this, other) = self.subjects();
        let difference = self.credit.difference();
        let claim = if difference == 0.0 {
            "both earn the same".to_owned()
        } else {
            // Where the estimate is not what most courses have, the courses are told.
            let first = (difference > 0.0) == (probability >= 0.5);
            format!("{} earns more", if first { this } else { other })
        };
        let share =
            if difference == 0.0 { probability } else { probability.max(1.0 - probability) };
        let courses = match 10.0 * share {
            all if all >= 9.95 => "in all possible courses".to_owned(),
            most => format!("in {most:.0} of 10 possible courses"),
        };
        let audited = self.track.and_then(|track| track.share(certainty));
        let audited = audited.map_or_else(String::new, |share| {
            format!(" In the audit of this run {:.0} % of such answers were right.", 100.0 * share)
        });
        format!("{}; {claim} {courses}.{audited}", certainty.word())
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
        let steps = self.told_steps().unwrap_or_else(|| self.steps());
        let about = self.shortened(steps);
        ContrastView(&about).list_differences(&mut text, schema);
        if let Some(ends) = self.ends_in_words() {
            let _ = writeln!(text, "\n{ends}");
        }
        ContrastView(&about).list_terms(&mut text);
        let all = self.all_doubts();
        doubt::main(&mut text, schema, &all, self.courses[0].first());
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

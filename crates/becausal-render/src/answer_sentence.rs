//! The answer in one or two sentences: the reason first, then what it is worth.

use std::cmp::Ordering;
use std::fmt::Write;

use super::explained::ContrastView;
use super::interval_text::{ends, in_brackets};
use super::words::{after, be, counted, instead, list, number, over_next, signed, title};
use becausal_core::schema::{Kind, Parent, Role};
use becausal_explain::chain::{Node, Trajectory};
use becausal_explain::{Basis, Certainty, CreditPart, Rival};

/// Reward terms that a sentence names where it names no variable, at most.
const MAX_NAMED: usize = 2;

/// A flag of an outcome is worth a word where it comes in at least this share of the possible courses, and at most in
/// the rest.
const MIN_CHANCE: f64 = 0.05;

/// A reward term that is most likely nothing counts where its interval reaches this share of the total.
const MIN_REACH: f64 = 0.1;

/// A difference below this share of its interval's width is written as 0: it is what rounding leaves.
const NOTHING: f64 = 0.001;

/// A sum below this share of its summands' sizes is rounding.
const ROUNDING: f64 = 1e-12;

/// The difference of a reward term, in the direction that the text describes.
pub(super) struct TermWorth {
    term: usize,
    difference: f64,
    interval: Option<[f64; 2]>,
}

/// Why one course earns more: what differs, whether it may be nothing, and what it is worth.
struct Cause {
    because: String,
    /// `probably `, or nothing.
    probably: &'static str,
    worth: String,
}

impl TermWorth {
    /// Whether its interval leaves out 0.
    pub(super) fn is_told(&self) -> bool {
        self.difference != 0.0 && self.interval.is_none_or(|[low, high]| low > 0.0 || high < 0.0)
    }
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
        let steps = over_next(self.steps());
        let mut sentence = match self.claim() {
            _ if self.is_without_difference() => match self.asked_terms() {
                Some(terms) => {
                    format!("Of {terms} alone, nothing differs between {this} and {other} {steps}.")
                }
                None => format!("No reward differs between {this} and {other} {steps}."),
            },
            None if self.is_balanced() => self.balanced(&this, &other),
            None => self.undecided(&this, &other),
            Some((steps, certainty)) if steps == self.steps() => {
                self.decided(&this, &other, certainty)
            }
            Some((steps, certainty)) => {
                let first = self.over(steps);
                let range = self.worth_in_asked_direction(None);
                let range = range.map_or_else(String::new, |range| {
                    format!(": the difference is between {}", ends(range).join(" and "))
                });
                format!(
                    "{} Over all {} that were looked at it cannot be told{range}.",
                    ContrastView(&first).decided(&this, &other, certainty),
                    counted(self.steps(), "step")
                )
            }
        };
        if let Some([of_this, of_other]) = self.later {
            let later = self.in_asked_direction(of_this - of_other);
            let word = if later > 0.0 { "more" } else { "less" };
            let amount = number(later.abs(), 3);
            let earns = if self.is_what_if() { "it would earn" } else { &format!("{this} earns") };
            let _ = write!(
                sentence,
                " After that, by the agent's own estimate, {earns} {amount} {word}."
            );
        }
        for chance in self.chances_in_words() {
            let _ = write!(sentence, " {chance}");
        }
        sentence
    }

    /// The reward terms asked about, where they are not all.
    fn asked_terms(&self) -> Option<String> {
        let rewards = self.courses[0].schema().rewards();
        let asked = self.credit.by_term();
        let names: Vec<String> =
            asked.iter().map(|(term, _)| rewards[*term].name.clone()).collect();
        (asked.len() < rewards.len()).then(|| list(&names))
    }

    /// `Of comfort alone, `: what a sum is of, where not all reward terms were asked about; `all` where they were.
    fn sum_of(&self, all: &str) -> String {
        self.asked_terms().map_or_else(|| all.to_owned(), |terms| format!("Of {terms} alone, "))
    }

    /// The same before a word that begins a sentence.
    fn sum_of_then(&self, word: &str) -> String {
        match &self.sum_of("")[..] {
            "" => word.to_owned(),
            of => format!("{of}{}", word.to_lowercase()),
        }
    }

    /// Whether no reward term differs in any possible course.
    fn is_without_difference(&self) -> bool {
        self.credit.by_term().iter().all(|(term, difference)| {
            let interval = self.worth(Some(*term));
            *difference == 0.0 && interval.is_none_or(|interval| interval == [0.0, 0.0])
        })
    }

    /// Whether both courses earn the same in all, and most of the possible ones do.
    fn is_balanced(&self) -> bool {
        self.credit.difference() == 0.0
            && self.0.certainty() != Certainty::Guess
            && !self.draws.is_empty()
    }

    /// Both courses earn the same.
    fn balanced(&self, this: &str, other: &str) -> String {
        let sure = self.0.certainty() == Certainty::Sure;
        let earn = if sure { "earn" } else { "probably earn" };
        let terms = self.terms().into_iter().filter(|term| term.difference != 0.0);
        let terms: Vec<String> = terms.map(|term| self.term_in_words(&term)).collect();
        let terms = if terms.is_empty() { String::new() } else { format!(": {}", list(&terms)) };
        let of = self.sum_of("");
        format!("{of}{this} and {other} {earn} the same {}{terms}.", over_next(self.steps()))
    }

    /// It can be told which course earns more.
    fn decided(&self, this: &str, other: &str, certainty: Certainty) -> String {
        let sure = certainty == Certainty::Sure;
        let more = self.in_asked_direction(self.credit.difference()) > 0.0;
        match (self.is_what_if(), more) {
            (true, _) => self.imagined(this, more, sure),
            (false, true) => self.better(this, other, sure),
            (false, false) => self.worse(this, other, sure),
        }
    }

    /// `4.2 more reward (2.1 to 6.3)`: how much more one course earns than the other. `sign` is -1 where it is the other
    /// one, or where `word` is *less*.
    fn total(&self, word: &str, sign: f64) -> String {
        let difference = sign * self.in_asked_direction(self.credit.difference());
        let interval = self
            .worth_in_asked_direction(None)
            .map(|[low, high]| if sign > 0.0 { [low, high] } else { [0.0 - high, 0.0 - low] });
        format!("{} {word} reward{}", number(difference, 3), in_brackets(interval))
    }

    /// The action taken earns more.
    fn better(&self, this: &str, other: &str, sure: bool) -> String {
        let (total, steps) = (self.total("more", 1.0), over_next(self.steps()));
        let earns = if sure { "earns" } else { "probably earns" };
        if let Some(Cause { because, probably, worth }) = self.reason(1.0) {
            let of = self.sum_of("In all, ");
            return format!(
                "Because {because}, which {probably}earns {worth}. {of}{this} {earns} {total} than {other} {steps}."
            );
        }
        let (of, mostly) = (self.sum_of(""), self.mostly(1.0));
        format!("{of}{this} {earns} {total} than {other} {steps}{mostly}.")
    }

    /// The other action earns more.
    fn worse(&self, this: &str, other: &str, sure: bool) -> String {
        let (total, steps) = (self.total("more", -1.0), over_next(self.steps()));
        let because = match self.reason(-1.0) {
            Some(Cause { because, probably, worth }) => {
                format!(". With {this}, {because}, which {probably}costs {worth}")
            }
            None => self.mostly(-1.0),
        };
        let was = if sure { "was" } else { "was probably" };
        let of = self.asked_terms().map_or_else(String::new, |of| format!(" for {of} alone"));
        let this = if self.is_tried() { "This" } else { "By the model this" };
        format!(
            "{this} {was} not the best choice{of}: {other} would have earned {total} {steps}{because}."
        )
    }

    /// What follows from another state.
    fn imagined(&self, this: &str, more: bool, sure: bool) -> String {
        let (sign, word, verb) =
            if more { (1.0, "more", "earns") } else { (-1.0, "less", "costs") };
        let (total, steps) = (self.total(word, sign), over_next(self.steps()));
        let would = if sure { "would" } else { "would probably" };
        if let Some(Cause { because, probably, worth }) = self.reason(sign) {
            let of = self.sum_of("In all, ");
            return format!(
                "With {this}, {because}, which {probably}{verb} {worth}. {of}the agent {would} earn {total} {steps}."
            );
        }
        let (with, mostly) = (self.sum_of_then("With"), self.mostly(sign));
        format!("{with} {this} the agent {would} earn {total} {steps}{mostly}.")
    }

    /// Nobody can tell which earns more.
    fn undecided(&self, this: &str, other: &str) -> String {
        let steps = over_next(self.steps());
        let difference = self.in_asked_direction(self.credit.difference());
        let range = self.worth_in_asked_direction(None).map_or_else(String::new, |range| {
            format!("between {}, at a guess ", ends(range).join(" and "))
        });
        let terms = self.terms().into_iter().filter(TermWorth::is_told).take(MAX_NAMED);
        let terms: Vec<String> = terms.map(|term| self.term_in_words(&term)).collect();
        let known = if terms.is_empty() {
            String::new()
        } else {
            format!(" What can be told: {}.", list(&terms))
        };
        let earns = if self.is_what_if() { "would have earned" } else { "earns" };
        let whether = self.sum_of_then("Whether");
        format!(
            "{whether} {this} {earns} more than {other} cannot be told: {steps} the difference is {range}{}.{known}",
            signed(difference)
        )
    }

    /// The reward term that makes up most of the difference, with the variable that it reads: what differs, and what
    /// that is worth. `sign` is the sign of the difference. A term that differs in most of the possible courses may be nothing
    /// in the others: a bonus that comes or does not come.
    fn reason(&self, sign: f64) -> Option<Cause> {
        let terms = self.terms();
        let mut same_sign = terms.iter().filter(|term| term.difference * sign > 0.0);
        let term = same_sign.find(|term| term.is_told() || self.is_likely(term))?;
        let because = match self.end_behind(term.term) {
            Some(end) => end,
            None => self.differs_in_words(self.behind(term.term)?)?,
        };
        let name = &self.courses[0].schema().rewards()[term.term].name;
        let amount = number(term.difference.abs(), 3);
        let word = if sign > 0.0 { " more" } else { "" };
        let probably = if term.is_told() { "" } else { "probably " };
        Some(Cause { because, probably, worth: format!("{amount}{word} for {name}") })
    }

    /// Whether most of the possible courses agree about the sign of a term's difference.
    fn is_likely(&self, term: &TermWorth) -> bool {
        let difference = self.in_asked_direction(term.difference);
        Certainty::of(self.probability_of(term.term, difference)) != Certainty::Guess
    }

    /// `, mostly for slowing down (+3.9)`: the largest terms where no variable can be named.
    fn mostly(&self, sign: f64) -> String {
        let words: Vec<String> = self
            .terms()
            .iter()
            .filter(|term| term.is_told() && term.difference * sign > 0.0)
            .take(MAX_NAMED)
            .map(|term| {
                let name = &self.courses[0].schema().rewards()[term.term].name;
                format!("{name} ({})", number(term.difference.abs(), 3))
            })
            .collect();
        if words.is_empty() { String::new() } else { format!(", mostly for {}", list(&words)) }
    }

    /// The reward terms that differ, the largest first.
    pub(super) fn terms(&self) -> Vec<TermWorth> {
        let total = self.credit.difference().abs();
        // A term that is most likely nothing counts where it could be a good part of the difference.
        let reaches = |interval: Option<[f64; 2]>| {
            interval.is_some_and(|[low, high]| high.max(-low) > MIN_REACH * total)
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
            .filter(|term| !self.is_rounding(term) || reaches(term.interval))
            .collect();
        terms.sort_by(|a, b| b.difference.abs().total_cmp(&a.difference.abs()));
        terms
    }

    /// Whether what a term differs by is what the rounding of its sums leaves, or nothing.
    fn is_rounding(&self, term: &TermWorth) -> bool {
        let of_term = self.credit.parts.iter().filter(|part| part.reward == term.term);
        let size: f64 = of_term.map(|part| part.difference().abs()).sum();
        term.difference.abs() <= ROUNDING * size
    }

    pub(super) fn term_in_words(&self, term: &TermWorth) -> String {
        let name = &self.courses[0].schema().rewards()[term.term].name;
        let width = term.interval.map_or(0.0, |[low, high]| high - low);
        let is_nothing = term.difference.abs() < NOTHING * width;
        let difference = if is_nothing { 0.0 } else { term.difference };
        format!("{name} {}{}", signed(difference), in_brackets(term.interval))
    }

    /// The interval of the reward difference, in the direction that the text describes.
    pub(super) fn worth_in_asked_direction(&self, term: Option<usize>) -> Option<[f64; 2]> {
        Some(self.interval_in_asked_direction(self.worth(term)?))
    }

    /// An interval of a reward difference, in the direction that the text describes.
    pub(super) fn interval_in_asked_direction(&self, [low, high]: [f64; 2]) -> [f64; 2] {
        if self.is_what_if() { [0.0 - high, 0.0 - low] } else { [low, high] }
    }

    /// The step in which a reward term differs most, in the direction of its total; of equal ones the first.
    fn largest_part(&self, term: usize) -> Option<usize> {
        let of_term = || self.credit.parts.iter().filter(|part| part.reward == term);
        let total: f64 = of_term().map(CreditPart::difference).sum();
        let parts = of_term().filter(|part| part.difference() * total > 0.0);
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
    /// the step where the term differs most. Of a term that pays for the growth of a variable, at the last step: over all
    /// steps it pays for what the variable has come to, and after some of them the other course may have been ahead.
    fn behind(&self, term: usize) -> Option<Node> {
        let reads = self.courses[0].schema().rewards()[term].expression.parents();
        let grows = |parent: &Parent| {
            let now = Parent { next: false, ..*parent };
            parent.next && reads.contains(&now)
        };
        let last = self.courses.iter().map(Trajectory::len).min()?.checked_sub(1);
        let at_end = last.filter(|_| reads.iter().any(grows));
        let at_end = at_end.and_then(|step| self.behind_at(term, step));
        at_end.or_else(|| self.behind_at(term, self.largest_part(term)?))
    }

    /// The variable that a reward term reads and that differs most at a step.
    fn behind_at(&self, term: usize, step: usize) -> Option<Node> {
        let schema = self.courses[0].schema();
        let states = schema.of_role(Role::State).count();
        let actions = schema.of_role(Role::Action).count();
        let reads = schema.rewards()[term].expression.parents();
        let node = |parent: &Parent| match schema.variables()[parent.variable].role {
            Role::State => Some(Node::state(step + usize::from(parent.next), parent.variable)),
            // That the actions differ is the question.
            Role::Action => None,
            Role::Outcome => Some(Node::outcome(step, parent.variable - states - actions)),
        };
        let told = |&node: &Node| node.after() > 0 && self.differs(node) == Some(true);
        let nodes: Vec<Node> = reads.iter().filter_map(node).filter(told).collect();
        // What comes of the step says more than what it began with.
        let of_step = nodes.iter().copied().filter(|node| node.after() > step);
        let largest = of_step.max_by(|a, b| self.by_size(*a, *b));
        largest.or_else(|| nodes.iter().copied().max_by(|a, b| self.by_size(*a, *b)))
    }

    /// Which of two nodes differs more.
    pub(super) fn by_size(&self, a: Node, b: Node) -> Ordering {
        self.size(a).total_cmp(&self.size(b)).then(b.cmp(&a))
    }

    /// How much a node differs, in standard deviations where they are known.
    pub(super) fn size(&self, node: Node) -> f64 {
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
    pub(super) fn distance(&self, node: Node) -> f64 {
        let [this, other] = &self.courses;
        let pairs =
            this.value(node).into_iter().flatten().zip(other.value(node).into_iter().flatten());
        pairs.map(|(a, b)| (a - b).abs()).sum()
    }

    /// ` (better)` or ` (worse)`, where the schema says which is.
    fn better_in_words(&self, node: Node) -> &'static str {
        let (this, other) = self.courses_in_asked_order();
        let better = node.variable(this.schema()).and_then(|variable| variable.better);
        let (Some([this]), Some([other])) = (this.value(node), other.value(node)) else {
            return "";
        };
        match better.and_then(|better| better.is_better(*this, *other)) {
            Some(true) => " (better)",
            Some(false) => " (worse)",
            None => "",
        }
    }

    /// `after 4 steps marines are 6 instead of 0`.
    pub(super) fn differs_in_words(&self, node: Node) -> Option<String> {
        let (this, other) = self.courses_in_asked_order();
        let schema = this.schema();
        let (this, other) = (this.value(node)?, other.value(node)?);
        let (this, other) = instead(node.variable(schema), this, other);
        let name = title(schema, node);
        let chance = self.chance_in_words(node, &this, &other);
        let better = self.better_in_words(node);
        Some(format!(
            "{} {name} {} {this} instead of {other}{chance}{better}",
            after(node.after()),
            be(name)
        ))
    }

    /// Flags of outcomes that come in some of the possible courses: `With engine = none, crash happens in 3 of 10
    /// possible courses (it did not happen).`
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
            let open = (MIN_CHANCE..=1.0 - MIN_CHANCE).contains(&share);
            if open && !self.draws.is_empty() {
                let happened = match (comes(this, index), this.recorded_steps() == this.len()) {
                    (true, true) => "it happened",
                    (false, true) => "it did not happen",
                    (true, false) => "otherwise it most likely happens",
                    (false, false) => "otherwise it most likely does not",
                };
                words.push(format!(
                    "With {subject}, {} happens in {:.0} of 10 possible courses ({happened}).",
                    variable.title(),
                    (10.0 * share).round().clamp(1.0, 9.0)
                ));
            }
        }
        words
    }
}

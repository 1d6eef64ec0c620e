//! Contrasts as text: one sentence, and the steps.

use std::fmt::Write;

use super::evidence_text::doubts;
use super::explained::{ContrastView, WhyView};
use super::why_text::{basis, capital};
use super::words::{
    action, after, be, counted, instead, list, more, number, over_next, signed, title, value,
};
use becausal_core::schema::Schema;
use becausal_explain::chain::{Chain, Node, Part, Trajectory};
use becausal_explain::{CreditPart, Doubt, Fact};

/// The maximum number of differences in the sentence; the rest is counted.
const MAX_IN_SENTENCE: usize = 3;
/// The maximum number of lines for a step and for the reward difference; the rest is counted.
const MAX_LINES: usize = 8;

impl ContrastView<'_> {
    /// Whether the question is *what if*, not *why not*.
    pub(super) fn is_what_if(&self) -> bool {
        !self.change.state.is_empty()
    }

    /// The chain that the text describes, then the one it is compared with. *Why not* describes what
    /// happened; *what if* describes what would happen.
    pub(super) fn chains(&self) -> (&Chain, &Chain) {
        let (this, other) = (&self.factual.chain, &self.counterfactual.chain);
        if self.is_what_if() { (other, this) } else { (this, other) }
    }

    /// The trajectories of [`chains`](Self::chains), in the same order.
    fn trajectories(&self) -> (&Trajectory, &Trajectory) {
        let (this, other) = self.chains();
        (this.trajectory(), other.trajectory())
    }

    /// The [`subjects`](Self::subjects) in the order of [`chains`](Self::chains).
    pub(super) fn subjects_in_asked_order(&self) -> (String, String) {
        let (this, other) = self.subjects();
        if self.is_what_if() { (other, this) } else { (this, other) }
    }

    /// Turns a difference (factual minus counterfactual) into the direction that the text describes:
    /// *what if* has the opposite sign.
    pub(super) fn in_asked_direction(&self, difference: f64) -> f64 {
        if self.is_what_if() { 0.0 - difference } else { difference }
    }

    /// The two alternatives, the factual one first: (`build = depot`, `build = none`).
    #[must_use]
    pub fn subjects(&self) -> (String, String) {
        let trajectory = self.factual.chain.trajectory();
        let schema = trajectory.schema();
        let Some(first) = trajectory.steps().first() else {
            return (String::new(), String::new());
        };
        let mut this = Vec::new();
        let mut other = Vec::new();
        if let Some(changed) = &self.change.action {
            this.push(action(schema, &first.action));
            other.push(action(schema, changed));
        }
        for &(slot, changed) in &self.change.state {
            let variable = schema.slots().get(slot).map(|_| schema.variable_of(slot));
            let name = schema.slots().get(slot).map_or("", |slot| slot.name.as_str());
            let was = first.state.get(slot).copied().unwrap_or(f64::NAN);
            this.push(format!("{name} = {}", value(variable, &[was])));
            other.push(format!("{name} = {}", value(variable, &[changed])));
        }
        (this.join(", "), other.join(", "))
    }

    /// The question that the contrast answers.
    #[must_use]
    pub fn question(&self) -> String {
        let (this, other) = self.subjects();
        let step = self.factual.chain.trajectory().first();
        if self.is_what_if() {
            format!("What if {other} instead of {this} at step {step}?")
        } else {
            format!("Why {this} and not {other} at step {step}?")
        }
    }

    /// The explanation in one sentence, from the minimally complete contrastive explanation.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (this, other) = self.subjects_in_asked_order();
        let trajectory = self.factual.chain.trajectory();
        let schema = trajectory.schema();
        let steps = over_next(trajectory.len());
        let start = format!("With {this} instead of {other} at step {}", trajectory.first());
        if self.factual.chain.is_empty() && self.counterfactual.chain.is_empty() {
            return format!(
                "{start}: no influence above {} leads to a reward {steps}, either way.",
                self.factual.chain.graph().tau()
            );
        }
        let differing = self.differing();
        let difference = self.in_asked_direction(self.credit.difference());
        if differing.is_empty() && difference == 0.0 {
            return format!("{start}, no reward and nothing that a reward reads differs {steps}.");
        }
        let mut words: Vec<String> = differing
            .iter()
            .take(MAX_IN_SENTENCE)
            .filter_map(|&node| self.differs_in_words(schema, node))
            .collect();
        if differing.len() > MAX_IN_SENTENCE {
            words.push(more(differing.len() - MAX_IN_SENTENCE, "differ"));
        }
        let worth = match difference {
            more if more > 0.0 => format!("earns {} more reward", number(more, 3)),
            less if less < 0.0 => format!("earns {} less reward", number(-less, 3)),
            _ => "earns the same reward".to_owned(),
        };
        let terms = self.terms(schema);
        let terms = if terms.is_empty() { String::new() } else { format!(": {}", list(&terms)) };
        let because = if words.is_empty() { String::new() } else { format!(", {}", list(&words)) };
        format!(
            "{start}{because}; the agent {worth} {steps}{terms} ({}; the other course is predicted).",
            basis(trajectory)
        )
    }

    /// The differences of reward terms that are not 0.
    fn terms(&self, schema: &Schema) -> Vec<String> {
        let terms = self.credit.by_term().into_iter().filter(|(_, difference)| *difference != 0.0);
        let words = |(term, d): (usize, f64)| {
            format!("{} {}", schema.rewards()[term].name, signed(self.in_asked_direction(d)))
        };
        terms.map(words).collect()
    }

    /// For every variable of the contrast, the node of the step in which it differs most.
    fn differing(&self) -> Vec<Node> {
        let mut largest: Vec<Node> = Vec::new();
        let facts = self.minimal.factual.iter().chain(&self.minimal.counterfactual);
        let mut nodes: Vec<Node> = facts.map(|fact| fact.node).collect();
        nodes.sort_unstable();
        for node in nodes {
            if node.part == Part::Reward || node.after() == 0 || self.differs(node) != Some(true) {
                continue;
            }
            match largest.iter_mut().find(|l| l.part == node.part && l.index == node.index) {
                Some(known) if self.distance(node) >= self.distance(*known) => *known = node,
                Some(_) => {}
                None => largest.push(node),
            }
        }
        largest.sort_by_key(|node| (node.after(), *node));
        largest
    }

    /// The distance between the two values of a node.
    fn distance(&self, node: Node) -> f64 {
        let (this, other) = self.trajectories();
        match (this.value(node), other.value(node)) {
            (Some(this), Some(other)) => this.iter().zip(other).map(|(a, b)| (a - b).abs()).sum(),
            _ => 0.0,
        }
    }

    /// `after 4 steps marines are 6 instead of 0`.
    fn differs_in_words(&self, schema: &Schema, node: Node) -> Option<String> {
        let (this, other) = self.trajectories();
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

    /// ` (false has a probability of 62 %)`: of the value in the course that did not happen, if it is up
    /// to chance.
    fn chance_in_words(&self, node: Node, this: &str, other: &str) -> String {
        let predicted = if self.is_what_if() { this } else { other };
        self.chance(node).map_or_else(String::new, |chance| {
            format!(" ({predicted} has a probability of {:.0} %)", 100.0 * chance)
        })
    }

    /// The question, the answer in one sentence, the differences step by step, the reward difference,
    /// and the caveats.
    #[must_use]
    pub fn text(&self) -> String {
        let trajectory = self.factual.chain.trajectory();
        let schema = trajectory.schema();
        let mut text = format!("{}\n\n{}\n", self.question(), self.sentence());
        if let Some(choice) = WhyView(&self.factual).choice() {
            let _ = writeln!(text, "\n{choice}");
        }
        self.steps(&mut text, schema);
        self.worth(&mut text, schema);
        doubts(&mut text, schema, trajectory, &self.all_doubts());
        text
    }

    /// The caveats about the contrast and about both trajectories, each once.
    pub(super) fn all_doubts(&self) -> Vec<Doubt> {
        let mut all = self.doubts.clone();
        for doubt in self.factual.evidence.doubts.iter().chain(&self.counterfactual.evidence.doubts)
        {
            // The other trajectory is always predicted, as the sentence says.
            let predicted = matches!(doubt, Doubt::Predicted { .. });
            if !predicted && !all.contains(doubt) {
                all.push(doubt.clone());
            }
        }
        all
    }

    /// The differences after every step, in both chains.
    fn steps(&self, text: &mut String, schema: &Schema) {
        let (this, other) = self.trajectories();
        let mut nodes: Vec<Node> = self.factual.complete.facts().map(|fact| fact.node).collect();
        nodes.extend(self.counterfactual.complete.facts().map(|fact: &Fact| fact.node));
        nodes.sort_unstable();
        nodes.dedup();
        let mut has_lines = false;
        for step in 1..=this.len().max(other.len()) {
            let at = |node: &&Node| match node.part {
                Part::Action => node.step == step,
                Part::Reward => false,
                _ => node.after() == step,
            };
            let mut lines = Vec::new();
            for &node in nodes.iter().filter(at).filter(|node| self.differs(**node) == Some(true)) {
                let (Some(a), Some(b)) = (this.value(node), other.value(node)) else { continue };
                let (a, b) = instead(node.variable(schema), a, b);
                let name = title(schema, node);
                lines.push(if node.part == Part::Action {
                    format!("then {name} = {a} instead of {b}, by the policy")
                } else {
                    let chance = self.chance_in_words(node, &a, &b);
                    format!("{name} {} {a} instead of {b}{chance}", be(name))
                });
            }
            if !lines.is_empty() {
                let gap = if has_lines { "" } else { "\n" };
                has_lines = true;
                let _ = writeln!(text, "{gap}{}:", capital(&after(step)));
                for line in lines.iter().take(MAX_LINES) {
                    let _ = writeln!(text, "  {line}");
                }
                if lines.len() > MAX_LINES {
                    let _ = writeln!(text, "  and {}", more(lines.len() - MAX_LINES, "differ"));
                }
            }
        }
        if this.terminated() != other.terminated() || this.len() != other.len() {
            let ends = |ended: bool, length: usize| {
                if ended { format!("ends {}", after(length)) } else { "continues".to_owned() }
            };
            let _ = writeln!(
                text,
                "The episode {}; otherwise it {}.",
                ends(this.terminated(), this.len()),
                ends(other.terminated(), other.len())
            );
        }
    }

    /// The reward difference, term by term, and how it came about.
    fn worth(&self, text: &mut String, schema: &Schema) {
        let discounted = if self.credit.discount < 1.0 {
            format!(", discounted by {} per step", self.credit.discount)
        } else {
            String::new()
        };
        let difference = self.in_asked_direction(self.credit.difference());
        let _ = writeln!(text, "\nReward difference {}{discounted}:", signed(difference));
        let mut parts: Vec<&CreditPart> =
            self.credit.parts.iter().filter(|part| part.difference() != 0.0).collect();
        parts.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
        let smaller = parts.split_off(parts.len().min(MAX_LINES));
        parts.sort_by_key(|part| (part.step, part.reward));
        for part in parts {
            let (mut this, mut other) = (part.factual, part.counterfactual);
            if self.is_what_if() {
                (this, other) = (other, this);
            }
            let _ = writeln!(
                text,
                "  {} {} {} ({} instead of {})",
                after(part.step + 1),
                schema.rewards()[part.reward].name,
                signed(this - other),
                number(this, 3),
                number(other, 3)
            );
        }
        if !smaller.is_empty() {
            let sum: f64 = smaller.iter().map(|part| part.difference()).sum();
            let sum = signed(self.in_asked_direction(sum));
            let smaller = counted(smaller.len(), "smaller difference");
            let _ = writeln!(text, "  {smaller}: {sum} in total");
        }
        let state = self.in_asked_direction(self.credit.through_state());
        let actions = self.in_asked_direction(self.credit.through_actions());
        let _ = writeln!(
            text,
            "  of this {} through the state alone, {} through later actions that would differ",
            signed(state),
            signed(actions)
        );
    }
}

//! Contrasts as text: one sentence, and the steps.

use std::fmt::Write;

use super::evidence_text::doubts;
use super::explained::{ContrastView, WhyView};
use super::why_text::capital;
use super::words::{action, after, be, counted, instead, more, number, signed, title, value};
use becausal_core::schema::Schema;
use becausal_explain::chain::{Chain, Node, Part, Trajectory};
use becausal_explain::{CreditPart, Doubt, Fact};

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

    /// Both courses over the whole horizon, in the order of [`chains`](Self::chains).
    pub(super) fn courses_in_asked_order(&self) -> (&Trajectory, &Trajectory) {
        let [this, other] = &self.courses;
        if self.is_what_if() { (other, this) } else { (this, other) }
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

    /// ` (false has a probability of 62 %)`: of the value in the course that did not happen, if it is up
    /// to chance.
    pub(super) fn chance_in_words(&self, node: Node, this: &str, other: &str) -> String {
        let predicted = if self.is_what_if() { this } else { other };
        self.chance(node).map_or_else(String::new, |chance| {
            format!(" ({predicted} has a probability of {:.0} %)", 100.0 * chance)
        })
    }

    /// The question, the answer in a sentence or two, the agent's side, how sure it is, what differs and what it is
    /// worth, and the caveats that could change the answer.
    #[must_use]
    pub fn text(&self) -> String {
        let choice = WhyView(&self.factual).choice();
        self.told(&self.question(), &self.sentence(), choice.as_deref())
    }

    /// Everything: the differences step by step, every reward difference, every caveat.
    #[must_use]
    pub fn details(&self) -> String {
        let trajectory = &self.courses[0];
        let schema = trajectory.schema();
        let mut text = format!("{}\n\n{}\n", self.question(), self.sentence());
        if let Some(choice) = WhyView(&self.factual).choice() {
            let _ = writeln!(text, "\n{choice}");
        }
        let _ = writeln!(text, "\n{}", self.certainty());
        self.list_steps(&mut text, schema);
        self.worth_in_parts(&mut text, schema);
        doubts(&mut text, schema, trajectory, &self.all_doubts());
        text
    }

    /// The caveats about the contrast and about both trajectories, each once.
    pub(super) fn all_doubts(&self) -> Vec<Doubt> {
        let mut all = self.doubts.clone();
        let of_factual = self.factual.evidence.doubts.iter();
        // The other course is always predicted.
        let predicted = |doubt: &&Doubt| !matches!(doubt, Doubt::Predicted { .. });
        let of_other = self.counterfactual.evidence.doubts.iter().filter(predicted);
        for doubt in of_factual.chain(of_other) {
            if !all.contains(doubt) {
                all.push(doubt.clone());
            }
        }
        all
    }

    /// The differences after every step, in both chains.
    pub(super) fn list_steps(&self, text: &mut String, schema: &Schema) {
        let (this, other) = self.courses_in_asked_order();
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
        if let Some(ends) = self.ends_in_words() {
            let _ = writeln!(text, "{ends}");
        }
    }

    /// `The episode continues; otherwise it ends after 4 steps.`; `None` where both courses end alike.
    pub(super) fn ends_in_words(&self) -> Option<String> {
        let (this, other) = self.courses_in_asked_order();
        if this.terminated() == other.terminated() && this.len() == other.len() {
            return None;
        }
        let ends = |course: &Trajectory| {
            if course.terminated() {
                format!("ends {}", after(course.len()))
            } else {
                "continues".to_owned()
            }
        };
        Some(format!("The episode {}; otherwise it {}.", ends(this), ends(other)))
    }

    /// The reward difference, term by term, and how it came about.
    pub(super) fn worth_in_parts(&self, text: &mut String, schema: &Schema) {
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

//! *Why* as text: one sentence, and the steps.

use std::fmt::Write;

use super::answer_sentence::apposition;
use super::choice_text::choice_text;
use super::evidence_text::{acted_on, doubts, links, short_list};
use super::explained::{ContrastView, WhyView};

use super::words::{
    action_of, after, change, counted, list, more, number, over_next, signed, title, value,
};
use becausal_core::schema::Schema;
use becausal_explain::chain::{Chain, Node, Part, Trajectory, Way};
use becausal_explain::{Explanan, Fact};

/// The maximum number of changes listed for a step; the rest is counted.
const MAX_LINES: usize = 10;
/// The maximum number of variables in the sentence; the rest is counted.
const MAX_IN_SENTENCE: usize = 3;

impl WhyView<'_> {
    /// The question.
    pub fn question(&self) -> String {
        let trajectory = self.chain.trajectory();
        let action = trajectory.steps().first().map(|step| action_of(trajectory.schema(), step));
        format!("Why {} at step {}?", action.unwrap_or_default(), trajectory.first())
    }

    /// The answer in one or two sentences: against the action it was compared with, or, where there is none, what
    /// follows from the action, from the minimally complete explanan.
    #[must_use]
    pub fn sentence(&self) -> String {
        match &self.rather {
            Some(rather) => {
                ContrastView(&rather.contrast).sentence_against(apposition(&rather.rival))
            }
            None => self.consequences(),
        }
    }

    /// What follows from the action.
    pub(super) fn consequences(&self) -> String {
        let trajectory = self.chain.trajectory();
        let schema = trajectory.schema();
        let Some(first) = trajectory.steps().first() else {
            return "There is nothing to explain: no step was recorded or simulated.".to_owned();
        };
        let action = action_of(schema, first);
        if self.chain.is_empty() {
            return no_reward_reached(&self.chain, &action);
        }
        let changes = net_changes(schema, trajectory, &self.minimal);
        let shown = changes.len().min(MAX_IN_SENTENCE);
        let mut words: Vec<String> = changes[..shown].to_vec();
        if changes.len() > shown {
            words.push(more(changes.len() - shown, "change"));
        }
        let rewards = rewards(schema, &self.minimal);
        let start = format!("With {action} at step {},", trajectory.first());
        let basis = basis(trajectory);
        if words.is_empty() {
            let steps = over_next(trajectory.len());
            return format!("{start} there is {} {steps} ({basis}).", list(&rewards));
        }
        format!("{start} {}, which leads to {} ({basis}).", list(&words), list(&rewards))
    }

    /// The agent's side, where it is known.
    pub(super) fn choice(&self) -> Option<String> {
        let schema = self.chain.trajectory().schema();
        self.0.choice.as_ref().map(|choice| choice_text(schema, choice))
    }

    /// The question, the answer in one or two sentences, the agent's side, how sure it is, what differs and what it
    /// is worth, and the caveats that could change the answer.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.rather {
            Some(rather) => {
                let choice = self.choice();
                let contrast = ContrastView(&rather.contrast);
                contrast.told(&self.question(), &self.sentence(), choice.as_deref())
            }
            None => self.details(),
        }
    }

    /// Everything: the steps, the influences, the evidence and all caveats.
    #[must_use]
    pub fn details(&self) -> String {
        let trajectory = self.chain.trajectory();
        let schema = trajectory.schema();
        let mut text = String::new();
        if !trajectory.steps().is_empty() {
            let _ = writeln!(text, "{}\n", self.question());
        }
        let _ = writeln!(text, "{}", self.sentence());
        if let Some(choice) = self.choice() {
            let _ = writeln!(text, "\n{choice}");
        }
        if let Some(rather) = &self.rather {
            let contrast = ContrastView(&rather.contrast);
            let _ = writeln!(text, "\n{}", contrast.certainty());
            let _ = writeln!(text, "\nCompared with {}:", contrast.subjects().1);
            contrast.list_steps(&mut text, schema);
            contrast.worth_in_parts(&mut text, schema);
            let _ = writeln!(text, "\nWhat follows from it:");
        }
        if self.chain.is_empty() {
            if self.rather.is_some() {
                let _ = writeln!(text, "{}", self.consequences());
                self.list_doubts(&mut text);
            }
            return text;
        }
        text.push('\n');
        steps(&mut text, &self.chain, &self.complete);
        if !self.complete.heads.is_empty() {
            let heads: Vec<String> = self.complete.heads.iter().map(|f| fact(schema, f)).collect();
            let _ = writeln!(text, "\nActing together with it: {}.", short_list(heads));
        }
        let direct = acted_on(schema, &self.evidence.links);
        if !direct.is_empty() {
            let _ = writeln!(text, "Depending on the action itself: {}.", short_list(direct));
        }
        links(&mut text, schema, &self.evidence.links);
        self.list_doubts(&mut text);
        text
    }

    /// All caveats, those of the comparison too.
    fn list_doubts(&self, text: &mut String) {
        let trajectory = self.chain.trajectory();
        let all = match &self.rather {
            Some(rather) => ContrastView(&rather.contrast).all_doubts(),
            None => self.evidence.doubts.clone(),
        };
        doubts(text, trajectory.schema(), trajectory, &all);
    }
}

/// The sentence if no reward is reached.
fn no_reward_reached(chain: &Chain, action: &str) -> String {
    let schema = chain.trajectory().schema();
    let names: Vec<String> =
        chain.targets().iter().map(|&t| schema.rewards()[t].name.clone()).collect();
    let targets =
        if names.len() == schema.rewards().len() { "a reward".to_owned() } else { list(&names) };
    format!(
        "No influence above {} leads from {action} at step {} to {targets} {}.",
        chain.graph().tau(),
        chain.trajectory().first(),
        over_next(chain.trajectory().len())
    )
}

/// A fact as `money (505)`.
fn fact(schema: &Schema, fact: &Fact) -> String {
    format!("{} ({})", title(schema, fact.node), value(fact.node.variable(schema), &fact.value))
}

/// The change of each variable of an explanan, from the first step to its last mention.
fn net_changes(schema: &Schema, trajectory: &Trajectory, explanan: &Explanan) -> Vec<String> {
    let mut last: Vec<Node> = Vec::new();
    // An outcome of 0 is not a change.
    let is_change = |fact: &&Fact| match fact.node.part {
        Part::Outcome => fact.value.iter().any(|value| *value != 0.0),
        _ => fact.changed(),
    };
    for fact in explanan.intermediates.iter().filter(is_change) {
        let node = fact.node;
        match last.iter_mut().find(|l| l.part == node.part && l.index == node.index) {
            Some(known) => *known = node,
            None => last.push(node),
        }
    }
    last.sort_by_key(|node| (node.after(), *node));
    let words = |node: Node| {
        let variable = node.variable(schema)?;
        let now = trajectory.value(node)?;
        let when = after(node.after());
        match node.part {
            Part::State => {
                let start = trajectory.value(Node::state(0, node.index))?;
                Some(format!("{} {when}", change(variable, start, now)))
            }
            Part::Action => {
                Some(format!("{} = {} follows", title(schema, node), value(Some(variable), now)))
            }
            _ => Some(format!("{} is {} {when}", title(schema, node), value(Some(variable), now))),
        }
    };
    last.into_iter().filter_map(words).collect()
}

/// The rewards of an explanan, summed over its steps: `a reward of 6 for new marines`.
fn rewards(schema: &Schema, explanan: &Explanan) -> Vec<String> {
    let mut sums: Vec<(usize, f64)> = Vec::new();
    for fact in &explanan.rewards {
        let reward = fact.value.iter().sum::<f64>();
        match sums.iter_mut().find(|(reward, _)| *reward == fact.node.index) {
            Some((_, sum)) => *sum += reward,
            None => sums.push((fact.node.index, reward)),
        }
    }
    let nonzero: Vec<(usize, f64)> = sums.iter().copied().filter(|(_, sum)| *sum != 0.0).collect();
    let name = |reward: usize| schema.rewards()[reward].name.as_str();
    if nonzero.is_empty() {
        let names: Vec<String> = sums.iter().map(|(reward, _)| name(*reward).to_owned()).collect();
        return vec![format!("no reward for {}", list(&names))];
    }
    let words = nonzero.iter().enumerate().map(|(index, (reward, sum))| {
        let noun = if index == 0 { "a reward of " } else { "" };
        format!("{noun}{} for {}", number(*sum, 3), name(*reward))
    });
    words.collect()
}

/// Which steps are recorded and which predicted.
pub(super) fn basis(trajectory: &Trajectory) -> String {
    match trajectory.recorded_steps() {
        0 => "predicted".to_owned(),
        all if all == trajectory.len() => "recorded".to_owned(),
        some => format!("recorded for {}, predicted after", counted(some, "step")),
    }
}

/// A paragraph for every step: the agent's action, the changes and the rewards.
fn steps(text: &mut String, chain: &Chain, explanan: &Explanan) {
    let trajectory = chain.trajectory();
    let schema = trajectory.schema();
    for step in 1..=trajectory.len() {
        let at = |fact: &&Fact| match fact.node.part {
            // An action belongs to the step in which it is taken.
            Part::Action => fact.node.step + 1 == step,
            _ => fact.node.after() == step,
        };
        let facts: Vec<&Fact> = explanan.facts().filter(at).collect();
        if facts.is_empty() {
            continue;
        }
        let taken = &trajectory.steps()[step - 1];
        let basis = if taken.recorded { "recorded" } else { "predicted" };
        let _ =
            writeln!(text, "{} ({basis}), {}:", capital(&after(step)), action_of(schema, taken));
        if facts.iter().any(|fact| fact.node.part == Part::Action) {
            let _ =
                writeln!(text, "  chosen by the policy because of {}", reasons(chain, step - 1));
        }
        let (mut changes, mut rewards, mut unchanged) = (Vec::new(), Vec::new(), Vec::new());
        for fact in facts {
            let name = title(schema, fact.node);
            match (fact.node.variable(schema), &fact.before, fact.node.part) {
                (_, _, Part::Action) => {}
                (None, ..) => {
                    let reward = fact.value.iter().sum::<f64>();
                    rewards.extend(
                        (reward != 0.0).then(|| format!("reward {} for {name}", signed(reward))),
                    );
                }
                (_, Some(_), _) if !fact.changed() => unchanged.push(name.to_owned()),
                (Some(variable), Some(before), _) => {
                    changes.push(change(variable, before, &fact.value));
                }
                (variable, None, _) => {
                    changes.push(format!("{name} is {}", value(variable, &fact.value)));
                }
            }
        }
        if changes.len() > MAX_LINES + 1 {
            let rest = changes.split_off(MAX_LINES).len();
            changes.push(format!("and {}", more(rest, "change")));
        }
        for line in changes.iter().chain(&rewards) {
            let _ = writeln!(text, "  {line}");
        }
        if !unchanged.is_empty() {
            let _ = writeln!(text, "  unchanged: {}", unchanged.join(", "));
        }
    }
    if trajectory.terminated() {
        let _ = writeln!(text, "The episode ends {}.", after(trajectory.len()));
    }
}

/// The state variables that a later action depends on.
fn reasons(chain: &Chain, step: usize) -> String {
    let schema = chain.trajectory().schema();
    let mut names: Vec<String> = Vec::new();
    for edge in chain.edges().filter(|edge| edge.way == Way::Policy && edge.to.step == step) {
        let name = title(schema, edge.from).to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    list(&names)
}

pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

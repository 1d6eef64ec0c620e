//! The picture of a chain: time in columns, the action at the left, rewards at the right.

use super::layout::{LayoutOptions, NodeOrder, Spacing};
use super::picture::{
    LegendEntry, Link, LinkStyle, Node as PictureNode, NodeKind, Picture, PictureColumn,
    PictureError, Place, Sample, Tone,
};
use super::selection::{Candidate, strongest};
use super::words::{action_of, arrow, counted, minus, signed, title, value};
use crate::chain::{Chain, Edge, Node, Part, Way};
use crate::explain::{Why, differ};
use crate::schema::Schema;

/// What a picture holds, at most; the weaker rest is counted.
const MOST_NODES: usize = 32;
const MOST_LINKS: usize = 48;
/// Links into one reward: the steps that pay most.
const MOST_PAYMENTS: usize = 4;

/// The layout of pictures of chains.
#[must_use]
pub fn chain_layout() -> LayoutOptions {
    LayoutOptions {
        spacing: Spacing::Straight,
        order: NodeOrder::FewerCrossings,
        ..LayoutOptions::default()
    }
}

/// An influence to draw: rewards of all steps are one node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stroke {
    pub from: Node,
    pub to: Node,
    pub weight: f64,
    pub way: Way,
    pub tone: Tone,
}

/// What is drawn: strokes in the order of time, and how nodes look.
pub(super) struct Sketch<'a> {
    pub title: String,
    pub schema: &'a Schema,
    /// The number of steps, which is the column of the last state.
    pub steps: usize,
    pub headings: Vec<String>,
    pub strokes: Vec<Stroke>,
    /// The legend of what is shown in the end.
    pub legend: &'a dyn Fn(&[Stroke]) -> Vec<LegendEntry>,
    pub footnotes: Vec<String>,
    pub description: String,
    /// The second line of a node, and whether it has the accent.
    pub look: &'a dyn Fn(Node) -> (String, bool),
    /// Whether a stroke belongs to the chain itself or only acts with it.
    pub is_source: &'a dyn Fn(Node) -> bool,
}

impl Why {
    /// The picture of the chain. What has moved since the action, and the way to the rewards, is in
    /// the accent colour; what acts together with it is dark; the policy's choices are dotted.
    ///
    /// # Errors
    /// When a weight is no number from 0 to 1, as it cannot be in a chain that was built.
    pub fn picture(&self) -> Result<Picture, PictureError> {
        let chain = &self.chain;
        let trajectory = chain.trajectory();
        let schema = trajectory.schema();
        let action = trajectory.steps().first().map_or(String::new(), |s| action_of(schema, s));
        let moved = |node: Node| match node.part {
            Part::State if node.step > 0 => {
                let (now, start) =
                    (trajectory.value(node), trajectory.value(Node { step: 0, ..node }));
                matches!((now, start), (Some(now), Some(start)) if differ(now, start))
            }
            Part::Outcome => trajectory.value(node).is_some_and(|v| v.iter().any(|x| *x != 0.0)),
            _ => true,
        };
        let sums = reward_sums(chain);
        let look = |node: Node| match node.part {
            Part::Reward => {
                let sum = sums.get(node.index).copied().unwrap_or(0.0);
                (minus(&signed(sum)), sum != 0.0)
            }
            Part::State => {
                let variable = node.variable(schema);
                let now = trajectory.value(node).unwrap_or_default();
                let text =
                    variable.map_or(String::new(), |v| arrow(v, trajectory.before(node), now));
                (text, node.step > 0 && moved(node))
            }
            _ => {
                let now = trajectory.value(node).unwrap_or_default();
                (minus(&value(node.variable(schema), now)), node.step == 0 || moved(node))
            }
        };
        let paid = |node: Node| trajectory.value(node).map_or(0.0, |v| v.iter().sum());
        let strokes = strokes(chain, Tone::Accent, &paid);
        let total = strokes.len();
        let strokes = without_unmoved(strokes, &moved);
        let unmoved = total - strokes.len();
        let origin = chain.graph().origin();
        Sketch {
            title: format!("Why {action} at step {}?", trajectory.first()),
            schema,
            steps: trajectory.len(),
            headings: headings(chain),
            legend: &legend,
            strokes,
            footnotes: notes(self.sentence(), unmoved),
            description: self.sentence(),
            look: &look,
            is_source: &|node| origin.holds(node),
        }
        .picture()
    }
}

/// The sentence below a picture, and how many influences among unmoved values are not in it.
pub(super) fn notes(sentence: String, unmoved: usize) -> Vec<String> {
    let mut notes = vec![sentence];
    if unmoved > 0 {
        let influences = counted(unmoved, "influence");
        notes.push(format!("Left out: {influences} on or from values that have not moved."));
    }
    notes
}

/// The rewards of a chain summed over its steps, term by term.
fn reward_sums(chain: &Chain) -> Vec<f64> {
    let mut sums = vec![0.0; chain.trajectory().shape().rewards];
    for node in chain.rewards() {
        sums[node.index] += chain.trajectory().value(node).map_or(0.0, |v| v.iter().sum());
    }
    sums
}

/// The influences of a chain with the rewards of all steps put together.
///
/// `paid` is what a reward is worth in a step: a link into a reward is as wide as its step's share
/// of what the reward pays, and only the steps that pay most have one. Of a variable that a reward
/// reads before and after a step only the value after it is drawn.
pub(super) fn strokes(chain: &Chain, tone: Tone, paid: &dyn Fn(Node) -> f64) -> Vec<Stroke> {
    let steps = chain.trajectory().len();
    let mut payments: Vec<Vec<(f64, usize)>> = vec![Vec::new(); chain.trajectory().shape().rewards];
    for node in chain.rewards() {
        payments[node.index].push((paid(node).abs(), node.step));
    }
    let pays = payments.iter().flatten().any(|(paid, _)| *paid > 0.0);
    for payments in &mut payments {
        let sum: f64 = payments.iter().map(|(paid, _)| paid).sum();
        let count = payments.len() as f64;
        // A reward that never pays is drawn only where none does.
        for (paid, _) in payments.iter_mut() {
            *paid = match () {
                () if sum > 0.0 => *paid / sum,
                () if pays => 0.0,
                () => 1.0 / count,
            };
        }
        payments.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        payments.retain(|(share, _)| *share > 0.0);
        payments.truncate(MOST_PAYMENTS);
    }
    let mut found: Vec<Stroke> = Vec::new();
    for edge in chain.edges() {
        let (mut to, mut weight) = (edge.to, edge.weight);
        if edge.to.part == Part::Reward {
            let payment = payments[edge.to.index].iter().find(|(_, step)| *step == edge.to.step);
            let Some(&(share, _)) = payment.filter(|_| !is_before_and_after(chain, edge)) else {
                continue;
            };
            (to, weight) = (Node::reward(steps, edge.to.index), share.min(1.0));
        }
        if edge.way == Way::Action {
            weight = 0.6; // an action acts or it does not: its links have one width
        }
        if found.iter().rev().any(|stroke| stroke.from == edge.from && stroke.to == to) {
            continue;
        }
        let head = chain.heads().binary_search(&edge.from).is_ok();
        let tone = if head { Tone::Plain } else { tone };
        found.push(Stroke { from: edge.from, to, weight, way: edge.way, tone });
    }
    found
}

/// Whether a reward reads this variable before its step although it is in the chain after it too.
fn is_before_and_after(chain: &Chain, edge: &Edge) -> bool {
    edge.from.part == Part::State
        && edge.from.step == edge.to.step
        && chain.edges().any(|other| {
            other.to == edge.to && other.from == (Node { step: edge.from.step + 1, ..edge.from })
        })
}

/// Takes out what has not moved, unless a reward would lose its last way.
pub(super) fn without_unmoved(strokes: Vec<Stroke>, moved: &dyn Fn(Node) -> bool) -> Vec<Stroke> {
    let given = |node: Node| node.step == 0 && matches!(node.part, Part::State | Part::Action);
    let stays = |node: Node| node.part == Part::Reward || given(node) || moved(node);
    let mut kept: Vec<Stroke> =
        strokes.iter().filter(|s| stays(s.from) && stays(s.to)).cloned().collect();
    // A node that nothing leads into any more is no longer on a way.
    let mut reached: Vec<Node> = Vec::new();
    kept.retain(|stroke| {
        let goes = given(stroke.from) || reached.contains(&stroke.from);
        if goes {
            reached.push(stroke.to);
        }
        goes
    });
    let sinks = |strokes: &[Stroke]| {
        let mut ends: Vec<usize> =
            strokes.iter().filter(|s| s.to.part == Part::Reward).map(|s| s.to.index).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    };
    if sinks(&kept) == sinks(&strokes) { kept } else { strokes }
}

/// `step 12`, `step 13`, with a mark where values are predicted; rewards last.
pub(super) fn headings(chain: &Chain) -> Vec<String> {
    let trajectory = chain.trajectory();
    let mut headings: Vec<String> = (0..=trajectory.len())
        .map(|step| {
            let recorded = trajectory.is_recorded(Node::state(step, 0));
            let mark = if recorded || step == 0 { "" } else { " (predicted)" };
            format!("step {}{mark}", trajectory.first() + step)
        })
        .collect();
    headings.push("rewards".to_owned());
    headings
}

pub(super) fn link_entry(text: &str, style: LinkStyle, tone: Tone) -> LegendEntry {
    LegendEntry { sample: Sample::Link { weight: 0.6, style, tone }, text: text.to_owned() }
}

/// Only what the picture shows.
fn legend(strokes: &[Stroke]) -> Vec<LegendEntry> {
    let mut entries = vec![link_entry("chain to the rewards", LinkStyle::Solid, Tone::Accent)];
    if strokes.iter().any(|stroke| stroke.tone == Tone::Plain) {
        entries.push(link_entry("acts with it", LinkStyle::Solid, Tone::Plain));
    }
    if strokes.iter().any(|stroke| stroke.way == Way::Policy) {
        entries.push(link_entry("chosen by the policy", LinkStyle::Dotted, Tone::Accent));
    }
    entries.extend(node_entries(strokes));
    entries
}

/// A sample of every kind of node.
pub(super) fn node_entries(strokes: &[Stroke]) -> Vec<LegendEntry> {
    let kinds = [
        (Part::State, NodeKind::State, "state"),
        (Part::Action, NodeKind::Action, "action"),
        (Part::Outcome, NodeKind::Outcome, "outcome"),
        (Part::Reward, NodeKind::Reward, "reward"),
    ];
    let shown = |part: Part| strokes.iter().any(|s| s.from.part == part || s.to.part == part);
    let shown = kinds.into_iter().filter(|(part, ..)| shown(*part));
    shown
        .map(|(_, kind, text)| LegendEntry {
            sample: Sample::Node { kind, accent: false },
            text: text.to_owned(),
        })
        .collect()
}

impl Sketch<'_> {
    /// Chooses what there is room for and puts it into columns.
    pub fn picture(self) -> Result<Picture, PictureError> {
        let candidates: Vec<Candidate> = self
            .strokes
            .iter()
            .map(|s| Candidate { from: s.from, to: s.to, weight: s.weight })
            .collect();
        let is_head = |node: Node| node.step == 0 && node.part == Part::State;
        let begins = |node: Node| (self.is_source)(node);
        let chosen =
            strongest(&candidates, begins, |n| n.part == Part::Reward, MOST_NODES, MOST_LINKS);
        let reached: Vec<Node> = chosen.iter().map(|&index| self.strokes[index].to).collect();
        let mut shown = chosen.clone();
        for (index, stroke) in self.strokes.iter().enumerate() {
            let acts_with = is_head(stroke.from) && reached.contains(&stroke.to);
            if acts_with && !shown.contains(&index) && shown.len() < MOST_LINKS {
                shown.push(index);
            }
        }
        shown.sort_unstable();
        let mut columns: Vec<Vec<Node>> = vec![Vec::new(); self.steps + 2];
        for &index in &shown {
            for node in [self.strokes[index].from, self.strokes[index].to] {
                let column = &mut columns[self.column(node)];
                if !column.contains(&node) {
                    column.push(node);
                }
            }
        }
        for column in &mut columns {
            // An action stands below the states that it is chosen by.
            column.sort_by_key(|node| (node.part, node.index));
        }
        // Steps in which nothing is shown have no column.
        let filled: Vec<usize> = (0..columns.len()).filter(|&c| !columns[c].is_empty()).collect();
        let place = |node: Node| {
            let column = filled.iter().position(|&c| c == self.column(node)).unwrap_or(0);
            let row = columns[self.column(node)].iter().position(|n| *n == node).unwrap_or(0);
            Place::new(column, row)
        };
        let links = shown
            .iter()
            .map(|&index| {
                let stroke = &self.strokes[index];
                let style = match (stroke.way, stroke.tone) {
                    (Way::Policy, _) => LinkStyle::Dotted,
                    (_, Tone::Alternative) => LinkStyle::Dashed,
                    _ => LinkStyle::Solid,
                };
                let link = Link::new(place(stroke.from), place(stroke.to), stroke.weight);
                link.with_style(style).with_tone(stroke.tone)
            })
            .collect();
        let drawn = filled
            .iter()
            .map(|&column| {
                let heading = self.headings.get(column).cloned().unwrap_or_default();
                let nodes = columns[column].iter().map(|&node| self.node(node)).collect();
                PictureColumn::new(heading, nodes)
            })
            .collect();
        let drawn_strokes: Vec<Stroke> =
            shown.iter().map(|&index| self.strokes[index].clone()).collect();
        let mut footnotes = self.footnotes.clone();
        let weaker = self.strokes.len() - shown.len();
        if weaker > 0 {
            footnotes.push(format!("{} not shown.", weaker_ones(weaker)));
        }
        Picture::new(self.title.clone(), drawn, links)?
            .with_legend((self.legend)(&drawn_strokes))
            .map(|p| p.with_footnotes(footnotes).with_description(self.description.clone()))
    }

    fn column(&self, node: Node) -> usize {
        match node.part {
            Part::State | Part::Action => node.step,
            Part::Outcome => node.step + 1,
            Part::Reward => self.steps + 1,
        }
    }

    fn node(&self, node: Node) -> PictureNode {
        let (kind, letter) = match node.part {
            Part::State => (NodeKind::State, 's'),
            Part::Action => (NodeKind::Action, 'a'),
            Part::Outcome => (NodeKind::Outcome, 'o'),
            Part::Reward => (NodeKind::Reward, 'r'),
        };
        let (detail, accent) = (self.look)(node);
        PictureNode::new(format!("{letter}{}.{}", node.index, node.step), kind)
            .with_label(title(self.schema, node))
            .with_detail(detail)
            .with_accent(accent)
    }
}

fn weaker_ones(count: usize) -> String {
    if count == 1 { "1 weaker influence is".to_owned() } else { format!("{count} weaker ones are") }
}

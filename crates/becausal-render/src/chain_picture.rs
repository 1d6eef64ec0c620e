//! The picture of a chain: a column per step, the action on the left, rewards on the right.

use super::explained::WhyView;
use super::layout::{LayoutOptions, NodeOrder, Spacing};
use super::picture::{LegendEntry, LinkStyle, NodeKind, Picture, PictureError, Sample, Tone};
use super::sketch::Sketch;
use super::strokes::{Stroke, mark_untested, strokes, without_unchanged};
use super::words::{action_of, arrow, counted, minus, signed, value};
use becausal_explain::chain::{Chain, Node, Part, Way};
use becausal_explain::differ;

/// The layout of pictures of chains.
#[must_use]
pub fn chain_layout() -> LayoutOptions {
    LayoutOptions {
        spacing: Spacing::Straight,
        order: NodeOrder::FewerCrossings,
        ..LayoutOptions::default()
    }
}

impl WhyView<'_> {
    /// The picture of the chain. Variables that changed and the paths to the rewards are in the accent
    /// colour. Variables that act together with the action are dark. Choices of the policy are dotted.
    ///
    /// # Errors
    /// When a weight is not between 0 and 1, which never happens in a chain.
    pub fn picture(&self) -> Result<Picture, PictureError> {
        self.picture_marking(&|_, _| false, "")
    }

    /// The same with some influences of states in the second colour; `words` explains them in the legend.
    ///
    /// # Errors
    /// As [`picture`](Self::picture).
    pub fn picture_marking(
        &self,
        marked: &dyn Fn(Node, Node) -> bool,
        words: &str,
    ) -> Result<Picture, PictureError> {
        let chain = &self.chain;
        let trajectory = chain.trajectory();
        let schema = trajectory.schema();
        let action = trajectory.steps().first().map_or(String::new(), |s| action_of(schema, s));
        let changed = |node: Node| match node.part {
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
                (text, node.step > 0 && changed(node))
            }
            _ => {
                let now = trajectory.value(node).unwrap_or_default();
                (minus(&value(node.variable(schema), now)), node.step == 0 || changed(node))
            }
        };
        let reward_of = |node: Node| trajectory.value(node).map_or(0.0, |v| v.iter().sum());
        let mut strokes = strokes(chain, Tone::Accent, &reward_of);
        mark_untested(&mut strokes, &self.evidence);
        for stroke in strokes.iter_mut().filter(|stroke| stroke.way == Way::Influence) {
            if marked(stroke.from, stroke.to) {
                stroke.tone = Tone::Alternative;
            }
        }
        let total = strokes.len();
        let strokes = without_unchanged(strokes, &changed);
        let unchanged = total - strokes.len();
        let origin = chain.graph().origin();
        Sketch {
            title: format!("Why {action} at step {}?", trajectory.first()),
            schema,
            steps: trajectory.len(),
            headings: headings(chain),
            legend: &|strokes| legend(strokes, words),
            strokes,
            footnotes: notes(self.sentence(), unchanged, "values that have not moved"),
            description: self.sentence(),
            look: &look,
            is_source: &|node| origin.holds(node),
        }
        .picture()
    }
}

/// The sentence below a picture, and the number of influences left out.
pub(super) fn notes(sentence: String, left_out: usize, unchanged_values: &str) -> Vec<String> {
    let mut notes = vec![sentence];
    if left_out > 0 {
        let influences = counted(left_out, "influence");
        notes.push(format!(
            "Left out: {influences} through {unchanged_values} or to smaller rewards."
        ));
    }
    notes
}

/// The sum of each reward term over the steps of a chain.
fn reward_sums(chain: &Chain) -> Vec<f64> {
    let mut sums = vec![0.0; chain.trajectory().shape().rewards];
    for node in chain.rewards() {
        sums[node.index] += chain.trajectory().value(node).map_or(0.0, |v| v.iter().sum());
    }
    sums
}

/// `step 12`, `step 13`, with a mark on predicted steps; rewards last.
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

/// The entry for influences that no test has confirmed, if there are any.
pub(super) fn untested_entry(strokes: &[Stroke]) -> Option<LegendEntry> {
    let untested = strokes.iter().find(|stroke| stroke.untested)?;
    Some(link_entry("not confirmed by this data", LinkStyle::Dashed, untested.tone))
}

/// The entries for what the picture shows.
fn legend(strokes: &[Stroke], marked: &str) -> Vec<LegendEntry> {
    let mut entries = vec![link_entry("chain to the rewards", LinkStyle::Solid, Tone::Accent)];
    if strokes.iter().any(|stroke| stroke.tone == Tone::Alternative) {
        entries.push(link_entry(marked, LinkStyle::Solid, Tone::Alternative));
    }
    if strokes.iter().any(|stroke| stroke.tone == Tone::Plain) {
        entries.push(link_entry("acts with it", LinkStyle::Solid, Tone::Plain));
    }
    if strokes.iter().any(|stroke| stroke.way == Way::Policy) {
        entries.push(link_entry("chosen by the policy", LinkStyle::Dotted, Tone::Accent));
    }
    entries.extend(untested_entry(strokes));
    entries.extend(node_entries(strokes));
    entries
}

/// A sample of every kind of node shown.
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

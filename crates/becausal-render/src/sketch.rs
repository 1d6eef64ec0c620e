//! Turns strokes into a picture: selects the strongest and puts them into columns.

use super::picture::{
    LegendEntry, Link, LinkStyle, Node as PictureNode, NodeKind, Picture, PictureColumn,
    PictureError, Place,
};
use super::selection::{Candidate, strongest};
use super::strokes::Stroke;
use super::words::title;
use becausal_core::schema::Schema;
use becausal_explain::chain::{Node, Part, Way};

/// The maximum number of nodes to select; the weaker rest is counted.
const MAX_NODES: usize = 32;
/// The maximum number of links to select.
const MAX_LINKS: usize = 48;

/// The parts of a picture: strokes in order of time, and the look of nodes.
pub(super) struct Sketch<'a> {
    pub title: String,
    pub schema: &'a Schema,
    /// The number of steps, which is the column of the last state.
    pub steps: usize,
    pub headings: Vec<String>,
    pub strokes: Vec<Stroke>,
    /// The legend of the selected strokes.
    pub legend: &'a dyn Fn(&[Stroke]) -> Vec<LegendEntry>,
    pub footnotes: Vec<String>,
    pub description: String,
    /// The second line of a node, and whether it is accented.
    pub look: &'a dyn Fn(Node) -> (String, bool),
    /// Whether a path of the chain begins at a node.
    pub is_source: &'a dyn Fn(Node) -> bool,
}

impl Sketch<'_> {
    /// Selects the strongest strokes and puts their nodes into columns.
    pub fn picture(self) -> Result<Picture, PictureError> {
        let candidates: Vec<Candidate> = self
            .strokes
            .iter()
            .map(|s| Candidate { from: s.from, to: s.to, weight: s.weight })
            .collect();
        let is_head = |node: Node| node.step == 0 && node.part == Part::State;
        let begins = |node: Node| (self.is_source)(node);
        let chosen =
            strongest(&candidates, begins, |n| n.part == Part::Reward, MAX_NODES, MAX_LINKS);
        let reached: Vec<Node> = chosen.iter().map(|&index| self.strokes[index].to).collect();
        let mut shown = chosen.clone();
        for (index, stroke) in self.strokes.iter().enumerate() {
            let acts_with = is_head(stroke.from) && reached.contains(&stroke.to);
            if acts_with && !shown.contains(&index) && shown.len() < MAX_LINKS {
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
            // An action comes below the states that it depends on.
            column.sort_by_key(|node| (node.part, node.index));
        }
        // Steps without nodes have no column.
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
                let style = match stroke.way {
                    Way::Policy => LinkStyle::Dotted,
                    _ if stroke.untested => LinkStyle::Dashed,
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
            footnotes.push(format!("{} not shown.", count_weaker(weaker)));
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

fn count_weaker(count: usize) -> String {
    if count == 1 {
        "1 weaker influence is".to_owned()
    } else {
        format!("{count} weaker influences are")
    }
}

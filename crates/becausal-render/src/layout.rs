//! The positions of everything in a picture.
//!
//! Columns go from left to right, with their nodes on top of each other. A link that skips a column has
//! its own slot in it, so that it passes between nodes. Texts are measured with the bundled font, so
//! that nothing overlaps.

use super::drawing::{Anchor, Text};
use super::font::Font;
use super::frame::{Frame, MARGIN};
use super::geometry::{Area, Cubic, Point};
use super::label::shorten;
use super::order::{Item, Order};
use super::picture::{Node, NodeKind, Picture};
use super::{annotate, colour, route, rows};

pub(super) const LABEL: Font = Font::regular(13.0);
pub(super) const DETAIL: Font = Font::regular(11.0);
const HEADING: Font = Font::bold(12.0);
/// The distance from the edge of a node to its text.
const PADDING: f64 = 9.0;
/// The height of the line of headings, with the space below it.
const HEADING_HEIGHT: f64 = 28.0;

/// The order of nodes in their column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NodeOrder {
    /// The order in the picture.
    #[default]
    Given,
    /// An order with few link crossings, found by a quick search.
    FewerCrossings,
}

/// How nodes are spaced in their column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spacing {
    /// Evenly, for pictures of two columns.
    #[default]
    Even,
    /// So that strong links are straight, for chains over several columns.
    Straight,
}

/// The options of a layout.
#[derive(Debug, Clone, PartialEq)]
pub struct LayoutOptions {
    /// The order of nodes in their column.
    pub order: NodeOrder,
    /// The spacing of nodes in their column.
    pub spacing: Spacing,
    /// The maximum width of a node's text, at least 40; longer texts are shortened.
    pub widest_label: f64,
}

impl Default for LayoutOptions {
    fn default() -> Self {
        Self { order: NodeOrder::Given, spacing: Spacing::Even, widest_label: 180.0 }
    }
}

/// A picture with the positions of all its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
    /// The nodes, by column and index as in the picture.
    pub nodes: Vec<Vec<PlacedNode>>,
    /// The links, as in the picture.
    pub links: Vec<PlacedLink>,
    /// The samples of the legend, as in the picture.
    pub samples: Vec<Area>,
    /// Title, headings, legend and footnotes.
    pub texts: Vec<Text>,
}

/// A node with its position.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedNode {
    /// The area of its outline.
    pub area: Area,
    /// Its label.
    pub label: Text,
    /// Its second line.
    pub detail: Option<Text>,
}

/// A link with its position.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedLink {
    /// Its path; straight lines join curves that do not meet.
    pub curves: Vec<Cubic>,
    /// The arrowhead: its tip and its two other corners.
    pub head: [Point; 3],
    /// The line width.
    pub width: f64,
    /// The label, if there is room for it.
    pub label: Option<Text>,
}

impl Layout {
    /// The areas of nodes, texts and samples: no two of them overlap.
    #[must_use]
    pub fn label_areas(&self) -> Vec<Area> {
        let nodes = self.nodes.iter().flatten().map(|node| node.area);
        let labels = self.links.iter().filter_map(|link| link.label.as_ref()).map(Text::area);
        let texts = self.texts.iter().map(Text::area);
        nodes.chain(labels).chain(texts).chain(self.samples.iter().copied()).collect()
    }
}

/// The columns before their distance is chosen: everything that does not depend on it.
struct Columns {
    order: Order,
    widths: Vec<f64>,
    /// The middles and heights of items, in the order of `order`.
    middles: Vec<Vec<f64>>,
    heights: Vec<Vec<f64>>,
    height: f64,
    headings: f64,
}

impl Picture {
    /// Places everything in the picture.
    #[must_use]
    pub fn layout(&self, options: &LayoutOptions) -> Layout {
        /// Factors for the gaps between columns, tried in turn until all link labels fit.
        const STRETCHES: [f64; 5] = [1.0, 1.3, 1.7, 2.3, 3.0];
        let columns = arrange(self, options);
        let wanted = self.links().iter().filter(|link| link.label.is_some()).count();
        let mut best = spread(self, options, &columns, STRETCHES[0], 0);
        let mut chosen = STRETCHES[0];
        for &stretch in &STRETCHES[1..] {
            if annotate::placed_labels(&best.links) == wanted {
                break;
            }
            let next = spread(self, options, &columns, stretch, 0);
            if annotate::placed_labels(&next.links) > annotate::placed_labels(&best.links) {
                (best, chosen) = (next, stretch);
            }
        }
        match wanted - annotate::placed_labels(&best.links) {
            0 => best,
            omitted => spread(self, options, &columns, chosen, omitted),
        }
    }
}

/// Orders the items of the columns and chooses their vertical positions.
fn arrange(picture: &Picture, options: &LayoutOptions) -> Columns {
    let mut order = Order::given(picture);
    if options.order == NodeOrder::FewerCrossings {
        order = order.with_fewer_crossings();
    }
    let widest = options.widest_label.max(40.0);
    let widths = picture.columns().iter().map(|column| {
        let heading = HEADING.width(&shorten(&column.heading, HEADING, widest));
        let nodes = column.nodes.iter().map(|node| node_width(node, widest));
        nodes.fold(heading, f64::max)
    });
    let widths: Vec<f64> = widths.map(f64::ceil).collect();
    let heights = rows::heights(picture, &order);
    let middles = rows::middles(picture, &order, &heights, options.spacing);
    let height = rows::extent(&middles, &heights);
    let named = picture.columns().iter().any(|column| !column.heading.trim().is_empty());
    let headings = if named { HEADING_HEIGHT } else { 0.0 };
    Columns { order, widths, middles, heights, height, headings }
}

/// The width of a node: its text and the padding for its outline.
fn node_width(node: &Node, widest: f64) -> f64 {
    let label = LABEL.width(&shorten(&node.label, LABEL, widest));
    let detail = node.detail.as_ref().map(|text| DETAIL.width(&shorten(text, DETAIL, widest)));
    label.max(detail.unwrap_or(0.0)) + 2.0 * side(node.kind)
}

/// The distance from the left edge of a node to its text.
fn side(kind: NodeKind) -> f64 {
    match kind {
        NodeKind::State | NodeKind::Outcome => PADDING,
        NodeKind::Action | NodeKind::Reward => PADDING + 6.0,
    }
}

/// Puts the columns side by side and routes the links through the gaps.
///
/// A footnote mentions the `omitted` link labels that did not fit.
fn spread(
    picture: &Picture,
    options: &LayoutOptions,
    columns: &Columns,
    stretch: f64,
    omitted: usize,
) -> Layout {
    let count = columns.widths.len();
    // Steeper links need a wider gap, but many columns have to fit on the page.
    let (narrow, wide) = if count > 2 { (96.0, 170.0) } else { (170.0, 380.0) };
    let gap = (columns.height * 0.5).clamp(narrow, wide).max(annotate::gap(picture));
    let gap = (gap * stretch).round();
    let bulge = route::bulge(picture, count.wrapping_sub(1));
    let inner = columns.widths.iter().sum::<f64>() + gap * count.saturating_sub(1) as f64 + bulge;
    let frame = Frame::new(picture, inner, columns.height + columns.headings, omitted);
    let top = frame.body.top + columns.headings;
    let mut left = frame.body.left + ((frame.body.width - inner) / 2.0).floor();
    let mut lefts = Vec::with_capacity(count);
    for width in &columns.widths {
        lefts.push(left);
        left += width + gap;
    }
    let widest = options.widest_label.max(40.0);
    let mut texts = frame.texts;
    let mut nodes: Vec<Vec<PlacedNode>> = Vec::with_capacity(count);
    for (index, column) in picture.columns().iter().enumerate() {
        let (left, width) = (lefts[index], columns.widths[index]);
        let heading = shorten(&column.heading, HEADING, widest);
        if !heading.is_empty() {
            let place = Point::new(left + width / 2.0, frame.body.top + HEADING.line() / 2.0);
            texts.push(Text::new(heading, place, Anchor::Middle, HEADING, colour::GREY));
        }
        let mut placed: Vec<Option<PlacedNode>> = vec![None; column.nodes.len()];
        for (slot, item) in columns.order.columns[index].iter().enumerate() {
            if let Item::Node(node) = *item {
                let height = columns.heights[index][slot];
                let upper = top + columns.middles[index][slot] - height / 2.0;
                let area = Area { left, top: upper, width, height };
                placed[node] = Some(place_node(&column.nodes[node], area, widest));
            }
        }
        nodes.push(placed.into_iter().flatten().collect());
    }
    let passing = |column: usize, link: usize| {
        let slot = columns.order.columns[column].iter().position(|i| *i == Item::Passing(link));
        let slot = slot.expect("a link has a slot in every column that it skips");
        let (left, middle) = (lefts[column], top + columns.middles[column][slot]);
        (Point::new(left, middle), Point::new(left + columns.widths[column], middle))
    };
    let mut links = route::links(picture, &nodes, passing);
    let room =
        Area { left: MARGIN, top, width: frame.width - 2.0 * MARGIN, height: columns.height };
    annotate::label_links(picture, &nodes, &mut links, &room);
    Layout { width: frame.width, height: frame.height, nodes, links, samples: frame.samples, texts }
}

fn place_node(node: &Node, area: Area, widest: f64) -> PlacedNode {
    let centre = area.centre();
    let line = |text: &str, font: Font, down: f64, colour| {
        let place = Point::new(centre.x, centre.y + down);
        Text::new(shorten(text, font, widest), place, Anchor::Middle, font, colour)
    };
    let Some(detail) = &node.detail else {
        return PlacedNode {
            area,
            label: line(&node.label, LABEL, 0.0, colour::INK),
            detail: None,
        };
    };
    let label = line(&node.label, LABEL, -DETAIL.line() / 2.0, colour::INK);
    let detail = line(detail, DETAIL, LABEL.line() / 2.0, colour::GREY);
    PlacedNode { area, label, detail: Some(detail) }
}

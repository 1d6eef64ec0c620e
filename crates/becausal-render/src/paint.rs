//! Turns a picture with its layout into a drawing.

use super::colour::{self, Colour};
use super::drawing::{Drawing, Mark, Shape, Stroke};
use super::geometry::{Area, Point};
use super::layout::{Layout, LayoutOptions, PlacedLink};
use super::picture::{LinkStyle, NodeKind, Picture, Sample, Tone};
use super::route::{self, PILL, POINT};

impl Picture {
    /// Draws the picture.
    #[must_use]
    pub fn drawing(&self, options: &LayoutOptions) -> Drawing {
        let layout = self.layout(options);
        let mut marks = Vec::new();
        paint_links(self, &layout, &mut marks);
        paint_nodes(self, &layout, &mut marks);
        paint_link_labels(self, &layout, &mut marks);
        for (entry, area) in self.legend().iter().zip(&layout.samples) {
            marks.push(Mark::new(sample(entry.sample, area)));
        }
        marks.push(Mark::new(layout.texts.iter().cloned().map(Shape::Text).collect()));
        Drawing {
            title: self.title().to_owned(),
            description: self.description(),
            width: layout.width,
            height: layout.height,
            marks,
        }
    }
}

/// Paints accented and strong links last, so that they are on top.
fn paint_links(picture: &Picture, layout: &Layout, marks: &mut Vec<Mark>) {
    let mut ranked: Vec<usize> = (0..picture.links().len()).collect();
    ranked.sort_by(|&a, &b| {
        let (a, b) = (&picture.links()[a], &picture.links()[b]);
        a.tone.cmp(&b.tone).then(a.weight.total_cmp(&b.weight))
    });
    for index in ranked {
        let (link, placed) = (&picture.links()[index], &layout.links[index]);
        let shapes = arrow(placed, link.weight, link.style, link.tone);
        marks.push(Mark::with_hint(picture.link_in_words(link), shapes));
    }
}

fn arrow(placed: &PlacedLink, weight: f64, style: LinkStyle, tone: Tone) -> Vec<Shape> {
    let colour = link_colour(tone, weight);
    let mut shapes = Vec::with_capacity(3);
    if tone != Tone::Faint {
        // A white seam separates links where they cross.
        let seam = Stroke::solid(colour::WHITE, placed.width + 2.4);
        shapes.push(Shape::curves(&placed.curves, seam));
    }
    let dashes = dashes(style, placed.width);
    shapes.push(Shape::curves(&placed.curves, Stroke { colour, width: placed.width, dashes }));
    shapes.push(Shape::polygon(&placed.head, Some(colour), None));
    shapes
}

/// Weak links are lighter, but visible.
fn link_colour(tone: Tone, weight: f64) -> Colour {
    match tone {
        Tone::Plain => colour::SLATE.tint(0.5 + 0.5 * weight),
        Tone::Accent => colour::VERMILLION.tint(0.7 + 0.3 * weight),
        Tone::Alternative => colour::BLUE.tint(0.7 + 0.3 * weight),
        Tone::Faint => colour::SLATE.tint(0.3),
    }
}

fn dashes(style: LinkStyle, width: f64) -> Vec<f64> {
    match style {
        LinkStyle::Solid => Vec::new(),
        LinkStyle::Dashed => vec![5.0 + width, 3.0 + width],
        LinkStyle::Dotted => vec![width.max(1.5), 2.0 + width],
    }
}

fn paint_nodes(picture: &Picture, layout: &Layout, marks: &mut Vec<Mark>) {
    for (column, placed) in picture.columns().iter().zip(&layout.nodes) {
        for (node, placed) in column.nodes.iter().zip(placed) {
            let mut shapes = vec![outline(node.kind, node.accent, &placed.area)];
            shapes.push(Shape::Text(placed.label.clone()));
            shapes.extend(placed.detail.clone().map(Shape::Text));
            let hint = match &node.detail {
                Some(detail) => format!("{}: {detail}", node.label),
                None => node.label.clone(),
            };
            marks.push(Mark::with_hint(hint, shapes));
        }
    }
}

/// The outline of a node. Each kind has its own shape, so that nobody needs the colour.
fn outline(kind: NodeKind, accent: bool, area: &Area) -> Shape {
    let (fill, edge) = match kind {
        NodeKind::State => (Colour::new(0xF3, 0xF5, 0xF7), Colour::new(0x7B, 0x87, 0x94)),
        NodeKind::Action => (colour::SKY.tint(0.28), colour::BLUE.tint(0.8)),
        NodeKind::Outcome => (colour::GREEN.tint(0.16), colour::GREEN.tint(0.9)),
        NodeKind::Reward => (colour::YELLOW.tint(0.32), Colour::new(0x9A, 0x7B, 0x00)),
    };
    let stroke =
        if accent { Stroke::solid(colour::VERMILLION, 2.4) } else { Stroke::solid(edge, 1.2) };
    let (fill, stroke) = (Some(fill), Some(stroke));
    match kind {
        NodeKind::State => Shape::rectangle(area, 6.0, fill, stroke),
        NodeKind::Outcome => Shape::rectangle(area, 0.0, fill, stroke),
        NodeKind::Action => Shape::rectangle(area, PILL, fill, stroke),
        NodeKind::Reward => {
            let (left, right, middle) = (area.left, area.right(), area.centre().y);
            let corners = [
                Point::new(left, middle),
                Point::new(left + POINT, area.top),
                Point::new(right - POINT, area.top),
                Point::new(right, middle),
                Point::new(right - POINT, area.bottom()),
                Point::new(left + POINT, area.bottom()),
            ];
            Shape::polygon(&corners, fill, stroke)
        }
    }
}

fn paint_link_labels(picture: &Picture, layout: &Layout, marks: &mut Vec<Mark>) {
    for (link, placed) in picture.links().iter().zip(&layout.links) {
        let Some(text) = &placed.label else { continue };
        let area = text.area();
        let background = Area { left: area.left - 2.0, width: area.width + 4.0, ..area };
        let background =
            Shape::rectangle(&background, 3.0, Some(colour::WHITE.with_opacity(88)), None);
        let shapes = vec![background, Shape::Text(text.clone())];
        marks.push(Mark::with_hint(picture.link_in_words(link), shapes));
    }
}

fn sample(sample: Sample, area: &Area) -> Vec<Shape> {
    match sample {
        Sample::Node { kind, accent } => {
            let inner = Area::around(area.centre(), area.width - 6.0, area.height - 2.0);
            vec![outline(kind, accent, &inner)]
        }
        Sample::Link { weight, style, tone } => {
            let (width, middle) = (route::width(weight), area.centre().y);
            let (start, tip) = (Point::new(area.left, middle), Point::new(area.right(), middle));
            arrow(&route::to_the_right(start, &[], tip, width), weight, style, tone)
        }
    }
}

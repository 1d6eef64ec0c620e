//! A drawing: shapes and texts at their final positions, ready for SVG or PNG.

use super::colour::Colour;
use super::font::Font;
use super::geometry::{Area, Cubic, Point};

/// A finished drawing on a white background.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// The title, which a screen reader reads first.
    pub title: String,
    /// A description in a sentence or two, for readers who cannot see the drawing.
    pub description: String,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
    /// The marks, from back to front.
    pub marks: Vec<Mark>,
}

/// Shapes that belong together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mark {
    /// The tooltip.
    pub hint: Option<String>,
    /// The shapes, from back to front.
    pub shapes: Vec<Shape>,
}

impl Mark {
    /// Shapes without a hint.
    #[must_use]
    pub fn new(shapes: Vec<Shape>) -> Self {
        Self { hint: None, shapes }
    }

    /// Shapes with a hint.
    #[must_use]
    pub fn with_hint(hint: impl Into<String>, shapes: Vec<Shape>) -> Self {
        Self { hint: Some(hint.into()), shapes }
    }
}

/// One element of a drawing.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Lines and curves, filled, stroked or both.
    Path {
        /// The moves of the pen.
        steps: Vec<Step>,
        /// The fill colour.
        fill: Option<Colour>,
        /// The stroke of the path.
        stroke: Option<Stroke>,
    },
    /// A line of text.
    Text(Text),
}

/// A move of the pen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Lifts the pen and moves it.
    Move(Point),
    /// A straight line.
    Line(Point),
    /// A cubic curve: two control points and the end.
    Curve(Point, Point, Point),
    /// A line back to the last [`Move`](Self::Move).
    Close,
}

/// The stroke of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Stroke {
    /// The colour.
    pub colour: Colour,
    /// The width.
    pub width: f64,
    /// Alternating lengths of dashes and gaps; empty for a solid line.
    pub dashes: Vec<f64>,
}

impl Stroke {
    /// A solid line.
    #[must_use]
    pub fn solid(colour: Colour, width: f64) -> Self {
        Self { colour, width, dashes: Vec::new() }
    }
}

/// Which point of a text its position refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// A line of text in the bundled font.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// The text, tidy and already short enough.
    pub content: String,
    /// The position of the anchor, at half the height of the line.
    pub place: Point,
    /// Which point of the text `place` refers to.
    pub anchor: Anchor,
    /// Size and weight.
    pub font: Font,
    /// The colour.
    pub colour: Colour,
    /// Whether it is rotated by 90 degrees to the left, around its place.
    pub upwards: bool,
}

impl Text {
    /// A horizontal line of text.
    #[must_use]
    pub fn new(
        content: impl Into<String>,
        place: Point,
        anchor: Anchor,
        font: Font,
        colour: Colour,
    ) -> Self {
        Self { content: content.into(), place, anchor, font, colour, upwards: false }
    }

    /// The width.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.font.width(&self.content)
    }

    /// How far to the left of its place the text begins.
    pub(super) fn overhang(&self) -> f64 {
        match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => self.width() / 2.0,
            Anchor::End => self.width(),
        }
    }

    /// The area it covers.
    #[must_use]
    pub fn area(&self) -> Area {
        let (width, height, Point { x, y }) = (self.width(), self.font.line(), self.place);
        if self.upwards {
            let bottom = y + self.overhang();
            return Area {
                left: x - height / 2.0,
                top: bottom - width,
                width: height,
                height: width,
            };
        }
        Area { left: x - self.overhang(), top: y - height / 2.0, width, height }
    }
}

impl Shape {
    /// A straight line.
    #[must_use]
    pub fn line(from: Point, to: Point, stroke: Stroke) -> Self {
        Self::Path {
            steps: vec![Step::Move(from), Step::Line(to)],
            fill: None,
            stroke: Some(stroke),
        }
    }

    /// A closed polygon.
    #[must_use]
    pub fn polygon(points: &[Point], fill: Option<Colour>, stroke: Option<Stroke>) -> Self {
        let mut steps: Vec<Step> = points.iter().map(|&point| Step::Line(point)).collect();
        if let Some(first) = points.first() {
            steps[0] = Step::Move(*first);
            steps.push(Step::Close);
        }
        Self::Path { steps, fill, stroke }
    }

    /// Consecutive curves, joined by straight lines where they do not meet.
    #[must_use]
    pub fn curves(curves: &[Cubic], stroke: Stroke) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        let mut pen = None;
        for curve in curves {
            if pen.is_none() {
                steps.push(Step::Move(curve.start));
            } else if pen != Some(curve.start) {
                steps.push(Step::Line(curve.start));
            }
            steps.push(Step::Curve(curve.first, curve.second, curve.end));
            pen = Some(curve.end);
        }
        Self::Path { steps, fill: None, stroke: Some(stroke) }
    }

    /// A rectangle with round corners.
    #[must_use]
    pub fn rectangle(
        area: &Area,
        radius: f64,
        fill: Option<Colour>,
        stroke: Option<Stroke>,
    ) -> Self {
        let (left, top, right, bottom) = (area.left, area.top, area.right(), area.bottom());
        let corners = [
            Point::new(left, top),
            Point::new(right, top),
            Point::new(right, bottom),
            Point::new(left, bottom),
        ];
        let radius = radius.min(area.width / 2.0).min(area.height / 2.0);
        if radius <= 0.0 {
            return Self::polygon(&corners, fill, stroke);
        }
        // The control points of a quarter circle are at this distance from the corner.
        let handle = radius * (1.0 - 0.552_284_749_8);
        let toward = |from: Point, to: Point, distance: f64| {
            let length = (to.x - from.x).abs() + (to.y - from.y).abs();
            let share = distance / length;
            Point::new(from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share)
        };
        let mut steps = Vec::new();
        for (index, &corner) in corners.iter().enumerate() {
            let (before, after) = (corners[(index + 3) % 4], corners[(index + 1) % 4]);
            let start = toward(corner, before, radius);
            steps.push(if index == 0 { Step::Move(start) } else { Step::Line(start) });
            steps.push(Step::Curve(
                toward(corner, before, handle),
                toward(corner, after, handle),
                toward(corner, after, radius),
            ));
        }
        steps.push(Step::Close);
        Self::Path { steps, fill, stroke }
    }
}

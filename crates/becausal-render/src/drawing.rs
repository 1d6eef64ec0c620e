//! A drawing: shapes and texts at their final places, ready for SVG or PNG.

use super::colour::Colour;
use super::font::Font;
use super::geometry::{Area, Cubic, Point};

/// A finished drawing on white paper.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// What it is called; the first thing that a screen reader says.
    pub title: String,
    /// What it shows, in a sentence or two, for readers who cannot see it.
    pub description: String,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
    /// What is drawn, from back to front.
    pub marks: Vec<Mark>,
}

/// Shapes that belong together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mark {
    /// What a viewer shows when the pointer rests on it.
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

    /// Shapes that explain themselves.
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
        /// The pen's way.
        steps: Vec<Step>,
        /// What the inside is filled with.
        fill: Option<Colour>,
        /// What the way is drawn with.
        stroke: Option<Stroke>,
    },
    /// A line of text.
    Text(Text),
}

/// A move of the pen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Lift it and go there.
    Move(Point),
    /// A straight line.
    Line(Point),
    /// A cubic curve by its two control points and its end.
    Curve(Point, Point, Point),
    /// Back to where it was last set down.
    Close,
}

/// How a way is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width.
    pub width: f64,
    /// Lengths of dashes and gaps in turn; empty for a solid line.
    pub dashes: Vec<f64>,
}

impl Stroke {
    /// A solid line.
    #[must_use]
    pub fn solid(colour: Colour, width: f64) -> Self {
        Self { colour, width, dashes: Vec::new() }
    }
}

/// Which point of a text is given.
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
    /// What is written, tidy and already short enough.
    pub content: String,
    /// The anchor on the middle of the line's height.
    pub place: Point,
    /// Which point `place` is.
    pub anchor: Anchor,
    /// Size and weight.
    pub font: Font,
    /// Its colour.
    pub colour: Colour,
    /// Whether it is turned a quarter to the left, around its place.
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

    /// How wide it is.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.font.width(&self.content)
    }

    /// How far left of its place it begins.
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

    /// Curves one after the other, joined by straight lines where they do not meet.
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
        // The control points of a quarter circle lie at this share of the radius from its ends.
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

//! A waterfall chart: each term moves the running total to the right or to the left.

use super::axis::Axis;
use super::colour::{self, Colour};
use super::drawing::{Anchor, Drawing, Mark, Shape, Stroke, Text};
use super::font::Font;
use super::geometry::{Area, Point};
use super::label::{shorten, wrap};

const TITLE: Font = Font::bold(16.0);
const LABEL: Font = Font::regular(13.0);
const TOTAL: Font = Font::bold(13.0);
const VALUE: Font = Font::regular(12.0);
const TICK: Font = Font::regular(11.0);
const MARGIN: f64 = 24.0;
const BARS: f64 = 380.0;
const ROW: f64 = 30.0;
const BAR: f64 = 18.0;
const MAX_LABEL_WIDTH: f64 = 220.0;

/// A term of a sum.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The label.
    pub label: String,
    /// The value, which may be negative.
    pub value: f64,
}

/// Terms and their total.
#[derive(Debug, Clone, PartialEq)]
pub struct Waterfall {
    title: String,
    terms: Vec<Term>,
    total: String,
}

/// A term of a waterfall that is not finite.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the term `{label}` is {value}, expected a finite number")]
pub struct TermError {
    /// Its label.
    pub label: String,
    /// Its value.
    pub value: f64,
}

/// A bar from one running total to the next.
struct Bar<'a> {
    label: &'a str,
    from: f64,
    to: f64,
    total: bool,
}

impl Waterfall {
    /// A waterfall of these terms from top to bottom, with their sum last, labelled `total`.
    ///
    /// # Errors
    /// When a value is not a finite number.
    pub fn new(
        title: impl Into<String>,
        terms: Vec<Term>,
        total: impl Into<String>,
    ) -> Result<Self, TermError> {
        match terms.iter().find(|term| !term.value.is_finite()) {
            Some(term) => Err(TermError { label: term.label.clone(), value: term.value }),
            None => Ok(Self { title: title.into(), terms, total: total.into() }),
        }
    }

    /// The sum of the terms.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.terms.iter().map(|term| term.value).sum()
    }

    fn bars(&self) -> Vec<Bar<'_>> {
        let mut running = 0.0;
        let mut bars: Vec<Bar<'_>> = Vec::with_capacity(self.terms.len() + 1);
        for term in &self.terms {
            let to = running + term.value;
            bars.push(Bar { label: &term.label, from: running, to, total: false });
            running = to;
        }
        bars.push(Bar { label: &self.total, from: 0.0, to: running, total: true });
        bars
    }

    /// Draws the waterfall.
    #[must_use]
    pub fn drawing(&self) -> Drawing {
        let bars = self.bars();
        let font = |bar: &Bar<'_>| if bar.total { TOTAL } else { LABEL };
        let labels: Vec<String> =
            bars.iter().map(|bar| shorten(bar.label, font(bar), MAX_LABEL_WIDTH)).collect();
        let widths = bars.iter().zip(&labels).map(|(bar, label)| font(bar).width(label));
        let widest_label = widths.fold(0.0, f64::max).ceil();
        let values: Vec<String> = bars.iter().map(|bar| signed(bar.to - bar.from)).collect();
        let widest_value = values.iter().map(|value| VALUE.width(value)).fold(0.0, f64::max).ceil();

        // Values are beside the bars, so both sides need room for the widest one.
        let left = MARGIN + widest_label + 14.0 + widest_value + 6.0;
        let right = left + BARS;
        let width = (right + widest_value + 6.0 + MARGIN).ceil();
        let lines = wrap(&self.title, TITLE, width - 2.0 * MARGIN);
        let top = MARGIN + lines.len() as f64 * TITLE.line() + 12.0;
        let gap = 8.0;
        let bottom = top + bars.len() as f64 * ROW + gap;
        let height = (bottom + 10.0 + TICK.line() + MARGIN).ceil();
        let low = bars.iter().map(|bar| bar.to).fold(0.0, f64::min);
        let high = bars.iter().map(|bar| bar.to).fold(0.0, f64::max);
        let axis = Axis::new(low, high, 5, (left, right), false);

        let mut marks = Vec::new();
        let titles = lines.into_iter().enumerate().map(|(index, line)| {
            let place = Point::new(MARGIN, MARGIN + (index as f64 + 0.5) * TITLE.line());
            Shape::Text(Text::new(line, place, Anchor::Start, TITLE, colour::INK))
        });
        marks.push(Mark::new(titles.collect()));
        marks.push(Mark::new(guides(&axis, top, bottom)));
        for (index, bar) in bars.iter().enumerate() {
            let row = top + index as f64 * ROW + if bar.total { gap } else { 0.0 };
            let middle = row + ROW / 2.0;
            let mut shapes = Vec::new();
            if bar.total {
                let (from, to) = (Point::new(MARGIN, row), Point::new(width - MARGIN, row));
                shapes.push(Shape::line(from, to, Stroke::solid(colour::GREY, 1.0)));
            } else if index + 2 < bars.len() {
                // The next bar begins where this one ends.
                let x = axis.place(bar.to);
                let (from, to) = (Point::new(x, middle), Point::new(x, middle + ROW));
                shapes.push(Shape::line(from, to, Stroke::solid(colour::GREY.tint(0.7), 1.0)));
            }
            let place = Point::new(MARGIN + widest_label, middle);
            let label = labels[index].clone();
            shapes.push(Shape::Text(Text::new(label, place, Anchor::End, font(bar), colour::INK)));
            shapes.extend(paint_bar(bar, &values[index], &axis, middle));
            marks.push(Mark::with_hint(format!("{}: {}", bar.label, values[index]), shapes));
        }
        let words: Vec<String> = bars
            .iter()
            .zip(&values)
            .map(|(bar, value)| format!("{}: {value}", bar.label))
            .collect();
        let description = format!("{}.", words.join("; "));
        Drawing { title: self.title.clone(), description, width, height, marks }
    }
}

fn paint_bar(bar: &Bar<'_>, value: &str, axis: &Axis, middle: f64) -> [Shape; 2] {
    let (from, to) = (axis.place(bar.from), axis.place(bar.to));
    let negative = bar.to < bar.from;
    let (left, right) = (from.min(to), from.max(to));
    // A term of 0 is drawn as a line.
    let width = (right - left).max(1.5);
    let area = Area { left, top: middle - BAR / 2.0, width, height: BAR };
    let fill: Colour = match (bar.total, negative) {
        (true, _) => colour::SLATE,
        (false, true) => colour::VERMILLION,
        (false, false) => colour::BLUE,
    };
    let (x, anchor) =
        if negative { (left - 6.0, Anchor::End) } else { (left + width + 6.0, Anchor::Start) };
    let text = Text::new(value, Point::new(x, middle), anchor, VALUE, colour::INK);
    [Shape::rectangle(&area, 2.0, Some(fill), None), Shape::Text(text)]
}

fn guides(axis: &Axis, top: f64, bottom: f64) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (value, label) in &axis.ticks {
        let x = axis.place(*value);
        let colour = if *value == 0.0 { colour::GREY } else { colour::LIGHT };
        let foot = bottom + 4.0;
        shapes.push(Shape::line(
            Point::new(x, top),
            Point::new(x, foot),
            Stroke::solid(colour, 1.0),
        ));
        let place = Point::new(x, foot + 4.0 + TICK.line() / 2.0);
        shapes.push(Shape::Text(Text::new(label, place, Anchor::Middle, TICK, colour::GREY)));
    }
    shapes
}

/// A value with its sign and about three significant digits.
fn signed(value: f64) -> String {
    let magnitude = value.abs();
    let decimals = match magnitude {
        large if large >= 99.95 => 0,
        medium if medium >= 9.995 => 1,
        small if small >= 0.9995 => 2,
        _ => 3,
    };
    let digits = format!("{magnitude:.decimals$}");
    if digits.chars().all(|c| c == '0' || c == '.') {
        return "0".to_owned();
    }
    format!("{}{digits}", if value < 0.0 { '−' } else { '+' })
}

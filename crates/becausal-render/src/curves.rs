//! Line charts with spread bands: learning curves of several runs.

use std::fmt::Write;

use super::axis::Axis;
use super::colour::{self, Colour};
use super::drawing::{Anchor, Drawing, Mark, Shape, Step, Stroke, Text};
use super::font::Font;
use super::geometry::Point;
use super::label::{shorten, wrap};
use super::spacing::{Wish, settle_between};

const TITLE: Font = Font::bold(16.0);
const AXIS: Font = Font::regular(12.0);
const TICK: Font = Font::regular(11.0);
const NAME: Font = Font::regular(12.0);
const MARGIN: f64 = 24.0;
/// The plot inside the axes.
const PLOT: (f64, f64) = (560.0, 320.0);
/// The distance from the plot's right edge to the names of the series.
const LEADER: f64 = 26.0;
const MAX_NAME_WIDTH: f64 = 190.0;

/// A point of a series: a mean with its spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesPoint {
    /// The position on the horizontal axis.
    pub x: f64,
    /// The mean.
    pub mean: f64,
    /// The lower end of the spread.
    pub low: f64,
    /// The upper end of the spread.
    pub high: f64,
}

/// One line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The name, written beside its end.
    pub name: String,
    /// The points, with x ascending.
    pub points: Vec<SeriesPoint>,
}

/// A line chart that can be drawn: all its numbers are finite and in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    title: String,
    x_label: String,
    y_label: String,
    series: Vec<Series>,
}

/// Why a chart cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ChartError {
    /// A series without points.
    #[error("series `{series}` has no points")]
    Empty {
        /// Its name.
        series: String,
    },
    /// NaN or infinity.
    #[error("series `{series}`, point {point}: x, mean, low and high must be finite numbers")]
    NotFinite {
        /// The name of the series.
        series: String,
        /// Which point, from 0.
        point: usize,
    },
    /// Points whose x does not ascend.
    #[error("series `{series}`, point {point}: x is not larger than before")]
    Unordered {
        /// The name of the series.
        series: String,
        /// Which point, from 0.
        point: usize,
    },
    /// A mean outside its spread.
    #[error("series `{series}`, point {point}: the mean is not between low and high")]
    Spread {
        /// The name of the series.
        series: String,
        /// Which point, from 0.
        point: usize,
    },
}

impl Chart {
    /// A chart of these series, drawn in their order.
    ///
    /// # Errors
    /// When a series is empty, has a number that is not finite, an x that does not ascend, or a mean
    /// outside its spread.
    pub fn new(
        title: impl Into<String>,
        x_label: impl Into<String>,
        y_label: impl Into<String>,
        series: Vec<Series>,
    ) -> Result<Self, ChartError> {
        for one in &series {
            let name = || one.name.clone();
            if one.points.is_empty() {
                return Err(ChartError::Empty { series: name() });
            }
            for (point, here) in one.points.iter().enumerate() {
                if ![here.x, here.mean, here.low, here.high].iter().all(|value| value.is_finite()) {
                    return Err(ChartError::NotFinite { series: name(), point });
                }
                if point > 0 && here.x <= one.points[point - 1].x {
                    return Err(ChartError::Unordered { series: name(), point });
                }
                if !(here.low <= here.mean && here.mean <= here.high) {
                    return Err(ChartError::Spread { series: name(), point });
                }
            }
        }
        Ok(Self { title: title.into(), x_label: x_label.into(), y_label: y_label.into(), series })
    }

    /// Draws the chart: bands behind, mean lines in front, names at the ends of the lines.
    #[must_use]
    pub fn drawing(&self) -> Drawing {
        let names: Vec<String> =
            self.series.iter().map(|series| shorten(&series.name, NAME, MAX_NAME_WIDTH)).collect();
        let widest_name = names.iter().map(|name| NAME.width(name)).fold(0.0, f64::max);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let least = |of: fn(&SeriesPoint) -> f64| points().map(of).fold(f64::INFINITY, f64::min);
        let greatest =
            |of: fn(&SeriesPoint) -> f64| points().map(of).fold(f64::NEG_INFINITY, f64::max);
        let ends = |low: f64, high: f64| if low > high { (0.0, 1.0) } else { (low, high) };
        let (low, high) = ends(least(|point| point.low), greatest(|point| point.high));
        let vertical = Axis::new(low, high, 6, (0.0, 0.0), true);
        let widest_tick = vertical.ticks.iter().map(|tick| TICK.width(&tick.1)).fold(0.0, f64::max);

        let left = (MARGIN + AXIS.line() + 10.0 + widest_tick + 8.0).ceil();
        let right = left + PLOT.0;
        let width = (right + LEADER + 8.0 + widest_name + MARGIN).ceil().max(right + 2.0 * MARGIN);
        let lines = wrap(&self.title, TITLE, width - 2.0 * MARGIN);
        let room = self.series.len() as f64 * (NAME.line() + 2.0);
        let top = MARGIN + lines.len() as f64 * TITLE.line() + 22.0;
        let bottom = top + PLOT.1.max(room);
        let height = (bottom + TICK.line() + AXIS.line() + 18.0 + MARGIN).ceil();
        let vertical = Axis { places: (bottom, top), ..vertical };
        let (low, high) = ends(least(|point| point.x), greatest(|point| point.x));
        let horizontal = Axis::new(low, high, 6, (left, right), false);

        let mut marks = Vec::new();
        let titles = lines.into_iter().enumerate().map(|(index, line)| {
            let middle = MARGIN + (index as f64 + 0.5) * TITLE.line();
            let place = Point::new(MARGIN, middle);
            Shape::Text(Text::new(line, place, Anchor::Start, TITLE, colour::INK))
        });
        marks.push(Mark::new(titles.collect()));
        marks.push(Mark::new(self.axes(&horizontal, &vertical)));
        for (index, series) in self.series.iter().enumerate() {
            let fill = colour_of(index).with_opacity(18);
            let steps = band(series, &horizontal, &vertical);
            marks.push(Mark::new(vec![Shape::Path { steps, fill: Some(fill), stroke: None }]));
        }
        for (index, series) in self.series.iter().enumerate() {
            let stroke = Stroke { colour: colour_of(index), width: 2.0, dashes: dashes_of(index) };
            let steps = line(series, &horizontal, &vertical);
            let shape = Shape::Path { steps, fill: None, stroke: Some(stroke) };
            marks.push(Mark::with_hint(series.name.clone(), vec![shape]));
        }
        marks.push(Mark::new(self.names(&names, &horizontal, &vertical)));
        Drawing { title: self.title.clone(), description: self.description(), width, height, marks }
    }

    fn description(&self) -> String {
        let mut text = format!("{} over {}, mean and spread.", self.y_label, self.x_label);
        for series in &self.series {
            let (first, last) = (&series.points[0], &series.points[series.points.len() - 1]);
            let (name, first, last) = (&series.name, first.mean, last.mean);
            write!(text, " {name}: from {first:.3} to {last:.3}.").expect("a text");
        }
        text
    }

    fn axes(&self, horizontal: &Axis, vertical: &Axis) -> Vec<Shape> {
        let (left, right) = horizontal.places;
        let (bottom, top) = vertical.places;
        let mut shapes = Vec::new();
        let text = |content: &str, place, anchor| {
            Shape::Text(Text::new(content, place, anchor, TICK, colour::GREY))
        };
        for (value, label) in &vertical.ticks {
            let y = vertical.place(*value);
            let guide = Stroke::solid(colour::LIGHT, 1.0);
            shapes.push(Shape::line(Point::new(left, y), Point::new(right, y), guide));
            shapes.push(text(label, Point::new(left - 8.0, y), Anchor::End));
        }
        let edge = || Stroke::solid(colour::GREY, 1.0);
        let mut free = f64::NEG_INFINITY;
        for (value, label) in &horizontal.ticks {
            let x = horizontal.place(*value);
            shapes.push(Shape::line(Point::new(x, bottom), Point::new(x, bottom + 5.0), edge()));
            let half = TICK.width(label) / 2.0;
            if x - half > free {
                let place = Point::new(x, bottom + 8.0 + TICK.line() / 2.0);
                shapes.push(text(label, place, Anchor::Middle));
                free = x + half + 6.0;
            }
        }
        shapes.push(Shape::line(Point::new(left, bottom), Point::new(right, bottom), edge()));
        let below = bottom + 14.0 + TICK.line() + AXIS.line() / 2.0;
        let place = Point::new(f64::midpoint(left, right), below);
        let label = shorten(&self.x_label, AXIS, right - left);
        shapes.push(Shape::Text(Text::new(label, place, Anchor::Middle, AXIS, colour::INK)));
        let place = Point::new(MARGIN + AXIS.line() / 2.0, f64::midpoint(top, bottom));
        let label = shorten(&self.y_label, AXIS, bottom - top);
        let upwards = Text::new(label, place, Anchor::Middle, AXIS, colour::INK);
        shapes.push(Shape::Text(Text { upwards: true, ..upwards }));
        shapes
    }

    /// The name of each series beside the plot, as near to the end of its line as the other names
    /// allow, with a piece of the line as its key.
    fn names(&self, names: &[String], horizontal: &Axis, vertical: &Axis) -> Vec<Shape> {
        let right = horizontal.places.1;
        let end = |index: usize| {
            let points = &self.series[index].points;
            let last = points[points.len() - 1];
            Point::new(horizontal.place(last.x), vertical.place(last.mean))
        };
        let mut ranked: Vec<usize> = (0..names.len()).collect();
        ranked.sort_by(|&a, &b| end(a).y.total_cmp(&end(b).y).then(a.cmp(&b)));
        let wish = |&index: &usize| Wish { middle: end(index).y, length: NAME.line(), weight: 1.0 };
        let wishes: Vec<Wish> = ranked.iter().map(wish).collect();
        let (bottom, top) = vertical.places;
        let half = NAME.line() / 2.0;
        let middles = settle_between(&wishes, 2.0, top - half, bottom + half);
        let mut shapes = Vec::new();
        for (&index, middle) in ranked.iter().zip(middles) {
            let stroke = Stroke { colour: colour_of(index), width: 2.0, dashes: dashes_of(index) };
            let (start, stop) = (Point::new(right + 8.0, middle), right + LEADER);
            let thin = Stroke::solid(colour_of(index), 0.8);
            shapes.push(Shape::line(end(index), start, thin));
            shapes.push(Shape::line(start, Point::new(stop, middle), stroke));
            let place = Point::new(stop + 8.0, middle);
            let name = names[index].clone();
            shapes.push(Shape::Text(Text::new(name, place, Anchor::Start, NAME, colour::INK)));
        }
        shapes
    }
}

/// After seven series the colours repeat, with dashes.
fn colour_of(index: usize) -> Colour {
    colour::SERIES[index % colour::SERIES.len()]
}

fn dashes_of(index: usize) -> Vec<f64> {
    match index / colour::SERIES.len() {
        0 => Vec::new(),
        1 => vec![7.0, 4.0],
        _ => vec![2.0, 3.0],
    }
}

fn line(series: &Series, horizontal: &Axis, vertical: &Axis) -> Vec<Step> {
    let place = |p: &SeriesPoint| Point::new(horizontal.place(p.x), vertical.place(p.mean));
    joined(series.points.iter().map(place))
}

/// Right along the upper ends of the spread, then back along the lower ends.
fn band(series: &Series, horizontal: &Axis, vertical: &Axis) -> Vec<Step> {
    let upper = |p: &SeriesPoint| Point::new(horizontal.place(p.x), vertical.place(p.high));
    let lower = |p: &SeriesPoint| Point::new(horizontal.place(p.x), vertical.place(p.low));
    let right = series.points.iter().map(upper);
    let mut steps = joined(right.chain(series.points.iter().rev().map(lower)));
    steps.push(Step::Close);
    steps
}

fn joined(points: impl Iterator<Item = Point>) -> Vec<Step> {
    let step = |(index, point)| if index == 0 { Step::Move(point) } else { Step::Line(point) };
    points.enumerate().map(step).collect()
}

//! The frame around the columns: title above, legend and footnotes below.

use super::colour;
use super::drawing::{Anchor, Text};
use super::font::Font;
use super::geometry::{Area, Point};
use super::label::{shorten, wrap};
use super::picture::Picture;

/// The distance from the edge of a picture to its content.
pub const MARGIN: f64 = 24.0;
const TITLE: Font = Font::bold(16.0);
const LEGEND: Font = Font::regular(12.0);
const FOOTNOTE: Font = Font::regular(11.0);
/// A title widens the picture up to this; a longer one wraps.
const MAX_TITLE_WIDTH: f64 = 560.0;
const MIN_WIDTH: f64 = 320.0;
const SAMPLE_WIDTH: f64 = 34.0;
const SAMPLE_HEIGHT: f64 = 16.0;

/// The outer parts of a picture.
pub struct Frame {
    /// The width of the picture.
    pub width: f64,
    /// The height of the picture.
    pub height: f64,
    /// The area of the columns.
    pub body: Area,
    /// Title, legend and footnotes.
    pub texts: Vec<Text>,
    /// The samples of the legend.
    pub samples: Vec<Area>,
}

impl Frame {
    /// The frame around a body of this size, in which `omitted` link labels did not fit.
    #[must_use]
    pub fn new(picture: &Picture, width: f64, height: f64, omitted: usize) -> Self {
        let title = TITLE.width(picture.title()).min(MAX_TITLE_WIDTH);
        let inner = width.max(title).max(MIN_WIDTH).ceil();
        let mut writer = Writer { texts: Vec::new(), top: MARGIN, inner };
        writer.write(picture.title(), TITLE, colour::INK);
        if writer.top > MARGIN {
            writer.top += 14.0;
        }
        let body = Area { left: MARGIN, top: writer.top, width: inner, height };
        writer.top += height;
        let samples = legend(picture, &mut writer);
        let mut footnotes = picture.footnotes().to_vec();
        if omitted > 0 {
            let labels = if omitted == 1 { "label" } else { "labels" };
            footnotes.push(format!("Left out for lack of space: {omitted} link {labels}."));
        }
        if !footnotes.is_empty() {
            writer.top += 14.0;
        }
        for footnote in &footnotes {
            writer.write(footnote, FOOTNOTE, colour::GREY);
            writer.top += 2.0;
        }
        let (width, height) = (inner + 2.0 * MARGIN, (writer.top + MARGIN).ceil());
        Self { width, height, body, texts: writer.texts, samples }
    }
}

/// Writes lines below each other.
struct Writer {
    texts: Vec<Text>,
    top: f64,
    inner: f64,
}

impl Writer {
    fn write(&mut self, text: &str, font: Font, colour: colour::Colour) {
        for line in wrap(text, font, self.inner) {
            let place = Point::new(MARGIN, self.top + font.line() / 2.0);
            self.texts.push(Text::new(line, place, Anchor::Start, font, colour));
            self.top += font.line();
        }
    }
}

/// Puts the entries of the legend side by side in as many lines as they need.
fn legend(picture: &Picture, writer: &mut Writer) -> Vec<Area> {
    const SAMPLE_GAP: f64 = 8.0;
    const ENTRY_GAP: f64 = 24.0;
    const LINE: f64 = 24.0;
    if picture.legend().is_empty() {
        return Vec::new();
    }
    writer.top += 22.0;
    let mut samples = Vec::new();
    let mut left = MARGIN;
    for entry in picture.legend() {
        let text = shorten(&entry.text, LEGEND, writer.inner - SAMPLE_WIDTH - SAMPLE_GAP);
        let width = SAMPLE_WIDTH + SAMPLE_GAP + LEGEND.width(&text);
        if left > MARGIN && left + width > MARGIN + writer.inner {
            left = MARGIN;
            writer.top += LINE;
        }
        let middle = writer.top + LINE / 2.0;
        let centre = Point::new(left + SAMPLE_WIDTH / 2.0, middle);
        samples.push(Area::around(centre, SAMPLE_WIDTH, SAMPLE_HEIGHT));
        let place = Point::new(left + SAMPLE_WIDTH + SAMPLE_GAP, middle);
        writer.texts.push(Text::new(text, place, Anchor::Start, LEGEND, colour::INK));
        left += width + ENTRY_GAP;
    }
    writer.top += LINE;
    samples
}

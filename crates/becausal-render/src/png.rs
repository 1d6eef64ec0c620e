//! Drawings as PNG, with the bundled font, so that no font has to be installed.

use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

use super::colour::Colour;
use super::drawing::{Drawing, Shape, Step, Stroke, Text};

/// The maximum number of pixels in a picture: 400 MB of memory.
const MAX_PIXELS: f64 = 1e8;

/// Why a drawing cannot be written as PNG.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PngError {
    /// A scale that is not a positive number.
    #[error("the scale of a picture is a positive number, not {0}")]
    Scale(f64),
    /// Too many pixels.
    #[error(
        "a picture of {width:.0} x {height:.0} pixels is too large: choose a smaller scale, or SVG"
    )]
    TooLarge {
        /// Pixels from left to right.
        width: f64,
        /// Pixels from top to bottom.
        height: f64,
    },
    /// The PNG file could not be encoded.
    #[error("the PNG file could not be encoded: {0}")]
    Encoding(String),
}

impl Drawing {
    /// The drawing as the bytes of a PNG file, with `scale` pixels per unit: 1 for a screen, 2 for a
    /// sharp screen or a document.
    ///
    /// # Errors
    /// When the scale is not a positive number, or so large that the picture has over 10^8 pixels.
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, PngError> {
        if !(scale.is_finite() && scale > 0.0) {
            return Err(PngError::Scale(scale));
        }
        let (width, height) = ((self.width * scale).ceil(), (self.height * scale).ceil());
        let too_large = PngError::TooLarge { width, height };
        if width * height > MAX_PIXELS {
            return Err(too_large);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked above
        let canvas = Pixmap::new(width as u32, height as u32);
        let mut canvas = canvas.ok_or(too_large)?;
        canvas.fill(tiny_skia::Color::WHITE);
        let scaled = Transform::from_scale(single(scale), single(scale));
        for shape in self.marks.iter().flat_map(|mark| &mark.shapes) {
            match shape {
                Shape::Path { steps, fill, stroke } => {
                    let Some(path) = outline(steps) else { continue };
                    if let Some(colour) = fill {
                        canvas.fill_path(&path, &paint(*colour), FillRule::Winding, scaled, None);
                    }
                    if let Some(line) = stroke {
                        canvas.stroke_path(&path, &paint(line.colour), &pen(line), scaled, None);
                    }
                }
                Shape::Text(text) => {
                    let Some(path) = glyphs(text) else { continue };
                    canvas.fill_path(&path, &paint(text.colour), FillRule::Winding, scaled, None);
                }
            }
        }
        canvas.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
    }
}

#[expect(clippy::cast_possible_truncation)] // single precision is enough for pixels
fn single(value: f64) -> f32 {
    value as f32
}

fn paint(colour: Colour) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    let opacity = (f64::from(colour.opacity) * 2.55).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 0..=255
    paint.set_color_rgba8(colour.red, colour.green, colour.blue, opacity as u8);
    paint
}

fn pen(stroke: &Stroke) -> tiny_skia::Stroke {
    let dashes: Vec<f32> = stroke.dashes.iter().map(|&dash| single(dash)).collect();
    tiny_skia::Stroke {
        width: single(stroke.width),
        line_cap: LineCap::Butt,
        line_join: LineJoin::Miter,
        dash: StrokeDash::new(dashes, 0.0),
        ..tiny_skia::Stroke::default()
    }
}

fn outline(steps: &[Step]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for step in steps {
        match step {
            Step::Move(to) => path.move_to(single(to.x), single(to.y)),
            Step::Line(to) => path.line_to(single(to.x), single(to.y)),
            Step::Curve(first, second, to) => path.cubic_to(
                single(first.x),
                single(first.y),
                single(second.x),
                single(second.y),
                single(to.x),
                single(to.y),
            ),
            Step::Close => path.close(),
        }
    }
    path.finish()
}

/// The outlines of all glyphs of a text.
fn glyphs(text: &Text) -> Option<Path> {
    let mut pen = GlyphPen {
        path: PathBuilder::new(),
        along: -text.overhang(),
        unit: text.font.unit(),
        text,
    };
    for character in text.content.chars() {
        let _ = text.font.face().outline_glyph(text.font.glyph(character), &mut pen);
        pen.along += text.font.advance(character);
    }
    pen.path.finish()
}

/// Converts glyph outlines from font units, with y upwards, to the position of the text.
struct GlyphPen<'a> {
    path: PathBuilder,
    along: f64,
    unit: f64,
    text: &'a Text,
}

impl GlyphPen<'_> {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        let along = self.along + f64::from(x) * self.unit;
        let down = self.text.font.baseline() - f64::from(y) * self.unit;
        let place = self.text.place;
        if self.text.upwards {
            (single(place.x + down), single(place.y - along))
        } else {
            (single(place.x + along), single(place.y + down))
        }
    }
}

impl OutlineBuilder for GlyphPen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2)) = (self.place(x1, y1), self.place(x2, y2));
        let (x, y) = self.place(x, y);
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

//! The bundled font: widths of texts and outlines of glyphs.
//!
//! Two subsets of DejaVu Sans are compiled in (see `font/LICENSE` for their origin). So a picture needs
//! no installed font and has the same layout everywhere. The subsets have no kerning and no ligatures:
//! the width of a text is the sum of the widths of its characters.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId};

static REGULAR: LazyLock<Face<'static>> =
    LazyLock::new(|| parse(include_bytes!("font/DejaVuSans-subset.ttf")));
static BOLD: LazyLock<Face<'static>> =
    LazyLock::new(|| parse(include_bytes!("font/DejaVuSans-Bold-subset.ttf")));

fn parse(bytes: &'static [u8]) -> Face<'static> {
    Face::parse(bytes, 0).expect("the bundled font is a font")
}

/// The font families in SVG files; the second is almost as wide as the first.
pub const FAMILIES: &str = "'DejaVu Sans', Verdana, Geneva, sans-serif";

/// How heavy the strokes of a text are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FontWeight {
    /// Running text.
    #[default]
    Regular,
    /// Titles and headings.
    Bold,
}

/// A font at a size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Font {
    /// Units of a picture per em.
    pub size: f64,
    /// Regular or bold.
    pub weight: FontWeight,
}

impl Font {
    /// The regular font.
    #[must_use]
    pub const fn regular(size: f64) -> Self {
        Self { size, weight: FontWeight::Regular }
    }

    /// The bold font.
    #[must_use]
    pub const fn bold(size: f64) -> Self {
        Self { size, weight: FontWeight::Bold }
    }

    /// The width of a text.
    #[must_use]
    pub fn width(self, text: &str) -> f64 {
        text.chars().map(|character| self.advance(character)).sum()
    }

    /// The width of a character. One that the font lacks gets a full em, which is enough for the
    /// fallback font, even in wide scripts.
    #[must_use]
    pub fn advance(self, character: char) -> f64 {
        let face = self.face();
        let known = face.glyph_index(character).and_then(|glyph| face.glyph_hor_advance(glyph));
        known.map_or(self.size, |units| f64::from(units) * self.unit())
    }

    /// The height of a line, from one baseline to the next.
    #[must_use]
    pub fn line(self) -> f64 {
        (self.size * 1.3).ceil()
    }

    /// How far below the middle of a line its baseline is, so that capital letters and digits look
    /// centred.
    #[must_use]
    pub fn baseline(self) -> f64 {
        self.size * 0.36
    }

    /// The glyph of a character; a hollow box if the font lacks it.
    pub(super) fn glyph(self, character: char) -> GlyphId {
        self.face().glyph_index(character).unwrap_or(GlyphId(0))
    }

    /// The face behind this font.
    pub(super) fn face(self) -> &'static Face<'static> {
        match self.weight {
            FontWeight::Regular => &REGULAR,
            FontWeight::Bold => &BOLD,
        }
    }

    /// Units of a picture per unit of the font.
    pub(super) fn unit(self) -> f64 {
        self.size / f64::from(self.face().units_per_em())
    }
}

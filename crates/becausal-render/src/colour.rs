//! Colours that readers with any colour vision can tell apart (Okabe and Ito, 2008).

/// A colour with opacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour {
    /// Red, 0 to 255.
    pub red: u8,
    /// Green, 0 to 255.
    pub green: u8,
    /// Blue, 0 to 255.
    pub blue: u8,
    /// Opacity in percent, 0 to 100.
    pub opacity: u8,
}

impl Colour {
    /// An opaque colour.
    #[must_use]
    pub const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { red, green, blue, opacity: 100 }
    }

    /// The same colour with this opacity.
    #[must_use]
    pub const fn with_opacity(self, percent: u8) -> Self {
        Self { opacity: percent, ..self }
    }

    /// This colour mixed with white: `share` 1 is the colour itself, 0 is white. Links are tinted, not
    /// transparent, so that a line and its arrowhead have the same colour.
    #[must_use]
    pub fn tint(self, share: f64) -> Self {
        let mix = |part: u8| {
            let value = 255.0 - (255.0 - f64::from(part)) * share.clamp(0.0, 1.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 0..=255
            let value = value.round() as u8;
            value
        };
        Self {
            red: mix(self.red),
            green: mix(self.green),
            blue: mix(self.blue),
            opacity: self.opacity,
        }
    }
}

/// The background.
pub const WHITE: Colour = Colour::new(255, 255, 255);
/// Main text.
pub const INK: Colour = Colour::new(0x1F, 0x29, 0x33);
/// Secondary text.
pub const GREY: Colour = Colour::new(0x5A, 0x65, 0x72);
/// Guide lines.
pub const LIGHT: Colour = Colour::new(0xD9, 0xDE, 0xE4);
/// Plain links.
pub const SLATE: Colour = Colour::new(0x46, 0x52, 0x60);
/// Okabe-Ito vermillion: the one accent.
pub const VERMILLION: Colour = Colour::new(0xD5, 0x5E, 0x00);
/// Okabe-Ito blue: the alternative to the accent.
pub const BLUE: Colour = Colour::new(0x00, 0x72, 0xB2);
/// Okabe-Ito bluish green.
pub const GREEN: Colour = Colour::new(0x00, 0x9E, 0x73);
/// Okabe-Ito sky blue.
pub const SKY: Colour = Colour::new(0x56, 0xB4, 0xE9);
/// Okabe-Ito orange.
pub const ORANGE: Colour = Colour::new(0xE6, 0x9F, 0x00);
/// Okabe-Ito reddish purple.
pub const PURPLE: Colour = Colour::new(0xCC, 0x79, 0xA7);
/// Okabe-Ito yellow, for fills only: too light for lines on white.
pub const YELLOW: Colour = Colour::new(0xF0, 0xE4, 0x42);

/// The colours of the series of a chart, in order.
pub const SERIES: [Colour; 7] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, INK];

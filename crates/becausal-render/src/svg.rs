//! Drawings as self-contained SVG text, the same bytes every time.

use std::fmt::{Display, Formatter, Write};

use super::colour::Colour;
use super::drawing::{Anchor, Drawing, Mark, Shape, Step, Text};
use super::font::{FAMILIES, FontWeight};

impl Drawing {
    /// The drawing as the text of an SVG file.
    ///
    /// Every text has its width in the bundled font as an attribute, so that it also fits in a viewer
    /// with another font.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut out = String::new();
        let (width, height) = (Number(self.width), Number(self.height));
        push(
            &mut out,
            format_args!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
                 viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" \
                 font-family=\"{FAMILIES}\">\n<title>{}</title>\n<desc>{}</desc>\n\
                 <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
                Escaped(&self.title),
                Escaped(&self.title),
                Escaped(&self.description)
            ),
        );
        for mark in &self.marks {
            write_mark(&mut out, mark);
        }
        out.push_str("</svg>\n");
        out
    }
}

/// Appends to a string, which cannot fail.
fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).expect("writing to a string cannot fail");
}

fn write_mark(out: &mut String, mark: &Mark) {
    if let Some(hint) = &mark.hint {
        push(out, format_args!("<g><title>{}</title>\n", Escaped(hint)));
    }
    for shape in &mark.shapes {
        match shape {
            Shape::Path { steps, fill, stroke } => {
                out.push_str("<path d=\"");
                write_steps(out, steps);
                out.push('"');
                write_colour(out, "fill", *fill);
                if let Some(stroke) = stroke {
                    write_colour(out, "stroke", Some(stroke.colour));
                    push(out, format_args!(" stroke-width=\"{}\"", Number(stroke.width)));
                    if !stroke.dashes.is_empty() {
                        let dashes: Vec<String> =
                            stroke.dashes.iter().map(|&dash| Number(dash).to_string()).collect();
                        push(out, format_args!(" stroke-dasharray=\"{}\"", dashes.join(" ")));
                    }
                }
                out.push_str("/>\n");
            }
            Shape::Text(text) => write_text(out, text),
        }
    }
    if mark.hint.is_some() {
        out.push_str("</g>\n");
    }
}

fn write_steps(out: &mut String, steps: &[Step]) {
    for step in steps {
        match step {
            Step::Move(to) => push(out, format_args!("M{} {}", Number(to.x), Number(to.y))),
            Step::Line(to) => push(out, format_args!("L{} {}", Number(to.x), Number(to.y))),
            Step::Curve(first, second, to) => push(
                out,
                format_args!(
                    "C{} {} {} {} {} {}",
                    Number(first.x),
                    Number(first.y),
                    Number(second.x),
                    Number(second.y),
                    Number(to.x),
                    Number(to.y)
                ),
            ),
            Step::Close => out.push('Z'),
        }
    }
}

fn write_text(out: &mut String, text: &Text) {
    if text.content.is_empty() {
        return;
    }
    let baseline = text.font.baseline();
    let (x, y) = (Number(text.place.x), Number(text.place.y));
    if text.upwards {
        push(out, format_args!("<text transform=\"translate({x} {y}) rotate(-90)\" x=\"0\""));
        push(out, format_args!(" y=\"{}\"", Number(baseline)));
    } else {
        push(out, format_args!("<text x=\"{x}\" y=\"{}\"", Number(text.place.y + baseline)));
    }
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
        Anchor::End => out.push_str(" text-anchor=\"end\""),
    }
    push(out, format_args!(" font-size=\"{}\"", Number(text.font.size)));
    if text.font.weight == FontWeight::Bold {
        out.push_str(" font-weight=\"bold\"");
    }
    write_colour(out, "fill", Some(text.colour));
    push(
        out,
        format_args!(
            " textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>\n",
            Number(text.width()),
            Escaped(&text.content)
        ),
    );
}

fn write_colour(out: &mut String, attribute: &str, colour: Option<Colour>) {
    let Some(Colour { red, green, blue, opacity }) = colour else {
        push(out, format_args!(" {attribute}=\"none\""));
        return;
    };
    push(out, format_args!(" {attribute}=\"#{red:02x}{green:02x}{blue:02x}\""));
    if opacity < 100 {
        push(out, format_args!(" {attribute}-opacity=\"{}\"", Number(f64::from(opacity) / 100.0)));
    }
}

/// A number with at most two decimals.
struct Number(f64);

impl Display for Number {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2}", self.0);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        formatter.write_str(if text == "-0" { "0" } else { text })
    }
}

/// Text without XML markup or forbidden characters.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => formatter.write_str("&amp;")?,
                '<' => formatter.write_str("&lt;")?,
                '>' => formatter.write_str("&gt;")?,
                '"' => formatter.write_str("&quot;")?,
                '\'' => formatter.write_str("&#39;")?,
                '\n' | '\t' | '\r' => formatter.write_char(' ')?,
                '\u{FFFE}' | '\u{FFFF}' => formatter.write_char('\u{FFFD}')?,
                control if control.is_control() => formatter.write_char('\u{FFFD}')?,
                other => formatter.write_char(other)?,
            }
        }
        Ok(())
    }
}

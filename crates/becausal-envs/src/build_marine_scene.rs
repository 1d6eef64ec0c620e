//! A picture of BuildMarine: one mark per unit and building, the money and the time.

use std::fmt::Write;

/// Width of the picture in pixels.
const WIDTH: f64 = 420.0;
/// x of the first mark in pixels.
const LEFT: f64 = 152.0;
/// Distance between marks in pixels.
const PITCH: f64 = 13.0;
/// Maximum number of marks in a line.
const MARKS_PER_LINE: usize = 20;
/// Money at which its bar is full.
const FULL_BAR_MONEY: f64 = 1000.0;

/// How each count is drawn: its name, the colour, size and corner radius of its marks.
const KINDS: [(&str, &str, f64, f64); 4] = [
    ("workers", "#8a6d2f", 9.0, 4.5),
    ("supply depots", "#5b6b7a", 10.0, 1.0),
    ("barracks", "#8c3b3b", 12.0, 2.0),
    ("marines", "#0b5f94", 8.0, 4.0),
];

/// A picture of the base as SVG, 420 pixels wide and as high as it needs to be.
pub(super) fn scene(counts: [usize; 4], money: f64, time: f64, end: f64) -> String {
    let mut content = String::new();
    bar(&mut content, 14.0, "money", &format!("{money}"), money / FULL_BAR_MONEY, "#2b7fb8");
    bar(&mut content, 42.0, "time", &format!("{time} of {end} calls"), time / end, "#7a7268");
    let mut top = 80.0;
    for ((name, colour, size, corner), count) in KINDS.into_iter().zip(counts) {
        let _ = write!(content, "<text x=\"14\" y=\"{:.0}\">{count} {name}</text>", top + 11.0);
        for mark in 0..count {
            let (line, place) = (mark / MARKS_PER_LINE, mark % MARKS_PER_LINE);
            let x = LEFT + PITCH * place as f64;
            let y = top + PITCH * line as f64 + (12.0 - size) / 2.0;
            let _ = write!(
                content,
                "<rect x=\"{x:.0}\" y=\"{y:.1}\" width=\"{size}\" height=\"{size}\" rx=\"{corner}\" fill=\"{colour}\"/>"
            );
        }
        top += PITCH * count.div_ceil(MARKS_PER_LINE).max(1) as f64 + 12.0;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{top}\" viewBox=\"0 0 {WIDTH} {top}\" \
         font-family=\"DejaVu Sans, sans-serif\" font-size=\"15\" fill=\"#1d2229\">\
         <rect width=\"{WIDTH}\" height=\"{top}\" fill=\"#efece4\"/>{content}</svg>\n"
    )
}

/// Draws a bar that is full at a share of 1, with its name before it and its value on it.
fn bar(svg: &mut String, top: f64, name: &str, value: &str, share: f64, colour: &str) {
    let room = WIDTH - LEFT - 14.0;
    let length = room * share.clamp(0.0, 1.0);
    let _ = write!(
        svg,
        "<text x=\"14\" y=\"{:.0}\">{name}</text><rect x=\"{LEFT}\" y=\"{top}\" width=\"{room}\" height=\"20\" rx=\"3\" \
         fill=\"#dcd7ca\"/><rect x=\"{LEFT}\" y=\"{top}\" width=\"{length:.1}\" height=\"20\" rx=\"3\" fill=\"{colour}\" \
         fill-opacity=\"0.55\"/><text x=\"{:.0}\" y=\"{:.0}\">{value}</text>",
        top + 15.0,
        LEFT + 8.0,
        top + 15.0
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_and_building_has_a_mark() {
        let svg = scene([12, 2, 1, 40], 285.0, 101.0, 1600.0);
        assert_eq!(svg.matches("#0b5f94").count(), 40);
        assert_eq!(svg.matches("#8a6d2f").count(), 12);
        assert!(svg.contains(">40 marines</text>") && svg.contains(">101 of 1600 calls</text>"));
    }
}

//! A picture of CartPole: the track with its limits, the cart, and the pole with its allowed
//! angles.

use std::fmt::Write;

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 260.0;
/// Pixels per metre; the pole is one metre long.
const SCALE: f64 = 110.0;
/// y of the track in pixels.
const TRACK: f64 = 200.0;
/// Width and height of the cart in pixels.
const CART: (f64, f64) = (84.0, 40.0);

/// A picture of cart and pole as SVG, 600 by 260 pixels. Beyond the limits an episode ends.
pub(super) fn scene(position: f64, angle: f64, position_limit: f64, angle_limit: f64) -> String {
    let middle = WIDTH / 2.0 + SCALE * position;
    let axle = TRACK - CART.1;
    let tip = |angle: f64| (middle + SCALE * angle.sin(), axle - SCALE * angle.cos());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {WIDTH} {HEIGHT}\"><rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#eef3f7\"/>\
         <rect y=\"{TRACK}\" width=\"{WIDTH}\" height=\"{:.1}\" fill=\"#d8d3c7\"/>\
         <line x1=\"0\" y1=\"{TRACK}\" x2=\"{WIDTH}\" y2=\"{TRACK}\" stroke=\"#59616c\" stroke-width=\"2\"/>",
        HEIGHT - TRACK
    );
    for (side, name) in [(-1.0, "−"), (1.0, "+")] {
        let x = WIDTH / 2.0 + SCALE * side * position_limit;
        let _ = write!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"#a8401a\" \
             stroke-width=\"3\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"20\" \
             font-family=\"DejaVu Sans, sans-serif\" fill=\"#59616c\">{name}{position_limit}</text>",
            TRACK - 26.0,
            TRACK + 10.0,
            TRACK + 34.0
        );
    }
    // The angles at which the episode continues.
    let ((left, left_y), (right, right_y)) = (tip(-angle_limit), tip(angle_limit));
    let _ = write!(
        svg,
        "<path d=\"M{middle:.1},{axle:.1} L{left:.1},{left_y:.1} A{SCALE},{SCALE} 0 0 1 {right:.1},{right_y:.1} Z\" \
         fill=\"#0b5f94\" fill-opacity=\"0.1\"/>"
    );
    let (x, y) = tip(angle);
    let (corner, (width, height)) = (middle - CART.0 / 2.0, CART);
    let _ = writeln!(
        svg,
        "<rect x=\"{corner:.1}\" y=\"{:.1}\" width=\"{width}\" height=\"{height}\" rx=\"5\" fill=\"#2f3b4a\"/>\
         <line x1=\"{middle:.1}\" y1=\"{axle:.1}\" x2=\"{x:.1}\" y2=\"{y:.1}\" stroke=\"#c07a2c\" stroke-width=\"11\" \
         stroke-linecap=\"round\"/><circle cx=\"{middle:.1}\" cy=\"{axle:.1}\" r=\"6\" fill=\"#8fa3b8\"/></svg>",
        TRACK - CART.1
    );
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cart_is_at_its_position_and_the_pole_has_its_angle() {
        let upright = scene(0.0, 0.0, 2.4, 0.2);
        assert!(
            upright.contains("x1=\"300.0\" y1=\"160.0\" x2=\"300.0\" y2=\"50.0\""),
            "{upright}"
        );
        let leaning = scene(1.0, 0.5, 2.4, 0.2);
        assert!(leaning.contains("x1=\"410.0\" y1=\"160.0\" x2=\"462.7\""), "{leaning}");
    }
}

//! A picture of LunarLander: sky, hills, the pad between its flags, the craft and its flames.

use std::fmt::Write;

use becausal_physics::{Transform, Vector};

use super::flight::{Flight, Thrust};
use super::world::{HEIGHT, SCALE, TERRAIN_POINTS, WIDTH};

const STYLE: &str = "<defs>\
<linearGradient id=\"sky\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">\
<stop offset=\"0\" stop-color=\"#0b1026\"/><stop offset=\"1\" stop-color=\"#2b3a67\"/>\
</linearGradient>\
<linearGradient id=\"ground\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">\
<stop offset=\"0\" stop-color=\"#c9c5bb\"/><stop offset=\"1\" stop-color=\"#6f6a63\"/>\
</linearGradient>\
<linearGradient id=\"hull\" x1=\"0\" y1=\"0\" x2=\"1\" y2=\"1\">\
<stop offset=\"0\" stop-color=\"#f4f1fb\"/><stop offset=\"1\" stop-color=\"#8f83c9\"/>\
</linearGradient></defs>";

/// A picture of the scene as SVG, 600 by 400 pixels.
pub(super) fn scene(flight: &Flight) -> String {
    let mut svg = String::with_capacity(6000);
    let (width, height) = (WIDTH * SCALE, HEIGHT * SCALE);
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">{STYLE}\
         <rect width=\"{width}\" height=\"{height}\" fill=\"url(#sky)\"/>"
    );
    draw_stars(&mut svg);
    draw_ground(&mut svg, &flight.terrain);
    let [hull, left, right] = flight.placements();
    let [hull_outline, left_outline, right_outline] = flight.outlines();
    draw_flames(&mut svg, hull, flight.thrust);
    let touching = flight.leg_contacts();
    draw_leg(&mut svg, hull, left, left_outline, touching[0]);
    draw_leg(&mut svg, hull, right, right_outline, touching[1]);
    draw_hull(&mut svg, hull, hull_outline);
    draw_marker(&mut svg, hull);
    svg.push_str("</svg>\n");
    svg
}

/// A point of the world in pixels.
fn pixel(x: f64, y: f64) -> (f64, f64) {
    (x * SCALE, (HEIGHT - y) * SCALE)
}

/// Points in the frame of a body, given in pixels of the drawing, as the text of a path.
fn placed(body: &Transform, points: &[(f64, f64)]) -> String {
    let mut text = String::new();
    for &(x, y) in points {
        let point = body.apply(Vector::new((x / SCALE) as f32, (y / SCALE) as f32));
        let (x, y) = pixel(f64::from(point.x), f64::from(point.y));
        let _ = write!(text, "{x:.2},{y:.2} ");
    }
    text.truncate(text.trim_end().len());
    text
}

/// The corners of a shape as the text of a polygon.
fn outline(body: &Transform, corners: &[Vector]) -> String {
    let corners: Vec<(f64, f64)> =
        corners.iter().map(|c| (f64::from(c.x) * SCALE, f64::from(c.y) * SCALE)).collect();
    placed(body, &corners)
}

fn draw_stars(svg: &mut String) {
    // Fixed positions: multiples of irrational fractions fill the sky evenly.
    for index in 1..70_u32 {
        let n = f64::from(index);
        let (x, y) = ((n * 0.754_877_666).fract() * 600.0, (n * 0.569_840_291).fract() * 330.0);
        let size = 0.5 + (n * 0.381_966).fract();
        let shine = 0.35 + 0.6 * (n * 0.618_034).fract();
        let _ = write!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{size:.2}\" fill=\"#fff\" \
             opacity=\"{shine:.2}\"/>"
        );
    }
}

fn draw_ground(svg: &mut String, terrain: &[(f64, f64); TERRAIN_POINTS]) {
    let mut points = String::new();
    for &(x, y) in terrain {
        let (x, y) = pixel(x, y);
        let _ = write!(points, "{x:.2},{y:.2} ");
    }
    let (width, height) = (WIDTH * SCALE, HEIGHT * SCALE);
    let _ = write!(
        svg,
        "<polygon points=\"{points}{width},{height} 0,{height}\" fill=\"url(#ground)\"/>\
         <polyline points=\"{}\" fill=\"none\" stroke=\"#f0ede4\" stroke-width=\"1.5\"/>",
        points.trim_end()
    );
    let middle = TERRAIN_POINTS / 2;
    let (start, end) = (terrain[middle - 1], terrain[middle + 1]);
    let ((left, top), (right, _)) = (pixel(start.0, start.1), pixel(end.0, end.1));
    let below = top + 2.0;
    let _ = write!(
        svg,
        "<line x1=\"{left:.2}\" y1=\"{below:.2}\" x2=\"{right:.2}\" y2=\"{below:.2}\" \
         stroke=\"#ffd84d\" stroke-width=\"4\"/>"
    );
    for x in [left, right] {
        let (tip, middle, low) = (top - 50.0, top - 42.0, top - 34.0);
        let out = x + 22.0;
        let _ = write!(
            svg,
            "<line x1=\"{x:.2}\" y1=\"{top:.2}\" x2=\"{x:.2}\" y2=\"{tip:.2}\" stroke=\"#fff\" \
             stroke-width=\"2\"/><polygon points=\"{x:.2},{tip:.2} {out:.2},{middle:.2} \
             {x:.2},{low:.2}\" fill=\"#ffd84d\" stroke=\"#b8860b\"/>"
        );
    }
}

/// A flame from `root` along `along`, both in pixels in the frame of the hull.
fn draw_flame(svg: &mut String, hull: &Transform, root: (f64, f64), along: (f64, f64), wide: f64) {
    let length = along.0.hypot(along.1);
    let across = (-along.1 / length, along.0 / length);
    for (colour, reach, width) in
        [("#ff7a1a", 1.0, wide), ("#ffd23f", 0.7, 0.65 * wide), ("#fffbe6", 0.4, 0.35 * wide)]
    {
        let at = |forward: f64, sideways: f64| {
            (
                root.0 + forward * reach * along.0 + sideways * width * across.0,
                root.1 + forward * reach * along.1 + sideways * width * across.1,
            )
        };
        let corners = [at(0.0, 0.6), at(0.3, 1.0), at(1.0, 0.0), at(0.3, -1.0), at(0.0, -0.6)];
        let points = placed(hull, &corners);
        let _ = write!(
            svg,
            "<polygon points=\"{points}\" fill=\"{colour}\" opacity=\"0.9\" \
             stroke=\"{colour}\" stroke-width=\"1.5\" stroke-linejoin=\"round\"/>"
        );
    }
}

fn draw_flames(svg: &mut String, hull: &Transform, thrust: Thrust) {
    if thrust.main > 0.0 {
        draw_flame(svg, hull, (0.0, -13.0), (0.0, -34.0 * thrust.main), 7.0);
    }
    if thrust.side > 0.0 {
        // The left engine is on the right and pushes to the left.
        let outward = -thrust.direction;
        draw_flame(svg, hull, (outward * 17.0, 9.0), (outward * 17.0 * thrust.side, 0.0), 3.0);
    }
}

fn draw_leg(
    svg: &mut String,
    hull: &Transform,
    leg: &Transform,
    corners: &[Vector],
    touching: bool,
) {
    let seat = hull.undo(leg.shift);
    let side = if seat.x < 0.0 { -1.0 } else { 1.0 };
    for (x, y) in [(15.0, -9.0), (9.0, -9.0)] {
        let root = placed(hull, &[(side * x, y)]);
        let foot = placed(leg, &[(0.0, -2.0)]);
        let _ = write!(
            svg,
            "<polyline points=\"{root} {foot}\" stroke=\"#b9b3d6\" stroke-width=\"2\" \
             fill=\"none\"/>"
        );
    }
    let colour = if touching { "#7fe0a3" } else { "#8f83c9" };
    let points = outline(leg, corners);
    let _ = write!(
        svg,
        "<polygon points=\"{points}\" fill=\"{colour}\" stroke=\"#3d3566\" \
         stroke-linejoin=\"round\"/>"
    );
}

fn draw_hull(svg: &mut String, hull: &Transform, corners: &[Vector]) {
    let nozzle = placed(hull, &[(-5.0, -10.0), (5.0, -10.0), (7.5, -14.5), (-7.5, -14.5)]);
    let body = outline(hull, corners);
    let band = placed(hull, &[(-17.0, -1.0), (17.0, -1.0), (17.0, -5.0), (-17.0, -5.0)]);
    let window: Vec<(f64, f64)> = (0..16)
        .map(|corner| {
            let turn = f64::from(corner) * std::f64::consts::TAU / 16.0;
            (5.5 * turn.cos(), 7.0 + 5.5 * turn.sin())
        })
        .collect();
    let window = placed(hull, &window);
    let _ = write!(
        svg,
        "<polygon points=\"{nozzle}\" fill=\"#4a4370\" stroke=\"#2a2446\"/>\
         <polygon points=\"{body}\" fill=\"url(#hull)\" stroke=\"#3d3566\" stroke-width=\"1.5\" \
         stroke-linejoin=\"round\"/><polygon points=\"{band}\" fill=\"#5b4fa0\" \
         opacity=\"0.85\"/><polygon points=\"{window}\" fill=\"#8fd8ff\" stroke=\"#3d3566\" \
         stroke-width=\"1.5\"/>"
    );
}

/// Draws an arrow at the border when the craft is outside the view.
fn draw_marker(svg: &mut String, hull: &Transform) {
    let (x, y) = (f64::from(hull.shift.x), f64::from(hull.shift.y));
    let (half_width, half_height) = (17.0 / SCALE, 10.0 / SCALE);
    let outside = x < -half_width || x > WIDTH + half_width || y > HEIGHT + half_height;
    if !outside {
        return;
    }
    let inset = 16.0 / SCALE;
    let held = (x.clamp(inset, WIDTH - inset), y.clamp(inset, HEIGHT - inset));
    let (from, to) = (pixel(held.0, held.1), pixel(x, y));
    let degrees = (to.1 - from.1).atan2(to.0 - from.0).to_degrees();
    let _ = write!(
        svg,
        "<polygon points=\"12,0 -8,8 -3,0 -8,-8\" fill=\"#ffd84d\" \
         transform=\"translate({:.1} {:.1}) rotate({degrees:.1})\"/>",
        from.0, from.1
    );
}

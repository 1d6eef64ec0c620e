//! The paths of links: where they leave and reach their nodes, and the curves in between.

use super::geometry::{Area, Cubic, Point};
use super::layout::{PlacedLink, PlacedNode};
use super::picture::{NodeKind, Picture, Place};

/// The maximum share of a node's height for the ends of its links.
pub const SIDE: f64 = 0.8;
/// How far a link within a column bulges to the right.
const BULGE: f64 = 44.0;

/// The width of a link of this weight; weight 0 is still a line.
pub fn width(weight: f64) -> f64 {
    1.0 + 3.6 * weight
}

/// The length of the arrowhead of a link of this width.
pub fn head_length(width: f64) -> f64 {
    6.0 + 1.5 * width
}

/// Half the height of the arrowhead of a link of this width.
fn head_half(width: f64) -> f64 {
    2.2 + width * 0.85
}

/// The height at its node that the start of a link of this width needs.
pub fn start_room(width: f64) -> f64 {
    width + 3.5
}

/// The height at its node that the arrowhead of a link of this width needs.
pub fn end_room(width: f64) -> f64 {
    2.0 * head_half(width) + 0.5
}

/// The width that links within a column need to its right.
pub fn bulge(picture: &Picture, column: usize) -> f64 {
    let within =
        |link: &&super::picture::Link| link.from.column == column && link.to.column == column;
    if picture.links().iter().any(|link| within(&link)) { BULGE } else { 0.0 }
}

/// The distance of a node's outline from the left and right edge of its area, `down` below the middle.
pub fn inset(kind: NodeKind, area: &Area, down: f64) -> f64 {
    let half = area.height / 2.0;
    match kind {
        NodeKind::State | NodeKind::Outcome => 0.0,
        NodeKind::Action => {
            let radius = half.min(area.width / 2.0).min(PILL);
            let over = (down.abs() - (half - radius)).max(0.0);
            radius - (radius * radius - over * over).max(0.0).sqrt()
        }
        NodeKind::Reward => POINT * (down.abs() / half),
    }
}

/// The largest radius of the corners of an action.
pub const PILL: f64 = 15.0;
/// The width of the points on both sides of a reward's outline.
pub const POINT: f64 = 9.0;

/// The paths of all links. `passing` gives the left and right end of a link's slot in a column that it
/// skips.
pub fn links(
    picture: &Picture,
    nodes: &[Vec<PlacedNode>],
    passing: impl Fn(usize, usize) -> (Point, Point),
) -> Vec<PlacedLink> {
    let area = |place: Place| nodes[place.column][place.node].area;
    // The ends of links at a node are sorted by where the links go to or come from.
    let mut starts: Vec<End> = Vec::new();
    let mut ends: Vec<End> = Vec::new();
    for (index, link) in picture.links().iter().enumerate() {
        let (from, to) = (link.from, link.to);
        let (mut next, mut last) = (area(to).centre().y, area(from).centre().y);
        if to.column > from.column + 1 {
            next = passing(from.column + 1, index).0.y;
            last = passing(to.column - 1, index).1.y;
        }
        let width = width(link.weight);
        starts.push(End { place: from, towards: next, link: index, room: start_room(width) });
        let end = End { place: to, towards: last, link: index, room: end_room(width) };
        // A link within a column ends on the side where it starts.
        if to.column == from.column { starts.push(end) } else { ends.push(end) }
    }
    let (starts, ends) = (ports(starts, &area), ports(ends, &area));
    let port = |ports: &[(Place, usize, f64)], place: Place, link: usize, right: bool| {
        let found = ports.iter().find(|(at, index, _)| *at == place && *index == link);
        let down = found.map_or(0.0, |(_, _, down)| *down);
        let area = area(place);
        let inset = inset(picture.node(place).kind, &area, down);
        let x = if right { area.right() - inset } else { area.left + inset };
        Point::new(x, area.centre().y + down)
    };
    let mut placed = Vec::with_capacity(picture.links().len());
    for (index, link) in picture.links().iter().enumerate() {
        let (from, to) = (link.from, link.to);
        let width = width(link.weight);
        let start = port(&starts, from, index, true);
        placed.push(if from.column == to.column {
            within(start, port(&starts, to, index, true), width)
        } else {
            let middle = (from.column + 1..to.column).map(|column| passing(column, index));
            to_the_right(start, &middle.collect::<Vec<_>>(), port(&ends, to, index, false), width)
        });
    }
    placed
}

/// One end of a link at its node.
struct End {
    place: Place,
    /// The vertical position that the link goes to or comes from.
    towards: f64,
    link: usize,
    /// The height that it needs.
    room: f64,
}

/// For each end (node and link), its vertical distance from the middle of the node.
fn ports(mut ends: Vec<End>, area: &impl Fn(Place) -> Area) -> Vec<(Place, usize, f64)> {
    ends.sort_by(|a, b| {
        a.place.cmp(&b.place).then(a.towards.total_cmp(&b.towards)).then(a.link.cmp(&b.link))
    });
    let mut ports = Vec::with_capacity(ends.len());
    for group in ends.chunk_by(|a, b| a.place == b.place) {
        let wanted: f64 = group.iter().map(|end| end.room).sum();
        let scale = (area(group[0].place).height * SIDE / wanted).min(1.0);
        let mut down = -wanted * scale / 2.0;
        for end in group {
            ports.push((end.place, end.link, down + end.room * scale / 2.0));
            down += end.room * scale;
        }
    }
    ports
}

/// A link to a column further right.
pub fn to_the_right(
    start: Point,
    passing: &[(Point, Point)],
    tip: Point,
    width: f64,
) -> PlacedLink {
    let length = head_length(width);
    let neck = Point::new(tip.x - length, tip.y);
    let mut curves = Vec::with_capacity(passing.len() + 1);
    let mut from = start;
    for &(enter, leave) in passing {
        curves.push(Cubic::horizontal(from, enter));
        from = leave;
    }
    curves.push(Cubic::horizontal(from, neck));
    let half = head_half(width);
    let head = [tip, Point::new(neck.x, tip.y - half), Point::new(neck.x, tip.y + half)];
    PlacedLink { curves, head, width, label: None }
}

/// A link to a node of the same column: a bulge to the right.
fn within(start: Point, tip: Point, width: f64) -> PlacedLink {
    let length = head_length(width);
    let neck = Point::new(tip.x + length, tip.y);
    let reach = start.x.max(neck.x) + BULGE * 0.8;
    let curve = Cubic {
        start,
        first: Point::new(reach, start.y),
        second: Point::new(reach, neck.y),
        end: neck,
    };
    let half = head_half(width);
    let head = [tip, Point::new(neck.x, tip.y - half), Point::new(neck.x, tip.y + half)];
    PlacedLink { curves: vec![curve], head, width, label: None }
}

//! The labels of links, placed so that they cover no node and no other label.

use super::colour;
use super::drawing::{Anchor, Text};
use super::font::Font;
use super::geometry::{Area, Point};
use super::label::shorten;
use super::layout::{PlacedLink, PlacedNode};
use super::picture::Picture;

const LABEL: Font = Font::regular(11.0);
/// The free space around a label.
const CLEARANCE: f64 = 3.0;
const MAX_LABEL_WIDTH: f64 = 110.0;

/// The gap between columns that leaves part of a link visible beside the widest label.
pub fn gap(picture: &Picture) -> f64 {
    let labels = picture.links().iter().filter_map(|link| link.label.as_deref());
    let widths = labels.map(|label| LABEL.width(&shorten(label, LABEL, MAX_LABEL_WIDTH)) + 80.0);
    widths.fold(0.0, f64::max)
}

/// The number of links with a placed label.
pub fn placed_labels(links: &[PlacedLink]) -> usize {
    links.iter().filter(|link| link.label.is_some()).count()
}

/// Puts the labels of links on their curves, strongest link first. Labels are inside `room`, clear of
/// nodes and of each other, near the middle, and cover as few other links as possible.
pub fn label_links(
    picture: &Picture,
    nodes: &[Vec<PlacedNode>],
    links: &mut [PlacedLink],
    room: &Area,
) {
    let mut taken: Vec<Area> = nodes.iter().flatten().map(|node| node.area).collect();
    let samples: Vec<Vec<Point>> = links.iter().map(points).collect();
    let mut ranked: Vec<usize> =
        (0..links.len()).filter(|&link| picture.links()[link].label.is_some()).collect();
    let weight = |index: usize| picture.links()[index].weight;
    ranked.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)).then(a.cmp(&b)));
    for index in ranked {
        let label = picture.links()[index].label.as_deref().unwrap_or_default();
        let content = shorten(label, LABEL, MAX_LABEL_WIDTH);
        let (width, height) = (LABEL.width(&content), LABEL.line());
        // On the line, or beside it if it would hide another link.
        let aside = f64::midpoint(height, links[index].width) + 1.0;
        let mut best: Option<(f64, Point)> = None;
        for curve in &links[index].curves {
            for step in 3_u8..=17 {
                let share = f64::from(step) / 20.0;
                for (down, penalty) in [(0.0, 0.0), (-aside, 0.5), (aside, 0.5)] {
                    let place = curve.at(share);
                    let place = Point::new(place.x, place.y + down);
                    let area =
                        Area::around(place, width + 2.0 * CLEARANCE, height + 2.0 * CLEARANCE);
                    if !room.contains(&area) || taken.iter().any(|other| other.overlaps(&area)) {
                        continue;
                    }
                    let text = Area::around(place, width, height);
                    let covered = covered(&samples, index, &text);
                    let cost = covered as f64 + (share - 0.5).abs() + penalty;
                    if best.is_none_or(|(least, _)| cost < least) {
                        best = Some((cost, place));
                    }
                }
            }
        }
        if let Some((_, place)) = best {
            taken.push(Area::around(place, width, height));
            let text = Text::new(content, place, Anchor::Middle, LABEL, colour::INK);
            links[index].label = Some(text);
        }
    }
}

/// How many links other than `own` run through an area.
fn covered(samples: &[Vec<Point>], own: usize, area: &Area) -> usize {
    let runs_through = |(index, points): &(usize, &Vec<Point>)| {
        *index != own && points.iter().any(|point| area.holds(*point))
    };
    samples.iter().enumerate().filter(runs_through).count()
}

/// Points along a link, dense enough to find the labels it runs through.
fn points(link: &PlacedLink) -> Vec<Point> {
    let along = |curve: &super::geometry::Cubic| {
        let curve = *curve;
        (0_u8..=24).map(move |step| curve.at(f64::from(step) / 24.0))
    };
    link.curves.iter().flat_map(along).collect()
}

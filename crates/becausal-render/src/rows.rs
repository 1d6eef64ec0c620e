//! The heights of nodes and their vertical positions.

use super::layout::{DETAIL, LABEL, Spacing};
use super::order::{Item, Order};
use super::picture::{Link, Picture, Place};
use super::route;
use super::spacing::{Wish, settle};

/// The minimum gap between the items of a column.
const GAP: f64 = 14.0;
/// The padding above and below the text of a node.
const PADDING: f64 = 6.0;
/// The height of a link's slot in a column that it skips; the gaps come on top of it.
const PASSING: f64 = 2.0;
/// The maximum height of a node that needs room for the ends of its links.
const MAX_PORTS_HEIGHT: f64 = 84.0;
/// The maximum gap of even spacing in a short column.
const MAX_GAP: f64 = 64.0;

/// The heights of the items, in the order of `order`.
pub fn heights(picture: &Picture, order: &Order) -> Vec<Vec<f64>> {
    let ends = |place: Place| {
        let links = picture.links().iter();
        let room = |end: fn(&Link) -> Place, of: fn(f64) -> f64| {
            let own = links.clone().filter(|link| end(link) == place);
            own.map(|link| of(route::width(link.weight))).sum::<f64>()
        };
        room(|link| link.from, route::start_room).max(room(|link| link.to, route::end_room))
    };
    let height = |column: usize, item: &Item| match *item {
        Item::Passing(_) => PASSING,
        Item::Node(node) => {
            let place = Place::new(column, node);
            let detail = picture.node(place).detail.as_ref().map_or(0.0, |_| DETAIL.line());
            let text = LABEL.line() + detail + 2.0 * PADDING;
            text.max((ends(place) / route::SIDE).min(MAX_PORTS_HEIGHT).ceil())
        }
    };
    let columns = order.columns.iter().enumerate();
    columns.map(|(index, items)| items.iter().map(|item| height(index, item)).collect()).collect()
}

/// The middles of the items, in the order of `order`; the top of the highest item is at 0.
pub fn middles(
    picture: &Picture,
    order: &Order,
    heights: &[Vec<f64>],
    spacing: Spacing,
) -> Vec<Vec<f64>> {
    let mut middles = even(heights);
    if spacing == Spacing::Straight {
        straighten(picture, order, heights, &mut middles);
    }
    let top = middles.iter().flatten().zip(heights.iter().flatten());
    let top = top.map(|(middle, height)| middle - height / 2.0).fold(f64::INFINITY, f64::min);
    for middle in middles.iter_mut().flatten() {
        *middle -= top;
    }
    middles
}

/// From the top of the highest item to the bottom of the lowest.
pub fn extent(middles: &[Vec<f64>], heights: &[Vec<f64>]) -> f64 {
    let bottoms = middles.iter().flatten().zip(heights.iter().flatten());
    bottoms.map(|(middle, height)| middle + height / 2.0).fold(0.0, f64::max).ceil()
}

fn even(heights: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let total = |column: &Vec<f64>| {
        column.iter().sum::<f64>() + GAP * column.len().saturating_sub(1) as f64
    };
    let tallest = heights.iter().map(total).fold(0.0, f64::max);
    let place = |column: &Vec<f64>| {
        let spare = (tallest - total(column)) / column.len().max(1) as f64;
        let gap = (GAP + spare).min(MAX_GAP);
        let used = column.iter().sum::<f64>() + gap * column.len().saturating_sub(1) as f64;
        let mut top = (tallest - used) / 2.0;
        let middle = |height: &f64| {
            let middle = top + height / 2.0;
            top += height + gap;
            middle
        };
        column.iter().map(middle).collect()
    };
    heights.iter().map(place).collect()
}

/// Moves items towards the mean position of their neighbours, in several sweeps, without changing their
/// order.
fn straighten(picture: &Picture, order: &Order, heights: &[Vec<f64>], middles: &mut [Vec<f64>]) {
    const SWEEPS: usize = 24;
    let pieces = pieces(picture, order);
    for sweep in 0..SWEEPS {
        let count = middles.len();
        for step in 0..count {
            let column = if sweep % 2 == 0 { step } else { count - 1 - step };
            let mut sums = vec![(0.0, 0.0); middles[column].len()];
            for piece in &pieces {
                for (own, other) in [(piece.left, piece.right), (piece.right, piece.left)] {
                    if own.0 == column {
                        sums[own.1].0 += middles[other.0][other.1] * piece.weight;
                        sums[own.1].1 += piece.weight;
                    }
                }
            }
            let wishes: Vec<Wish> = sums
                .iter()
                .enumerate()
                .map(|(index, &(sum, weight))| Wish {
                    middle: if weight > 0.0 { sum / weight } else { middles[column][index] },
                    length: heights[column][index],
                    weight: weight.max(0.01),
                })
                .collect();
            middles[column] = settle(&wishes, GAP);
        }
    }
}

/// The part of a link between two neighbouring columns, by column and slot.
struct Piece {
    left: (usize, usize),
    right: (usize, usize),
    weight: f64,
}

fn pieces(picture: &Picture, order: &Order) -> Vec<Piece> {
    let slot = |column: usize, item: Item| {
        let slot = order.columns[column].iter().position(|other| *other == item);
        (column, slot.expect("every item has a slot"))
    };
    let mut pieces = Vec::new();
    for (index, link) in picture.links().iter().enumerate() {
        let (from, to) = (link.from, link.to);
        let mut left = slot(from.column, Item::Node(from.node));
        for column in from.column + 1..=to.column {
            let last = column == to.column;
            let item = if last { Item::Node(to.node) } else { Item::Passing(index) };
            let right = slot(column, item);
            // Links between steps of one variable, and links that skip columns, should not bend.
            let same = picture.node(from).label.trim_end_matches('\'')
                == picture.node(to).label.trim_end_matches('\'');
            let passes = to.column - from.column > 1;
            let factor = if same || passes { 4.0 } else { 1.0 };
            pieces.push(Piece { left, right, weight: (0.1 + link.weight) * factor });
            left = right;
        }
    }
    pieces
}

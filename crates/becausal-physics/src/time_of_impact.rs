//! The moment within a step at which two moving convex shapes come as close as their skins allow,
//! by conservative advancement along separating axes.
//!
//! The distance search gives an axis. A mix of bisection and secants finds the latest moment at
//! which the shapes are still apart along it. There the distance search is repeated.

use crate::distance::{SimplexCache, distance, support};
use crate::settings::{LINEAR_SLOP, MAX_VERTICES, SKIN, greater};
use crate::transform::{Sweep, Transform};
use crate::vector::Vector;

const MAX_AXES: usize = 20;
const MAX_ROOT_STEPS: usize = 50;

/// How the search ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Impact {
    /// The shapes touch at this fraction of the sweep.
    Touching(f32),
    /// The shapes stay apart, overlap from the start, or the search failed.
    None,
}

/// The vertices of a convex shape, and its motion.
#[derive(Clone, Copy)]
pub(crate) struct Moving<'a> {
    pub vertices: &'a [Vector],
    pub sweep: Sweep,
}

/// A direction along which separation is measured.
enum Axis {
    /// Between two corners; the direction is fixed in the world.
    Corners(Vector),
    /// The normal of a side of the first shape, and the middle of the side.
    First(Vector, Vector),
    /// The normal of a side of the second shape, and the middle of the side.
    Second(Vector, Vector),
}

struct Separation<'a> {
    first: Moving<'a>,
    second: Moving<'a>,
    axis: Axis,
}

/// When two moving shapes touch.
pub(crate) fn time_of_impact(first: Moving, second: Moving) -> Impact {
    let first = Moving { sweep: first.sweep.near_zero(), ..first };
    let second = Moving { sweep: second.sweep.near_zero(), ..second };
    let target = greater(LINEAR_SLOP, (SKIN + SKIN) - 3.0 * LINEAR_SLOP);
    let tolerance = 0.25 * LINEAR_SLOP;
    let mut cache = SimplexCache::default();
    let mut moment = 0.0_f32;

    for _ in 0..MAX_AXES {
        let positions = (first.sweep.at(moment), second.sweep.at(moment));
        let apart =
            distance((first.vertices, &positions.0), (second.vertices, &positions.1), &mut cache);
        // The shapes overlap from the start, or the distance is NaN.
        if apart.is_nan() || apart <= 0.0 {
            return Impact::None;
        }
        if apart < target + tolerance {
            return Impact::Touching(moment);
        }
        let separation = Separation::new(&cache, first, second, &positions);

        let mut later = 1.0_f32;
        for _ in 0..MAX_VERTICES {
            let (mut gap_later, witnesses) = separation.minimum(later);
            if gap_later > target + tolerance {
                return Impact::None;
            }
            if gap_later > target - tolerance {
                moment = later;
                break;
            }
            let mut gap_now = separation.of(witnesses, moment);
            if gap_now < target - tolerance {
                return Impact::None;
            }
            if gap_now <= target + tolerance {
                return Impact::Touching(moment);
            }
            let (mut low, mut high) = (moment, later);
            for step in 0..MAX_ROOT_STEPS {
                let middle = if step % 2 == 1 {
                    low + (target - gap_now) * (high - low) / (gap_later - gap_now)
                } else {
                    0.5 * (low + high)
                };
                let gap = separation.of(witnesses, middle);
                if (gap - target).abs() < tolerance {
                    later = middle;
                    break;
                }
                if gap > target {
                    (low, gap_now) = (middle, gap);
                } else {
                    (high, gap_later) = (middle, gap);
                }
            }
        }
    }
    Impact::None
}

impl<'a> Separation<'a> {
    /// The separation along the last axis of the distance search.
    fn new(
        cache: &SimplexCache,
        first: Moving<'a>,
        second: Moving<'a>,
        positions: &(Transform, Transform),
    ) -> Self {
        let [one, two, _] = cache.corners;
        let axis = if cache.count == 1 {
            let from = positions.0.apply(first.vertices[one.0]);
            let to = positions.1.apply(second.vertices[one.1]);
            Axis::Corners((to - from).unit())
        } else if one.0 == two.0 {
            let (normal, middle) = side(second.vertices, one.1, two.1);
            let corner = positions.0.apply(first.vertices[one.0]);
            let towards = positions.1.rotation.apply(normal);
            let inside = (corner - positions.1.apply(middle)).dot(towards) < 0.0;
            Axis::Second(if inside { -normal } else { normal }, middle)
        } else {
            let (normal, middle) = side(first.vertices, one.0, two.0);
            let corner = positions.1.apply(second.vertices[one.1]);
            let towards = positions.0.rotation.apply(normal);
            let inside = (corner - positions.0.apply(middle)).dot(towards) < 0.0;
            Axis::First(if inside { -normal } else { normal }, middle)
        };
        Self { first, second, axis }
    }

    fn positions(&self, moment: f32) -> (Transform, Transform) {
        (self.first.sweep.at(moment), self.second.sweep.at(moment))
    }

    /// The minimum separation at a moment, and the vertices where it occurs.
    fn minimum(&self, moment: f32) -> (f32, (usize, usize)) {
        let positions = self.positions(moment);
        let (one, two) = (positions.0.rotation, positions.1.rotation);
        let witnesses = match self.axis {
            Axis::Corners(axis) => (
                support(self.first.vertices, one.undo(axis)),
                support(self.second.vertices, two.undo(-axis)),
            ),
            Axis::First(normal, _) => {
                (0, support(self.second.vertices, two.undo(-one.apply(normal))))
            }
            Axis::Second(normal, _) => {
                (support(self.first.vertices, one.undo(-two.apply(normal))), 0)
            }
        };
        (self.between(witnesses, &positions), witnesses)
    }

    /// The separation of two vertices at a moment.
    fn of(&self, witnesses: (usize, usize), moment: f32) -> f32 {
        self.between(witnesses, &self.positions(moment))
    }

    fn between(&self, witnesses: (usize, usize), positions: &(Transform, Transform)) -> f32 {
        let on_first = || positions.0.apply(self.first.vertices[witnesses.0]);
        let on_second = || positions.1.apply(self.second.vertices[witnesses.1]);
        match self.axis {
            Axis::Corners(axis) => (on_second() - on_first()).dot(axis),
            Axis::First(normal, middle) => {
                let normal = positions.0.rotation.apply(normal);
                (on_second() - positions.0.apply(middle)).dot(normal)
            }
            Axis::Second(normal, middle) => {
                let normal = positions.1.rotation.apply(normal);
                (on_first() - positions.1.apply(middle)).dot(normal)
            }
        }
    }
}

/// The normal and the middle of the side between two vertices.
fn side(vertices: &[Vector], from: usize, to: usize) -> (Vector, Vector) {
    let normal = (vertices[to] - vertices[from]).turned_right().unit();
    (normal, 0.5 * (vertices[from] + vertices[to]))
}

//! Axis-aligned bounding boxes.

use crate::settings::{BOUNDS_FORESIGHT, BOUNDS_MARGIN};
use crate::vector::Vector;

/// A box with sides along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The lower left corner.
    pub lower: Vector,
    /// The upper right corner.
    pub upper: Vector,
}

impl Bounds {
    /// The smallest box around at least one point, widened by `skin` on every side.
    pub(crate) fn around(mut points: impl Iterator<Item = Vector>, skin: f32) -> Self {
        let first = points.next().unwrap_or(Vector::ZERO);
        let (lower, upper) =
            points.fold((first, first), |(low, high), p| (low.lower(p), high.upper(p)));
        Self { lower, upper }.widened(skin)
    }

    /// The box with every side moved outwards.
    pub(crate) fn widened(self, margin: f32) -> Self {
        let margin = Vector::new(margin, margin);
        Self { lower: self.lower - margin, upper: self.upper + margin }
    }

    /// The box with a margin, so that small motions do not affect the broad phase.
    pub(crate) fn fattened(self) -> Self {
        self.widened(BOUNDS_MARGIN)
    }

    /// The fattened box, stretched in the direction of the motion.
    pub(crate) fn fattened_along(self, displacement: Vector) -> Self {
        let mut fat = self.fattened();
        let ahead = BOUNDS_FORESIGHT * displacement;
        if ahead.x < 0.0 {
            fat.lower.x += ahead.x;
        } else {
            fat.upper.x += ahead.x;
        }
        if ahead.y < 0.0 {
            fat.lower.y += ahead.y;
        } else {
            fat.upper.y += ahead.y;
        }
        fat
    }

    /// The smallest box around both.
    pub(crate) fn united(self, other: Self) -> Self {
        Self { lower: self.lower.lower(other.lower), upper: self.upper.upper(other.upper) }
    }

    /// Whether `other` lies inside.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        self.lower.x <= other.lower.x
            && self.lower.y <= other.lower.y
            && other.upper.x <= self.upper.x
            && other.upper.y <= self.upper.y
    }

    /// Whether the boxes share a point.
    #[inline]
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let apart = other.lower.x - self.upper.x > 0.0
            || other.lower.y - self.upper.y > 0.0
            || self.lower.x - other.upper.x > 0.0
            || self.lower.y - other.upper.y > 0.0;
        !apart
    }
}

//! Vectors in the plane, and the products that the solvers use.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use crate::settings::{EPSILON, greater, lesser};

/// A point or a direction in the plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vector {
    /// To the right.
    pub x: f32,
    /// Up.
    pub y: f32,
}

impl Vector {
    /// The origin.
    pub const ZERO: Self = Self { x: 0.0, y: 0.0 };

    /// The vector with these coordinates.
    #[inline]
    #[must_use]
    pub const fn new(x: f32, y: f32) -> Self {
        Self { x, y }
    }

    /// The scalar product.
    #[inline]
    #[must_use]
    pub fn dot(self, other: Self) -> f32 {
        self.x * other.x + self.y * other.y
    }

    /// The signed area of the parallelogram spanned with `other`.
    #[inline]
    #[must_use]
    pub fn cross(self, other: Self) -> f32 {
        self.x * other.y - self.y * other.x
    }

    /// The length.
    #[inline]
    #[must_use]
    pub fn length(self) -> f32 {
        self.length_squared().sqrt()
    }

    /// The square of the length.
    #[inline]
    #[must_use]
    pub fn length_squared(self) -> f32 {
        self.x * self.x + self.y * self.y
    }

    /// Whether both coordinates are finite.
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite()
    }

    /// A quarter turn clockwise: the outward normal of a counter-clockwise edge.
    #[inline]
    pub(crate) fn turned_right(self) -> Self {
        Self::new(self.y, -self.x)
    }

    /// A quarter turn counter-clockwise.
    #[inline]
    pub(crate) fn turned_left(self) -> Self {
        Self::new(-self.y, self.x)
    }

    /// The velocity at this offset from the centre of a body that turns at `rate`.
    #[inline]
    pub(crate) fn carried(self, rate: f32) -> Self {
        Self::new(-rate * self.y, rate * self.x)
    }

    /// The unit vector in the same direction, and the length. A vector that is too short to have a
    /// direction is returned unchanged, with length 0.
    #[inline]
    pub(crate) fn unit_and_length(self) -> (Self, f32) {
        let length = self.length();
        if length < EPSILON {
            return (self, 0.0);
        }
        let inverse = 1.0 / length;
        (Self::new(self.x * inverse, self.y * inverse), length)
    }

    /// The unit vector in the same direction.
    #[inline]
    pub(crate) fn unit(self) -> Self {
        self.unit_and_length().0
    }

    /// The lesser of each coordinate.
    #[inline]
    pub(crate) fn lower(self, other: Self) -> Self {
        Self::new(lesser(self.x, other.x), lesser(self.y, other.y))
    }

    /// The greater of each coordinate.
    #[inline]
    pub(crate) fn upper(self, other: Self) -> Self {
        Self::new(greater(self.x, other.x), greater(self.y, other.y))
    }
}

impl Add for Vector {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y)
    }
}

impl Sub for Vector {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y)
    }
}

impl Neg for Vector {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y)
    }
}

impl Mul<Vector> for f32 {
    type Output = Vector;
    #[inline]
    fn mul(self, vector: Vector) -> Vector {
        Vector::new(self * vector.x, self * vector.y)
    }
}

impl AddAssign for Vector {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Vector {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

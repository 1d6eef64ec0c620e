//! Rotations, rigid transforms, and sweeps. A sweep is the motion over one step; the position at
//! any moment within the step is interpolated from it.

use crate::angle::sine_cosine;
use crate::settings::FULL_TURN;
use crate::vector::Vector;

/// A rotation, stored as the sine and the cosine of its angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation {
    /// The sine of the angle.
    pub sine: f32,
    /// The cosine of the angle.
    pub cosine: f32,
}

impl Rotation {
    /// The rotation by an angle in radians.
    #[inline]
    #[must_use]
    pub fn new(angle: f32) -> Self {
        let (sine, cosine) = sine_cosine(angle);
        Self { sine, cosine }
    }

    /// Rotates a vector.
    #[inline]
    #[must_use]
    pub fn apply(self, vector: Vector) -> Vector {
        Vector::new(
            self.cosine * vector.x - self.sine * vector.y,
            self.sine * vector.x + self.cosine * vector.y,
        )
    }

    /// Rotates a vector back.
    #[inline]
    #[must_use]
    pub fn undo(self, vector: Vector) -> Vector {
        Vector::new(
            self.cosine * vector.x + self.sine * vector.y,
            -self.sine * vector.x + self.cosine * vector.y,
        )
    }
}

/// A rigid transform: a rotation, then a shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// The image of the origin.
    pub shift: Vector,
    /// The rotation.
    pub rotation: Rotation,
}

impl Transform {
    /// The transform of a body whose centre of mass is at `centre`, with this angle.
    #[inline]
    pub(crate) fn about_centre(centre: Vector, angle: f32, local_centre: Vector) -> Self {
        let rotation = Rotation::new(angle);
        Self { shift: centre - rotation.apply(local_centre), rotation }
    }

    /// Transforms a point.
    #[inline]
    #[must_use]
    pub fn apply(&self, point: Vector) -> Vector {
        let Rotation { sine, cosine } = self.rotation;
        Vector::new(
            (cosine * point.x - sine * point.y) + self.shift.x,
            (sine * point.x + cosine * point.y) + self.shift.y,
        )
    }

    /// Transforms a point back.
    #[inline]
    #[must_use]
    pub fn undo(&self, point: Vector) -> Vector {
        self.rotation.undo(point - self.shift)
    }

    /// `other` relative to the frame of this transform.
    #[inline]
    pub(crate) fn relative(&self, other: &Self) -> Self {
        let (own, theirs) = (self.rotation, other.rotation);
        Self {
            shift: own.undo(other.shift - self.shift),
            rotation: Rotation {
                sine: own.cosine * theirs.sine - own.sine * theirs.cosine,
                cosine: own.cosine * theirs.cosine + own.sine * theirs.sine,
            },
        }
    }
}

/// The motion of a centre of mass over one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweep {
    /// The centre of mass in the frame of the body.
    pub local_centre: Vector,
    /// The centre at the moment `begun`.
    pub centre_before: Vector,
    /// The centre at the end of the step.
    pub centre: Vector,
    /// The angle at the moment `begun`.
    pub angle_before: f32,
    /// The angle at the end of the step.
    pub angle: f32,
    /// The fraction of the step at which the sweep starts.
    pub begun: f32,
}

impl Sweep {
    /// The position at a fraction of the sweep.
    #[inline]
    pub fn at(&self, fraction: f32) -> Transform {
        let rest = 1.0 - fraction;
        let centre = rest * self.centre_before + fraction * self.centre;
        let angle = rest * self.angle_before + fraction * self.angle;
        Transform::about_centre(centre, angle, self.local_centre)
    }

    /// Moves the start of the sweep to a later moment of the step.
    pub fn begin_at(&mut self, moment: f32) {
        let fraction = (moment - self.begun) / (1.0 - self.begun);
        let rest = 1.0 - fraction;
        self.centre_before = rest * self.centre_before + fraction * self.centre;
        self.angle_before = rest * self.angle_before + fraction * self.angle;
        self.begun = moment;
    }

    /// The same sweep with its angles reduced to near zero, where root finding is accurate.
    pub fn near_zero(mut self) -> Self {
        let turns = FULL_TURN * (self.angle_before / FULL_TURN).floor();
        self.angle_before -= turns;
        self.angle -= turns;
        self
    }

    /// The position at the end of the step.
    #[inline]
    pub fn end(&self) -> Transform {
        Transform::about_centre(self.centre, self.angle, self.local_centre)
    }

    /// The position at the start of the sweep.
    #[inline]
    pub fn start(&self) -> Transform {
        Transform::about_centre(self.centre_before, self.angle_before, self.local_centre)
    }
}

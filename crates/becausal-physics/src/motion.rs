//! Position and velocity of a body while its island is solved.

use crate::settings::{MAX_ROTATION, MAX_TRANSLATION};
use crate::vector::Vector;

/// The position of the centre of mass, and the angle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    pub centre: Vector,
    pub angle: f32,
}

impl Position {
    /// Its numbers.
    #[inline]
    pub fn numbers(&self) -> [f32; 3] {
        [self.angle, self.centre.x, self.centre.y]
    }
}

/// The velocity of the centre of mass, and the angular velocity.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Velocity {
    pub linear: Vector,
    pub angular: f32,
}

impl Velocity {
    /// Its numbers.
    #[inline]
    pub fn numbers(&self) -> [f32; 3] {
        [self.angular, self.linear.x, self.linear.y]
    }
}

/// Moves a body by its velocity, which is limited if it is too large.
pub(crate) fn advance(position: &mut Position, velocity: &mut Velocity, seconds: f32) {
    let translation = seconds * velocity.linear;
    if translation.dot(translation) > MAX_TRANSLATION * MAX_TRANSLATION {
        let ratio = MAX_TRANSLATION / translation.length();
        velocity.linear = ratio * velocity.linear;
    }
    let rotation = seconds * velocity.angular;
    if rotation * rotation > MAX_ROTATION * MAX_ROTATION {
        velocity.angular *= MAX_ROTATION / rotation.abs();
    }
    position.centre += seconds * velocity.linear;
    position.angle += seconds * velocity.angular;
}

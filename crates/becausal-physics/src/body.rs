//! Rigid bodies: position, velocity, mass, and whether they sleep.

use crate::error::Error;
use crate::polygon::MassData;
use crate::transform::{Rotation, Sweep, Transform};
use crate::vector::Vector;

/// Whether a body moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// Never moves; has infinite mass.
    Static,
    /// Moves under forces, contacts and joints.
    Dynamic,
}

/// Identifies a body of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub(crate) usize);

impl BodyId {
    /// Its index in the order of creation, counted from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// A rigid body.
#[derive(Clone, Debug)]
pub struct Body {
    pub(crate) kind: BodyKind,
    pub(crate) position: Transform,
    pub(crate) sweep: Sweep,
    pub(crate) velocity: Vector,
    pub(crate) spin: f32,
    pub(crate) force: Vector,
    pub(crate) torque: f32,
    pub(crate) mass: f32,
    pub(crate) inverse_mass: f32,
    pub(crate) inertia: f32,
    pub(crate) inverse_inertia: f32,
    pub(crate) awake: bool,
    pub(crate) still_seconds: f32,
    pub(crate) in_island: bool,
    /// Its index in the island that is being solved.
    pub(crate) slot: usize,
}

impl Body {
    pub(crate) fn new(kind: BodyKind, shift: Vector, angle: f32) -> Self {
        let mass = if kind == BodyKind::Dynamic { 1.0 } else { 0.0 };
        Self {
            kind,
            position: Transform { shift, rotation: Rotation::new(angle) },
            sweep: Sweep {
                local_centre: Vector::ZERO,
                centre_before: shift,
                centre: shift,
                angle_before: angle,
                angle,
                begun: 0.0,
            },
            velocity: Vector::ZERO,
            spin: 0.0,
            force: Vector::ZERO,
            torque: 0.0,
            mass,
            inverse_mass: mass,
            inertia: 0.0,
            inverse_inertia: 0.0,
            awake: true,
            still_seconds: 0.0,
            in_island: false,
            slot: 0,
        }
    }

    /// Static or dynamic.
    #[must_use]
    pub fn kind(&self) -> BodyKind {
        self.kind
    }

    /// The transform from its frame to the world.
    #[must_use]
    pub fn transform(&self) -> &Transform {
        &self.position
    }

    /// The position of its origin, not of its centre of mass.
    #[must_use]
    pub fn position(&self) -> Vector {
        self.position.shift
    }

    /// Its angle in radians, not reduced to one turn.
    #[must_use]
    pub fn angle(&self) -> f32 {
        self.sweep.angle
    }

    /// The position of its centre of mass.
    #[must_use]
    pub fn centre(&self) -> Vector {
        self.sweep.centre
    }

    /// The velocity of its centre of mass.
    #[must_use]
    pub fn velocity(&self) -> Vector {
        self.velocity
    }

    /// Its angular velocity in radians per second.
    #[must_use]
    pub fn angular_velocity(&self) -> f32 {
        self.spin
    }

    /// Its mass; zero for a static body.
    #[must_use]
    pub fn mass(&self) -> f32 {
        self.mass
    }

    /// Its rotational inertia about the centre of mass; zero for a static body.
    #[must_use]
    pub fn inertia(&self) -> f32 {
        self.inertia
    }

    /// Whether it is awake; a body at rest falls asleep.
    #[must_use]
    pub fn is_awake(&self) -> bool {
        self.awake
    }

    /// Whether it is awake and dynamic.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.awake && self.kind == BodyKind::Dynamic
    }

    pub(crate) fn wake(&mut self) {
        if !self.awake {
            self.awake = true;
            self.still_seconds = 0.0;
        }
    }

    pub(crate) fn sleep(&mut self) {
        self.awake = false;
        self.still_seconds = 0.0;
        self.velocity = Vector::ZERO;
        self.spin = 0.0;
        self.clear_forces();
    }

    pub(crate) fn clear_forces(&mut self) {
        self.force = Vector::ZERO;
        self.torque = 0.0;
    }

    /// Sets the position to the end of the sweep.
    pub(crate) fn follow_sweep(&mut self) {
        self.position = self.sweep.end();
    }

    /// Goes back to a moment of the step, without updating the broad phase.
    pub(crate) fn rewind_to(&mut self, moment: f32) {
        self.sweep.begin_at(moment);
        self.sweep.centre = self.sweep.centre_before;
        self.sweep.angle = self.sweep.angle_before;
        self.follow_sweep();
    }

    /// Sets the mass to the sum over its parts. The order of the parts affects the rounding.
    pub(crate) fn set_mass(&mut self, parts: impl Iterator<Item = MassData>) -> Result<(), Error> {
        let (mut mass, mut inertia) = (0.0_f32, 0.0_f32);
        let mut centre = Vector::ZERO;
        for part in parts {
            mass += part.mass;
            centre += part.mass * part.centre;
            inertia += part.inertia;
        }
        let inverse_mass = if mass > 0.0 { 1.0 / mass } else { 1.0 };
        if mass > 0.0 {
            centre = inverse_mass * centre;
        } else {
            mass = 1.0;
        }
        let mut inverse_inertia = 0.0;
        if inertia > 0.0 {
            inertia -= mass * centre.dot(centre);
            if inertia.is_nan() || inertia <= 0.0 {
                return Err(Error::Degenerate { what: "mass of the body" });
            }
            inverse_inertia = 1.0 / inertia;
        } else {
            inertia = 0.0;
        }
        if !inverse_mass.is_finite() || !inverse_inertia.is_finite() {
            return Err(Error::Degenerate { what: "mass of the body" });
        }
        (self.mass, self.inverse_mass) = (mass, inverse_mass);
        (self.inertia, self.inverse_inertia) = (inertia, inverse_inertia);
        let before = self.sweep.centre;
        self.sweep.local_centre = centre;
        self.sweep.centre = self.position.apply(centre);
        self.sweep.centre_before = self.sweep.centre;
        self.velocity += (self.sweep.centre - before).carried(self.spin);
        Ok(())
    }
}

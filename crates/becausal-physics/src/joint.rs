//! The revolute joint: two bodies share a point. A motor can turn one relative to the other, and
//! limits can keep the angle between them in a range.

use crate::body::BodyId;
use crate::error::{Error, finite, not_negative};
use crate::settings::ANGULAR_SLOP;
use crate::vector::Vector;

/// Identifies a joint of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId(pub(crate) usize);

/// A motor that turns the second body relative to the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motor {
    /// The target speed in radians per second.
    pub speed: f32,
    /// The maximum torque.
    pub max_torque: f32,
}

/// The allowed angles of a joint, in radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The minimum angle.
    pub lower: f32,
    /// The maximum angle.
    pub upper: f32,
}

/// The description of a revolute joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RevoluteJoint {
    /// The bodies it connects.
    pub bodies: [BodyId; 2],
    /// The shared point in the frame of each body.
    pub anchors: [Vector; 2],
    /// The angle of the second body relative to the first that counts as zero.
    pub reference_angle: f32,
    /// The motor, if it has one.
    pub motor: Option<Motor>,
    /// The limits, if it has any.
    pub limits: Option<Limits>,
    /// Whether the connected bodies may touch.
    pub collide: bool,
}

impl RevoluteJoint {
    pub(crate) fn check(&self, body_count: usize) -> Result<(), Error> {
        let [first, second] = self.bodies.map(BodyId::index);
        if first == second || first >= body_count || second >= body_count {
            return Err(Error::Bodies { got: (first, second) });
        }
        if !self.anchors.iter().all(|anchor| anchor.is_finite()) {
            return Err(Error::NotFinite { what: "an anchor" });
        }
        finite("reference angle", self.reference_angle)?;
        if let Some(Motor { speed, max_torque }) = self.motor {
            finite("motor speed", speed)?;
            not_negative("motor torque", max_torque)?;
        }
        if let Some(Limits { lower, upper }) = self.limits {
            finite("lower limit", lower)?;
            finite("upper limit", upper)?;
            if lower > upper {
                return Err(Error::Limits { lower, upper });
            }
        }
        Ok(())
    }
}

/// Which limit a joint is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitState {
    Free,
    AtLower,
    AtUpper,
    /// Both limits are the same: the angle is fixed.
    Fixed,
}

/// The accumulated impulses of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct JointImpulses {
    pub point: Vector,
    pub limit: f32,
    pub motor: f32,
}

/// A joint of a world: its description and the impulses of the last step.
#[derive(Clone, Debug)]
pub(crate) struct Joint {
    pub bodies: [usize; 2],
    pub anchors: [Vector; 2],
    pub reference_angle: f32,
    pub motor: Option<Motor>,
    pub limits: Option<Limits>,
    pub collide: bool,
    pub impulses: JointImpulses,
    pub limit_state: LimitState,
    pub in_island: bool,
}

impl Joint {
    pub fn new(plan: &RevoluteJoint) -> Self {
        Self {
            bodies: plan.bodies.map(BodyId::index),
            anchors: plan.anchors,
            reference_angle: plan.reference_angle,
            motor: plan.motor,
            limits: plan.limits,
            collide: plan.collide,
            impulses: JointImpulses::default(),
            limit_state: LimitState::Free,
            in_island: false,
        }
    }

    /// The other body of the joint, if `body` is one of them.
    #[inline]
    pub fn other(&self, body: usize) -> Option<usize> {
        let [first, second] = self.bodies;
        if body == first {
            Some(second)
        } else if body == second {
            Some(first)
        } else {
            None
        }
    }

    /// Updates which limit is active; drops the impulse of a limit that is no longer active.
    pub fn update_limit(&mut self, angle: f32, fixed_rotation: bool) {
        let Some(Limits { lower, upper }) = self.limits.filter(|_| !fixed_rotation) else {
            self.limit_state = LimitState::Free;
            return;
        };
        let state = if (upper - lower).abs() < 2.0 * ANGULAR_SLOP {
            LimitState::Fixed
        } else if angle <= lower {
            LimitState::AtLower
        } else if angle >= upper {
            LimitState::AtUpper
        } else {
            LimitState::Free
        };
        let keeps =
            state == LimitState::Fixed || (state == self.limit_state && state != LimitState::Free);
        if !keeps {
            self.impulses.limit = 0.0;
        }
        self.limit_state = state;
    }
}

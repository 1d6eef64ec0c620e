//! The position solver of joints: moves the angle back between the limits, then the anchors
//! together.

use crate::body::Body;
use crate::joint::{Joint, LimitState, Limits};
use crate::motion::Position;
use crate::settings::{ANGULAR_SLOP, LINEAR_SLOP, MAX_ANGULAR_CORRECTION, bounded};
use crate::transform::Rotation;
use crate::vector::Vector;

/// The data of one joint for the position solver.
#[derive(Clone, Debug)]
pub(crate) struct JointPosition {
    slots: [usize; 2],
    /// From the centre of mass to the anchor, in the frame of each body.
    local_arms: [Vector; 2],
    inverse_masses: [f32; 2],
    inverse_inertias: [f32; 2],
    reference_angle: f32,
    limit: Option<(LimitState, Limits)>,
    angular_mass: f32,
}

impl JointPosition {
    /// Prepares a joint whose limit state is up to date.
    pub fn new(joint: &Joint, bodies: &[Body]) -> Self {
        let pair = joint.bodies.map(|body| &bodies[body]);
        let inverse_inertias = pair.map(|body| body.inverse_inertia);
        let compliance = inverse_inertias[0] + inverse_inertias[1];
        Self {
            slots: pair.map(|body| body.slot),
            local_arms: [0, 1]
                .map(|side: usize| joint.anchors[side] - pair[side].sweep.local_centre),
            inverse_masses: pair.map(|body| body.inverse_mass),
            inverse_inertias,
            reference_angle: joint.reference_angle,
            limit: joint
                .limits
                .filter(|_| joint.limit_state != LimitState::Free)
                .map(|limits| (joint.limit_state, limits)),
            angular_mass: if compliance > 0.0 { 1.0 / compliance } else { compliance },
        }
    }

    /// One iteration. Returns whether the errors were small.
    pub fn solve(&self, positions: &mut [Position]) -> bool {
        let [mut one, mut two] = self.slots.map(|slot| positions[slot]);
        let [inertia_1, inertia_2] = self.inverse_inertias;
        let [mass_1, mass_2] = self.inverse_masses;
        let mut angular_error = 0.0;
        if let Some((state, limits)) = self.limit {
            let angle = two.angle - one.angle - self.reference_angle;
            let (error, correction) = limit_error(state, limits, angle);
            angular_error = error;
            let impulse = -self.angular_mass * correction;
            one.angle -= inertia_1 * impulse;
            two.angle += inertia_2 * impulse;
        }
        let a = Rotation::new(one.angle).apply(self.local_arms[0]);
        let b = Rotation::new(two.angle).apply(self.local_arms[1]);
        let gap = two.centre + b - one.centre - a;

        let k11 = mass_1 + mass_2 + inertia_1 * a.y * a.y + inertia_2 * b.y * b.y;
        let k12 = -inertia_1 * a.x * a.y - inertia_2 * b.x * b.y;
        let k22 = mass_1 + mass_2 + inertia_1 * a.x * a.x + inertia_2 * b.x * b.x;
        let mut determinant = k11 * k22 - k12 * k12;
        if determinant != 0.0 {
            determinant = 1.0 / determinant;
        }
        let impulse = -Vector::new(
            determinant * (k22 * gap.x - k12 * gap.y),
            determinant * (k11 * gap.y - k12 * gap.x),
        );
        one.centre -= mass_1 * impulse;
        one.angle -= inertia_1 * a.cross(impulse);
        two.centre += mass_2 * impulse;
        two.angle += inertia_2 * b.cross(impulse);
        positions[self.slots[0]] = one;
        positions[self.slots[1]] = two;
        gap.length() <= LINEAR_SLOP && angular_error <= ANGULAR_SLOP
    }
}

/// How far the angle is beyond the limit, and how much of that to correct in one iteration.
fn limit_error(state: LimitState, limits: Limits, angle: f32) -> (f32, f32) {
    match state {
        LimitState::Free => (0.0, 0.0),
        LimitState::Fixed => {
            let error = angle - limits.lower;
            let correction = bounded(error, -MAX_ANGULAR_CORRECTION, MAX_ANGULAR_CORRECTION);
            (correction.abs(), correction)
        }
        LimitState::AtLower => {
            let error = angle - limits.lower;
            (-error, bounded(error + ANGULAR_SLOP, -MAX_ANGULAR_CORRECTION, 0.0))
        }
        LimitState::AtUpper => {
            let error = angle - limits.upper;
            (error, bounded(error - ANGULAR_SLOP, 0.0, MAX_ANGULAR_CORRECTION))
        }
    }
}

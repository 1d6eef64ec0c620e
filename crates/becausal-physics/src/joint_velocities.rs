//! The velocity solver of joints.
//!
//! The point and the angle of a joint at a limit are solved together, as a 3 by 3 system. The sign
//! of the angular impulse then decides whether the limit holds or lets go.

#![expect(
    clippy::inline_always,
    reason = "in a step of a lander this is three quarters of the work"
)]

use crate::body::Body;
use crate::joint::{Joint, JointImpulses, LimitState};
use crate::joint_matrix::JointMatrix;
use crate::motion::Velocity;
use crate::repeated_sum::repeated_sum;
use crate::settings::bounded;
use crate::transform::Rotation;
use crate::vector::Vector;

/// The impulses that one iteration added to a joint, and how they came about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointRecord {
    point: Vector,
    limit: f32,
    motor: f32,
    /// The impulse that the motor would have added without its maximum torque.
    motor_wanted: f32,
    lets_go: bool,
}

/// The data of one joint for the velocity solver.
///
/// The order of the fields separates the impulses, which every iteration writes, from the numbers
/// that it only reads. A wide read that overlaps a recent write would have to wait for it.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct JointVelocity {
    /// From the centre of each body to the anchor, turned left: how the anchor moves when the body
    /// turns.
    swings: [Vector; 2],
    inverse_masses: [f32; 2],
    inverse_inertias: [f32; 2],
    matrix: JointMatrix,
    /// Speed, effective mass and maximum impulse of an active motor.
    motor: Option<(f32, f32, f32)>,
    limit_state: LimitState,
    slots: [usize; 2],
    pub impulses: JointImpulses,
}

impl JointVelocity {
    /// Prepares a joint and applies its impulses of the last step, scaled by `impulse_scale`.
    pub fn new(
        joint: &mut Joint,
        bodies: &[Body],
        angles: [f32; 2],
        velocities: &mut [Velocity],
        seconds: f32,
        impulse_scale: f32,
    ) -> Self {
        let [first, second] = joint.bodies.map(|body| &bodies[body]);
        let arm = |body: &Body, anchor: Vector, angle: f32| {
            Rotation::new(angle).apply(anchor - body.sweep.local_centre)
        };
        let arms =
            [arm(first, joint.anchors[0], angles[0]), arm(second, joint.anchors[1], angles[1])];
        let inverse_masses = [first.inverse_mass, second.inverse_mass];
        let inverse_inertias = [first.inverse_inertia, second.inverse_inertia];
        let matrix = JointMatrix::new(arms, inverse_masses, inverse_inertias);

        let compliance = inverse_inertias[0] + inverse_inertias[1];
        let fixed_rotation = compliance == 0.0;
        if joint.motor.is_none() || fixed_rotation {
            joint.impulses.motor = 0.0;
        }
        joint.update_limit(angles[1] - angles[0] - joint.reference_angle, fixed_rotation);
        let motor = joint
            .motor
            .filter(|_| !fixed_rotation && joint.limit_state != LimitState::Fixed)
            .map(|motor| (motor.speed, 1.0 / compliance, seconds * motor.max_torque));

        let own = Self {
            slots: [first.slot, second.slot],
            swings: arms.map(Vector::turned_left),
            inverse_masses,
            inverse_inertias,
            motor,
            limit_state: joint.limit_state,
            matrix,
            impulses: JointImpulses {
                point: impulse_scale * joint.impulses.point,
                limit: impulse_scale * joint.impulses.limit,
                motor: impulse_scale * joint.impulses.motor,
            },
        };
        let [mut one, mut two] = own.slots.map(|slot| velocities[slot]);
        let JointImpulses { point, limit, motor } = own.impulses;
        let turn = |arm: Vector| arm.cross(point) + motor + limit;
        one.linear -= inverse_masses[0] * point;
        one.angular -= inverse_inertias[0] * turn(arms[0]);
        two.linear += inverse_masses[1] * point;
        two.angular += inverse_inertias[1] * turn(arms[1]);
        velocities[own.slots[0]] = one;
        velocities[own.slots[1]] = two;
        own
    }

    /// The places of its bodies among the velocities.
    pub fn slots(&self) -> [usize; 2] {
        self.slots
    }

    /// One iteration: the motor, then the point, together with the limit if one is active. Returns
    /// the impulses that it added.
    #[inline]
    pub fn solve(&mut self, velocities: &mut [Velocity]) -> JointRecord {
        let [mut one, mut two] = self.slots.map(|slot| velocities[slot]);
        let record = self.solve_bodies(&mut one, &mut two);
        velocities[self.slots[0]] = one;
        velocities[self.slots[1]] = two;
        record
    }

    /// The same, given the velocities of its two bodies.
    #[inline(always)]
    pub fn solve_bodies(&mut self, one: &mut Velocity, two: &mut Velocity) -> JointRecord {
        let [inertia_1, inertia_2] = self.inverse_inertias;
        let (mut motor_wanted, mut motor_change) = (0.0, 0.0);
        if let Some((speed, mass, max_impulse)) = self.motor {
            motor_wanted = -mass * (two.angular - one.angular - speed);
            motor_change = drive(&mut self.impulses.motor, motor_wanted, max_impulse);
            one.angular -= inertia_1 * motor_change;
            two.angular += inertia_2 * motor_change;
        }
        let [swing_1, swing_2] = self.swings;
        let drift = two.linear + two.angular * swing_2 - one.linear - one.angular * swing_1;
        let record = if self.limit_state == LimitState::Free {
            let point = self.matrix.solve_point(-drift);
            let turns = [swing_1.dot(point), swing_2.dot(point)];
            one.angular -= inertia_1 * turns[0];
            two.angular += inertia_2 * turns[1];
            self.impulses.point += point;
            JointRecord { point, limit: 0.0, motor: motor_change, motor_wanted, lets_go: false }
        } else {
            let (point, limit, lets_go) = self.solve_limit(drift, two.angular - one.angular);
            let turns = [swing_1.dot(point) + limit, swing_2.dot(point) + limit];
            one.angular -= inertia_1 * turns[0];
            two.angular += inertia_2 * turns[1];
            JointRecord { point, limit, motor: motor_change, motor_wanted, lets_go }
        };
        one.linear -= self.inverse_masses[0] * record.point;
        two.linear += self.inverse_masses[1] * record.point;
        record
    }

    /// The impulses at the point and about it while a limit is active, and whether it lets go.
    #[inline(always)]
    fn solve_limit(&mut self, drift: Vector, turning: f32) -> (Vector, f32, bool) {
        let angular = -self.matrix.solve_angular(drift, turning);
        let total = self.impulses.limit + angular;
        if self.lets_go(total) {
            let rest = -drift + self.impulses.limit * self.matrix.mixed();
            let point = self.matrix.solve_point(rest);
            let angular = -self.impulses.limit;
            self.impulses.point += point;
            self.impulses.limit = 0.0;
            (point, angular, true)
        } else {
            let point = -self.matrix.solve_linear(drift, turning);
            self.impulses.point += point;
            self.impulses.limit = total;
            (point, angular, false)
        }
    }

    /// Whether the limit lets go: it can push but not pull.
    #[inline(always)]
    fn lets_go(&self, total: f32) -> bool {
        match self.limit_state {
            LimitState::AtLower => total < 0.0,
            LimitState::AtUpper => total > 0.0,
            LimitState::Free | LimitState::Fixed => false,
        }
    }

    /// The impulses after as many periods, at most `most`, as give the same results as the recorded one, and how many
    /// these are. `records` are those of its iterations in one period from the same velocities.
    pub fn replayed<'a>(
        &self,
        records: &(impl ExactSizeIterator<Item = &'a JointRecord> + Clone),
        most: usize,
    ) -> (JointImpulses, usize) {
        let only = if records.len() == 1 { records.clone().next() } else { None };
        if let Some(impulses) = only.and_then(|record| self.repeated(record, most)) {
            return (impulses, most);
        }
        let mut impulses = self.impulses;
        for period in 0..most {
            let before = impulses;
            let same = records
                .clone()
                .fold(true, |same, record| same & self.replay(&mut impulses, record));
            if !same {
                return (before, period);
            }
        }
        (impulses, most)
    }

    /// The impulses after as many times the same iteration, if it gives the same results every time.
    fn repeated(&self, record: &JointRecord, times: usize) -> Option<JointImpulses> {
        let mut first = self.impulses;
        if times == 0 || !self.replay(&mut first, record) {
            return None;
        }
        let JointImpulses { point, limit, motor } = first;
        let add = |sum, addend| repeated_sum(sum, addend, times - 1);
        let limit = add(limit, record.limit);
        // A motor at its maximum torque stays there. The impulse of the limit only grows or only shrinks.
        let same = motor.to_bits() == self.impulses.motor.to_bits() && !self.lets_go(limit);
        let point = Vector::new(add(point.x, record.point.x), add(point.y, record.point.y));
        same.then_some(JointImpulses { point, limit, motor })
    }

    /// Adds the impulses of a recorded iteration. Returns false if the iteration would have given a different result.
    #[inline(always)]
    fn replay(&self, impulses: &mut JointImpulses, record: &JointRecord) -> bool {
        let mut same = !record.lets_go;
        if let Some((_, _, max_impulse)) = self.motor {
            let change = drive(&mut impulses.motor, record.motor_wanted, max_impulse);
            same &= change.to_bits() == record.motor.to_bits();
        }
        if self.limit_state != LimitState::Free {
            impulses.limit += record.limit;
            same &= !self.lets_go(impulses.limit);
        }
        impulses.point += record.point;
        same
    }
}

/// Adds the wanted impulse to that of a motor, as far as its torque allows. Returns the change.
#[inline(always)]
fn drive(impulse: &mut f32, wanted: f32, max_impulse: f32) -> f32 {
    let sum = *impulse + wanted;
    // A predicted branch: a minimum would lengthen the chain of dependent operations.
    let total = if sum.abs() < max_impulse { sum } else { overloaded(sum, max_impulse) };
    let change = total - *impulse;
    *impulse = total;
    change
}

/// The impulse of a motor at its maximum torque.
#[cold]
fn overloaded(sum: f32, max_impulse: f32) -> f32 {
    bounded(sum, -max_impulse, max_impulse)
}

//! The velocity solver of contacts: friction point by point, then the normal impulses of both
//! points at once as a small linear complementarity problem, with warm starting.

use crate::body::Body;
use crate::contact::Contact;
use crate::motion::{Position, Velocity};
use crate::settings::{BOUNCE_THRESHOLD, MANIFOLD_POINTS, bounded, greater};
use crate::transform::Transform;
use crate::vector::Vector;

/// Two points are solved together only if the condition number of their matrix is at most this.
const MAX_CONDITION: f32 = 1000.0;

/// The data of one contact point for the velocity solver.
#[derive(Clone, Copy, Debug, Default)]
struct ContactPoint {
    /// From the centre of each body to the point.
    arms: [Vector; 2],
    normal_impulse: f32,
    tangent_impulse: f32,
    normal_mass: f32,
    tangent_mass: f32,
    bounce: f32,
}

/// The data of one contact for the velocity solver.
#[derive(Clone, Debug)]
pub(crate) struct ContactVelocity {
    points: [ContactPoint; MANIFOLD_POINTS],
    count: usize,
    normal: Vector,
    slots: [usize; 2],
    inverse_masses: [f32; 2],
    inverse_inertias: [f32; 2],
    friction: f32,
    /// The symmetric matrix of both normal impulses: entries 11, 12, 22.
    coupling: [f32; 3],
    /// Its inverse, row by row.
    inverse_coupling: [f32; 4],
}

/// The velocities of both bodies while a contact is solved.
struct Pair {
    velocities: [Vector; 2],
    spins: [f32; 2],
}

impl Pair {
    #[inline]
    fn load(velocities: &[Velocity], slots: [usize; 2]) -> Self {
        let [first, second] = slots.map(|slot| velocities[slot]);
        Self { velocities: [first.linear, second.linear], spins: [first.angular, second.angular] }
    }

    #[inline]
    fn store(&self, velocities: &mut [Velocity], slots: [usize; 2]) {
        for side in 0..2 {
            velocities[slots[side]] =
                Velocity { linear: self.velocities[side], angular: self.spins[side] };
        }
    }

    /// The velocity of the second body relative to the first at a point.
    #[inline]
    fn relative(&self, arms: &[Vector; 2]) -> Vector {
        self.velocities[1] + arms[1].carried(self.spins[1])
            - self.velocities[0]
            - arms[0].carried(self.spins[0])
    }
}

impl ContactVelocity {
    /// Prepares a touching contact. The impulses of the last step are scaled by `impulse_scale`, or
    /// dropped if it is `None`.
    pub fn new(
        contact: &Contact,
        bodies: &[Body],
        positions: &[Position],
        velocities: &[Velocity],
        impulse_scale: Option<f32>,
    ) -> Self {
        let [first, second] = contact.bodies.map(|body| &bodies[body]);
        let slots = [first.slot, second.slot];
        let places = slots.map(|slot| positions[slot]);
        let transforms = [first, second].map(|body| {
            let place = positions[body.slot];
            Transform::about_centre(place.centre, place.angle, body.sweep.local_centre)
        });
        let (normal, middles) = contact.manifold.in_world(&transforms[0], &transforms[1]);
        let motion = Pair::load(velocities, slots);
        let mut own = Self {
            points: [ContactPoint::default(); MANIFOLD_POINTS],
            count: contact.manifold.count,
            normal,
            slots,
            inverse_masses: [first.inverse_mass, second.inverse_mass],
            inverse_inertias: [first.inverse_inertia, second.inverse_inertia],
            friction: contact.friction,
            coupling: [0.0; 3],
            inverse_coupling: [0.0; 4],
        };
        let tangent = normal.turned_right();
        for (index, middle) in middles.into_iter().enumerate().take(own.count) {
            let old = &contact.manifold.points[index];
            let arms = places.map(|place| middle - place.centre);
            let normal_levers = arms.map(|arm| arm.cross(normal));
            let tangent_levers = arms.map(|arm| arm.cross(tangent));
            let stiffness = own.response(normal_levers, normal_levers);
            let tangent_stiffness = own.response(tangent_levers, tangent_levers);
            let approach = normal.dot(motion.relative(&arms));
            let bounces = approach < -BOUNCE_THRESHOLD;
            own.points[index] = ContactPoint {
                arms,
                normal_impulse: impulse_scale.map_or(0.0, |scale| scale * old.normal_impulse),
                tangent_impulse: impulse_scale.map_or(0.0, |scale| scale * old.tangent_impulse),
                normal_mass: if stiffness > 0.0 { 1.0 / stiffness } else { 0.0 },
                tangent_mass: if tangent_stiffness > 0.0 { 1.0 / tangent_stiffness } else { 0.0 },
                bounce: if bounces { -contact.restitution * approach } else { 0.0 },
            };
        }
        if own.count == 2 {
            own.couple();
        }
        own
    }

    /// How much an impulse with one lever arm changes the velocity at another.
    fn response(&self, levers: [f32; 2], others: [f32; 2]) -> f32 {
        let [mass_1, mass_2] = self.inverse_masses;
        let [inertia_1, inertia_2] = self.inverse_inertias;
        mass_1 + mass_2 + inertia_1 * levers[0] * others[0] + inertia_2 * levers[1] * others[1]
    }

    /// Prepares to solve both points together, or drops one if they are redundant.
    fn couple(&mut self) {
        let [levers, others] =
            [0, 1].map(|index: usize| self.points[index].arms.map(|arm| arm.cross(self.normal)));
        let k11 = self.response(levers, levers);
        let k22 = self.response(others, others);
        let k12 = self.response(levers, others);
        if k11 * k11 < MAX_CONDITION * (k11 * k22 - k12 * k12) {
            self.coupling = [k11, k12, k22];
            let mut determinant = k11 * k22 - k12 * k12;
            if determinant != 0.0 {
                determinant = 1.0 / determinant;
            }
            self.inverse_coupling =
                [determinant * k22, -determinant * k12, -determinant * k12, determinant * k11];
        } else {
            self.count = 1;
        }
    }

    /// Applies the impulses of the last step.
    pub fn warm_start(&self, velocities: &mut [Velocity]) {
        let mut motion = Pair::load(velocities, self.slots);
        let tangent = self.normal.turned_right();
        for point in &self.points[..self.count] {
            let impulse = point.normal_impulse * self.normal + point.tangent_impulse * tangent;
            self.push(&mut motion, impulse, point);
        }
        motion.store(velocities, self.slots);
    }

    /// Applies an impulse at a point to both bodies.
    #[inline]
    fn push(&self, motion: &mut Pair, impulse: Vector, point: &ContactPoint) {
        motion.velocities[0] -= self.inverse_masses[0] * impulse;
        motion.spins[0] -= self.inverse_inertias[0] * point.arms[0].cross(impulse);
        motion.velocities[1] += self.inverse_masses[1] * impulse;
        motion.spins[1] += self.inverse_inertias[1] * point.arms[1].cross(impulse);
    }

    /// One iteration.
    #[inline]
    pub fn solve(&mut self, velocities: &mut [Velocity]) {
        let mut motion = Pair::load(velocities, self.slots);
        let tangent = self.normal.turned_right();
        // Friction is solved first. Preventing penetration is more important, so it is solved last.
        for index in 0..self.count {
            let point = &mut self.points[index];
            let slide = motion.relative(&point.arms).dot(tangent);
            let wanted = point.tangent_impulse + point.tangent_mass * -slide;
            let limit = self.friction * point.normal_impulse;
            let total = bounded(wanted, -limit, limit);
            let change = total - point.tangent_impulse;
            point.tangent_impulse = total;
            let point = self.points[index];
            self.push(&mut motion, change * tangent, &point);
        }
        if self.count == 1 {
            let point = &mut self.points[0];
            let approach = motion.relative(&point.arms).dot(self.normal);
            let change = -point.normal_mass * (approach - point.bounce);
            let total = greater(point.normal_impulse + change, 0.0);
            let change = total - point.normal_impulse;
            point.normal_impulse = total;
            let point = self.points[0];
            self.push(&mut motion, change * self.normal, &point);
        } else {
            self.solve_both(&mut motion);
        }
        motion.store(velocities, self.slots);
    }

    /// Solves both normal impulses at once. Each point either pushes and does not move along the
    /// normal, or does not push and separates. The four combinations are tried in turn.
    #[inline]
    fn solve_both(&mut self, motion: &mut Pair) {
        let [one, two] = self.points;
        let approach_1 = motion.relative(&one.arms).dot(self.normal);
        let approach_2 = motion.relative(&two.arms).dot(self.normal);
        let [k11, k12, k22] = self.coupling;
        let (old_1, old_2) = (one.normal_impulse, two.normal_impulse);
        let free_1 = (approach_1 - one.bounce) - (k11 * old_1 + k12 * old_2);
        let free_2 = (approach_2 - two.bounce) - (k12 * old_1 + k22 * old_2);

        let [i11, i12, i21, i22] = self.inverse_coupling;
        let both = (-(i11 * free_1 + i12 * free_2), -(i21 * free_1 + i22 * free_2));
        let only_1 = -one.normal_mass * free_1;
        let only_2 = -two.normal_mass * free_2;
        let (new_1, new_2) = if both.0 >= 0.0 && both.1 >= 0.0 {
            both
        } else if only_1 >= 0.0 && k12 * only_1 + free_2 >= 0.0 {
            (only_1, 0.0)
        } else if only_2 >= 0.0 && k12 * only_2 + free_1 >= 0.0 {
            (0.0, only_2)
        } else if free_1 >= 0.0 && free_2 >= 0.0 {
            (0.0, 0.0)
        } else {
            return;
        };
        let impulse_1 = (new_1 - old_1) * self.normal;
        let impulse_2 = (new_2 - old_2) * self.normal;
        let sum = impulse_1 + impulse_2;
        let turn = |side: usize| one.arms[side].cross(impulse_1) + two.arms[side].cross(impulse_2);
        motion.velocities[0] -= self.inverse_masses[0] * sum;
        motion.spins[0] -= self.inverse_inertias[0] * turn(0);
        motion.velocities[1] += self.inverse_masses[1] * sum;
        motion.spins[1] += self.inverse_inertias[1] * turn(1);
        self.points[0].normal_impulse = new_1;
        self.points[1].normal_impulse = new_2;
    }

    /// Stores the impulses for the next step.
    pub fn store_impulses(&self, contact: &mut Contact) {
        for (kept, point) in contact.manifold.points.iter_mut().zip(&self.points[..self.count]) {
            kept.normal_impulse = point.normal_impulse;
            kept.tangent_impulse = point.tangent_impulse;
        }
    }

    /// The accumulated impulses. Those of an unused point do not change.
    #[inline]
    pub fn numbers(&self) -> [f32; 2 * MANIFOLD_POINTS] {
        let [one, two] = &self.points;
        [one.normal_impulse, one.tangent_impulse, two.normal_impulse, two.tangent_impulse]
    }
}

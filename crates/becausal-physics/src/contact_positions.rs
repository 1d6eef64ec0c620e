//! The position solver of contacts: pushes overlapping shapes apart, point by point.

use crate::body::Body;
use crate::contact::Contact;
use crate::manifold::Face;
use crate::motion::Position;
use crate::settings::{LINEAR_SLOP, MANIFOLD_POINTS, MAX_LINEAR_CORRECTION, SKIN, bounded, lesser};
use crate::transform::Transform;
use crate::vector::Vector;

/// The data of one contact for the position solver.
#[derive(Clone, Debug)]
pub(crate) struct ContactPosition {
    local_points: [Vector; MANIFOLD_POINTS],
    count: usize,
    face: Face,
    local_normal: Vector,
    local_point: Vector,
    slots: [usize; 2],
    inverse_masses: [f32; 2],
    inverse_inertias: [f32; 2],
    local_centres: [Vector; 2],
}

impl ContactPosition {
    /// Prepares a touching contact.
    pub fn new(contact: &Contact, bodies: &[Body]) -> Self {
        let manifold = &contact.manifold;
        let pair = contact.bodies.map(|body| &bodies[body]);
        Self {
            local_points: manifold.points.map(|point| point.local),
            count: manifold.count,
            face: manifold.face,
            local_normal: manifold.local_normal,
            local_point: manifold.local_point,
            slots: pair.map(|body| body.slot),
            inverse_masses: pair.map(|body| body.inverse_mass),
            inverse_inertias: pair.map(|body| body.inverse_inertia),
            local_centres: pair.map(|body| body.sweep.local_centre),
        }
    }

    /// Makes every body immovable whose slot is not in `movable`.
    pub fn hold_others(&mut self, movable: [usize; 2]) {
        for side in 0..2 {
            if !movable.contains(&self.slots[side]) {
                self.inverse_masses[side] = 0.0;
                self.inverse_inertias[side] = 0.0;
            }
        }
    }

    /// One iteration, which removes the share `rate` of the overlap. Returns the minimum
    /// separation.
    pub fn solve(&self, positions: &mut [Position], rate: f32) -> f32 {
        let mut minimum = 0.0_f32;
        let mut places = self.slots.map(|slot| positions[slot]);
        for &local in &self.local_points[..self.count] {
            let transforms = [0, 1].map(|side: usize| {
                let Position { centre, angle } = places[side];
                Transform::about_centre(centre, angle, self.local_centres[side])
            });
            let (normal, point, separation) = self.separation(local, &transforms);
            minimum = lesser(minimum, separation);
            let error = bounded(rate * (separation + LINEAR_SLOP), -MAX_LINEAR_CORRECTION, 0.0);
            let arms = places.map(|place| point - place.centre);
            let levers = arms.map(|arm| arm.cross(normal));
            let [mass_1, mass_2] = self.inverse_masses;
            let [inertia_1, inertia_2] = self.inverse_inertias;
            let stiffness = mass_1
                + mass_2
                + inertia_1 * levers[0] * levers[0]
                + inertia_2 * levers[1] * levers[1];
            let amount = if stiffness > 0.0 { -error / stiffness } else { 0.0 };
            let impulse = amount * normal;
            places[0].centre -= mass_1 * impulse;
            places[0].angle -= inertia_1 * arms[0].cross(impulse);
            places[1].centre += mass_2 * impulse;
            places[1].angle += inertia_2 * arms[1].cross(impulse);
        }
        for side in 0..2 {
            positions[self.slots[side]] = places[side];
        }
        minimum
    }

    /// The normal from the first body to the second, the contact point, and the separation of the
    /// skins there.
    #[inline]
    fn separation(&self, local: Vector, transforms: &[Transform; 2]) -> (Vector, Vector, f32) {
        let (owner, other) = match self.face {
            Face::First => (&transforms[0], &transforms[1]),
            Face::Second => (&transforms[1], &transforms[0]),
        };
        let normal = owner.rotation.apply(self.local_normal);
        let on_face = owner.apply(self.local_point);
        let point = other.apply(local);
        let separation = (point - on_face).dot(normal) - SKIN - SKIN;
        match self.face {
            Face::First => (normal, point, separation),
            Face::Second => (-normal, point, separation),
        }
    }
}

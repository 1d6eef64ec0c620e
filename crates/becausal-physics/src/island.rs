//! Islands: groups of bodies that touch or are joined. Each is collected by depth-first search,
//! solved together, and put to sleep together.

use crate::body::BodyKind;
use crate::contact_positions::ContactPosition;
use crate::contact_solver::ContactVelocity;
use crate::joint_positions::JointPosition;
use crate::joint_velocities::JointVelocity;
use crate::motion::{Position, Velocity, advance};
use crate::repetition::{Memory, Watch};
use crate::settings::{
    ANGULAR_SLEEP_TOLERANCE, CORRECTION_RATE, LINEAR_SLEEP_TOLERANCE, LINEAR_SLOP, TIME_TO_SLEEP,
    lesser,
};
use crate::velocity_iterations::Replay;
use crate::world::{Step, World};

/// The members of an island and the buffers of its solvers, which are reused from step to step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Island {
    pub bodies: Vec<usize>,
    pub contacts: Vec<usize>,
    pub joints: Vec<usize>,
    pub positions: Vec<Position>,
    pub velocities: Vec<Velocity>,
    pub contact_velocities: Vec<ContactVelocity>,
    pub contact_positions: Vec<ContactPosition>,
    pub joint_velocities: Vec<JointVelocity>,
    pub joint_positions: Vec<JointPosition>,
    /// The state that later iterations are compared with.
    pub memory: Memory,
    pub replay: Replay,
    stack: Vec<usize>,
}

impl Island {
    /// Removes all members.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.contacts.clear();
        self.joints.clear();
    }

    /// Position iterations over contacts and joints. Returns whether all errors became small.
    fn solve_positions(&mut self, iterations: usize) -> bool {
        let mut watch = Watch::new(iterations);
        while watch.next_iteration() {
            let separation = self.correct_contacts(CORRECTION_RATE);
            let mut small = separation >= -3.0 * LINEAR_SLOP;
            for joint in &self.joint_positions {
                small &= joint.solve(&mut self.positions);
            }
            if small {
                return true;
            }
            let numbers = self.positions.iter().flat_map(Position::numbers);
            if let Some(period) = watch.repeats(numbers, &mut self.memory) {
                watch.skip(period);
            }
        }
        false
    }

    /// One position iteration over contacts. Returns the minimum separation.
    pub fn correct_contacts(&mut self, rate: f32) -> f32 {
        let mut minimum = 0.0;
        for contact in &self.contact_positions {
            minimum = lesser(minimum, contact.solve(&mut self.positions, rate));
        }
        minimum
    }

    /// Moves all bodies by their velocities.
    pub fn advance(&mut self, seconds: f32) {
        for (position, velocity) in self.positions.iter_mut().zip(&mut self.velocities) {
            advance(position, velocity, seconds);
        }
    }
}

impl World {
    /// Collects and solves all awake islands, then updates the broad phase.
    pub(crate) fn solve_islands(&mut self, step: &Step) {
        for body in &mut self.bodies {
            body.in_island = false;
        }
        for contact in &mut self.contacts {
            contact.in_island = false;
        }
        for joint in &mut self.joints {
            joint.in_island = false;
        }
        let mut island = std::mem::take(&mut self.island);
        for seed in (0..self.bodies.len()).rev() {
            if self.bodies[seed].in_island || !self.bodies[seed].is_active() {
                continue;
            }
            self.collect(seed, &mut island);
            self.solve_island(&mut island, step);
            for &body in &island.bodies {
                let body = &mut self.bodies[body];
                // A static body can be in several islands.
                if body.kind == BodyKind::Static {
                    body.in_island = false;
                }
            }
        }
        self.island = island;
        for body in (0..self.bodies.len()).rev() {
            if self.bodies[body].in_island {
                self.update_broad_phase(body);
            }
        }
        self.find_contacts();
    }

    /// Depth-first search from one body over touching contacts and joints.
    fn collect(&mut self, seed: usize, island: &mut Island) {
        island.clear();
        island.stack.clear();
        island.stack.push(seed);
        self.bodies[seed].in_island = true;
        while let Some(index) = island.stack.pop() {
            let body = &mut self.bodies[index];
            body.slot = island.bodies.len();
            island.bodies.push(index);
            body.wake();
            // An island does not spread across a static body.
            if body.kind == BodyKind::Static {
                continue;
            }
            for (number, contact) in self.contacts.iter_mut().enumerate().rev() {
                let Some(other) = contact.other(index) else {
                    continue;
                };
                if contact.in_island || !contact.enabled || !contact.touching {
                    continue;
                }
                contact.in_island = true;
                island.contacts.push(number);
                if !self.bodies[other].in_island {
                    self.bodies[other].in_island = true;
                    island.stack.push(other);
                }
            }
            for (number, joint) in self.joints.iter_mut().enumerate().rev() {
                let Some(other) = joint.other(index) else {
                    continue;
                };
                if joint.in_island {
                    continue;
                }
                joint.in_island = true;
                island.joints.push(number);
                if !self.bodies[other].in_island {
                    self.bodies[other].in_island = true;
                    island.stack.push(other);
                }
            }
        }
    }

    fn solve_island(&mut self, island: &mut Island, step: &Step) {
        self.integrate_forces(island, step.seconds);
        self.prepare(island, step);
        island.solve_velocities(step.velocity_iterations);
        for (&contact, solved) in island.contacts.iter().zip(&island.contact_velocities) {
            solved.store_impulses(&mut self.contacts[contact]);
        }
        for (&joint, solved) in island.joints.iter().zip(&island.joint_velocities) {
            self.joints[joint].impulses = solved.impulses;
        }
        island.advance(step.seconds);
        let solved = island.solve_positions(step.position_iterations);
        self.store_solution(island);
        self.put_to_sleep(island, step.seconds, solved);
    }

    /// Loads the bodies into the island and adds gravity and forces to their velocities.
    fn integrate_forces(&mut self, island: &mut Island, seconds: f32) {
        island.positions.clear();
        island.velocities.clear();
        for &index in &island.bodies {
            let body = &mut self.bodies[index];
            body.sweep.centre_before = body.sweep.centre;
            body.sweep.angle_before = body.sweep.angle;
            let mut velocity = Velocity { linear: body.velocity, angular: body.spin };
            if body.kind == BodyKind::Dynamic {
                velocity.linear += seconds * (self.gravity + body.inverse_mass * body.force);
                velocity.angular += seconds * body.inverse_inertia * body.torque;
            }
            island.velocities.push(velocity);
            let position = Position { centre: body.sweep.centre, angle: body.sweep.angle };
            island.positions.push(position);
        }
    }

    /// Prepares the constraints: all contacts, their warm start, then the joints.
    fn prepare(&mut self, island: &mut Island, step: &Step) {
        let Island { positions, velocities, .. } = island;
        island.contact_velocities.clear();
        island.contact_positions.clear();
        island.joint_velocities.clear();
        island.joint_positions.clear();
        for &index in &island.contacts {
            let contact = &self.contacts[index];
            island.contact_positions.push(ContactPosition::new(contact, &self.bodies));
            island.contact_velocities.push(ContactVelocity::new(
                contact,
                &self.bodies,
                positions,
                velocities,
                Some(step.impulse_scale),
            ));
        }
        for contact in &island.contact_velocities {
            contact.warm_start(velocities);
        }
        for &index in &island.joints {
            let joint = &mut self.joints[index];
            let angles = joint.bodies.map(|body| positions[self.bodies[body].slot].angle);
            island.joint_velocities.push(JointVelocity::new(
                joint,
                &self.bodies,
                angles,
                velocities,
                step.seconds,
                step.impulse_scale,
            ));
            island.joint_positions.push(JointPosition::new(joint, &self.bodies));
        }
    }

    /// Copies the solution back to the bodies.
    pub(crate) fn store_solution(&mut self, island: &Island) {
        for (slot, &index) in island.bodies.iter().enumerate() {
            let body = &mut self.bodies[index];
            body.sweep.centre = island.positions[slot].centre;
            body.sweep.angle = island.positions[slot].angle;
            body.velocity = island.velocities[slot].linear;
            body.spin = island.velocities[slot].angular;
            body.follow_sweep();
        }
    }

    /// Puts the island to sleep once every body has been still for long enough.
    fn put_to_sleep(&mut self, island: &Island, seconds: f32, solved: bool) {
        let mut still_seconds = f32::MAX;
        for &index in &island.bodies {
            let body = &mut self.bodies[index];
            if body.kind == BodyKind::Static {
                continue;
            }
            let turns = body.spin * body.spin > ANGULAR_SLEEP_TOLERANCE * ANGULAR_SLEEP_TOLERANCE;
            let moves =
                body.velocity.dot(body.velocity) > LINEAR_SLEEP_TOLERANCE * LINEAR_SLEEP_TOLERANCE;
            if turns || moves {
                body.still_seconds = 0.0;
                still_seconds = 0.0;
            } else {
                body.still_seconds += seconds;
                still_seconds = lesser(still_seconds, body.still_seconds);
            }
        }
        if still_seconds >= TIME_TO_SLEEP && solved {
            for &index in &island.bodies {
                self.bodies[index].sleep();
            }
        }
    }

    /// Updates the broad phase with the motion of a body's fixtures in this step.
    pub(crate) fn update_broad_phase(&mut self, body: usize) {
        let (start, end) = (self.bodies[body].sweep.start(), self.bodies[body].position);
        for &index in &self.fixtures_of[body] {
            let shape = &self.fixtures[index].shape;
            let bounds = shape.bounds(&start).united(shape.bounds(&end));
            self.broad_phase.update(index, bounds, end.shift - start.shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edge, Filter, Limits, Material, Motor, Polygon, RevoluteJoint, Vector};

    /// A box with two motor-driven legs above the ground.
    fn walker() -> Result<World, crate::Error> {
        let mut world = World::new(Vector::new(0.0, -10.0))?;
        let ground = world.add_body(BodyKind::Static, Vector::ZERO, 0.0)?;
        let floor = Edge::new(Vector::new(-20.0, 0.0), Vector::new(20.0, 0.5))?;
        world.add_fixture(ground, floor, Material::default(), Filter::default())?;
        let solid = Material { density: 2.0, ..Material::default() };
        let hull = world.add_body(BodyKind::Dynamic, Vector::new(0.0, 3.0), 0.1)?;
        world.add_fixture(hull, Polygon::rectangle(0.6, 0.4)?, solid, Filter::default())?;
        for side in [-1.0_f32, 1.0] {
            let place = Vector::new(side * 0.7, 2.9);
            let leg = world.add_body(BodyKind::Dynamic, place, side * 0.05)?;
            world.add_fixture(leg, Polygon::rectangle(0.07, 0.3)?, solid, Filter::default())?;
            world.add_joint(&RevoluteJoint {
                bodies: [hull, leg],
                anchors: [Vector::ZERO, Vector::new(-side * 0.7, 0.5)],
                reference_angle: 0.0,
                motor: Some(Motor { speed: -0.4 * side, max_torque: 30.0 }),
                limits: Some(Limits { lower: -0.3, upper: 0.3 }),
                collide: false,
            })?;
        }
        Ok(world)
    }

    #[test]
    fn replayed_iterations_equal_solved_ones() -> Result<(), crate::Error> {
        let mut world = walker()?;
        for _ in 0..300 {
            let mut copy = world.clone();
            copy.update_contacts();
            let step = Step {
                seconds: 0.02,
                impulse_scale: 1.0,
                velocity_iterations: 180,
                position_iterations: 60,
            };
            for body in &mut copy.bodies {
                body.in_island = false;
            }
            for joint in &mut copy.joints {
                joint.in_island = false;
            }
            for contact in &mut copy.contacts {
                contact.in_island = false;
            }
            let mut quick = Island::default();
            copy.collect(1, &mut quick);
            copy.integrate_forces(&mut quick, step.seconds);
            copy.prepare(&mut quick, &step);
            let mut slow = quick.clone();
            quick.solve_velocities(step.velocity_iterations);
            for _ in 0..step.velocity_iterations {
                slow.iterate_velocities();
            }
            let velocities = |island: &Island| -> Vec<u32> {
                let numbers = island.velocities.iter().flat_map(Velocity::numbers);
                numbers.map(f32::to_bits).collect()
            };
            assert_eq!(velocities(&quick), velocities(&slow));
            let contacts = |island: &Island| -> Vec<u32> {
                let numbers = island.contact_velocities.iter().flat_map(ContactVelocity::numbers);
                numbers.map(f32::to_bits).collect()
            };
            assert_eq!(contacts(&quick), contacts(&slow));
            for (one, two) in quick.joint_velocities.iter().zip(&slow.joint_velocities) {
                assert_eq!(one.impulses, two.impulses);
            }
            world.step(step.seconds, step.velocity_iterations, step.position_iterations)?;
        }
        Ok(())
    }
}

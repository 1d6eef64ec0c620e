//! Continuous collision: bodies that would tunnel through a static body within the step are moved
//! to their moment of impact, in order of time, and solved from there.

use crate::body::BodyKind;
use crate::contact_positions::ContactPosition;
use crate::contact_solver::ContactVelocity;
use crate::island::Island;
use crate::motion::{Position, Velocity};
use crate::settings::{
    EPSILON, IMPACT_CORRECTION_RATE, LINEAR_SLOP, MAX_IMPACT_CONTACTS, MAX_SUB_STEPS, lesser,
};
use crate::time_of_impact::{Impact, Moving, time_of_impact};
use crate::world::{Step, World};

const POSITION_ITERATIONS: usize = 20;

impl World {
    /// Finds and solves impacts until there are no more in this step.
    pub(crate) fn solve_impacts(&mut self, step: &Step) {
        for body in &mut self.bodies {
            body.in_island = false;
            body.sweep.begun = 0.0;
        }
        for contact in &mut self.contacts {
            contact.in_island = false;
            contact.impact = None;
            contact.sub_steps = 0;
        }
        let mut island = std::mem::take(&mut self.island);
        while let Some((contact, moment)) = self.first_impact() {
            self.solve_impact(contact, moment, &mut island, step);
        }
        self.island = island;
    }

    /// The contact with the earliest impact, and its moment.
    fn first_impact(&mut self) -> Option<(usize, f32)> {
        let mut earliest = None;
        let mut first = 1.0_f32;
        for index in (0..self.contacts.len()).rev() {
            let contact = &self.contacts[index];
            if !contact.enabled || contact.sub_steps > MAX_SUB_STEPS {
                continue;
            }
            let Some(moment) = contact.impact.or_else(|| self.find_impact(index)) else {
                continue;
            };
            if moment < first {
                (earliest, first) = (Some(index), moment);
            }
        }
        earliest.filter(|_| first <= 1.0 - 10.0 * EPSILON).map(|index| (index, first))
    }

    /// The moment of impact of one contact, as a fraction of the step; 1 if there is no impact in
    /// this step. `None` for pairs that are not swept: neither body is static, or none is active.
    fn find_impact(&mut self, index: usize) -> Option<f32> {
        let contact = &self.contacts[index];
        let [first, second] = contact.bodies;
        let [fixture_1, fixture_2] = contact.fixtures;
        let (one, two) = (&self.bodies[first], &self.bodies[second]);
        let one_is_static = one.kind == BodyKind::Static || two.kind == BodyKind::Static;
        if !one_is_static || !(one.is_active() || two.is_active()) {
            return None;
        }
        // Both sweeps must start at the same moment.
        let begun = if one.sweep.begun < two.sweep.begun {
            let begun = two.sweep.begun;
            self.bodies[first].sweep.begin_at(begun);
            begun
        } else {
            let begun = one.sweep.begun;
            if two.sweep.begun < begun {
                self.bodies[second].sweep.begin_at(begun);
            }
            begun
        };
        let moving = |fixture: usize, body: usize| Moving {
            vertices: self.fixtures[fixture].shape.vertices(),
            sweep: self.bodies[body].sweep,
        };
        let moment = match time_of_impact(moving(fixture_1, first), moving(fixture_2, second)) {
            Impact::Touching(fraction) => lesser(begun + (1.0 - begun) * fraction, 1.0),
            Impact::None => 1.0,
        };
        self.contacts[index].impact = Some(moment);
        Some(moment)
    }

    /// Goes back to the impact and solves the bodies from there to the end of the step.
    fn solve_impact(&mut self, index: usize, moment: f32, island: &mut Island, step: &Step) {
        let pair = self.contacts[index].bodies;
        let backups = pair.map(|body| self.bodies[body].sweep);
        for body in pair {
            self.bodies[body].rewind_to(moment);
        }
        let contact = &mut self.contacts[index];
        contact.update(&self.fixtures, &mut self.bodies, &mut self.events);
        contact.impact = None;
        contact.sub_steps += 1;
        if !contact.touching {
            contact.enabled = false;
            for (body, backup) in pair.into_iter().zip(backups) {
                self.bodies[body].sweep = backup;
                self.bodies[body].follow_sweep();
            }
            return;
        }
        contact.in_island = true;
        island.clear();
        island.contacts.push(index);
        for body in pair {
            self.bodies[body].wake();
            self.join(body, island);
        }
        for body in pair {
            if self.bodies[body].kind == BodyKind::Dynamic {
                self.collect_impact(body, moment, island);
            }
        }
        self.solve_sub_step(island, (1.0 - moment) * step.seconds, step.velocity_iterations);

        for &index in &island.bodies {
            self.bodies[index].in_island = false;
            if self.bodies[index].kind != BodyKind::Dynamic {
                continue;
            }
            self.update_broad_phase(index);
            for contact in &mut self.contacts {
                if contact.other(index).is_some() {
                    contact.impact = None;
                    contact.in_island = false;
                }
            }
        }
        self.find_contacts();
    }

    fn join(&mut self, body: usize, island: &mut Island) {
        self.bodies[body].in_island = true;
        self.bodies[body].slot = island.bodies.len();
        island.bodies.push(body);
    }

    /// Adds the contacts of a body with static bodies that touch at the moment of impact.
    fn collect_impact(&mut self, body: usize, moment: f32, island: &mut Island) {
        for index in (0..self.contacts.len()).rev() {
            if island.contacts.len() == MAX_IMPACT_CONTACTS {
                break;
            }
            let contact = &mut self.contacts[index];
            let Some(other) = contact.other(body) else {
                continue;
            };
            if contact.in_island || self.bodies[other].kind == BodyKind::Dynamic {
                continue;
            }
            let backup = self.bodies[other].sweep;
            if !self.bodies[other].in_island {
                self.bodies[other].rewind_to(moment);
            }
            contact.update(&self.fixtures, &mut self.bodies, &mut self.events);
            if !contact.touching {
                self.bodies[other].sweep = backup;
                self.bodies[other].follow_sweep();
                continue;
            }
            contact.in_island = true;
            island.contacts.push(index);
            if !self.bodies[other].in_island {
                self.join(other, island);
            }
        }
    }

    /// Solves the positions, then the velocities, then advances by the rest of the step. The first
    /// two bodies of the island are those of the impact; only they are corrected.
    fn solve_sub_step(&mut self, island: &mut Island, seconds: f32, iterations: usize) {
        island.positions.clear();
        island.velocities.clear();
        for &index in &island.bodies {
            let body = &self.bodies[index];
            let position = Position { centre: body.sweep.centre, angle: body.sweep.angle };
            island.positions.push(position);
            island.velocities.push(Velocity { linear: body.velocity, angular: body.spin });
        }
        island.joint_velocities.clear();
        island.joint_positions.clear();
        island.contact_positions.clear();
        for &index in &island.contacts {
            let mut prepared = ContactPosition::new(&self.contacts[index], &self.bodies);
            prepared.hold_others([0, 1]);
            island.contact_positions.push(prepared);
        }
        for _ in 0..POSITION_ITERATIONS {
            if island.correct_contacts(IMPACT_CORRECTION_RATE) >= -1.5 * LINEAR_SLOP {
                break;
            }
        }
        for slot in 0..2 {
            let sweep = &mut self.bodies[island.bodies[slot]].sweep;
            sweep.centre_before = island.positions[slot].centre;
            sweep.angle_before = island.positions[slot].angle;
        }
        let Island { positions, velocities, .. } = island;
        island.contact_velocities.clear();
        for &index in &island.contacts {
            // The impulses of an impact can be large, so none are used for warm starting.
            let contact = &self.contacts[index];
            let prepared = ContactVelocity::new(contact, &self.bodies, positions, velocities, None);
            island.contact_velocities.push(prepared);
        }
        island.solve_velocities(iterations);
        island.advance(seconds);
        self.store_solution(island);
    }
}

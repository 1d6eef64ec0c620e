//! Contacts: pairs of fixtures whose boxes overlap, with their manifolds.
//!
//! Contacts are stored in the order in which they were created. Where order matters, they are
//! visited from the newest to the oldest.

use crate::body::{Body, BodyId, BodyKind};
use crate::collide_edge::collide_edge_polygon;
use crate::collide_polygons::collide_polygons;
use crate::fixture::{Fixture, FixtureId};
use crate::manifold::Manifold;
use crate::shape::Shape;
use crate::world::World;

/// Two fixtures started or stopped touching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactEvent {
    /// Whether they started touching.
    pub begins: bool,
    /// The fixtures; an edge comes before a polygon.
    pub fixtures: [FixtureId; 2],
    /// The bodies of the fixtures.
    pub bodies: [BodyId; 2],
}

/// A pair of fixtures whose boxes overlap.
#[derive(Clone, Debug)]
pub(crate) struct Contact {
    pub fixtures: [usize; 2],
    pub bodies: [usize; 2],
    pub friction: f32,
    pub restitution: f32,
    pub manifold: Manifold,
    pub touching: bool,
    /// False after a sub-step found that it does not touch, until the next update.
    pub enabled: bool,
    pub in_island: bool,
    /// The moment of impact, if it is known.
    pub impact: Option<f32>,
    /// The number of its sub-steps in this step.
    pub sub_steps: u32,
}

impl Contact {
    /// The other body of the contact, if `body` is one of them.
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

    /// Updates the manifold, and adds an event when touching started or stopped.
    pub fn update(
        &mut self,
        fixtures: &[Fixture],
        bodies: &mut [Body],
        events: &mut Vec<ContactEvent>,
    ) {
        self.enabled = true;
        let positions = self.bodies.map(|body| bodies[body].position);
        let shapes = self.fixtures.map(|fixture| &fixtures[fixture].shape);
        let mut manifold = match shapes {
            [Shape::Edge(edge), Shape::Polygon(polygon)] => {
                collide_edge_polygon(edge, &positions[0], polygon, &positions[1])
            }
            [Shape::Polygon(first), Shape::Polygon(second)] => {
                collide_polygons((first, &positions[0]), (second, &positions[1]))
            }
            _ => Manifold::EMPTY,
        };
        manifold.inherit_impulses(&self.manifold);
        self.manifold = manifold;
        let touching = manifold.count > 0;
        if touching != self.touching {
            for body in self.bodies {
                bodies[body].wake();
            }
            self.touching = touching;
            events.push(self.event());
        }
    }

    fn event(&self) -> ContactEvent {
        ContactEvent {
            begins: self.touching,
            fixtures: self.fixtures.map(FixtureId),
            bodies: self.bodies.map(BodyId),
        }
    }
}

impl World {
    /// Updates the manifolds of awake contacts; drops contacts whose boxes have parted.
    pub(crate) fn update_contacts(&mut self) {
        for index in (0..self.contacts.len()).rev() {
            let contact = &mut self.contacts[index];
            let [first, second] = contact.bodies;
            if !self.bodies[first].is_active() && !self.bodies[second].is_active() {
                continue;
            }
            let [one, two] = contact.fixtures;
            if self.broad_phase.overlaps(one, two) {
                contact.update(&self.fixtures, &mut self.bodies, &mut self.events);
            } else {
                self.drop_contact(index);
            }
        }
    }

    pub(crate) fn drop_contact(&mut self, index: usize) {
        let mut contact = self.contacts.remove(index);
        if contact.touching {
            contact.touching = false;
            self.events.push(contact.event());
        }
        if contact.manifold.count > 0 {
            for body in contact.bodies {
                self.bodies[body].wake();
            }
        }
    }

    /// Creates contacts for boxes that started to overlap.
    pub(crate) fn find_contacts(&mut self) {
        let mut pairs = std::mem::take(&mut self.pairs);
        let (fixtures, bodies) = (&self.fixtures, &self.bodies);
        self.broad_phase.new_pairs(&mut pairs, |first, second| {
            let (one, two) = (fixtures[first].body, fixtures[second].body);
            let moves = |body: usize| bodies[body].kind == BodyKind::Dynamic;
            one != two && (moves(one) || moves(two))
        });
        for &(first, second) in &pairs {
            self.add_contact(first, second);
        }
        self.pairs = pairs;
    }

    fn add_contact(&mut self, first: usize, second: usize) {
        let shapes = (&self.fixtures[first].shape, &self.fixtures[second].shape);
        let fixtures = match shapes {
            (Shape::Edge(_), Shape::Edge(_)) => return,
            (Shape::Polygon(_), Shape::Edge(_)) => [second, first],
            _ => [first, second],
        };
        let known = self.contacts.iter().any(|contact| contact.fixtures == fixtures);
        let [one, two] = fixtures.map(|fixture| &self.fixtures[fixture]);
        if known || !one.filter.allows(two.filter) || self.joint_forbids([one.body, two.body]) {
            return;
        }
        let bodies = [one.body, two.body];
        let restitution = (one.material.restitution, two.material.restitution);
        self.contacts.push(Contact {
            fixtures,
            bodies,
            friction: (one.material.friction * two.material.friction).sqrt(),
            restitution: if restitution.0 > restitution.1 { restitution.0 } else { restitution.1 },
            manifold: Manifold::EMPTY,
            touching: false,
            enabled: true,
            in_island: false,
            impact: None,
            sub_steps: 0,
        });
        for body in bodies {
            self.bodies[body].wake();
        }
    }

    /// Whether a joint connects the two bodies and forbids them to collide.
    fn joint_forbids(&self, bodies: [usize; 2]) -> bool {
        self.joints.iter().any(|joint| {
            let [first, second] = joint.bodies;
            !joint.collide && (bodies == [first, second] || bodies == [second, first])
        })
    }
}

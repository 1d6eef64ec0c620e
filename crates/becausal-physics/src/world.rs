//! The world: bodies, fixtures, joints and contacts, and the phases of a step.

use crate::body::{Body, BodyId, BodyKind};
use crate::broad_phase::BroadPhase;
use crate::contact::{Contact, ContactEvent};
use crate::error::{Error, finite, not_negative};
use crate::fixture::{Filter, Fixture, FixtureId, Material};
use crate::island::Island;
use crate::joint::{Joint, JointId, RevoluteJoint};
use crate::shape::Shape;
use crate::transform::{Rotation, Transform};
use crate::vector::Vector;

/// Bodies that move, touch and are joined.
///
/// A clone continues exactly as the original would.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) gravity: Vector,
    pub(crate) bodies: Vec<Body>,
    pub(crate) fixtures: Vec<Fixture>,
    /// The fixtures of every body, the newest first.
    pub(crate) fixtures_of: Vec<Vec<usize>>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) contacts: Vec<Contact>,
    pub(crate) broad_phase: BroadPhase,
    pub(crate) events: Vec<ContactEvent>,
    /// A buffer that is reused from step to step.
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) island: Island,
    has_new_fixtures: bool,
    /// The inverse of the duration of the last step; 0 before the first.
    last_rate: f32,
}

/// Where a body is, and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Of its origin.
    pub position: Vector,
    /// In radians.
    pub angle: f32,
    /// Of its centre of mass.
    pub velocity: Vector,
    /// In radians per second.
    pub angular_velocity: f32,
}

/// The parameters of one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub seconds: f32,
    /// The factor by which the impulses of the last step are scaled for warm starting.
    pub impulse_scale: f32,
    pub velocity_iterations: usize,
    pub position_iterations: usize,
}

impl World {
    /// An empty world.
    ///
    /// # Errors
    /// When the gravity is not finite.
    pub fn new(gravity: Vector) -> Result<Self, Error> {
        if !gravity.is_finite() {
            return Err(Error::NotFinite { what: "gravity" });
        }
        Ok(Self {
            gravity,
            bodies: Vec::new(),
            fixtures: Vec::new(),
            fixtures_of: Vec::new(),
            joints: Vec::new(),
            contacts: Vec::new(),
            broad_phase: BroadPhase::default(),
            events: Vec::new(),
            pairs: Vec::new(),
            island: Island::default(),
            has_new_fixtures: false,
            last_rate: 0.0,
        })
    }

    /// Adds a body without shape at a position and an angle in radians.
    ///
    /// # Errors
    /// When the position or the angle is not finite.
    pub fn add_body(
        &mut self,
        kind: BodyKind,
        position: Vector,
        angle: f32,
    ) -> Result<BodyId, Error> {
        if !position.is_finite() {
            return Err(Error::NotFinite { what: "position" });
        }
        finite("angle", angle)?;
        self.bodies.push(Body::new(kind, position, angle));
        self.fixtures_of.push(Vec::new());
        Ok(BodyId(self.bodies.len() - 1))
    }

    /// Attaches a shape to a body and adds its mass to that of the body.
    ///
    /// # Errors
    /// When there is no such body, a number of the material is negative or not finite, or the mass
    /// of the body would be invalid.
    pub fn add_fixture(
        &mut self,
        body: BodyId,
        shape: impl Into<Shape>,
        material: Material,
        filter: Filter,
    ) -> Result<FixtureId, Error> {
        let body = self.known(body)?;
        not_negative("density", material.density)?;
        not_negative("friction", material.friction)?;
        not_negative("restitution", material.restitution)?;
        let fixture = Fixture { body, shape: shape.into(), material, filter };
        let index = self.fixtures.len();
        if material.density > 0.0 && self.bodies[body].kind == BodyKind::Dynamic {
            let older = self.fixtures_of[body].iter().map(|&older| &self.fixtures[older]);
            let parts = std::iter::once(&fixture)
                .chain(older)
                .filter(|part| part.material.density != 0.0)
                .map(|part| part.shape.mass_data(part.material.density))
                .collect::<Result<Vec<_>, _>>()?;
            self.bodies[body].set_mass(parts.into_iter())?;
        }
        self.broad_phase.add(fixture.shape.bounds(&self.bodies[body].position));
        self.fixtures.push(fixture);
        self.fixtures_of[body].insert(0, index);
        self.has_new_fixtures = true;
        Ok(FixtureId(index))
    }

    /// Joins two bodies.
    ///
    /// # Errors
    /// When a body is unknown, both bodies are the same, a number is not finite, or the lower limit
    /// is above the upper one.
    pub fn add_joint(&mut self, joint: &RevoluteJoint) -> Result<JointId, Error> {
        joint.check(self.bodies.len())?;
        self.joints.push(Joint::new(joint));
        let joint = &self.joints[self.joints.len() - 1];
        if !joint.collide {
            let [first, second] = joint.bodies;
            let joined = |contact: &Contact| contact.other(first) == Some(second);
            for index in (0..self.contacts.len()).rev() {
                if joined(&self.contacts[index]) {
                    self.drop_contact(index);
                }
            }
        }
        Ok(JointId(self.joints.len() - 1))
    }

    fn known(&self, body: BodyId) -> Result<usize, Error> {
        if body.0 < self.bodies.len() { Ok(body.0) } else { Err(Error::NoBody { got: body.0 }) }
    }

    /// A body.
    ///
    /// # Panics
    /// When the body belongs to another, larger world.
    #[must_use]
    pub fn body(&self, id: BodyId) -> &Body {
        &self.bodies[id.0]
    }

    /// All bodies, in the order they were added.
    #[must_use]
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// All fixtures, in the order they were added.
    #[must_use]
    pub fn fixtures(&self) -> &[Fixture] {
        &self.fixtures
    }

    /// The fixtures that started or stopped touching in the last step, in the order of detection.
    #[must_use]
    pub fn events(&self) -> &[ContactEvent] {
        &self.events
    }

    /// Puts a dynamic body somewhere else at once, awake, with another motion. What it touches is found in
    /// the next step. A static body stays where it is.
    ///
    /// # Errors
    /// When a number is not finite, or there is no such body.
    pub fn place(&mut self, body: BodyId, placement: &Placement) -> Result<(), Error> {
        let Placement { position, angle, velocity, angular_velocity } = *placement;
        if !position.is_finite() || !velocity.is_finite() {
            return Err(Error::NotFinite { what: "placement" });
        }
        finite("angle", angle)?;
        finite("angular velocity", angular_velocity)?;
        let index = self.known(body)?;
        let Some(body) = self.awakened(body)? else { return Ok(()) };
        let transform = Transform { shift: position, rotation: Rotation::new(angle) };
        let centre = transform.apply(body.sweep.local_centre);
        body.position = transform;
        (body.sweep.centre, body.sweep.centre_before) = (centre, centre);
        (body.sweep.angle, body.sweep.angle_before) = (angle, angle);
        (body.velocity, body.spin) = (velocity, angular_velocity);
        self.update_broad_phase(index);
        self.has_new_fixtures = true;
        Ok(())
    }

    /// Wakes a body and applies a force to its centre during the next step.
    ///
    /// # Errors
    /// When the force is not finite, or there is no such body.
    pub fn apply_force(&mut self, body: BodyId, force: Vector) -> Result<(), Error> {
        if !force.is_finite() {
            return Err(Error::NotFinite { what: "force" });
        }
        if let Some(body) = self.awakened(body)? {
            body.force += force;
        }
        Ok(())
    }

    /// Wakes a body and applies a torque during the next step.
    ///
    /// # Errors
    /// When the torque is not finite, or there is no such body.
    pub fn apply_torque(&mut self, body: BodyId, torque: f32) -> Result<(), Error> {
        finite("torque", torque)?;
        if let Some(body) = self.awakened(body)? {
            body.torque += torque;
        }
        Ok(())
    }

    /// Wakes a body and changes its velocity immediately, by an impulse at a point of the world.
    ///
    /// # Errors
    /// When the impulse or the point is not finite, or there is no such body.
    pub fn apply_impulse(
        &mut self,
        body: BodyId,
        impulse: Vector,
        point: Vector,
    ) -> Result<(), Error> {
        if !impulse.is_finite() || !point.is_finite() {
            return Err(Error::NotFinite { what: "impulse" });
        }
        if let Some(body) = self.awakened(body)? {
            body.velocity += body.inverse_mass * impulse;
            body.spin += body.inverse_inertia * (point - body.sweep.centre).cross(impulse);
        }
        Ok(())
    }

    /// Wakes a body and returns it, if it is dynamic.
    fn awakened(&mut self, body: BodyId) -> Result<Option<&mut Body>, Error> {
        let index = self.known(body)?;
        let body = &mut self.bodies[index];
        if body.kind == BodyKind::Static {
            return Ok(None);
        }
        body.wake();
        Ok(Some(body))
    }

    /// Advances the world by some seconds.
    ///
    /// A step updates contacts, solves islands, sub-steps impacts, and then clears the forces.
    ///
    /// # Errors
    /// When the seconds are negative or not finite.
    pub fn step(
        &mut self,
        seconds: f32,
        velocity_iterations: usize,
        position_iterations: usize,
    ) -> Result<(), Error> {
        not_negative("the duration of the step", seconds)?;
        self.events.clear();
        if self.has_new_fixtures {
            self.find_contacts();
            self.has_new_fixtures = false;
        }
        self.update_contacts();
        if seconds > 0.0 {
            let impulse_scale = self.last_rate * seconds;
            let step = Step { seconds, impulse_scale, velocity_iterations, position_iterations };
            self.solve_islands(&step);
            self.solve_impacts(&step);
            self.last_rate = 1.0 / seconds;
        }
        for body in &mut self.bodies {
            body.clear_forces();
        }
        Ok(())
    }
}

//! Fixtures: a shape attached to a body, with a material and a collision filter.

use crate::body::BodyId;
use crate::shape::Shape;

/// The material of a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Mass per area.
    pub density: f32,
    /// Friction; a contact has the geometric mean of both sides.
    pub friction: f32,
    /// Bounciness; a contact has the maximum of both sides.
    pub restitution: f32,
}

impl Default for Material {
    /// Weightless, friction 0.2, no bounce.
    fn default() -> Self {
        Self { density: 0.0, friction: 0.2, restitution: 0.0 }
    }
}

/// Which fixtures can collide: each must be in a category that the other accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The categories of the fixture, one bit each.
    pub category: u16,
    /// The categories that it accepts.
    pub accepts: u16,
}

impl Default for Filter {
    /// In the first category; accepts all categories.
    fn default() -> Self {
        Self { category: 1, accepts: u16::MAX }
    }
}

impl Filter {
    pub(crate) fn allows(self, other: Self) -> bool {
        self.accepts & other.category != 0 && self.category & other.accepts != 0
    }
}

/// Identifies a fixture of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FixtureId(pub(crate) usize);

impl FixtureId {
    /// Its index in the order of creation, counted from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// A shape attached to a body.
#[derive(Clone, Debug)]
pub struct Fixture {
    pub(crate) body: usize,
    pub(crate) shape: Shape,
    pub(crate) material: Material,
    pub(crate) filter: Filter,
}

impl Fixture {
    /// The body it belongs to.
    #[must_use]
    pub fn body(&self) -> BodyId {
        BodyId(self.body)
    }

    /// Its shape in the frame of the body.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Its material.
    #[must_use]
    pub fn material(&self) -> Material {
        self.material
    }

    /// Its collision filter.
    #[must_use]
    pub fn filter(&self) -> Filter {
        self.filter
    }
}

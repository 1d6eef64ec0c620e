//! Fixtures: a shape fixed to a body, with its material and what it collides with.

use crate::body::BodyId;
use crate::shape::Shape;

/// What a shape is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Mass per area.
    pub density: f32,
    /// Friction; that of a contact is the geometric mean of both sides.
    pub friction: f32,
    /// Bounciness; that of a contact is the greater of both sides.
    pub restitution: f32,
}

impl Default for Material {
    /// Weightless, friction 0.2, no bounce.
    fn default() -> Self {
        Self { density: 0.0, friction: 0.2, restitution: 0.0 }
    }
}

/// Which fixtures may touch: each must be in a category the other accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The categories the fixture is in, a bit each.
    pub category: u16,
    /// The categories it accepts.
    pub accepts: u16,
}

impl Default for Filter {
    /// In the first category, accepts all.
    fn default() -> Self {
        Self { category: 1, accepts: u16::MAX }
    }
}

impl Filter {
    pub(crate) fn allows(self, other: Self) -> bool {
        self.accepts & other.category != 0 && self.category & other.accepts != 0
    }
}

/// Names a fixture of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FixtureId(pub(crate) usize);

impl FixtureId {
    /// The place in the order of creation, from zero.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// A shape fixed to a body.
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

    /// What it is made of.
    #[must_use]
    pub fn material(&self) -> Material {
        self.material
    }

    /// What it collides with.
    #[must_use]
    pub fn filter(&self) -> Filter {
        self.filter
    }
}

//! The shapes a fixture can have: an edge or a convex polygon.

use crate::bounds::Bounds;
use crate::error::Error;
use crate::polygon::{MassData, Polygon};
use crate::settings::{EPSILON, SKIN};
use crate::transform::Transform;
use crate::vector::Vector;

/// A line segment with two sides, without neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    ends: [Vector; 2],
}

impl Edge {
    /// The segment between two points.
    ///
    /// # Errors
    /// When a point is not finite, or the points coincide.
    pub fn new(from: Vector, to: Vector) -> Result<Self, Error> {
        if !from.is_finite() || !to.is_finite() {
            return Err(Error::NotFinite { what: "an end of the edge" });
        }
        let length = (to - from).length();
        if !length.is_finite() || length < EPSILON {
            return Err(Error::Degenerate { what: "edge" });
        }
        Ok(Self { ends: [from, to] })
    }

    /// Its two ends.
    #[must_use]
    pub fn ends(&self) -> &[Vector; 2] {
        &self.ends
    }
}

/// The shape of a fixture.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A line segment without mass.
    Edge(Edge),
    /// A convex polygon.
    Polygon(Box<Polygon>),
}

impl Shape {
    /// The vertices; the shape is their convex hull.
    #[inline]
    #[must_use]
    pub fn vertices(&self) -> &[Vector] {
        match self {
            Self::Edge(edge) => &edge.ends,
            Self::Polygon(polygon) => polygon.vertices(),
        }
    }

    /// The bounding box of the shape at `position`.
    pub(crate) fn bounds(&self, position: &Transform) -> Bounds {
        match self {
            Self::Edge(edge) => {
                Bounds::around(edge.ends.iter().map(|&end| position.apply(end)), SKIN)
            }
            Self::Polygon(polygon) => polygon.bounds(position),
        }
    }

    pub(crate) fn mass_data(&self, density: f32) -> Result<MassData, Error> {
        match self {
            Self::Edge(edge) => {
                let centre = 0.5 * (edge.ends[0] + edge.ends[1]);
                Ok(MassData { mass: 0.0, centre, inertia: 0.0 })
            }
            Self::Polygon(polygon) => polygon.mass_data(density),
        }
    }
}

impl From<Edge> for Shape {
    fn from(edge: Edge) -> Self {
        Self::Edge(edge)
    }
}

impl From<Polygon> for Shape {
    fn from(polygon: Polygon) -> Self {
        Self::Polygon(Box::new(polygon))
    }
}

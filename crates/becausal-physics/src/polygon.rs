//! Convex polygons: the hull by gift wrapping, the centroid, and mass by triangles.

use crate::bounds::Bounds;
use crate::error::{Error, finite, not_negative};
use crate::settings::{EPSILON, MAX_VERTICES, SKIN};
use crate::transform::Transform;
use crate::vector::Vector;

const THIRD: f32 = 1.0 / 3.0;

/// A convex polygon, counter-clockwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    vertices: [Vector; MAX_VERTICES],
    normals: [Vector; MAX_VERTICES],
    count: usize,
    centroid: Vector,
}

/// Mass, centre of mass, and rotational inertia about the origin of the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MassData {
    pub mass: f32,
    pub centre: Vector,
    pub inertia: f32,
}

impl Polygon {
    /// The convex hull of 3 to 16 points.
    ///
    /// # Errors
    /// When there are too few or too many points, one is not finite, or they span no area.
    pub fn new(points: &[Vector]) -> Result<Self, Error> {
        if !(3..=MAX_VERTICES).contains(&points.len()) {
            return Err(Error::VertexCount { got: points.len() });
        }
        if !points.iter().all(|point| point.is_finite()) {
            return Err(Error::NotFinite { what: "a vertex" });
        }
        let degenerate = Error::Degenerate { what: "polygon" };
        let (vertices, count) = hull(points).ok_or_else(|| degenerate.clone())?;
        let mut normals = [Vector::ZERO; MAX_VERTICES];
        for index in 0..count {
            let side = vertices[(index + 1) % count] - vertices[index];
            if !side.is_finite() || side.length_squared() <= EPSILON * EPSILON {
                return Err(degenerate);
            }
            normals[index] = side.turned_right().unit();
        }
        let centroid = centroid(&vertices[..count]).ok_or_else(|| degenerate.clone())?;
        let polygon = Self { vertices, normals, count, centroid };
        // Checks the area here; otherwise the error would only appear in `add_fixture`.
        polygon.mass_data(1.0).map(|_| polygon)
    }

    /// The rectangle with these half extents around the origin.
    ///
    /// # Errors
    /// When an extent is not finite, negative, or too small.
    pub fn rectangle(half_width: f32, half_height: f32) -> Result<Self, Error> {
        let (w, h) =
            (not_negative("half width", half_width)?, not_negative("half height", half_height)?);
        let mut vertices = [Vector::ZERO; MAX_VERTICES];
        let mut normals = [Vector::ZERO; MAX_VERTICES];
        let corners = [(-w, -h), (w, -h), (w, h), (-w, h)];
        let outward = [(0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)];
        for index in 0..4 {
            vertices[index] = Vector::new(corners[index].0, corners[index].1);
            normals[index] = Vector::new(outward[index].0, outward[index].1);
        }
        let polygon = Self { vertices, normals, count: 4, centroid: Vector::ZERO };
        polygon.mass_data(1.0).map(|_| polygon)
    }

    /// The corners, counter-clockwise.
    #[inline]
    #[must_use]
    pub fn vertices(&self) -> &[Vector] {
        &self.vertices[..self.count]
    }

    /// The outward normals; the one at index `i` belongs to the side from vertex `i` to the next.
    #[inline]
    #[must_use]
    pub fn normals(&self) -> &[Vector] {
        &self.normals[..self.count]
    }

    /// The centroid.
    #[must_use]
    pub fn centroid(&self) -> Vector {
        self.centroid
    }

    /// The bounding box of the polygon at `position`.
    pub(crate) fn bounds(&self, position: &Transform) -> Bounds {
        Bounds::around(self.vertices().iter().map(|&vertex| position.apply(vertex)), SKIN)
    }

    /// Mass data by triangles about the mean of the vertices.
    pub(crate) fn mass_data(&self, density: f32) -> Result<MassData, Error> {
        let vertices = self.vertices();
        let mut mean = Vector::ZERO;
        for &vertex in vertices {
            mean += vertex;
        }
        mean = (1.0 / self.count as f32) * mean;

        let (mut area, mut moment) = (0.0_f32, 0.0_f32);
        let mut offset = Vector::ZERO;
        for (index, &vertex) in vertices.iter().enumerate() {
            let first = vertex - mean;
            let second = vertices[(index + 1) % self.count] - mean;
            let spanned = first.cross(second);
            let triangle = 0.5 * spanned;
            area += triangle;
            offset += (triangle * THIRD) * (first + second);
            let along_x = first.x * first.x + second.x * first.x + second.x * second.x;
            let along_y = first.y * first.y + second.y * first.y + second.y * second.y;
            moment += (0.25 * THIRD * spanned) * (along_x + along_y);
        }
        if area.is_nan() || area <= EPSILON {
            return Err(Error::Degenerate { what: "polygon" });
        }
        let mass = density * area;
        offset = (1.0 / area) * offset;
        let centre = offset + mean;
        let inertia = density * moment + mass * (centre.dot(centre) - offset.dot(offset));
        finite("the mass of the polygon", mass)?;
        finite("the inertia of the polygon", inertia)?;
        Ok(MassData { mass, centre, inertia })
    }
}

/// The convex hull by gift wrapping, starting at the rightmost (then lowest) point.
fn hull(points: &[Vector]) -> Option<([Vector; MAX_VERTICES], usize)> {
    let mut start = 0;
    for (index, point) in points.iter().enumerate().skip(1) {
        let best = points[start];
        if point.x > best.x || (point.x == best.x && point.y < best.y) {
            start = index;
        }
    }
    let mut corners = [Vector::ZERO; MAX_VERTICES];
    let mut count = 0;
    let mut current = start;
    loop {
        // With coinciding points the wrapping can miss its start.
        if count == points.len() {
            return None;
        }
        corners[count] = points[current];
        count += 1;
        let mut next = 0;
        for index in 1..points.len() {
            if next == current {
                next = index;
                continue;
            }
            let towards = points[next] - points[current];
            let candidate = points[index] - points[current];
            let turn = towards.cross(candidate);
            let farther = candidate.length_squared() > towards.length_squared();
            if turn < 0.0 || (turn == 0.0 && farther) {
                next = index;
            }
        }
        current = next;
        if current == start {
            break;
        }
    }
    (count >= 3).then_some((corners, count))
}

/// The centroid by triangles about the origin.
fn centroid(vertices: &[Vector]) -> Option<Vector> {
    let mut sum = Vector::ZERO;
    let mut area = 0.0_f32;
    for (index, &vertex) in vertices.iter().enumerate() {
        let next = vertices[(index + 1) % vertices.len()];
        let triangle = 0.5 * vertex.cross(next);
        area += triangle;
        sum += (triangle * THIRD) * (vertex + next);
    }
    (area > EPSILON).then(|| (1.0 / area) * sum)
}

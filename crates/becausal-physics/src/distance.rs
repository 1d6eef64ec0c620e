//! The distance between two convex shapes by the algorithm of Gilbert, Johnson and Keerthi (GJK): a
//! simplex in the difference of the shapes moves towards the origin.

use crate::settings::EPSILON;
use crate::transform::Transform;
use crate::vector::Vector;

const MAX_ITERATIONS: usize = 20;

/// The corners of the last simplex, where the next search starts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SimplexCache {
    /// Length or area of the simplex; a simplex that has changed much is not reused.
    pub measure: f32,
    /// The number of valid corners.
    pub count: usize,
    /// The vertices of the first and the second shape that give each corner.
    pub corners: [(usize, usize); 3],
}

/// A corner of the simplex: a vertex of the second shape minus one of the first.
#[derive(Clone, Copy, Default)]
struct Corner {
    first: Vector,
    second: Vector,
    difference: Vector,
    /// The weight of this corner in the point nearest to the origin.
    share: f32,
    vertices: (usize, usize),
}

struct Simplex {
    corners: [Corner; 3],
    count: usize,
}

/// The vertices of a convex shape, and its transform.
pub(crate) type Placed<'a> = (&'a [Vector], &'a Transform);

/// The vertex farthest in a direction.
#[inline]
pub(crate) fn support(vertices: &[Vector], direction: Vector) -> usize {
    let mut best = (0, vertices[0].dot(direction));
    for (index, vertex) in vertices.iter().enumerate().skip(1) {
        let value = vertex.dot(direction);
        if value > best.1 {
            best = (index, value);
        }
    }
    best.0
}

/// The distance between two shapes without their skins; 0 if they overlap.
pub(crate) fn distance(first: Placed, second: Placed, cache: &mut SimplexCache) -> f32 {
    let corner = |vertices: (usize, usize)| {
        let on_first = first.1.apply(first.0[vertices.0]);
        let on_second = second.1.apply(second.0[vertices.1]);
        let difference = on_second - on_first;
        Corner { first: on_first, second: on_second, difference, share: 0.0, vertices }
    };
    let mut simplex = Simplex { corners: [Corner::default(); 3], count: cache.count };
    for index in 0..cache.count {
        simplex.corners[index] = corner(cache.corners[index]);
    }
    if simplex.count > 1 {
        let (old, new) = (cache.measure, simplex.measure());
        if new < 0.5 * old || 2.0 * old < new || new < EPSILON {
            simplex.count = 0;
        }
    }
    if simplex.count == 0 {
        simplex.corners[0] = Corner { share: 1.0, ..corner((0, 0)) };
        simplex.count = 1;
    }

    for _ in 0..MAX_ITERATIONS {
        let before = simplex.corners.map(|corner| corner.vertices);
        let count_before = simplex.count;
        match simplex.count {
            2 => simplex.reduce_segment(),
            3 => simplex.reduce_triangle(),
            _ => {}
        }
        if simplex.count == 3 {
            break;
        }
        let direction = simplex.towards_origin();
        if direction.length_squared() < EPSILON * EPSILON {
            break;
        }
        let found = (
            support(first.0, first.1.rotation.undo(-direction)),
            support(second.0, second.1.rotation.undo(direction)),
        );
        simplex.corners[simplex.count] = corner(found);
        if before[..count_before].contains(&found) {
            break;
        }
        simplex.count += 1;
    }

    cache.measure = simplex.measure();
    cache.count = simplex.count;
    for index in 0..simplex.count {
        cache.corners[index] = simplex.corners[index].vertices;
    }
    let (on_first, on_second) = simplex.nearest_points();
    (on_first - on_second).length()
}

impl Simplex {
    /// The length of a segment, or twice the area of a triangle.
    fn measure(&self) -> f32 {
        let [a, b, c] = self.corners.map(|corner| corner.difference);
        match self.count {
            2 => (a - b).length(),
            3 => (b - a).cross(c - a),
            _ => 0.0,
        }
    }

    /// The direction from the simplex to the origin.
    fn towards_origin(&self) -> Vector {
        let [a, b, _] = self.corners.map(|corner| corner.difference);
        if self.count == 1 {
            return -a;
        }
        let side = b - a;
        if side.cross(-a) > 0.0 { side.turned_left() } else { side.turned_right() }
    }

    /// The nearest points of the two shapes.
    fn nearest_points(&self) -> (Vector, Vector) {
        let [a, b, c] = &self.corners;
        match self.count {
            1 => (a.first, a.second),
            2 => (a.share * a.first + b.share * b.first, a.share * a.second + b.share * b.second),
            _ => {
                let common = a.share * a.first + b.share * b.first + c.share * c.first;
                (common, common)
            }
        }
    }

    /// Keeps a single corner.
    fn keep_one(&mut self, index: usize) {
        self.corners[index].share = 1.0;
        self.corners[0] = self.corners[index];
        self.count = 1;
    }

    /// Keeps two corners with these weights; the third corner takes the place of the one that is
    /// dropped.
    fn keep_two(&mut self, indices: (usize, usize), weights: (f32, f32)) {
        let inverse = 1.0 / (weights.0 + weights.1);
        self.corners[indices.0].share = weights.0 * inverse;
        self.corners[indices.1].share = weights.1 * inverse;
        match indices {
            (0, 2) => self.corners[1] = self.corners[2],
            (1, 2) => self.corners[0] = self.corners[2],
            _ => {}
        }
        self.count = 2;
    }

    /// Reduces a segment to the part nearest to the origin.
    fn reduce_segment(&mut self) {
        let [a, b, _] = self.corners.map(|corner| corner.difference);
        let side = b - a;
        let weight_b = -a.dot(side);
        if weight_b <= 0.0 {
            return self.keep_one(0);
        }
        let weight_a = b.dot(side);
        if weight_a <= 0.0 {
            return self.keep_one(1);
        }
        self.keep_two((0, 1), (weight_a, weight_b));
    }

    /// Reduces a triangle to the part nearest to the origin: a corner, a side, or all of it.
    fn reduce_triangle(&mut self) {
        let [a, b, c] = self.corners.map(|corner| corner.difference);
        let (ab, ac, bc) = (b - a, c - a, c - b);
        // The position of the origin along each side: the weights of its two ends.
        let along_ab = (b.dot(ab), -a.dot(ab));
        let along_ac = (c.dot(ac), -a.dot(ac));
        let along_bc = (c.dot(bc), -b.dot(bc));
        let area = ab.cross(ac);
        let weight_a = area * b.cross(c);
        let weight_b = area * c.cross(a);
        let weight_c = area * a.cross(b);

        if along_ab.1 <= 0.0 && along_ac.1 <= 0.0 {
            self.keep_one(0);
        } else if along_ab.0 > 0.0 && along_ab.1 > 0.0 && weight_c <= 0.0 {
            self.keep_two((0, 1), along_ab);
        } else if along_ac.0 > 0.0 && along_ac.1 > 0.0 && weight_b <= 0.0 {
            self.keep_two((0, 2), along_ac);
        } else if along_ab.0 <= 0.0 && along_bc.1 <= 0.0 {
            self.keep_one(1);
        } else if along_ac.0 <= 0.0 && along_bc.0 <= 0.0 {
            self.keep_one(2);
        } else if along_bc.0 > 0.0 && along_bc.1 > 0.0 && weight_a <= 0.0 {
            self.keep_two((1, 2), along_bc);
        } else {
            let inverse = 1.0 / (weight_a + weight_b + weight_c);
            self.corners[0].share = weight_a * inverse;
            self.corners[1].share = weight_b * inverse;
            self.corners[2].share = weight_c * inverse;
        }
    }
}

//! The manifold of an edge and a polygon, by the separating axes of both in the frame of the
//! edge. The edge has two sides and no neighbours.

use crate::manifold::{ClipPoint, Face, Feature, FeatureKind, Manifold, clip};
use crate::polygon::Polygon;
use crate::settings::{ANGULAR_SLOP, MAX_VERTICES, SKIN, lesser};
use crate::shape::Edge;
use crate::transform::Transform;
use crate::vector::Vector;

/// The thickness of both skins, in metres.
const TOTAL_SKIN: f32 = 2.0 * SKIN;

/// A side of the polygon is preferred over the edge only if it is better by these margins, so that
/// the choice does not flicker.
const RELATIVE_PREFERENCE: f32 = 0.98;
const ABSOLUTE_PREFERENCE: f32 = 0.001;

/// The face that the other shape is clipped against, in the frame of the edge.
struct Reference {
    corners: [(Vector, u8); 2],
    normal: Vector,
}

/// Where an edge and a polygon touch.
pub(crate) fn collide_edge_polygon(
    edge: &Edge,
    edge_position: &Transform,
    polygon: &Polygon,
    polygon_position: &Transform,
) -> Manifold {
    let mut manifold = Manifold::EMPTY;
    let relative = edge_position.relative(polygon_position);
    let [start, end] = *edge.ends();

    let outward = (end - start).unit().turned_right();
    let in_front = outward.dot(relative.apply(polygon.centroid()) - start) >= 0.0;
    let facing = if in_front { outward } else { -outward };

    let count = polygon.vertices().len();
    let mut vertices = [Vector::ZERO; MAX_VERTICES];
    for (moved, &vertex) in vertices.iter_mut().zip(polygon.vertices()) {
        *moved = relative.apply(vertex);
    }
    let vertices = &vertices[..count];

    let edge_separation = vertices
        .iter()
        .map(|&vertex| facing.dot(vertex - start))
        .fold(f32::MAX, |minimum, height| if height < minimum { height } else { minimum });
    if edge_separation > TOTAL_SKIN {
        return manifold;
    }

    let mut normals = [Vector::ZERO; MAX_VERTICES];
    for (moved, &normal) in normals.iter_mut().zip(polygon.normals()) {
        *moved = relative.rotation.apply(normal);
    }
    let normals = &normals[..count];

    let best = best_side(vertices, normals, [start, end], facing);
    if best.is_some_and(|(_, separation)| separation > TOTAL_SKIN) {
        return manifold;
    }
    let threshold = RELATIVE_PREFERENCE * edge_separation + ABSOLUTE_PREFERENCE;
    let side = best.filter(|&(_, separation)| separation > threshold).map(|(side, _)| side);

    let (reference, incident) = match side {
        None => {
            manifold.face = Face::First;
            let opposite = most_opposed(normals, facing);
            let next = (opposite + 1) % count;
            let reference = Reference {
                corners: if in_front { [(start, 0), (end, 1)] } else { [(end, 1), (start, 0)] },
                normal: facing,
            };
            let incident = [opposite, next].map(|corner| ClipPoint {
                point: vertices[corner],
                feature: Feature {
                    first: (FeatureKind::Side, 0),
                    second: (FeatureKind::Corner, corner as u8),
                },
            });
            (reference, incident)
        }
        Some(side) => {
            manifold.face = Face::Second;
            let next = (side + 1) % count;
            let reference = Reference {
                corners: [(vertices[side], side as u8), (vertices[next], next as u8)],
                normal: normals[side],
            };
            let incident = [start, end].map(|point| ClipPoint {
                point,
                feature: Feature {
                    first: (FeatureKind::Corner, 0),
                    second: (FeatureKind::Side, side as u8),
                },
            });
            (reference, incident)
        }
    };

    let Some(clipped) = clip_to_reference(incident, &reference) else {
        return manifold;
    };
    if let Some(side) = side {
        manifold.local_normal = polygon.normals()[side];
        manifold.local_point = polygon.vertices()[side];
    } else {
        manifold.local_normal = reference.normal;
        manifold.local_point = reference.corners[0].0;
    }
    for ClipPoint { point, feature } in clipped {
        let separation = reference.normal.dot(point - reference.corners[0].0);
        if separation <= TOTAL_SKIN {
            match side {
                None => manifold.push(relative.undo(point), feature),
                Some(_) => manifold.push(point, feature.exchanged()),
            }
        }
    }
    manifold
}

/// The side of the polygon with the largest separation, among those that face the edge; the first
/// one that separates the shapes entirely, if there is one.
fn best_side(
    vertices: &[Vector],
    normals: &[Vector],
    [start, end]: [Vector; 2],
    facing: Vector,
) -> Option<(usize, f32)> {
    let mut best: Option<(usize, f32)> = None;
    for (index, (&vertex, &outward)) in vertices.iter().zip(normals).enumerate() {
        let inward = -outward;
        let separation = lesser(inward.dot(vertex - start), inward.dot(vertex - end));
        if separation > TOTAL_SKIN {
            return Some((index, separation));
        }
        if (inward + facing).dot(facing) < -ANGULAR_SLOP {
            continue;
        }
        if separation > best.map_or(-f32::MAX, |(_, largest)| largest) {
            best = Some((index, separation));
        }
    }
    best
}

/// The side whose normal points most against `direction`.
fn most_opposed(normals: &[Vector], direction: Vector) -> usize {
    let mut best = (0, direction.dot(normals[0]));
    for (index, &normal) in normals.iter().enumerate().skip(1) {
        let value = direction.dot(normal);
        if value < best.1 {
            best = (index, value);
        }
    }
    best.0
}

/// The part of the segment between the two ends of the reference face.
fn clip_to_reference(segment: [ClipPoint; 2], reference: &Reference) -> Option<[ClipPoint; 2]> {
    let sideways = reference.normal.turned_right();
    let [(first, first_index), (second, second_index)] = reference.corners;
    let segment = clip(segment, sideways, sideways.dot(first), first_index)?;
    clip(segment, -sideways, (-sideways).dot(second), second_index)
}

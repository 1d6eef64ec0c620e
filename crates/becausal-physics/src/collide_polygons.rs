//! The manifold of two polygons: the side of largest separation is found by hill climbing from
//! the side that faces the other centroid; the opposite side is clipped against it.

use crate::manifold::{ClipPoint, Face, Feature, FeatureKind, Manifold, clip};
use crate::polygon::Polygon;
use crate::settings::SKIN;
use crate::transform::Transform;
use crate::vector::Vector;

/// The thickness of both skins, in metres.
const TOTAL_SKIN: f32 = SKIN + SKIN;

/// The second polygon provides the face only if it is better by these margins.
const RELATIVE_PREFERENCE: f32 = 0.98;
const ABSOLUTE_PREFERENCE: f32 = 0.001;

/// A polygon and where it is.
type Placed<'a> = (&'a Polygon, &'a Transform);

/// Where two polygons touch.
pub(crate) fn collide_polygons(first: Placed, second: Placed) -> Manifold {
    let mut manifold = Manifold::EMPTY;
    let (first_side, first_separation) = max_separation(first, second);
    if first_separation > TOTAL_SKIN {
        return manifold;
    }
    let (second_side, second_separation) = max_separation(second, first);
    if second_separation > TOTAL_SKIN {
        return manifold;
    }
    let threshold = RELATIVE_PREFERENCE * first_separation + ABSOLUTE_PREFERENCE;
    let (face, reference, incident, side) = if second_separation > threshold {
        (Face::Second, second, first, second_side)
    } else {
        (Face::First, first, second, first_side)
    };

    let corners = reference.0.vertices();
    let next = (side + 1) % corners.len();
    let local_tangent = (corners[next] - corners[side]).unit();
    let tangent = reference.1.rotation.apply(local_tangent);
    let normal = tangent.turned_right();
    let (start, end) = (reference.1.apply(corners[side]), reference.1.apply(corners[next]));

    let segment = incident_side(reference, side, incident);
    let start_offset = -tangent.dot(start) + TOTAL_SKIN;
    let end_offset = tangent.dot(end) + TOTAL_SKIN;
    let clipped = clip(segment, -tangent, start_offset, side as u8)
        .and_then(|segment| clip(segment, tangent, end_offset, next as u8));
    let Some(clipped) = clipped else {
        return manifold;
    };

    manifold.face = face;
    manifold.local_normal = local_tangent.turned_right();
    manifold.local_point = 0.5 * (corners[side] + corners[next]);
    let front = normal.dot(start);
    for ClipPoint { point, feature } in clipped {
        if normal.dot(point) - front <= TOTAL_SKIN {
            let local = incident.1.undo(point);
            match face {
                Face::First => manifold.push(local, feature),
                Face::Second => manifold.push(local, feature.exchanged()),
            }
        }
    }
    manifold
}

/// The side of `own` with the largest separation from `other`, and that separation.
fn max_separation(own: Placed, other: Placed) -> (usize, f32) {
    let count = own.0.vertices().len();
    let towards = other.1.apply(other.0.centroid()) - own.1.apply(own.0.centroid());
    let towards = own.1.rotation.undo(towards);
    let mut side = 0;
    let mut max_along = -f32::MAX;
    for (index, normal) in own.0.normals().iter().enumerate() {
        let along = normal.dot(towards);
        if along > max_along {
            (side, max_along) = (index, along);
        }
    }
    let forward = |side: usize| if side + 1 < count { side + 1 } else { 0 };
    let backward = |side: usize| if side > 0 { side - 1 } else { count - 1 };

    let here = separation(own, side, other);
    let behind = separation(own, backward(side), other);
    let ahead = separation(own, forward(side), other);
    let climbs_back = behind > here && behind > ahead;
    let mut best = if climbs_back {
        (backward(side), behind)
    } else if ahead > here {
        (forward(side), ahead)
    } else {
        return (side, here);
    };
    // At most one turn around the polygon; without this bound, NaN could make the loop endless.
    for _ in 0..count {
        let candidate = if climbs_back { backward(best.0) } else { forward(best.0) };
        let value = separation(own, candidate, other);
        if value > best.1 {
            best = (candidate, value);
        } else {
            break;
        }
    }
    best
}

/// The separation of `other` from a side of `own`.
fn separation(own: Placed, side: usize, other: Placed) -> f32 {
    let normal = own.1.rotation.apply(own.0.normals()[side]);
    let seen = other.1.rotation.undo(normal);
    let mut deepest = (other.0.vertices()[0], f32::MAX);
    for &vertex in other.0.vertices() {
        let height = vertex.dot(seen);
        if height < deepest.1 {
            deepest = (vertex, height);
        }
    }
    let on_side: Vector = own.1.apply(own.0.vertices()[side]);
    (other.1.apply(deepest.0) - on_side).dot(normal)
}

/// The side of `incident` that faces a side of `reference` most directly, in world coordinates.
fn incident_side(reference: Placed, side: usize, incident: Placed) -> [ClipPoint; 2] {
    let normal = reference.1.rotation.apply(reference.0.normals()[side]);
    let normal = incident.1.rotation.undo(normal);
    let mut best = (0, f32::MAX);
    for (index, &candidate) in incident.0.normals().iter().enumerate() {
        let value = normal.dot(candidate);
        if value < best.1 {
            best = (index, value);
        }
    }
    let next = (best.0 + 1) % incident.0.vertices().len();
    [best.0, next].map(|corner| ClipPoint {
        point: incident.1.apply(incident.0.vertices()[corner]),
        feature: Feature {
            first: (FeatureKind::Side, side as u8),
            second: (FeatureKind::Corner, corner as u8),
        },
    })
}

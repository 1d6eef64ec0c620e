//! Contact manifolds: where two convex shapes touch, as points of one against a face of the other.
//! Clipping a segment against a line gives the points.

use crate::settings::{MANIFOLD_POINTS, SKIN};
use crate::transform::Transform;
use crate::vector::Vector;

/// Which shape owns the reference face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    /// The first shape of the contact.
    First,
    /// The second shape of the contact.
    Second,
}

/// Whether a feature of a shape is a corner or a side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FeatureKind {
    #[default]
    Corner,
    Side,
}

/// Identifies a contact point from step to step by the features of both shapes that it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Feature {
    pub first: (FeatureKind, u8),
    pub second: (FeatureKind, u8),
}

impl Feature {
    /// The same with the shapes exchanged.
    pub fn exchanged(self) -> Self {
        Self { first: self.second, second: self.first }
    }
}

/// One point of a manifold, with the impulses that warm-start the solver.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ManifoldPoint {
    /// The point in the frame of the shape that does not own the face.
    pub local: Vector,
    pub normal_impulse: f32,
    pub tangent_impulse: f32,
    pub feature: Feature,
}

/// Up to two points of one shape against a face of the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manifold {
    pub points: [ManifoldPoint; MANIFOLD_POINTS],
    pub count: usize,
    pub face: Face,
    /// The normal of the face in the frame of its shape.
    pub local_normal: Vector,
    /// A point of the face in the frame of its shape.
    pub local_point: Vector,
}

impl Manifold {
    /// The manifold of shapes that do not touch.
    pub const EMPTY: Self = Self {
        points: [ManifoldPoint {
            local: Vector::ZERO,
            normal_impulse: 0.0,
            tangent_impulse: 0.0,
            feature: Feature { first: (FeatureKind::Corner, 0), second: (FeatureKind::Corner, 0) },
        }; MANIFOLD_POINTS],
        count: 0,
        face: Face::First,
        local_normal: Vector::ZERO,
        local_point: Vector::ZERO,
    };

    /// Appends a point.
    pub fn push(&mut self, local: Vector, feature: Feature) {
        self.points[self.count] =
            ManifoldPoint { local, feature, normal_impulse: 0.0, tangent_impulse: 0.0 };
        self.count += 1;
    }

    /// Takes the impulses of points that already existed.
    pub fn inherit_impulses(&mut self, before: &Self) {
        for point in &mut self.points[..self.count] {
            let old = before.points[..before.count].iter().find(|old| old.feature == point.feature);
            if let Some(old) = old {
                point.normal_impulse = old.normal_impulse;
                point.tangent_impulse = old.tangent_impulse;
            }
        }
    }

    /// The normal from the first shape to the second, and the contact points midway between the
    /// skins, in world coordinates.
    pub fn in_world(
        &self,
        first: &Transform,
        second: &Transform,
    ) -> (Vector, [Vector; MANIFOLD_POINTS]) {
        let (owner, other) = match self.face {
            Face::First => (first, second),
            Face::Second => (second, first),
        };
        let normal = owner.rotation.apply(self.local_normal);
        let on_face = owner.apply(self.local_point);
        let mut middles = [Vector::ZERO; MANIFOLD_POINTS];
        for (middle, point) in middles.iter_mut().zip(&self.points[..self.count]) {
            let clip = other.apply(point.local);
            let on_owner = clip + (SKIN - (clip - on_face).dot(normal)) * normal;
            let on_other = clip - SKIN * normal;
            *middle = 0.5 * (on_owner + on_other);
        }
        match self.face {
            Face::First => (normal, middles),
            Face::Second => (-normal, middles),
        }
    }
}

/// An end of a segment that is being clipped.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClipPoint {
    pub point: Vector,
    pub feature: Feature,
}

/// The part of a segment behind a line (Sutherland-Hodgman clipping); `None` if fewer than two
/// points remain. `corner` is the corner of the reference shape that the line goes through.
pub(crate) fn clip(
    segment: [ClipPoint; 2],
    normal: Vector,
    offset: f32,
    corner: u8,
) -> Option<[ClipPoint; 2]> {
    let [start, end] = segment;
    let start_height = normal.dot(start.point) - offset;
    let end_height = normal.dot(end.point) - offset;
    let crossing = || {
        let fraction = start_height / (start_height - end_height);
        ClipPoint {
            point: start.point + fraction * (end.point - start.point),
            feature: Feature {
                first: (FeatureKind::Corner, corner),
                second: (FeatureKind::Side, start.feature.second.1),
            },
        }
    };
    let crosses = start_height * end_height < 0.0;
    match (start_height <= 0.0, end_height <= 0.0) {
        (true, true) => Some([start, end]),
        (true, false) if crosses => Some([start, crossing()]),
        (false, true) if crosses => Some([end, crossing()]),
        _ => None,
    }
}

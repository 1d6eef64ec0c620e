//! The constants of the engine: tolerances, correction factors and limits, in metres, kilograms,
//! seconds and radians.
//!
//! Their values are part of the behaviour: changing the last bit of one changes every trajectory.

use std::f32::consts::PI;

/// The most vertices a polygon may have.
pub const MAX_VERTICES: usize = 16;

/// A contact between two convex shapes needs at most this many points.
pub(crate) const MANIFOLD_POINTS: usize = 2;

/// Lengths below this count as nothing.
pub(crate) const EPSILON: f32 = f32::EPSILON;

/// How far a bounding box is fattened, so that small motions do not touch the broad phase.
pub(crate) const BOUNDS_MARGIN: f32 = 0.1;

/// How many displacements ahead a moved bounding box reaches.
pub(crate) const BOUNDS_FORESIGHT: f32 = 2.0;

/// Penetration that is tolerated to keep contacts alive.
pub(crate) const LINEAR_SLOP: f32 = 0.005;

/// Angular error that is tolerated.
pub(crate) const ANGULAR_SLOP: f32 = 2.0 / 180.0 * PI;

/// Thickness of the skin around every shape.
pub(crate) const SKIN: f32 = 2.0 * LINEAR_SLOP;

/// How often one contact may be sub-stepped within a step.
pub(crate) const MAX_SUB_STEPS: u32 = 8;

/// The most contacts in the island of one time-of-impact event.
pub(crate) const MAX_IMPACT_CONTACTS: usize = 32;

/// Contacts approaching slower than this do not bounce.
pub(crate) const BOUNCE_THRESHOLD: f32 = 1.0;

/// The largest position correction in one iteration.
pub(crate) const MAX_LINEAR_CORRECTION: f32 = 0.2;

/// The largest angle correction in one iteration.
pub(crate) const MAX_ANGULAR_CORRECTION: f32 = 8.0 / 180.0 * PI;

/// The farthest a body may travel in one step.
pub(crate) const MAX_TRANSLATION: f32 = 2.0;

/// The farthest a body may turn in one step.
pub(crate) const MAX_ROTATION: f32 = 0.5 * PI;

/// Fraction of the overlap removed per position iteration.
pub(crate) const CORRECTION_RATE: f32 = 0.2;

/// Fraction of the overlap removed per position iteration of a sub-step.
pub(crate) const IMPACT_CORRECTION_RATE: f32 = 0.75;

/// A body must be still for this long before it sleeps.
pub(crate) const TIME_TO_SLEEP: f32 = 0.5;

/// A body faster than this does not sleep.
pub(crate) const LINEAR_SLEEP_TOLERANCE: f32 = 0.01;

/// A body turning faster than this does not sleep.
pub(crate) const ANGULAR_SLEEP_TOLERANCE: f32 = 2.0 / 180.0 * PI;

/// The full turn used when sweep angles are brought near zero.
pub(crate) const FULL_TURN: f32 = 2.0 * PI;

/// The lesser of two numbers; the second when they are equal or cannot be compared.
///
/// Not `f32::min`: which zero is kept is part of the behaviour.
#[inline]
pub(crate) fn lesser(first: f32, second: f32) -> f32 {
    if first < second { first } else { second }
}

/// The greater of two numbers; the second when they are equal or cannot be compared.
#[inline]
pub(crate) fn greater(first: f32, second: f32) -> f32 {
    if first > second { first } else { second }
}

/// `value` brought into `low..=high`.
#[inline]
pub(crate) fn bounded(value: f32, low: f32, high: f32) -> f32 {
    greater(low, lesser(value, high))
}

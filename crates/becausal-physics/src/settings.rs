//! The constants of the engine: tolerances, correction factors and limits, in metres, kilograms,
//! seconds and radians.
//!
//! Their values are part of the behaviour: changing the last bit of one changes every trajectory.

use std::f32::consts::PI;

/// Maximum number of vertices of a polygon.
pub const MAX_VERTICES: usize = 16;

/// Maximum number of points of a contact between two convex shapes.
pub(crate) const MANIFOLD_POINTS: usize = 2;

/// Lengths below this, in metres, count as zero.
pub(crate) const EPSILON: f32 = f32::EPSILON;

/// By how much a bounding box is fattened on every side, in metres, so that small motions do not
/// affect the broad phase.
pub(crate) const BOUNDS_MARGIN: f32 = 0.1;

/// By how many displacements a moved bounding box is stretched ahead.
pub(crate) const BOUNDS_FORESIGHT: f32 = 2.0;

/// Penetration that is tolerated to keep contacts alive, in metres.
pub(crate) const LINEAR_SLOP: f32 = 0.005;

/// Angular error that is tolerated, in radians.
pub(crate) const ANGULAR_SLOP: f32 = 2.0 / 180.0 * PI;

/// Thickness of the skin around every shape, in metres.
pub(crate) const SKIN: f32 = 2.0 * LINEAR_SLOP;

/// Maximum number of sub-steps of one contact within a step.
pub(crate) const MAX_SUB_STEPS: u32 = 8;

/// Maximum number of contacts in the island of one time-of-impact event.
pub(crate) const MAX_IMPACT_CONTACTS: usize = 32;

/// Contacts that approach slower than this, in metres per second, do not bounce.
pub(crate) const BOUNCE_THRESHOLD: f32 = 1.0;

/// Maximum position correction in one iteration, in metres.
pub(crate) const MAX_LINEAR_CORRECTION: f32 = 0.2;

/// Maximum angle correction in one iteration, in radians.
pub(crate) const MAX_ANGULAR_CORRECTION: f32 = 8.0 / 180.0 * PI;

/// Maximum distance that a body travels in one step, in metres.
pub(crate) const MAX_TRANSLATION: f32 = 2.0;

/// Maximum angle by which a body turns in one step, in radians.
pub(crate) const MAX_ROTATION: f32 = 0.5 * PI;

/// Fraction of the overlap removed per position iteration.
pub(crate) const CORRECTION_RATE: f32 = 0.2;

/// Fraction of the overlap removed per position iteration of a sub-step.
pub(crate) const IMPACT_CORRECTION_RATE: f32 = 0.75;

/// A body must be still for this long, in seconds, before it sleeps.
pub(crate) const TIME_TO_SLEEP: f32 = 0.5;

/// A body faster than this, in metres per second, does not sleep.
pub(crate) const LINEAR_SLEEP_TOLERANCE: f32 = 0.01;

/// A body that turns faster than this, in radians per second, does not sleep.
pub(crate) const ANGULAR_SLEEP_TOLERANCE: f32 = 2.0 / 180.0 * PI;

/// A full turn, used to reduce sweep angles to near zero.
pub(crate) const FULL_TURN: f32 = 2.0 * PI;

/// The lesser of two numbers; the second if they are equal or cannot be compared.
///
/// This is not `f32::min`, because it matters which of 0.0 and -0.0 is returned.
#[inline]
pub(crate) fn lesser(first: f32, second: f32) -> f32 {
    if first < second { first } else { second }
}

/// The greater of two numbers; the second if they are equal or cannot be compared.
#[inline]
pub(crate) fn greater(first: f32, second: f32) -> f32 {
    if first > second { first } else { second }
}

/// `value` clamped to `low..=high`.
#[inline]
pub(crate) fn bounded(value: f32, low: f32, high: f32) -> f32 {
    greater(low, lesser(value, high))
}

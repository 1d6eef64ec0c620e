//! The number of steps that an explanation looks ahead.

use super::error::ChainError;

/// The maximum number of steps in a chain.
pub const MAX_HORIZON: usize = 1000;

/// Checks that a horizon is in range.
///
/// # Errors
/// When the horizon is 0 or above [`MAX_HORIZON`].
pub fn check_horizon(horizon: usize) -> Result<(), ChainError> {
    match horizon {
        1..=MAX_HORIZON => Ok(()),
        given => Err(ChainError::Horizon { given, most: MAX_HORIZON }),
    }
}

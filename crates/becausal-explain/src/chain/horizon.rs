//! How many steps an explanation looks ahead.

use super::error::ChainError;

/// The most steps of a chain.
pub const MAX_HORIZON: usize = 1000;

/// Refuses horizons of no step and of too many.
///
/// # Errors
/// When the horizon is 0 or above [`MAX_HORIZON`].
pub fn check_horizon(horizon: usize) -> Result<(), ChainError> {
    match horizon {
        1..=MAX_HORIZON => Ok(()),
        given => Err(ChainError::Horizon { given, most: MAX_HORIZON }),
    }
}

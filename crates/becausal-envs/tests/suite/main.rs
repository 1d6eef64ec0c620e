//! The built-in environments, compared with Gymnasium and with their own rules.

mod build_marine;
mod environments;
mod lunar_lander;
mod truth;

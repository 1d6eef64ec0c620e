//! Compares the built-in environments with Gymnasium and with their own rules.

mod abilities;
mod build_marine;
mod environments;
mod lunar_lander;
mod truth;

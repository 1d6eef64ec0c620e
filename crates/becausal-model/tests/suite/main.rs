//! Tests of the world model on data whose rules are known.

mod checked;
mod model;
mod shared_noise;
mod walls;

//! Small neural networks: grouped layers, a tape for their gradients, distributions, `AdamW`.
//!
//! Everything is a [`Block`] of numbers `[groups, rows, columns]`. A group is a separate network
//! (for instance one per output variable), a row is a sample. One call of a layer computes all
//! groups. A [`Tape`] records the operations and goes back through them for the gradients. Nothing
//! here uses more than one thread, and all random numbers come from a given stream, so the same
//! seed always gives the same weights. Several networks can be trained in parallel, each on its own
//! thread.

mod activation;
mod adam;
mod block;
mod distribution;
mod gru;
mod label;
mod likelihood;
mod linear;
mod math;
mod normal;
mod parameters;
mod perceptron;
mod product;
mod safetensors;
mod tailed;
mod tape;
mod weights;
mod wide_product;

pub use activation::Activation;
pub use adam::{AdamW, Schedule};
pub use block::{Block, Shape};
pub use distribution::Distribution;
pub use gru::Gru;
pub use likelihood::{Head, Likelihood};
pub use linear::{Layer, Source, VARIANCE_PRESERVING_GAIN};
pub use math::{add_scaled, dot, exp, sigmoid, simd, softplus, tanh};
pub use normal::{log_normal_cdf, normal_cdf};
pub use parameters::{Gradients, Parameter, Parameters};
pub use perceptron::Perceptron;
pub use product::{Transposed, add_product, product};
pub use safetensors::{from_safetensors, to_safetensors};
pub use tape::{Backward, Operation, Pool, Tape, Variable};
pub use weights::{WeightsError, WeightsFormat, fingerprint, take_blocks};

//! Small neural networks: grouped layers, a tape for their gradients, distributions, `AdamW`.
//!
//! Everything is a [`Block`] of numbers `[groups, rows, columns]`. A group is a network of its own
//! (one per output variable, say), a row is a sample; all groups go through a layer in one call.
//! A [`Tape`] records what was computed and goes back through it for the gradients. Nothing here
//! runs on more than one thread and all randomness is drawn from a given stream: the same seed
//! gives the same weights, whatever else the machine does. Several networks learn side by side on
//! threads of their own.

mod activation;
mod adam;
mod block;
mod distribution;
mod gru;
mod likelihood;
mod linear;
mod math;
mod normal;
mod parameters;
mod perceptron;
mod product;
mod safetensors;
mod tape;
mod weights;

pub use activation::Activation;
pub use adam::{AdamW, Schedule};
pub use block::{Block, Shape};
pub use distribution::Distribution;
pub use gru::Gru;
pub use likelihood::{Head, Likelihood};
pub use linear::{EVEN_GAIN, Layer, Source};
pub use math::{add_scaled, dot, exp, sigmoid, simd, softplus, tanh};
pub use normal::{log_normal_cdf, normal_cdf};
pub use parameters::{Gradients, Parameter, Parameters};
pub use perceptron::Perceptron;
pub use product::{Transposed, add_product, product};
pub use safetensors::{from_safetensors, to_safetensors};
pub use tape::{Backward, Operation, Pool, Tape, Variable};
pub use weights::{Kept, WeightsError, fingerprint, take_blocks};

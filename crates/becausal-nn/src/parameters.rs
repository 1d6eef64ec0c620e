//! The parameters of a network and their gradients.

use super::block::{Block, Shape};
use becausal_core::Stream;

/// Identifies a block of a [`Parameters`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter(pub(super) usize);

/// All parameters of a network, in named blocks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parameters {
    names: Vec<String>,
    blocks: Vec<Block>,
}

impl Parameters {
    /// Adds a block of numbers.
    pub fn add(&mut self, name: &str, block: Block) -> Parameter {
        self.names.push(name.to_owned());
        self.blocks.push(block);
        Parameter(self.blocks.len() - 1)
    }

    /// Adds a block of numbers drawn uniformly between `-bound` and `bound`.
    pub fn add_uniform(
        &mut self,
        name: &str,
        shape: Shape,
        bound: f64,
        stream: &mut Stream,
    ) -> Parameter {
        #[expect(clippy::cast_possible_truncation, reason = "weights are single precision")]
        let values = (0..shape.len()).map(|_| stream.uniform(-bound, bound) as f32).collect();
        self.add(name, Block::new(shape, values))
    }

    /// The numbers of a parameter.
    #[must_use]
    pub fn of(&self, parameter: Parameter) -> &Block {
        &self.blocks[parameter.0]
    }

    /// The numbers of a parameter, mutable.
    pub fn of_mut(&mut self, parameter: Parameter) -> &mut Block {
        &mut self.blocks[parameter.0]
    }

    /// Every name with its numbers, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Block)> {
        self.names.iter().map(String::as_str).zip(&self.blocks)
    }

    /// Every name with its numbers, mutable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Block)> {
        self.names.iter().map(String::as_str).zip(&mut self.blocks)
    }

    /// The total number of parameters.
    #[must_use]
    pub fn count(&self) -> usize {
        self.blocks.iter().map(|block| block.shape.len()).sum()
    }

    /// Gradients of all parameters, set to zero.
    #[must_use]
    pub fn gradients(&self) -> Gradients {
        Gradients {
            blocks: self.blocks.iter().map(|block| vec![0.0; block.values.len()]).collect(),
        }
    }
}

/// The gradients of a [`Parameters`], block by block.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients {
    pub(super) blocks: Vec<Vec<f32>>,
}

impl Gradients {
    /// The gradient of a parameter.
    #[must_use]
    pub fn of(&self, parameter: Parameter) -> &[f32] {
        &self.blocks[parameter.0]
    }

    /// The gradient of a parameter, mutable.
    pub fn of_mut(&mut self, parameter: Parameter) -> &mut [f32] {
        &mut self.blocks[parameter.0]
    }

    /// Adds the gradients of another part of the loss.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.blocks.iter_mut().zip(&other.blocks) {
            super::math::add_scaled(mine, 1.0, theirs);
        }
    }

    /// All gradients, in the order in which the parameters were added.
    #[must_use]
    pub fn blocks(&self) -> &[Vec<f32>] {
        &self.blocks
    }

    /// Sets all gradients to zero.
    pub fn clear(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.fill(0.0));
    }

    /// The Euclidean norm of all gradients.
    #[must_use]
    pub fn norm(&self) -> f64 {
        let sum = |block: &Vec<f32>| -> f64 { f64::from(super::math::dot(block, block)) };
        super::math::simd(
            #[inline(always)]
            || self.blocks.iter().map(sum).sum::<f64>(),
        )
        .sqrt()
    }
}

//! The broad phase: finds overlapping fattened bounding boxes by comparing every box that has moved
//! with all others. The pairs are sorted, so their order does not depend on how they were found.

use crate::bounds::Bounds;
use crate::vector::Vector;

/// The fattened boxes of all fixtures, and those that moved since the last call of `new_pairs`.
#[derive(Clone, Debug, Default)]
pub(crate) struct BroadPhase {
    boxes: Vec<Bounds>,
    moved: Vec<usize>,
}

impl BroadPhase {
    /// Adds the box of the next fixture.
    pub fn add(&mut self, bounds: Bounds) {
        self.moved.push(self.boxes.len());
        self.boxes.push(bounds.fattened());
    }

    /// Updates the box of a fixture. Does nothing while it stays within its fattened box.
    pub fn update(&mut self, index: usize, bounds: Bounds, displacement: Vector) {
        if !self.boxes[index].contains(&bounds) {
            self.boxes[index] = bounds.fattened_along(displacement);
            self.moved.push(index);
        }
    }

    /// Whether the fattened boxes of two fixtures overlap.
    pub fn overlaps(&self, first: usize, second: usize) -> bool {
        self.boxes[first].overlaps(&self.boxes[second])
    }

    /// Finds the pairs of overlapping boxes of which at least one has moved: the lower index first,
    /// sorted, without duplicates. Only pairs for which `relevant` returns true are included.
    pub fn new_pairs(
        &mut self,
        pairs: &mut Vec<(usize, usize)>,
        relevant: impl Fn(usize, usize) -> bool,
    ) {
        pairs.clear();
        for &moved in &self.moved {
            let own = self.boxes[moved];
            for (other, bounds) in self.boxes.iter().enumerate() {
                if other != moved && relevant(moved, other) && own.overlaps(bounds) {
                    pairs.push((moved.min(other), moved.max(other)));
                }
            }
        }
        self.moved.clear();
        pairs.sort_unstable();
        pairs.dedup();
    }
}

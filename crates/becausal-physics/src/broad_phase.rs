//! The broad phase: which fattened bounding boxes overlap, by comparing every box that has moved
//! with all others. Pairs come out sorted, so the order does not depend on how they were found.

use crate::bounds::Bounds;
use crate::vector::Vector;

/// The fattened boxes of all fixtures, and which of them have moved since pairs were last asked for.
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

    /// Tells where a fixture is now. Does nothing while it stays within its fattened box.
    pub fn update(&mut self, index: usize, bounds: Bounds, displacement: Vector) {
        if !self.boxes[index].contains(&bounds) {
            self.boxes[index] = bounds.fattened_along(displacement);
            self.moved.push(index);
        }
    }

    /// True when the fattened boxes of two fixtures overlap.
    pub fn overlaps(&self, first: usize, second: usize) -> bool {
        self.boxes[first].overlaps(&self.boxes[second])
    }

    /// The pairs of overlapping boxes of which at least one has moved, the lower index first,
    /// sorted, without repetition. `relevant` spares the caller the pairs it would drop anyway.
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

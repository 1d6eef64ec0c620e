//! Detects when an iteration repeats itself (Brent's cycle detection).
//!
//! Iterative solvers in floating point soon reach a fixed point or a short cycle of states. From
//! then on the result of the remaining iterations is known, and they can be skipped. The result is
//! the same to the last bit.

/// The bits of a remembered state.
pub(crate) type Memory = Vec<u32>;

/// Counts iterations and detects when a state repeats.
#[derive(Debug)]
pub(crate) struct Watch {
    remaining: usize,
    /// Iterations since the state was remembered.
    age: usize,
    /// At this age the current state is remembered instead.
    span: usize,
    /// Whether this span is used for the second time.
    second: bool,
    /// Whether no state was remembered yet.
    blank: bool,
}

impl Watch {
    /// Watches this many iterations.
    pub fn new(iterations: usize) -> Self {
        Self { remaining: iterations, age: 0, span: 1, second: false, blank: true }
    }

    /// Counts the next iteration. Returns false if there are no more.
    #[inline]
    pub fn next_iteration(&mut self) -> bool {
        let more = self.remaining > 0;
        self.remaining -= usize::from(more);
        more
    }

    /// The number of iterations left.
    pub fn remaining(&self) -> usize {
        self.remaining
    }

    /// Skips as many whole periods as fit into the remaining iterations.
    pub fn skip(&mut self, period: usize) {
        self.remaining %= period;
    }

    /// Must be called with the state after every iteration. Returns the number of iterations since
    /// the state was the same, if it was.
    ///
    /// A cycle of length n is detected within about 3 n iterations after it was entered.
    #[inline]
    pub fn repeats(
        &mut self,
        state: impl Iterator<Item = f32> + Clone,
        memory: &mut Memory,
    ) -> Option<usize> {
        self.age += 1;
        let first = state.clone().next().map(f32::to_bits);
        // Most states differ in their first number.
        if !self.blank
            && memory.first() == first.as_ref()
            && state.clone().map(f32::to_bits).eq(memory.iter().copied())
        {
            return Some(self.age);
        }
        if self.blank || self.age >= self.span {
            memory.clear();
            memory.extend(state.map(f32::to_bits));
            if self.second {
                self.span *= 2;
            }
            self.second = !self.second;
            self.age = 0;
            self.blank = false;
        }
        None
    }
}

//! Notices when an iteration repeats itself (cycle detection after Brent).
//!
//! Iterative solvers in floating point soon reach a state that they leave alone, or a short circle
//! of states. From there on the result of the remaining iterations is known, and they need not be
//! run. The result stays the same to the last bit.

/// The bits of a remembered state.
pub(crate) type Memory = Vec<u32>;

/// Counts iterations and watches for a state to come back.
#[derive(Debug)]
pub(crate) struct Watch {
    remaining: usize,
    /// Iterations since the state was remembered.
    age: usize,
    /// At this age the state is remembered anew.
    span: usize,
    /// Whether this span comes for the first or for the second time.
    second: bool,
    /// Nothing is remembered yet.
    blank: bool,
}

impl Watch {
    /// Watches this many iterations.
    pub fn new(iterations: usize) -> Self {
        Self { remaining: iterations, age: 0, span: 1, second: false, blank: true }
    }

    /// Counts an iteration that is about to begin; false when there are no more.
    #[inline]
    pub fn goes_on(&mut self) -> bool {
        let more = self.remaining > 0;
        self.remaining -= usize::from(more);
        more
    }

    /// How many iterations are left.
    pub fn remaining(&self) -> usize {
        self.remaining
    }

    /// Leaves out as many of the remaining iterations as whole periods fit.
    pub fn skip(&mut self, period: usize) {
        self.remaining %= period;
    }

    /// To be called with the state after every iteration: the number of iterations since the state
    /// was the same, if it was.
    ///
    /// A circle of length n is noticed within about 3 n iterations after it was entered.
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

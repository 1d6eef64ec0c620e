//! Failures of code that does not belong to this program: agents and environments in another language.

/// What watches over such code. While an answer is being made it may be given made-up actions instead of stopping at
/// once; the answer is then thrown away.
pub trait Failures: Send + Sync {
    /// How often it failed so far.
    fn count(&self) -> usize;

    /// What it said when it failed; it may be called again from now on.
    fn take(&self) -> String;
}

/// For code that cannot fail.
pub struct NoFailures;

impl Failures for NoFailures {
    fn count(&self) -> usize {
        0
    }

    fn take(&self) -> String {
        String::new()
    }
}

//! What really happens after a change, beside what the model claims.

use becausal::explain::Change;
use becausal::{RealCourse, Run};

use crate::episodes::Episodes;
use crate::question::Question;
use crate::refusal::Refusal;

/// A claim, tried in the environment with the same noise.
pub struct Truth {
    /// The other course, for real.
    pub real: RealCourse,
    /// The return without the change.
    pub return_of_record: f64,
    /// The return with it.
    pub return_of_change: f64,
    /// How much more reward the model says that the course without the change earns.
    pub claimed: f64,
}

impl Truth {
    /// Tries what a question asks about.
    ///
    /// # Errors
    /// When the environment cannot be replayed, or put into the changed state.
    pub fn of(run: &Run, episodes: &Episodes, question: &Question) -> Result<Self, Refusal> {
        let ask = question.ask()?;
        let (chosen, moment) = question.moment(run, episodes)?;
        let change = question.asked_change(run, &moment)?;
        let claimed = run.explainer(&ask)?.compare(&moment, &change)?;
        let length = claimed.steps();
        let course =
            |change: &Change| run.real_course(chosen.source(), question.step, change, length);
        let (real, same) = (course(&change)?, course(&Change::default())?);
        Ok(Self {
            return_of_record: same.trajectory.discounted(ask.discount),
            return_of_change: real.trajectory.discounted(ask.discount),
            claimed: claimed.credit.difference(),
            real,
        })
    }

    /// How much more reward the course without the change really earns.
    pub fn difference(&self) -> f64 {
        self.return_of_record - self.return_of_change
    }
}

//! What a model did not expect, in a sentence.

use super::words::{action_of, be, instead, title};
use becausal_core::Node;
use becausal_core::trajectory::{Step, Trajectory};
use becausal_model::{Dynamics, Noise, Prediction};

/// The variable of a recorded step that the model expected least, with what it expected: `After engine = main vertical
/// velocity is 0, where -0.31 was expected.` `None` where nothing was recorded, or the model cannot say.
#[must_use]
pub fn surprise_text(dynamics: &dyn Dynamics, record: &Trajectory) -> Option<String> {
    let schema = record.schema();
    let step = record.steps().first()?;
    let each = dynamics.surprise(&step.state, &step.action, &step.outcomes, &step.next)?;
    let Prediction { outcomes, next } =
        dynamics.step(&step.state, &step.action, &Noise::most_likely());
    let parts = [&step.state[..], &step.action, &outcomes, &next];
    let expected = Step::new(schema, parts, None);
    let expected = Trajectory::new(schema.clone(), record.first(), vec![expected]).ok()?;
    let effect = (0..each.len()).max_by(|a, b| each[*a].total_cmp(&each[*b]))?;
    let farthest = match effect.checked_sub(record.shape().states.len()) {
        None => Node::state(1, effect),
        Some(outcome) => Node::outcome(0, outcome),
    };
    let (this, other) =
        instead(farthest.variable(schema), record.value(farthest)?, expected.value(farthest)?);
    let name = title(schema, farthest);
    Some(format!(
        "After {} {name} {} {this}, where {other} was expected.",
        action_of(schema, step),
        be(name)
    ))
}

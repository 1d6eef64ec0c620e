//! What a model did not expect, in a sentence.

use super::words::{action_of, be, instead, title};
use becausal_core::Node;
use becausal_core::trajectory::{Step, Trajectory};
use becausal_explain::Scale;
use becausal_model::{Dynamics, Noise, Prediction};

/// The variable that a recorded step moved farthest from what the model expected: `After engine = main vertical velocity
/// is 0 instead of the -0.31 that was expected.` `None` where nothing was recorded.
#[must_use]
pub fn surprise_text(
    dynamics: &dyn Dynamics,
    scale: &Scale,
    record: &Trajectory,
) -> Option<String> {
    let schema = record.schema();
    let step = record.steps().first()?;
    let Prediction { outcomes, next } =
        dynamics.step(&step.state, &step.action, &Noise::most_likely());
    let parts = [&step.state[..], &step.action, &outcomes, &next];
    let expected = Step::new(schema, parts, None);
    let expected = Trajectory::new(schema.clone(), record.first(), vec![expected]).ok()?;
    let shape = record.shape();
    let states = (0..shape.states.len()).map(|index| Node::state(1, index));
    let nodes = states.chain((0..shape.outcomes.len()).map(|index| Node::outcome(0, index)));
    let off = |node: Node| match (record.value(node), expected.value(node)) {
        (Some(this), Some(other)) => scale.size(node, this, other),
        _ => 0.0,
    };
    let farthest = nodes.max_by(|a, b| off(*a).total_cmp(&off(*b)))?;
    let (this, other) =
        instead(farthest.variable(schema), record.value(farthest)?, expected.value(farthest)?);
    let name = title(schema, farthest);
    Some(format!(
        "After {} {name} {} {this}, where {other} was expected.",
        action_of(schema, step),
        be(name)
    ))
}

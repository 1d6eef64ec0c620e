//! How much memory a fit takes, estimated before anything is allocated.

use becausal_core::schema::{Role, Schema, Variable};

use super::encoding::features;
use super::network::Sizes;
use super::train::ModelParams;

/// The most networks in an ensemble.
pub const MAX_MEMBERS: usize = 1000;

/// Bytes of a parameter or a feature, in single precision.
const SINGLE: f64 = 4.0;
/// Bytes of a value in a column.
const DOUBLE: f64 = 8.0;

impl ModelParams {
    /// About how many bytes a fit to this many rows takes: the rows, encoded and as they are, the
    /// networks, and what their training needs.
    #[must_use]
    pub fn memory(&self, schema: &Schema, rows: usize) -> u64 {
        let count = |role| schema.of_role(role).count() as f64;
        let (states, actions) = (count(Role::State), count(Role::Action));
        let effects = states + count(Role::Outcome);
        let widest = |role| schema.of_role(role).map(inputs).fold(1.0, f64::max);
        let outputs = schema.variables().iter().filter(|v| v.role != Role::Action).map(outputs);
        let (features, actions_features) = (widest(Role::State), widest(Role::Action));
        let outputs = outputs.fold(1.0, f64::max);
        let Sizes { encoder, hidden, action, key } = self.sizes;
        let [e, h, a, k] = [encoder, hidden, action, key].map(|width| width as f64);
        let encoders =
            states * (features * e + 2.0 * e * e) + actions * (actions_features * e + 2.0 * e * e);
        let each = 3.0 * a * (e + a) + a * k + a * h + e * h + 2.0 * h * h + h * outputs;
        let parameters = encoders + effects * each;
        let rows = rows as f64;
        let batch = self.batch as f64;
        // Each network is kept with its best parameters so far. Gradients and the optimiser's two
        // moments are there once for each thread.
        let (members, threads) = (self.members as f64, rayon::current_num_threads() as f64);
        let networks = SINGLE * parameters * (2.0 * members + 4.0 * threads);
        let activations =
            SINGLE * threads * batch * 4.0 * (states * e + effects * (2.0 * h + outputs));
        let slots = schema.slots().len() as f64;
        let inputs = states * features + actions * actions_features;
        let data = rows * (SINGLE * (inputs + 2.0 * slots) + 2.0 * DOUBLE * slots);
        let total = networks + activations + data;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let bytes = total as u64;
        bytes
    }
}

/// The inputs that a variable needs at most: each number may have a magnitude too.
fn inputs(variable: &Variable) -> f64 {
    (features(variable, false) + variable.elements()) as f64
}

/// The parameters of a variable's distribution.
fn outputs(variable: &Variable) -> f64 {
    features(variable, false).max(2 * variable.elements()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_that_of_the_networks_and_the_rows() {
        let entry = becausal_envs::find("CartPole-v1").expect("an environment");
        let schema = entry.schema();
        let one = ModelParams { members: 1, ..ModelParams::default() };
        let many = ModelParams { members: 1001, ..ModelParams::default() };
        let each = (many.memory(&schema, 0) - one.memory(&schema, 0)) / 1000;
        // A network of CartPole has about 150,000 parameters, each 4 bytes, kept twice.
        assert!((600_000..2_000_000).contains(&each), "{each}");
        let row = (one.memory(&schema, 1_000_000) - one.memory(&schema, 0)) / 1_000_000;
        assert!((100..500).contains(&row), "{row}");
        let huge = ModelParams { members: usize::MAX, ..ModelParams::default() };
        assert!(huge.memory(&schema, usize::MAX) > 1 << 60);
    }
}

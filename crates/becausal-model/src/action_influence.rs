//! The action influence model (AIM): which states matter to which effects under an action.

use rayon::prelude::*;

use becausal_core::data::Transitions;
use becausal_core::progress::{Listener, Tracker};

use super::influence::Influence;
use super::member::Member;
use super::probe::Probe;
use super::world_model::{WorldModel, evenly};

/// Maximum number of rows on which an influence is measured.
const MAX_ROWS_MEASURED: usize = 1024;

/// A difference below this share of a variable's standard deviation in the data is negligible. It is no
/// influence, explanations leave it out, and the audit does not count it.
pub const NEGLIGIBLE: f64 = 0.01;

impl WorldModel {
    /// Influence by weight, as in the paper: the influence weights alpha under an action. A
    /// persistent value has weight 1 for its own next value, and so has what is in a linear law.
    ///
    /// `None` for models without influence weights.
    #[must_use]
    pub fn influence_by_weight(&self, action: &[f64]) -> Option<Influence> {
        let (states, effects) = (self.structure.states(), self.structure.effects());
        let first = self.schema().action_slots().start;
        let inputs = self.encoding.inputs(
            1,
            |_, slot| {
                if slot < first { 0.0 } else { action[slot - first] }
            },
        );
        let row = inputs.action_of[0] as usize;
        let of_member = |member: &Member| -> Option<Vec<f64>> {
            let alpha = member.action_part(inputs.actions.clone(), &self.structure)?.alpha;
            let mut weights = Vec::with_capacity(effects * states);
            for effect in 0..effects {
                for (state, &alpha) in alpha.row(effect, row)[..states].iter().enumerate() {
                    let is_certain = self.persistence.reads(effect, row, state);
                    weights.push(if is_certain { 1.0 } else { f64::from(alpha) });
                }
            }
            Some(weights)
        };
        let members: Option<Vec<_>> = self.members.iter().map(of_member).collect();
        Some(Influence::new(effects, states, &members?))
    }

    /// Influence by *effect*, over recorded transitions that have something in common, for instance
    /// an action: the loss of log-likelihood when a state variable is replaced by its value in
    /// another of the transitions.
    ///
    /// A loss of L nats becomes a weight of 1 - exp(-2 L). For a normal prediction this is the
    /// share of the variance. Use transitions that the model was not trained on.
    ///
    /// # Panics
    /// When there are no transitions.
    #[must_use]
    pub fn influence_by_effect(&self, data: &Transitions, seed: u64) -> Influence {
        assert!(!data.is_empty(), "measuring an influence needs transitions");
        let rows: Vec<usize> = evenly(data.len(), MAX_ROWS_MEASURED).collect();
        let mut rows = self.encoding.encode_all(data, &Tracker::unheard()).select(&rows);
        self.encoding.leave_out_stops(&mut rows.targets);
        let nobody = &Listener::NOBODY;
        let probe = Probe::new(&self.encoding, &self.structure, rows, seed, self.kind, nobody);
        let of_member = |member: &Member| -> Vec<f64> {
            let losses = probe.losses(member, &self.structure, &|_, _| ());
            losses
                .iter()
                .map(|rows| weight(rows.iter().sum::<f64>() / rows.len().max(1) as f64))
                .collect()
        };
        let members: Vec<Vec<f64>> = self.members.par_iter().map(of_member).collect();
        Influence::new(self.structure.effects(), self.structure.states(), &members)
    }
}

/// Converts a loss in nats to a weight between 0 and 1.
pub(super) fn weight(loss: f64) -> f64 {
    1.0 - (-2.0 * loss.max(0.0)).exp()
}

//! The action influence model (AIM): which states matter to which effects under an action.

use rayon::prelude::*;

use becausal_core::data::Transitions;
use becausal_core::progress::{Listener, Tracker};
use becausal_core::schema::Role;
use becausal_nn::Distribution;

use super::influence::Influence;
use super::member::Member;
use super::probe::{Probe, TOLERANCE};
use super::world_model::{WorldModel, evenly};

/// Maximum number of rows on which an influence is measured.
const MAX_ROWS_MEASURED: usize = 1024;

/// A difference below this share of a variable's standard deviation in the data is negligible. It is no
/// influence, explanations leave it out, and the audit does not count it.
pub const NEGLIGIBLE: f64 = 0.01;

/// Number of values that replace a state variable to measure its influence in a single state.
const SUBSTITUTES: usize = 16;

impl WorldModel {
    /// Influence by weight, as in the paper: the influence weights alpha under an action. A
    /// persistent value has weight 1 for its own next value.
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
            let alpha = member.weights(inputs.actions.clone(), &self.structure)?;
            let mut weights = Vec::with_capacity(effects * states);
            for effect in 0..effects {
                let stays = f64::from(self.persistence.stays(effect, row));
                for (state, &alpha) in alpha.row(effect, row)[..states].iter().enumerate() {
                    let alpha = f64::from(alpha);
                    weights.push(if state == effect { alpha.max(stays) } else { alpha });
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
        let rows = self.encoding.encode_all(data, &Tracker::unheard()).select(&rows);
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

    /// Influence by effect in a single state: the divergence of the prediction of each effect when
    /// a state variable takes other values from the data.
    #[must_use]
    pub fn influence_here(&self, state: &[f64], action: &[f64]) -> Influence {
        let (states, effects) = (self.structure.states(), self.structure.effects());
        // Row 0 is the state itself; then come the substitutes of every variable.
        let first_action = self.schema().action_slots().start;
        let variables: Vec<usize> = self.state_variable_of_slots();
        let inputs = self.encoding.inputs(1 + states * SUBSTITUTES, |row, slot| {
            if slot >= first_action {
                return action[slot - first_action];
            }
            match row.checked_sub(1) {
                Some(at) if at / SUBSTITUTES == variables[slot] => {
                    self.encoding.substitute(slot, at % SUBSTITUTES, SUBSTITUTES)
                }
                _ => state[slot],
            }
        });
        let of_member = |member: &Member| {
            let outputs = member.predict(&inputs, &self.structure);
            let mut weights = vec![0.0; effects * states];
            for (index, target) in self.encoding.targets().iter().enumerate() {
                let distribution = &target.head.distribution;
                let here = target.head.parameters(&outputs, 0);
                let mean = |parameters| self.encoding.raw(index, distribution.mean(parameters));
                for &state in self.structure.state_parents(target.effect) {
                    let moved = (0..SUBSTITUTES).map(|at| {
                        let there = target.head.parameters(&outputs, 1 + state * SUBSTITUTES + at);
                        let is_number = distribution.deviation(here).is_some();
                        let step = (mean(there) - mean(here)).abs();
                        if is_number && step <= NEGLIGIBLE * target.spread {
                            return 0.0;
                        }
                        divergence(distribution, here, there)
                    });
                    weights[target.effect * states + state] +=
                        moved.sum::<f64>() / SUBSTITUTES as f64;
                }
            }
            weights.into_iter().map(weight).collect()
        };
        let members: Vec<Vec<f64>> = self.members.iter().map(of_member).collect();
        Influence::new(effects, states, &members)
    }

    /// The state variable that each state slot belongs to.
    fn state_variable_of_slots(&self) -> Vec<usize> {
        let each = self.schema().of_role(Role::State).enumerate();
        each.flat_map(|(at, variable)| std::iter::repeat_n(at, variable.elements())).collect()
    }
}

/// Converts a loss in nats to a weight between 0 and 1.
fn weight(loss: f64) -> f64 {
    1.0 - (-2.0 * loss.max(0.0)).exp()
}

/// The Kullback-Leibler divergence of two predictions, in nats.
fn divergence(distribution: &Distribution, here: &[f32], there: &[f32]) -> f64 {
    match distribution {
        Distribution::Normal { .. }
        | Distribution::Rounded { .. }
        | Distribution::Bounded { .. } => {
            // Rounding to whole numbers is noise too: uniform within half a step.
            let rounding = match distribution {
                Distribution::Rounded { half, .. } => half / 3.0_f64.sqrt(),
                _ => 0.0,
            };
            let deviation = |parameters| {
                let own: f64 = distribution.deviation(parameters).unwrap_or(1.0);
                own.hypot(TOLERANCE).hypot(rounding)
            };
            let (a, b) = (deviation(here), deviation(there));
            let moved = f64::from(here[0]) - f64::from(there[0]);
            (b / a).ln() + (a * a + moved * moved) / (2.0 * b * b) - 0.5
        }
        Distribution::Bernoulli => {
            let share = |parameters: &[f32]| {
                (1.0 / (1.0 + (-f64::from(parameters[0])).exp())).clamp(1e-6, 1.0 - 1e-6)
            };
            let (p, q) = (share(here), share(there));
            p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln()
        }
        Distribution::Categorical(labels) => {
            let shares = |parameters: &[f32]| -> Vec<f64> {
                let top = parameters.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
                let raw: Vec<f64> =
                    parameters[..*labels].iter().map(|p| f64::from(p - top).exp()).collect();
                let total: f64 = raw.iter().sum();
                raw.iter().map(|raw| (raw / total).max(1e-6)).collect()
            };
            shares(here).iter().zip(shares(there)).map(|(p, q)| p * (p / q).ln()).sum()
        }
    }
}

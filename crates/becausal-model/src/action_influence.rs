//! The action influence model (AIM): which states matter to which effects under an action.

use rayon::prelude::*;

use becausal_core::data::Transitions;
use becausal_core::progress::{Listener, Tracker};
use becausal_core::schema::Role;
use becausal_nn::{Block, Distribution};

use super::influence::Influence;
use super::member::Member;
use super::probe::{Probe, TOLERANCE};
use super::world_model::{WorldModel, evenly};

/// Maximum number of rows on which an influence is measured.
const MAX_ROWS_MEASURED: usize = 1024;

/// A difference below this share of a variable's standard deviation in the data is negligible. It is no
/// influence, explanations leave it out, and the audit does not count it.
pub const NEGLIGIBLE: f64 = 0.01;

/// How many standard deviations among the members of an ensemble a predicted step must have to count as an
/// influence. Chosen among 0, 1, 2 and 4 by the audit of influences, with 60 states, of a trained lander and a trained
/// `BuildMarine` (seed 61): precision .84, .87, .92, .93 and .86, .89, .94, .98, recall .94, .94, .93, .93 and
/// .96, .94, .90, .83.
const CLEAR: f64 = 2.0;

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
        let outputs: Vec<Block> =
            self.members.iter().map(|member| member.predict(&inputs, &self.structure)).collect();
        let mut weights = vec![vec![0.0; effects * states]; outputs.len()];
        for (index, target) in self.encoding.targets().iter().enumerate() {
            let distribution = &target.head.distribution;
            for &state in self.structure.state_parents(target.effect) {
                for row in (1 + state * SUBSTITUTES..).take(SUBSTITUTES) {
                    let parameters = |outputs, row| target.head.parameters(outputs, row);
                    let mean = |outputs, row| {
                        self.encoding.raw(index, distribution.mean(parameters(outputs, row)))
                    };
                    let steps = outputs.iter().map(|outputs| mean(outputs, row) - mean(outputs, 0));
                    let is_number = distribution.deviation(parameters(&outputs[0], 0)).is_some();
                    if is_number
                        && !is_clear(&steps.collect::<Vec<_>>(), NEGLIGIBLE * target.spread)
                    {
                        continue;
                    }
                    for (outputs, weights) in outputs.iter().zip(&mut weights) {
                        let (here, there) = (parameters(outputs, 0), parameters(outputs, row));
                        weights[target.effect * states + state] +=
                            divergence(distribution, here, there) / SUBSTITUTES as f64;
                    }
                }
            }
        }
        for weights in weights.iter_mut().flatten() {
            *weights = weight(*weights);
        }
        Influence::new(effects, states, &weights)
    }

    /// The state variable that each state slot belongs to.
    fn state_variable_of_slots(&self) -> Vec<usize> {
        let each = self.schema().of_role(Role::State).enumerate();
        each.flat_map(|(at, variable)| std::iter::repeat_n(at, variable.elements())).collect()
    }
}

/// Whether the mean step that the members of an ensemble predict is larger than `least`, and clearly
/// larger than what they differ by: an influence that only some networks see is more likely theirs than the
/// environment's.
fn is_clear(steps: &[f64], least: f64) -> bool {
    let count = steps.len() as f64;
    let mean = steps.iter().sum::<f64>() / count;
    let squares: f64 = steps.iter().map(|step| (step - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
    mean.abs() > least.max(CLEAR * deviation)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_counts_where_the_members_agree_about_it() {
        assert!(is_clear(&[1.0, 1.1, 0.9], 0.5));
        assert!(!is_clear(&[1.0, 1.1, 0.9], 2.0), "negligible");
        assert!(!is_clear(&[2.0, 0.1, 0.9], 0.5), "the members differ");
        assert!(!is_clear(&[1.0, -1.0, 0.0], 0.0), "no direction");
        assert!(is_clear(&[1.0], 0.5), "a single member cannot differ");
    }
}

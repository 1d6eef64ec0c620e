//! The action influence model (AIM): which states matter to which effects under an action.

use rayon::prelude::*;

use becausal_core::data::Transitions;
use becausal_core::schema::Role;
use becausal_nn::Distribution;

use super::influence::Influence;
use super::member::Member;
use super::probe::{Probe, TOLERANCE};
use super::world_model::{WorldModel, evenly};

/// Held-out rows of each action that an influence is measured on, at most.
const MEASURED: usize = 1024;

/// Values that stand in for a state variable when its influence in a single state is measured.
const STAND_INS: usize = 16;

impl WorldModel {
    /// The paper's conversion: the influence weights alpha under an action. A value that stays by
    /// itself has weight 1 for its own next value.
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

    /// Influence by *effect*, over recorded transitions that share something (an action, say): how
    /// much log-likelihood is lost when a state variable is replaced by its value in another of the
    /// transitions, and all else stays.
    ///
    /// A loss of L nats becomes a weight of 1 - exp(-2 L): of what the model explains together with
    /// its noise, the share that is lost. Transitions that the model has not learned from give an
    /// honest answer.
    ///
    /// # Panics
    /// When there are no transitions.
    #[must_use]
    pub fn influence_by_effect(&self, data: &Transitions, seed: u64) -> Influence {
        assert!(!data.is_empty(), "an influence is measured on transitions");
        let rows: Vec<usize> = evenly(data.len(), MEASURED).collect();
        let rows = self.encoding.encode_all(data).select(&rows);
        let probe = Probe::new(&self.encoding, &self.structure, rows, seed);
        let of_member = |member: &Member| -> Vec<f64> {
            let lost = probe.lost(member, &self.structure);
            lost.iter()
                .map(|rows| weight(rows.iter().sum::<f64>() / rows.len().max(1) as f64))
                .collect()
        };
        let members: Vec<Vec<f64>> = self.members.par_iter().map(of_member).collect();
        Influence::new(self.structure.effects(), self.structure.states(), &members)
    }

    /// Influence by effect in a single state: how far the prediction of each effect moves when a
    /// state variable takes other values of the data, as a divergence from the prediction here.
    #[must_use]
    pub fn influence_here(&self, state: &[f64], action: &[f64]) -> Influence {
        let (states, effects) = (self.structure.states(), self.structure.effects());
        // Row 0 is the state itself, then the stand-ins of every variable.
        let first_action = self.schema().action_slots().start;
        let variables: Vec<usize> = self.state_variable_of_slots();
        let inputs = self.encoding.inputs(1 + states * STAND_INS, |row, slot| {
            if slot >= first_action {
                return action[slot - first_action];
            }
            match row.checked_sub(1) {
                Some(at) if at / STAND_INS == variables[slot] => {
                    self.encoding.stand_in(slot, at % STAND_INS, STAND_INS)
                }
                _ => state[slot],
            }
        });
        let of_member = |member: &Member| {
            let said = member.predict(&inputs, &self.structure);
            let mut weights = vec![0.0; effects * states];
            for target in self.encoding.targets() {
                let here = target.head.parameters(&said, 0);
                for &state in self.structure.state_parents(target.effect) {
                    let moved = (0..STAND_INS).map(|at| {
                        let there = target.head.parameters(&said, 1 + state * STAND_INS + at);
                        divergence(&target.head.distribution, here, there)
                    });
                    weights[target.effect * states + state] +=
                        moved.sum::<f64>() / STAND_INS as f64;
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

/// From a loss in nats to a weight between 0 and 1.
fn weight(lost: f64) -> f64 {
    1.0 - (-2.0 * lost.max(0.0)).exp()
}

/// How different two predictions are, in nats: Kullback and Leibler's divergence.
fn divergence(distribution: &Distribution, here: &[f32], there: &[f32]) -> f64 {
    match distribution {
        Distribution::Normal { .. }
        | Distribution::Rounded { .. }
        | Distribution::Bounded { .. } => {
            // A whole number's own rounding is noise, too: a uniform one of half a step.
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

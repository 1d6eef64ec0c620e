//! The audit of influences: a chain says that a variable, in this state, moves another. Is it so?

use becausal_core::Transitions;
use becausal_core::env::Environment;
use becausal_model::{Dynamics, Influence};

use super::score::{Measure, Sums};
use crate::error::ExplainError;
use crate::scale::Scale;

/// Who says which variables move which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// The chains: by the effect of other values in this state.
    Chains,
    /// The attention of the networks, which is the same in all states.
    Attention,
    /// All parents of the graph that the model has.
    Graph,
    /// Every pair.
    Everything,
}

impl Voice {
    pub const ALL: [Self; 4] = [Self::Chains, Self::Attention, Self::Graph, Self::Everything];

    pub fn name(self) -> &'static str {
        match self {
            Self::Chains => "chains",
            Self::Attention => "attention",
            Self::Graph => "graph",
            Self::Everything => "everything",
        }
    }
}

/// Other values of every state variable, from the data, for a model that does not say which it tries.
const SUBSTITUTES: usize = 16;

/// The values that every state variable takes in turn.
pub(super) struct Substitutes {
    /// `[variables][substitutes][slots of the variable]`
    values: Vec<Vec<Vec<f64>>>,
    /// The first slot of every variable.
    first: Vec<usize>,
}

impl Substitutes {
    /// The values that the influences of a chain are measured with; of a model without any, values at evenly spaced ranks.
    pub fn of(dynamics: &dyn Dynamics, data: &Transitions) -> Self {
        let shape = becausal_core::Shape::of(data.schema());
        let first = shape.states.iter().map(|range| range.start).collect();
        let values = dynamics.substitutes();
        if values.len() == shape.states.len() {
            return Self { values, first };
        }
        let of_variable = |range: &std::ops::Range<usize>| {
            let mut rows: Vec<Vec<f64>> = (0..data.len())
                .map(|row| range.clone().map(|slot| data.column(slot).get(row)).collect())
                .collect();
            rows.sort_by(|left, right| {
                let pairs = left.iter().zip(right).map(|(left, right)| left.total_cmp(right));
                pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
            });
            let count = SUBSTITUTES.min(rows.len());
            (0..count).map(|at| rows[(2 * at + 1) * rows.len() / (2 * count)].clone()).collect()
        };
        Self { values: shape.states.iter().map(of_variable).collect(), first }
    }
}

/// The claims about one state.
pub(super) struct Influences<'a> {
    pub dynamics: &'a dyn Dynamics,
    pub substitutes: &'a Substitutes,
    pub scale: &'a Scale,
    /// The smallest change that counts, as a share of the standard deviation.
    pub threshold: f64,
    /// Only influences above this count.
    pub tau: f64,
}

impl Influences<'_> {
    /// Changes every state variable in turn, with the same noise, and sees which effects move; `None` where
    /// the environment cannot be put into a state.
    pub fn examine<E: Environment>(
        &self,
        start: &E,
        action: &[f64],
    ) -> Result<Option<[Sums; Voice::ALL.len()]>, ExplainError> {
        let state = start.state().to_vec();
        let mut here = start.clone();
        if !here.set_state(&state) {
            return Ok(None);
        }
        let base = effects(&mut here, action)?;
        let tau = self.tau;
        // Which values could be tried, and which effects moved with any of them.
        let mut tried = Vec::with_capacity(self.substitutes.values.len());
        let mut moved = vec![vec![false; self.scale.effects()]; self.substitutes.values.len()];
        for (cause, values) in self.substitutes.values.iter().enumerate() {
            let mut could = vec![false; values.len()];
            for (value, could) in values.iter().zip(&mut could) {
                let mut other = state.clone();
                other[self.substitutes.first[cause]..][..value.len()].copy_from_slice(value);
                let mut there = start.clone();
                if other == state || !there.set_state(&other) {
                    continue;
                }
                *could = true;
                let after = effects(&mut there, action)?;
                for (effect, moved) in moved[cause].iter_mut().enumerate() {
                    *moved |= self.scale.differs(effect, &base, &after, self.threshold);
                }
            }
            tried.push(could);
        }
        // A value that the environment refuses, such as a height below the ground, can be no reason for a claim either.
        let local = self.dynamics.influence_by(&state, action, &tried);
        let attention = self.dynamics.attention(action);
        let mut sums = [Sums::default(); Voice::ALL.len()];
        for (cause, (tried, moved)) in tried.iter().zip(moved).enumerate() {
            if !tried.contains(&true) {
                continue;
            }
            for (effect, &moved) in moved.iter().enumerate() {
                for (voice, sums) in Voice::ALL.into_iter().zip(&mut sums) {
                    let above = |influence: &Influence| influence.weight(effect, cause) > tau;
                    let claimed = match voice {
                        Voice::Chains => above(&local),
                        Voice::Attention => match &attention {
                            Some(attention) => above(attention),
                            None => continue,
                        },
                        Voice::Graph => self.dynamics.parents(effect).contains(&cause),
                        Voice::Everything => true,
                    };
                    sums.claim([Measure::Precision, Measure::Recall], claimed, moved);
                }
            }
        }
        Ok(Some(sums))
    }
}

/// The effects of an action: next state, then outcomes.
fn effects<E: Environment>(environment: &mut E, action: &[f64]) -> Result<Vec<f64>, ExplainError> {
    let result = environment.step(action)?;
    Ok([result.state, result.outcomes].concat())
}

//! What the noise of a recorded step means in another step: by the rule of [`coupling`](super::coupling), or as
//! [learned](super::shared_noise) where copies of the environment have shown it.

use becausal_nn::{Block, Distribution};

use super::coupling::{Coupling, Relation};
use super::dynamics::{Noise, Situation};
use super::shared_noise::Asked;
use super::target::Target;
use super::world_model::WorldModel;

/// Deviations in the noise of a target.
pub(super) const DEVIATIONS: usize = 2;

/// The recorded step that a noise was inferred from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recorded {
    pub state: Vec<f64>,
    pub action: Vec<f64>,
    /// Of each target that is a label, one after the other: the label, and the parameters that were predicted for it.
    pub labels: Vec<f32>,
}

/// What is known of the noise of a recorded step.
pub(super) struct SeenNoise<'a> {
    pub recorded: &'a Recorded,
    /// Of each target: its standardised noise (of a label its first), and the deviations of its [`Coupling`].
    targets: Vec<(f64, [f64; DEVIATIONS])>,
}

/// What is known of a target in another step.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Known {
    /// The standardised noise of a number: its mean, and the standard deviation of what is left open.
    Number { mean: f64, open: f64 },
    /// A label: the same noise as in the recorded step.
    SameNoise,
    /// A label: its parameters, given the recorded one.
    Label(Vec<f32>),
}

impl SeenNoise<'_> {
    /// The state and the action of the recorded step.
    pub fn situation(&self) -> Situation<'_> {
        (&self.recorded.state, &self.recorded.action)
    }

    /// The standardised noise of a number.
    pub fn number(&self, target: usize) -> f64 {
        self.targets[target].0
    }

    /// The deviation of a number under the recorded action.
    pub fn deviation(&self, target: usize) -> f64 {
        self.targets[target].1[0]
    }
}

impl WorldModel {
    /// What is known of the noise of a recorded step; `None` where nothing was recorded.
    pub(super) fn seen_noise<'a>(&self, noise: &'a Noise) -> Option<SeenNoise<'a>> {
        let (recorded, mut rest) = (noise.recorded()?, noise.values()?);
        let mut targets = Vec::with_capacity(self.encoding.targets().len());
        for target in self.encoding.targets() {
            let noises = target.head.distribution.noises();
            targets.push((rest[0], [rest[noises], rest[noises + 1]]));
            rest = &rest[noises + DEVIATIONS..];
        }
        Some(SeenNoise { recorded, targets })
    }

    /// What the recorded noise says about every target of these steps, given what the networks say of them; `None` for steps
    /// of which nothing was recorded.
    pub(super) fn known(
        &self,
        outputs: &Block,
        situations: &[Situation<'_>],
        noise: &[&Noise],
    ) -> Vec<Option<Vec<Known>>> {
        let seen: Vec<_> = noise.iter().map(|noise| self.seen_noise(noise)).collect();
        let asked = |row: usize, seen: &SeenNoise<'_>| {
            let situation = situations[row];
            let parameters = |target: &Target| target.head.parameters(outputs, row).to_vec();
            let parameters: Vec<_> = self.encoding.targets().iter().map(parameters).collect();
            let assumed = self.assumed(seen, situation.1, &parameters);
            Asked { situation, parameters, assumed }
        };
        let mut known: Vec<Option<Vec<Known>>> = vec![None; seen.len()];
        let mut learned = Vec::new();
        for (row, seen) in seen.iter().enumerate() {
            let Some(seen) = seen else { continue };
            let asked = asked(row, seen);
            // The same step again has the same noise: nothing is to be learned about it.
            let is_same = seen.situation() == asked.situation;
            let (from, to) = (seen.situation().0, asked.situation.0);
            match &self.shared_noise {
                Some(shared) if !is_same && shared.reaches(self, from, to) => {
                    learned.push((row, seen, asked));
                }
                _ => known[row] = Some(asked.assumed),
            }
        }
        if let Some(shared) = &self.shared_noise {
            let pairs: Vec<_> = learned.iter().map(|(_, seen, asked)| (*seen, asked)).collect();
            for ((row, ..), answer) in learned.iter().zip(shared.answers(self, &pairs)) {
                known[*row] = Some(answer);
            }
        }
        known
    }

    /// What the rule of [`Coupling`] says of every target under an action.
    pub(super) fn assumed(
        &self,
        seen: &SeenNoise<'_>,
        action: &[f64],
        parameters: &[Vec<f32>],
    ) -> Vec<Known> {
        let of = |(at, target): (usize, &Target)| {
            let Some(deviation) = target.head.distribution.deviation(&parameters[at]) else {
                return Known::SameNoise;
            };
            let (own, [recorded, least]) = seen.targets[at];
            let relation = self.relation(target.effect, &seen.recorded.action, action);
            let carried = Coupling { recorded, least }.correlation(deviation, relation);
            let open = (1.0 - carried * carried).max(0.0).sqrt();
            Known::Number { mean: own * carried, open }
        };
        self.encoding.targets().iter().enumerate().map(of).collect()
    }

    /// The values of all targets in row `row` of some outputs, with this noise.
    pub(super) fn values(
        &self,
        (outputs, row): (&Block, usize),
        noise: &Noise,
        known: Option<&[Known]>,
    ) -> Vec<f64> {
        let mut own = noise.values().unwrap_or(&[]);
        let value = |(at, target): (usize, &Target)| {
            let distribution = target.head.distribution;
            let noises = distribution.noises();
            let zero = vec![0.0; noises];
            let values = own.get(..noises).unwrap_or(&zero);
            own = own.get(noises + DEVIATIONS..).unwrap_or(&[]);
            let parameters = target.head.parameters(outputs, row);
            let drawn = noise.open().map(|open| open[at]);
            match known.map(|known| &known[at]) {
                Some(Known::Label(given)) => match drawn {
                    Some(normal) => distribution.label_at(given, normal),
                    None => distribution.mode(given),
                },
                Some(Known::Number { mean, open }) => {
                    distribution.value(parameters, &[mean + open * drawn.unwrap_or(0.0)])
                }
                _ if is_label(distribution) => distribution.value(parameters, values),
                _ => distribution.value(parameters, &[drawn.unwrap_or(0.0)]),
            }
        };
        self.encoding.targets().iter().enumerate().map(value).collect()
    }

    /// How two actions compare in the action variables that an effect depends on.
    fn relation(&self, effect: usize, left: &[f64], right: &[f64]) -> Relation {
        let schema = self.encoding.schema();
        let parents = self.structure.parents(effect);
        let mut relation = Relation::SameAction;
        for (slot, _) in
            schema.action_slots().zip(left.iter().zip(right)).filter(|(_, (l, r))| l != r)
        {
            // Variables are states, then actions, as causes are.
            if parents.contains(&schema.slots()[slot].variable) {
                if schema.variable_of(slot).kind.is_label() {
                    return Relation::OtherAction;
                }
                relation = Relation::OtherStrength;
            }
        }
        relation
    }
}

/// Whether a target is a flag or a category.
pub(super) fn is_label(distribution: Distribution) -> bool {
    matches!(distribution, Distribution::Bernoulli | Distribution::Categorical(_))
}

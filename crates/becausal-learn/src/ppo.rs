//! Proximal policy optimisation.

use std::sync::Arc;

use rayon::prelude::*;

use becausal_core::Stream;
use becausal_core::schema::Schema;
use becausal_nn::{AdamW, Block, Gradients, Head, Pool, Shape, Tape};

use super::actor_critic::{ActorCritic, PIECE};
use super::error::LearningError;
use super::experience::{Advantages, Experience};
use super::ppo_loss::{PpoRows, PpoSums, PpoWeights, ppo_loss};

/// The largest norm of a gradient that is followed.
const LARGEST_GRADIENT: f64 = 0.5;

/// How a policy is improved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PpoOptions {
    /// How the parts of the objective count.
    pub weights: PpoWeights,
    /// The factor by which a reward counts less for every step that it comes later.
    pub discount: f64,
    /// Of generalised advantage estimation.
    pub lambda: f64,
    /// Times the experience is gone through.
    pub passes: usize,
    /// Rows a step.
    pub batch: usize,
    /// The learning rate.
    pub rate: f64,
    /// Ends the passes when the divergence from the policy before is larger; 0 for never.
    pub largest_divergence: f64,
    /// Rewards are multiplied by this.
    pub reward_factor: f64,
}

/// How an update went: means over its rows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PpoReport {
    /// Minus the clipped objective.
    pub policy_loss: f64,
    /// The critic's squared error, halved.
    pub value_loss: f64,
    /// How undecided the policy is.
    pub entropy: f64,
    /// The divergence from the policy before.
    pub divergence: f64,
    /// The share of rows at the limit of the clipping.
    pub clipped: f64,
    /// The share of the returns' variance that the critic explained before.
    pub explained: f64,
}

/// An agent and its optimiser.
#[derive(Debug, Clone)]
pub struct Learner {
    /// The networks.
    pub agent: ActorCritic,
    /// What the optimiser remembers.
    pub adam: AdamW,
}

impl Learner {
    /// Begins to learn.
    #[must_use]
    pub fn new(agent: ActorCritic) -> Self {
        let adam = AdamW::new(&agent.parameters, 0.0, LARGEST_GRADIENT);
        Self { agent, adam }
    }

    /// Improves the policy by what was experienced with it.
    ///
    /// # Errors
    /// When a reward or the loss is not a finite number; then nothing is learned from it.
    pub fn improve(
        &mut self,
        experience: &Experience,
        schema: &Schema,
        options: &PpoOptions,
        stream: &mut Stream,
    ) -> Result<PpoReport, LearningError> {
        if let Some(row) = experience.rewards.iter().position(|reward| !reward.is_finite()) {
            let reward = experience.rewards[row];
            return Err(LearningError::Reward { reward: reward.to_string(), step: row });
        }
        let decay = (options.discount, options.lambda);
        let found = experience.advantages(&self.agent, schema, decay, options.reward_factor);
        let observations = self.agent.observation.encode(&experience.part(schema.state_slots()));
        let lesson = Lesson {
            experience,
            observations: &observations,
            heads: self.agent.space().heads().into(),
            found: &found,
            options,
        };
        let mut report = PpoReport { explained: found.explained(), ..PpoReport::default() };
        for _ in 0..options.passes {
            let order = stream.permutation(experience.len());
            let mut sums = PpoSums::default();
            for batch in order.chunks(options.batch.max(1)) {
                let (gradients, part) = lesson.study(&self.agent, batch);
                let norm = self.adam.step(&mut self.agent.parameters, &gradients, options.rate);
                if !norm.is_finite() {
                    return Err(LearningError::Broken);
                }
                sums.add(&part);
            }
            report = report.with(&sums);
            let limit = options.largest_divergence;
            if limit > 0.0 && report.divergence > limit {
                break;
            }
        }
        Ok(report)
    }
}

impl PpoReport {
    fn with(self, sums: &PpoSums) -> Self {
        let mean = |sum: f64| sum / sums.rows.max(1.0);
        Self {
            policy_loss: mean(sums.policy),
            value_loss: mean(sums.value),
            entropy: mean(sums.entropy),
            divergence: mean(sums.divergence),
            clipped: mean(sums.clipped),
            explained: self.explained,
        }
    }
}

/// What is to be learned from.
struct Lesson<'a> {
    experience: &'a Experience,
    /// `[1, rows, features]`
    observations: &'a Block,
    heads: Arc<[Head]>,
    found: &'a Advantages,
    options: &'a PpoOptions,
}

impl Lesson<'_> {
    /// The gradients of some rows, computed in pieces of a fixed size and added in their order.
    fn study(&self, agent: &ActorCritic, batch: &[usize]) -> (Gradients, PpoSums) {
        let advantages = standardised(batch.iter().map(|&row| self.found.advantages[row]));
        let share = 1.0 / batch.len() as f64;
        let of_piece = |(rows, advantages): (&[usize], &[f64])| {
            let mut gradients = agent.parameters.gradients();
            let sums = self.piece(agent, rows, advantages, share, &mut gradients);
            (gradients, sums)
        };
        if batch.len() <= PIECE {
            return of_piece((batch, &advantages));
        }
        let pieces: Vec<(Gradients, PpoSums)> =
            batch.par_chunks(PIECE).zip(advantages.par_chunks(PIECE)).map(of_piece).collect();
        let mut pieces = pieces.into_iter();
        let (mut gradients, mut sums) = pieces.next().expect("a batch has rows");
        for (more, part) in pieces {
            gradients.add(&more);
            sums.add(&part);
        }
        (gradients, sums)
    }

    fn piece(
        &self,
        agent: &ActorCritic,
        rows: &[usize],
        advantages: &[f64],
        share: f64,
        gradients: &mut Gradients,
    ) -> PpoSums {
        let pick = |from: &[f64], width: usize| -> Vec<f64> {
            rows.iter().flat_map(|&row| &from[row * width..][..width]).copied().collect()
        };
        let pick_single = |from: &[f32], width: usize| -> Vec<f32> {
            rows.iter().flat_map(|&row| &from[row * width..][..width]).copied().collect()
        };
        let (columns, features) = (agent.space().columns(), self.observations.shape.columns);
        let seen = pick_single(&self.observations.values, features);
        let mut tape = Tape::recording(&agent.parameters, Pool::default());
        let said = agent.forward(&mut tape, Block::new(Shape::new(1, rows.len(), features), seen));
        let rows = PpoRows {
            numbers: &pick(&self.experience.numbers, self.heads.len()),
            log_probabilities: &pick(&self.experience.log_probabilities, 1),
            said: &pick_single(&self.experience.said, columns),
            advantages,
            returns: &pick(&self.found.returns, 1),
        };
        let weights = &self.options.weights;
        let (loss, sums) = ppo_loss(&mut tape, said, &self.heads, &rows, weights, share);
        tape.backward(loss, gradients);
        sums
    }
}

/// With mean 0 and deviation 1.
fn standardised(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    let count = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let square = numbers.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / count;
    let factor = 1.0 / (square.sqrt() + 1e-8);
    for number in &mut numbers {
        *number = (*number - mean) * factor;
    }
    numbers
}

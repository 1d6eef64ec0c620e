//! Proximal policy optimisation (PPO).

use std::sync::Arc;

use rayon::prelude::*;

use becausal_core::Stream;
use becausal_core::schema::Schema;
use becausal_nn::{AdamW, Block, Gradients, Head, Pool, Shape, Tape};

use super::actor_critic::{ActorCritic, CHUNK_ROWS};
use super::error::LearningError;
use super::experience::{Advantages, Experience};
use super::ppo_loss::{PpoRows, PpoSums, PpoWeights, ppo_loss};

/// Gradients with a larger norm are scaled down to this one.
const MAX_GRADIENT_NORM: f64 = 0.5;

/// Options of a PPO update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PpoOptions {
    /// The weights of the parts of the objective.
    pub weights: PpoWeights,
    /// The discount factor per step.
    pub discount: f64,
    /// The lambda of generalised advantage estimation.
    pub lambda: f64,
    /// Passes over the experience.
    pub passes: usize,
    /// Rows per optimiser step.
    pub batch: usize,
    /// The learning rate.
    pub rate: f64,
    /// Stops the passes when the KL divergence from the old policy is larger; 0 for never.
    pub largest_divergence: f64,
    /// Rewards are multiplied by this.
    pub reward_factor: f64,
}

/// Statistics of an update: means over the rows of its last pass.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PpoReport {
    /// Minus the clipped objective.
    pub policy_loss: f64,
    /// Half the critic's squared error.
    pub value_loss: f64,
    /// The entropy of the policy.
    pub entropy: f64,
    /// The KL divergence from the old policy.
    pub divergence: f64,
    /// The share of rows whose probability ratio was clipped.
    pub clipped: f64,
    /// The share of the returns' variance that the critic explained before the update.
    pub explained: f64,
}

/// An agent and its optimiser.
#[derive(Debug, Clone)]
pub struct Learner {
    /// The networks.
    pub agent: ActorCritic,
    /// The optimiser.
    pub adam: AdamW,
}

impl Learner {
    /// A learner with a new optimiser.
    #[must_use]
    pub fn new(agent: ActorCritic) -> Self {
        let adam = AdamW::new(&agent.parameters, 0.0, MAX_GRADIENT_NORM);
        Self { agent, adam }
    }

    /// Updates the policy from experience that was collected with it.
    ///
    /// # Errors
    /// When a reward is NaN or infinite (the policy is unchanged), or the gradient is.
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
        let advantages = experience.advantages(&self.agent, schema, decay, options.reward_factor);
        let observations = self.agent.observation.encode(&experience.part(schema.state_slots()));
        let update = Update {
            experience,
            observations: &observations,
            heads: self.agent.space().heads().into(),
            advantages: &advantages,
            options,
        };
        let mut report = PpoReport { explained: advantages.explained(), ..PpoReport::default() };
        for _ in 0..options.passes {
            let order = stream.permutation(experience.len());
            let mut sums = PpoSums::default();
            for batch in order.chunks(options.batch.max(1)) {
                let (gradients, part) = update.gradients(&self.agent, batch);
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

/// The data of one update.
struct Update<'a> {
    experience: &'a Experience,
    /// `[1, rows, features]`
    observations: &'a Block,
    heads: Arc<[Head]>,
    advantages: &'a Advantages,
    options: &'a PpoOptions,
}

impl Update<'_> {
    /// The gradients of some rows, computed in chunks of a fixed size and added in order.
    fn gradients(&self, agent: &ActorCritic, batch: &[usize]) -> (Gradients, PpoSums) {
        let advantages = standardised(batch.iter().map(|&row| self.advantages.advantages[row]));
        let share = 1.0 / batch.len() as f64;
        let of_chunk = |(rows, advantages): (&[usize], &[f64])| {
            let mut gradients = agent.parameters.gradients();
            let sums = self.chunk(agent, rows, advantages, share, &mut gradients);
            (gradients, sums)
        };
        if batch.len() <= CHUNK_ROWS {
            return of_chunk((batch, &advantages));
        }
        let chunks: Vec<(Gradients, PpoSums)> = batch
            .par_chunks(CHUNK_ROWS)
            .zip(advantages.par_chunks(CHUNK_ROWS))
            .map(of_chunk)
            .collect();
        let mut chunks = chunks.into_iter();
        let (mut gradients, mut sums) = chunks.next().expect("a batch has rows");
        for (more, part) in chunks {
            gradients.add(&more);
            sums.add(&part);
        }
        (gradients, sums)
    }

    fn chunk(
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
        let inputs = pick_single(&self.observations.values, features);
        let mut tape = Tape::recording(&agent.parameters, Pool::default());
        let outputs =
            agent.forward(&mut tape, Block::new(Shape::new(1, rows.len(), features), inputs));
        let rows = PpoRows {
            numbers: &pick(&self.experience.numbers, self.heads.len()),
            log_probabilities: &pick(&self.experience.log_probabilities, 1),
            outputs: &pick_single(&self.experience.outputs, columns),
            advantages,
            returns: &pick(&self.advantages.returns, 1),
        };
        let weights = &self.options.weights;
        let (loss, sums) = ppo_loss(&mut tape, outputs, &self.heads, &rows, weights, share);
        tape.backward(loss, gradients);
        sums
    }
}

/// Shifted and scaled to mean 0 and standard deviation 1.
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

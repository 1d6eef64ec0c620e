//! The objective of proximal policy optimisation, with its exact gradient.

use std::sync::Arc;

use becausal_nn::{Backward, Block, Distribution, Head, Operation, Shape, Tape, Variable};

/// A continuous action is the tanh of a normal, whose mean may be this large without a penalty: tanh(2.5) is 0.987. Far
/// beyond it every draw is the same action, and no advantage tells one from another.
const FREE_MEAN: f64 = 2.5;

/// Its standard deviation may be this large without a penalty. The tanh of a standard normal is about uniform. The
/// entropy bonus is that of the normal, so it would widen it for ever, until all draws are at the bounds.
const FREE_DEVIATION: f64 = 1.0;

/// The weights of the parts of the objective.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PpoWeights {
    /// The probability ratio of an action is clipped to 1 - clip to 1 + clip; 0 for no clipping.
    pub clip: f64,
    /// The weight of the KL divergence from the policy that collected the experience.
    pub divergence: f64,
    /// The weight of the entropy bonus.
    pub entropy: f64,
    /// The weight of the critic's squared error.
    pub value: f64,
}

/// The inputs of the objective for some rows.
#[derive(Debug, Clone, Copy)]
pub struct PpoRows<'a> {
    /// The numbers drawn from the action distributions, `[rows, heads]`.
    pub numbers: &'a [f64],
    /// The log-probability of each action when it was drawn, `[rows]`.
    pub log_probabilities: &'a [f64],
    /// The actor's outputs when the action was drawn, `[rows, columns]`.
    pub outputs: &'a [f32],
    /// The advantages, `[rows]`.
    pub advantages: &'a [f64],
    /// The critic's targets, `[rows]`.
    pub returns: &'a [f64],
}

/// The parts of the objective, summed over rows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PpoSums {
    /// Minus the clipped objective.
    pub policy: f64,
    /// Half the critic's squared error.
    pub value: f64,
    /// The entropy.
    pub entropy: f64,
    /// The KL divergence from the old policy.
    pub divergence: f64,
    /// Half the squares by which the means and the logarithms of the standard deviations of continuous actions are too
    /// large.
    pub saturation: f64,
    /// The number of rows whose probability ratio was clipped.
    pub clipped: f64,
    /// The number of rows.
    pub rows: f64,
}

impl PpoSums {
    /// Adds other sums.
    pub fn add(&mut self, other: &Self) {
        self.policy += other.policy;
        self.value += other.value;
        self.entropy += other.entropy;
        self.divergence += other.divergence;
        self.saturation += other.saturation;
        self.clipped += other.clipped;
        self.rows += other.rows;
    }
}

/// The PPO loss of some rows: minus the clipped objective, plus the critic's error, the divergence and the saturation,
/// minus the entropy. Each part is multiplied by its weight and by `share` (1 / rows of the whole batch). `actor` is `[1, rows, columns]`, `critic` `[1, rows, 1]`, the result `[1, 1, 1]`.
pub fn ppo_loss(
    tape: &mut Tape<'_>,
    (actor, critic): (Variable, Variable),
    heads: &Arc<[Head]>,
    rows: &PpoRows<'_>,
    weights: &PpoWeights,
    share: f64,
) -> (Variable, PpoSums) {
    let extent = tape.value(actor).shape;
    let mut slopes = tape.scratch(extent);
    let mut value_slopes = tape.scratch(tape.value(critic).shape);
    let (outputs, estimates) = (tape.value(actor), tape.value(critic));
    let columns = extent.columns;
    let mut sums = PpoSums { rows: extent.rows as f64, ..PpoSums::default() };
    let mut of_entropy = vec![0.0_f32; columns];
    let mut of_divergence = vec![0.0_f32; columns];
    for row in 0..extent.rows {
        let slopes = &mut slopes.values[row * columns..][..columns];
        let now = outputs.row(0, row);
        let before = &rows.outputs[row * columns..][..columns];
        let numbers = &rows.numbers[row * heads.len()..][..heads.len()];
        let (mut log_probability, mut entropy, mut divergence) = (0.0, 0.0, 0.0);
        for (head, &number) in heads.iter().zip(numbers) {
            let own = head.column..head.column + head.distribution.parameters();
            let (now, before) = (&now[own.clone()], &before[own.clone()]);
            let distribution = head.distribution;
            log_probability += distribution.log_likelihood(now, number, &mut slopes[own.clone()]);
            entropy += distribution.entropy(now, &mut of_entropy[own.clone()]);
            divergence += distribution.divergence(before, now, &mut of_divergence[own]);
        }
        let advantage = rows.advantages[row];
        let ratio = (log_probability - rows.log_probabilities[row]).clamp(-20.0, 20.0).exp();
        let (low, high) = match weights.clip {
            clip if clip > 0.0 => (1.0 - clip, 1.0 + clip),
            _ => (0.0, f64::INFINITY),
        };
        let limited = ratio.clamp(low, high) * advantage;
        let free = ratio * advantage <= limited;
        let value = f64::from(estimates.row(0, row)[0]) - rows.returns[row];
        sums.policy -= if free { ratio * advantage } else { limited };
        sums.value += 0.5 * value * value;
        sums.entropy += entropy;
        sums.divergence += divergence;
        sums.clipped += f64::from(u8::from(ratio < low || ratio > high));
        let by_probability = if free { -ratio * advantage } else { 0.0 };
        #[expect(clippy::cast_possible_truncation, reason = "single precision")]
        let [by_probability, by_entropy, by_divergence, by_value] =
            [by_probability, -weights.entropy, weights.divergence, weights.value * value]
                .map(|slope| (share * slope) as f32);
        for ((slope, entropy), divergence) in slopes.iter_mut().zip(&of_entropy).zip(&of_divergence)
        {
            *slope = by_probability * *slope + by_entropy * entropy + by_divergence * divergence;
        }
        for head in heads.iter().filter(|head| is_bounded(head.distribution)) {
            let column = head.column;
            let mean = f64::from(now[column]);
            let deviation = head.distribution.deviation(&now[column..]).unwrap_or(FREE_DEVIATION);
            let off = mean - mean.clamp(-FREE_MEAN, FREE_MEAN);
            let wide = (deviation / FREE_DEVIATION).ln().max(0.0);
            sums.saturation += 0.5 * (off * off + wide * wide);
            #[expect(clippy::cast_possible_truncation, reason = "single precision")]
            let [by_mean, by_logarithm] = [off, wide].map(|excess| (share * excess) as f32);
            slopes[column] += by_mean;
            // The entropy of a normal is the logarithm of its standard deviation and a constant.
            slopes[column + 1] += by_logarithm * of_entropy[column + 1];
        }
        value_slopes.values[row] = by_value;
    }
    let total = sums.policy + weights.value * sums.value - weights.entropy * sums.entropy
        + weights.divergence * sums.divergence
        + sums.saturation;
    #[expect(clippy::cast_possible_truncation, reason = "values are single precision")]
    let loss = Block::new(Shape::new(1, 1, 1), vec![(share * total) as f32]);
    let (slopes, value_slopes) = (tape.input(slopes), tape.input(value_slopes));
    (tape.push(loss, PpoLoss { parts: [(actor, slopes), (critic, value_slopes)] }), sums)
}

fn is_bounded(distribution: Distribution) -> bool {
    matches!(distribution, Distribution::Bounded { .. })
}

/// The slopes were computed in the forward pass and are kept on the tape.
struct PpoLoss {
    parts: [(Variable, Variable); 2],
}

impl Operation for PpoLoss {
    fn backward(&self, _result: Variable, gradient: &mut [f32], back: &mut Backward<'_>) {
        for (output, slopes) in self.parts {
            let slopes = back.value(slopes);
            let into = back.gradient(output);
            into.iter_mut().zip(&slopes.values).for_each(|(into, s)| *into += gradient[0] * s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becausal_nn::{Parameters, Pool};

    /// Puts a parameter on the tape as a value.
    struct Input(becausal_nn::Parameter);

    impl Operation for Input {
        fn backward(&self, _: Variable, gradient: &mut [f32], back: &mut Backward<'_>) {
            back.learned.of_mut(self.0).copy_from_slice(gradient);
        }
    }

    #[test]
    fn the_gradient_matches_finite_differences_for_any_mix_of_actions() {
        let heads: Arc<[Head]> = [
            (0, Distribution::Categorical(3)),
            (3, Distribution::Bernoulli),
            (4, Distribution::Bounded { floor: 0.02 }),
        ]
        .map(|(column, distribution)| Head { group: 0, column, distribution })
        .into();
        let before = [[0.1, -0.2, 0.3, 0.4, 0.2, -0.1], [0.0, 0.5, -0.3, -0.6, -2.7, 1.4]].concat();
        let now = [[0.3, -0.1, 0.1, 0.2, 0.3, -0.2], [0.2, 0.1, -0.5, -0.2, -2.9, 1.5]].concat();
        let numbers = [2.0, 1.0, 0.4, 0.0, 0.0, -0.7];
        let old: Vec<f64> = (0..2)
            .map(|row| {
                let of = |(at, head): (usize, &Head)| {
                    let outputs =
                        &before[row * 6 + head.column..][..head.distribution.parameters()];
                    head.distribution.log_likelihood(outputs, numbers[row * 3 + at], &mut [0.0; 3])
                };
                heads.iter().enumerate().map(of).sum()
            })
            .collect();
        let mut parameters = Parameters::default();
        let actor = parameters.add("actor", Block::new(Shape::new(1, 2, 6), now));
        let critic = parameters.add("critic", Block::new(Shape::new(1, 2, 1), vec![0.3, -0.8]));
        // Without clipping, with a wide clip, and with one so narrow that the first row is clipped.
        for (clip, advantages) in [(0.0, [1.2, -0.7]), (0.9, [1.2, -0.7]), (1e-4, [1.0, 1.0])] {
            let weights = PpoWeights { clip, divergence: 0.3, entropy: 0.05, value: 0.5 };
            let rows = PpoRows {
                numbers: &numbers,
                log_probabilities: &old,
                outputs: &before,
                advantages: &advantages,
                returns: &[1.0, 0.5],
            };
            let loss = |parameters: &Parameters, gradients: Option<&mut _>| {
                let mut tape = Tape::recording(parameters, Pool::default());
                let given = [actor, critic]
                    .map(|parameter| tape.push(parameters.of(parameter).clone(), Input(parameter)));
                let (loss, sums) =
                    ppo_loss(&mut tape, (given[0], given[1]), &heads, &rows, &weights, 0.5);
                if let Some(gradients) = gradients {
                    tape.backward(loss, gradients);
                }
                let parts = sums.policy + 0.5 * sums.value - 0.05 * sums.entropy;
                0.5 * (parts + 0.3 * sums.divergence + sums.saturation)
            };
            let mut gradients = parameters.gradients();
            loss(&parameters, Some(&mut gradients));
            for parameter in [actor, critic] {
                for at in 0..parameters.of(parameter).values.len() {
                    let moved = |step: f32| {
                        let mut moved = parameters.clone();
                        moved.of_mut(parameter).values[at] += step;
                        loss(&moved, None)
                    };
                    let difference = (moved(5e-3) - moved(-5e-3)) / 1e-2;
                    let exact = f64::from(gradients.of(parameter)[at]);
                    assert!((difference - exact).abs() < 1e-3, "{at}: {difference} {exact}");
                }
            }
        }
    }
}

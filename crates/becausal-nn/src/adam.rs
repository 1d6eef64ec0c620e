//! `AdamW`.

use super::math::simd;
use super::parameters::{Gradients, Parameters};

/// The learning rate over a training: linear warm-up, then cosine decay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// The maximum rate.
    pub peak: f64,
    /// The final rate, as a share of the maximum.
    pub end: f64,
    /// Number of warm-up steps until the maximum.
    pub warm_up: usize,
    /// Number of steps until the final rate, which is kept afterwards.
    pub steps: usize,
}

impl Schedule {
    /// The rate of a step, counted from 0.
    #[must_use]
    pub fn rate(&self, step: usize) -> f64 {
        if step < self.warm_up {
            return self.peak * (step + 1) as f64 / self.warm_up as f64;
        }
        let decay_steps = self.steps.saturating_sub(self.warm_up).max(1) as f64;
        let done = ((step - self.warm_up) as f64 / decay_steps).min(1.0);
        let cosine = 0.5 * (1.0 + (std::f64::consts::PI * done).cos());
        self.peak * (self.end + (1.0 - self.end) * cosine)
    }
}

/// Adam with decoupled weight decay; gradients are clipped by their norm first.
#[derive(Debug, Clone, PartialEq)]
pub struct AdamW {
    /// Weight decay per step, multiplied by the learning rate.
    pub decay: f64,
    /// The maximum norm of the gradient; a longer one is scaled down.
    pub clip: f64,
    /// Decay rate of the running mean of the squared gradients.
    pub beta2: f64,
    first: Gradients,
    second: Gradients,
    steps: i32,
}

impl AdamW {
    /// Decay rate of the running mean of the gradients.
    const BETA1: f64 = 0.9;
    /// Prevents a division by zero.
    const EPSILON: f32 = 1e-8;

    /// An optimiser before its first step.
    #[must_use]
    pub fn new(parameters: &Parameters, decay: f64, clip: f64) -> Self {
        let zero = parameters.gradients();
        Self { decay, clip, beta2: 0.999, first: zero.clone(), second: zero, steps: 0 }
    }

    /// The state between steps: the running means of the gradients and of their squares, and the
    /// number of steps.
    #[must_use]
    pub fn memory(&self) -> (&[Vec<f32>], &[Vec<f32>], i32) {
        (&self.first.blocks, &self.second.blocks, self.steps)
    }

    /// Restores the state returned by [`memory`](Self::memory).
    ///
    /// # Panics
    /// When the sizes differ from those of the parameters.
    pub fn restore(&mut self, first: Vec<Vec<f32>>, second: Vec<Vec<f32>>, steps: i32) {
        for (moments, restored) in [(&mut self.first, first), (&mut self.second, second)] {
            let same = moments.blocks.iter().map(Vec::len).eq(restored.iter().map(Vec::len));
            assert!(same, "the moments must have the sizes of the parameters");
            moments.blocks = restored;
        }
        self.steps = steps;
    }

    /// One step down the gradient. Returns the norm of the gradient before clipping. If it is not
    /// finite, nothing changes.
    pub fn step(&mut self, parameters: &mut Parameters, gradients: &Gradients, rate: f64) -> f64 {
        let norm = gradients.norm();
        if !norm.is_finite() {
            return norm;
        }
        self.steps += 1;
        #[expect(clippy::cast_possible_truncation, reason = "weights are single precision")]
        let [shrink, keep, rate, unbias, b1, b2] = [
            (self.clip / norm.max(1e-30)).min(1.0),
            1.0 - rate * self.decay,
            rate / (1.0 - Self::BETA1.powi(self.steps)),
            1.0 / (1.0 - self.beta2.powi(self.steps)),
            Self::BETA1,
            self.beta2,
        ]
        .map(|number| number as f32);
        let moments = self.first.blocks.iter_mut().zip(&mut self.second.blocks);
        for (((_, block), gradient), (first, second)) in
            parameters.iter_mut().zip(&gradients.blocks).zip(moments)
        {
            simd(
                #[inline(always)]
                || {
                    let moments = first.iter_mut().zip(second);
                    for ((w, g), (m, v)) in block.values.iter_mut().zip(gradient).zip(moments) {
                        let g = g * shrink;
                        *m = b1 * *m + (1.0 - b1) * g;
                        *v = b2 * *v + (1.0 - b2) * g * g;
                        *w = *w * keep - rate * *m / ((*v * unbias).sqrt() + Self::EPSILON);
                    }
                },
            );
        }
        norm
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Shape};

    #[test]
    fn the_first_step_changes_each_weight_by_the_rate() {
        let mut parameters = Parameters::default();
        let weight = parameters.add("w", Block::zeros(Shape::new(1, 1, 2)));
        let mut gradients = parameters.gradients();
        gradients.of_mut(weight).copy_from_slice(&[3.0, -0.4]);
        let mut adam = AdamW::new(&parameters, 0.0, f64::INFINITY);
        let norm = adam.step(&mut parameters, &gradients, 0.1);
        assert!((norm - 9.16_f64.sqrt()).abs() < 1e-6);
        let [a, b] = parameters.of(weight).values[..] else { panic!() };
        assert!((a + 0.1).abs() < 1e-6 && (b - 0.1).abs() < 1e-6);
        gradients.of_mut(weight)[0] = f32::NAN;
        let before = parameters.clone();
        assert!(adam.step(&mut parameters, &gradients, 0.1).is_nan());
        assert_eq!(parameters, before);
    }

    #[test]
    fn the_rate_rises_linearly_and_falls_along_a_cosine() {
        let schedule = Schedule { peak: 1.0, end: 0.1, warm_up: 4, steps: 14 };
        assert_eq!(schedule.rate(0), 0.25);
        assert_eq!(schedule.rate(4), 1.0);
        assert!((schedule.rate(9) - 0.55).abs() < 1e-12);
        assert!((schedule.rate(50) - 0.1).abs() < 1e-12);
    }
}

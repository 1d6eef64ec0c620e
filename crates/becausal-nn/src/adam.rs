//! `AdamW`.

use super::math::simd;
use super::parameters::{Gradients, Parameters};

/// How the learning rate goes over a training: up in a straight line, then down along a cosine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// The highest rate.
    pub peak: f64,
    /// The rate at the end, as a share of the highest.
    pub end: f64,
    /// Steps until the highest rate is reached.
    pub warm_up: usize,
    /// Steps until the end; the rate stays there afterwards.
    pub steps: usize,
}

impl Schedule {
    /// The rate of a step, counted from 0.
    #[must_use]
    pub fn rate(&self, step: usize) -> f64 {
        if step < self.warm_up {
            return self.peak * (step + 1) as f64 / self.warm_up as f64;
        }
        let long = self.steps.saturating_sub(self.warm_up).max(1) as f64;
        let done = ((step - self.warm_up) as f64 / long).min(1.0);
        let cosine = 0.5 * (1.0 + (std::f64::consts::PI * done).cos());
        self.peak * (self.end + (1.0 - self.end) * cosine)
    }
}

/// Adam with decoupled weight decay; gradients are clipped by their norm first.
#[derive(Debug, Clone, PartialEq)]
pub struct AdamW {
    /// Weight decay a step, times the learning rate.
    pub decay: f64,
    /// The largest norm of the gradient that is followed.
    pub clip: f64,
    /// The share of the mean square of the gradients that is kept from step to step.
    pub retention: f64,
    first: Gradients,
    second: Gradients,
    steps: i32,
}

impl AdamW {
    const FIRST: f64 = 0.9;
    const SMALL: f32 = 1e-8;

    /// An optimiser that has not made a step.
    #[must_use]
    pub fn new(parameters: &Parameters, decay: f64, clip: f64) -> Self {
        let zero = parameters.gradients();
        Self { decay, clip, retention: 0.999, first: zero.clone(), second: zero, steps: 0 }
    }

    /// What is remembered between steps: the running means of the gradients and of their squares,
    /// and the number of steps.
    #[must_use]
    pub fn memory(&self) -> (&[Vec<f32>], &[Vec<f32>], i32) {
        (&self.first.blocks, &self.second.blocks, self.steps)
    }

    /// Takes up what was remembered.
    ///
    /// # Panics
    /// When the extents are others.
    pub fn restore(&mut self, first: Vec<Vec<f32>>, second: Vec<Vec<f32>>, steps: i32) {
        for (kept, given) in [(&mut self.first, first), (&mut self.second, second)] {
            assert!(kept.blocks.iter().map(Vec::len).eq(given.iter().map(Vec::len)));
            kept.blocks = given;
        }
        self.steps = steps;
    }

    /// A step down the gradient. Returns the gradient's norm before clipping; if that is not
    /// finite, nothing is changed.
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
            rate / (1.0 - Self::FIRST.powi(self.steps)),
            1.0 / (1.0 - self.retention.powi(self.steps)),
            Self::FIRST,
            self.retention,
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
                        *w = *w * keep - rate * *m / ((*v * unbias).sqrt() + Self::SMALL);
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
    fn the_first_step_is_as_long_as_the_rate() {
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
    fn the_rate_rises_and_falls() {
        let schedule = Schedule { peak: 1.0, end: 0.1, warm_up: 4, steps: 14 };
        assert_eq!(schedule.rate(0), 0.25);
        assert_eq!(schedule.rate(4), 1.0);
        assert!((schedule.rate(9) - 0.55).abs() < 1e-12);
        assert!((schedule.rate(50) - 0.1).abs() < 1e-12);
    }
}

//! Distributions of a single number, with parameters from a network.

use super::math::softplus;
use super::normal::{log_normal_between, log_normal_cdf, log_normal_density, normal_cdf};
use super::tailed::{draw_tailed, log_tailed, log_tailed_below};
use becausal_core::{Stream, normal_quantile};

/// A distribution of a number. Its parameters are outputs of a network and may be any numbers.
///
/// A value is a function of the parameters and of *noise*. With the same noise, other parameters
/// give the value that would have occurred instead. The noise is standard normal (with tails for
/// [`Tailed`](Self::Tailed)), logistic or Gumbel; [`noise_of`](Self::noise_of) infers it from an observed value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// A normal distribution. Parameters: mean and raw scale; the standard deviation is `floor` +
    /// softplus(raw).
    Normal {
        /// The minimum standard deviation.
        floor: f64,
    },
    /// A normal distribution whose tails are exponential from two standard deviations on: a surprise at a contact weighs
    /// as much as its size, not as its square (Huber 1964). The same parameters: fitted to normal noise, its standard deviation
    /// is that of the noise.
    Tailed {
        /// The minimum standard deviation.
        floor: f64,
    },
    /// The same, cut at bounds: a value at a bound stands for everything beyond it (Tobin 1958). The mean and the deviation are
    /// those of the number before it is cut.
    Cut {
        /// The minimum standard deviation.
        floor: f64,
        /// The lower bound, in the units of the mean; -infinity for none.
        low: f64,
        /// The upper bound; infinity for none.
        high: f64,
    },
    /// A whole number: a rounded normal. The value v represents the interval v - half to v + half.
    Rounded {
        /// Half the distance from one whole number to the next, in the units of the mean.
        half: f64,
        /// The minimum standard deviation.
        floor: f64,
    },
    /// 0 or 1. Parameter: the logit of 1.
    Bernoulli,
    /// One of k categories. Parameters: their logits.
    Categorical(usize),
    /// A number between -1 and 1: tanh of a normal. Parameters: mean and raw scale of the normal.
    Bounded {
        /// The minimum standard deviation of the normal.
        floor: f64,
    },
}

use Distribution::{Bernoulli, Bounded, Categorical, Cut, Normal, Rounded, Tailed};

/// A value within this share of a bound is at the bound: bounds and values are rounded to single precision on the way.
const AT_BOUND: f64 = 1e-6;

impl Distribution {
    /// The number of its parameters.
    #[must_use]
    pub fn parameters(&self) -> usize {
        match self {
            Normal { .. } | Tailed { .. } | Cut { .. } | Rounded { .. } | Bounded { .. } => 2,
            Bernoulli => 1,
            Categorical(labels) => *labels,
        }
    }

    /// The number of noise values per value.
    #[must_use]
    pub fn noises(&self) -> usize {
        match self {
            Categorical(labels) => *labels,
            _ => 1,
        }
    }

    /// The probability of a flag or of the index of a category; `None` for numbers.
    #[must_use]
    pub fn chance(&self, parameters: &[f32], value: f64) -> Option<f64> {
        match self {
            Normal { .. } | Tailed { .. } | Cut { .. } | Rounded { .. } | Bounded { .. } => None,
            Bernoulli | Categorical(_) => {
                let mut slopes = vec![0.0; self.parameters()];
                Some(self.log_likelihood(parameters, value, &mut slopes).exp())
            }
        }
    }

    /// Whether a value is at a bound of a [`Cut`](Self::Cut) distribution, where it has a probability and not a density.
    #[must_use]
    pub fn is_at_bound(&self, value: f64) -> bool {
        matches!(*self, Cut { low, high, .. } if side(value, (low, high)).is_some())
    }

    /// The log-likelihood of a value. Writes its derivatives with respect to the parameters.
    pub fn log_likelihood(&self, parameters: &[f32], value: f64, derivatives: &mut [f32]) -> f64 {
        match *self {
            Normal { floor } => log_normal(scale(parameters, floor), value, derivatives),
            Tailed { floor } => tailed(scale(parameters, floor), value, derivatives),
            Cut { floor, low, high } => {
                log_cut(scale(parameters, floor), (low, high), value, derivatives)
            }
            Rounded { half, floor } => {
                log_rounded(scale(parameters, floor), half, value, derivatives)
            }
            Bernoulli => {
                let logit = f64::from(parameters[0]);
                let signed = if value > 0.5 { logit } else { -logit };
                let one = 1.0 / (1.0 + (-logit).exp());
                write(derivatives, [value - one]);
                -softplus(-signed)
            }
            Categorical(labels) => {
                let total = log_sum(&parameters[..labels]);
                let seen = index(value, labels);
                for (at, derivative) in derivatives[..labels].iter_mut().enumerate() {
                    let share = (f64::from(parameters[at]) - total).exp();
                    let is = if at == seen { 1.0 } else { 0.0 };
                    write(std::slice::from_mut(derivative), [is - share]);
                }
                f64::from(parameters[seen]) - total
            }
            Bounded { floor } => {
                let raw = arc_tanh(value);
                let inner = log_normal(scale(parameters, floor), raw, derivatives);
                // d tanh(raw) = 1 - tanh^2 = 4 / (e^raw + e^-raw)^2
                inner - 2.0 * (std::f64::consts::LN_2 - raw - softplus(-2.0 * raw))
            }
        }
    }

    /// The same, and the [`uncertainty`](Self::uncertainty): together they cost little more than one.
    pub fn log_likelihood_and_uncertainty(
        &self,
        parameters: &[f32],
        value: f64,
        derivatives: &mut [f32],
    ) -> (f64, Option<f64>) {
        match *self {
            Normal { floor } => {
                let scale = scale(parameters, floor);
                (log_normal(scale, value, derivatives), Some(scale.1))
            }
            Tailed { floor } => {
                let scale = scale(parameters, floor);
                (tailed(scale, value, derivatives), Some(scale.1))
            }
            Cut { floor, low, high } => {
                let scale = scale(parameters, floor);
                (log_cut(scale, (low, high), value, derivatives), Some(scale.1))
            }
            Rounded { half, floor } => {
                let scale = scale(parameters, floor);
                let uncertainty = scale.1.hypot(rounding(half));
                (log_rounded(scale, half, value, derivatives), Some(uncertainty))
            }
            Bernoulli | Categorical(_) | Bounded { .. } => {
                let log = self.log_likelihood(parameters, value, derivatives);
                (log, self.uncertainty(parameters))
            }
        }
    }

    /// The most likely value.
    #[must_use]
    pub fn mode(&self, parameters: &[f32]) -> f64 {
        match self {
            Normal { .. } | Tailed { .. } | Rounded { .. } => f64::from(parameters[0]),
            Cut { low, high, .. } => f64::from(parameters[0]).clamp(*low, *high),
            Bernoulli => f64::from(u8::from(parameters[0] > 0.0)),
            Categorical(labels) => largest(parameters[..*labels].iter().map(|&p| f64::from(p))),
            Bounded { .. } => f64::from(parameters[0]).tanh(),
        }
    }

    /// The mean; for categories the most likely one, for [`Bounded`](Self::Bounded) the median.
    #[must_use]
    pub fn mean(&self, parameters: &[f32]) -> f64 {
        match self {
            Bernoulli => 1.0 / (1.0 + (-f64::from(parameters[0])).exp()),
            _ => self.mode(parameters),
        }
    }

    /// The standard deviation; `None` for flags and categories.
    #[must_use]
    pub fn deviation(&self, parameters: &[f32]) -> Option<f64> {
        match *self {
            Normal { floor }
            | Tailed { floor }
            | Cut { floor, .. }
            | Rounded { floor, .. }
            | Bounded { floor } => Some(scale(parameters, floor).1),
            Bernoulli | Categorical(_) => None,
        }
    }

    /// The standard deviation including that of rounding; `None` for flags and categories.
    #[must_use]
    pub fn uncertainty(&self, parameters: &[f32]) -> Option<f64> {
        let rounding = match self {
            Rounded { half, .. } => rounding(*half),
            _ => 0.0,
        };
        self.deviation(parameters).map(|deviation| deviation.hypot(rounding))
    }

    /// The entropy in nats; for [`Bounded`](Self::Bounded) that of the underlying normal, for [`Tailed`](Self::Tailed) that
    /// of the normal without its tails. Writes its derivatives with respect to the parameters.
    pub fn entropy(&self, parameters: &[f32], derivatives: &mut [f32]) -> f64 {
        match *self {
            Normal { floor }
            | Tailed { floor }
            | Cut { floor, .. }
            | Rounded { floor, .. }
            | Bounded { floor } => {
                let (_, deviation, slope) = scale(parameters, floor);
                write(derivatives, [0.0, slope / deviation]);
                deviation.ln() - log_normal_density(0.0) + 0.5
            }
            Bernoulli => {
                let logit = f64::from(parameters[0]);
                let one = 1.0 / (1.0 + (-logit).exp());
                write(derivatives, [-logit * one * (1.0 - one)]);
                one * softplus(-logit) + (1.0 - one) * softplus(logit)
            }
            Categorical(labels) => {
                let total = log_sum(&parameters[..labels]);
                let log = |at: usize| f64::from(parameters[at]) - total;
                let entropy = -(0..labels).map(|at| log(at).exp() * log(at)).sum::<f64>();
                for (at, derivative) in derivatives[..labels].iter_mut().enumerate() {
                    let slope = -log(at).exp() * (log(at) + entropy);
                    write(std::slice::from_mut(derivative), [slope]);
                }
                entropy
            }
        }
    }

    /// The Kullback-Leibler divergence of the distribution with the parameters `before` from the
    /// one with `parameters`. Writes its derivatives with respect to `parameters`.
    pub fn divergence(&self, before: &[f32], parameters: &[f32], derivatives: &mut [f32]) -> f64 {
        match *self {
            Normal { floor }
            | Tailed { floor }
            | Cut { floor, .. }
            | Rounded { floor, .. }
            | Bounded { floor } => {
                let (old_mean, old, _) = scale(before, floor);
                let (mean, deviation, slope) = scale(parameters, floor);
                let square = (old * old + (mean - old_mean).powi(2)) / (deviation * deviation);
                let by_mean = (mean - old_mean) / (deviation * deviation);
                write(derivatives, [by_mean, (1.0 - square) / deviation * slope]);
                (deviation / old).ln() + 0.5 * (square - 1.0)
            }
            Bernoulli => {
                let [old, new] = [before, parameters].map(|p| f64::from(p[0]));
                let share = |logit: f64| 1.0 / (1.0 + (-logit).exp());
                write(derivatives, [share(new) - share(old)]);
                let one = softplus(-new) - softplus(-old);
                let zero = softplus(new) - softplus(old);
                share(old) * one + (1.0 - share(old)) * zero
            }
            Categorical(labels) => {
                let [old, new] = [before, parameters].map(|p| log_sum(&p[..labels]));
                let mut sum = 0.0;
                for (at, derivative) in derivatives[..labels].iter_mut().enumerate() {
                    let was = f64::from(before[at]) - old;
                    let is = f64::from(parameters[at]) - new;
                    sum += was.exp() * (was - is);
                    write(std::slice::from_mut(derivative), [is.exp() - was.exp()]);
                }
                sum
            }
        }
    }

    /// Draws the noise of a value, `noises()` numbers.
    pub fn draw(&self, stream: &mut Stream, noise: &mut [f64]) {
        for value in &mut noise[..self.noises()] {
            *value = match self {
                Normal { .. } | Rounded { .. } | Bounded { .. } => stream.normal(),
                Tailed { .. } | Cut { .. } => draw_tailed(stream),
                Bernoulli => logistic_quantile(stream.unit()),
                Categorical(_) => gumbel_quantile(stream.unit()),
            };
        }
    }

    /// The value for this noise; the most likely value if all noise is 0. A
    /// [`Rounded`](Self::Rounded) value is not yet rounded.
    #[must_use]
    pub fn value(&self, parameters: &[f32], noise: &[f64]) -> f64 {
        match *self {
            Normal { floor } | Tailed { floor } | Rounded { floor, .. } => {
                let (mean, deviation, _) = scale(parameters, floor);
                mean + deviation * noise[0]
            }
            Cut { floor, low, high } => Tailed { floor }.value(parameters, noise).clamp(low, high),
            Bernoulli => f64::from(u8::from(f64::from(parameters[0]) + noise[0] > 0.0)),
            Categorical(labels) => {
                let scores = parameters[..labels].iter().zip(noise);
                largest(scores.map(|(&p, n)| f64::from(p) + n))
            }
            Bounded { floor } => Normal { floor }.value(parameters, noise).tanh(),
        }
    }

    /// The noise of an observed value. If a range of noise gives it, the median of that range.
    pub fn noise_of(&self, parameters: &[f32], value: f64, noise: &mut [f64]) {
        self.noise_within(parameters, value, &mut || 0.5, noise);
    }

    /// Noise that gives an observed value, drawn from the range of noise that does.
    pub fn draw_noise_of(
        &self,
        parameters: &[f32],
        value: f64,
        stream: &mut Stream,
        noise: &mut [f64],
    ) {
        self.noise_within(parameters, value, &mut || stream.unit(), noise);
    }

    /// The noise of an observed value. `share` says, for each number, which quantile of the range that
    /// gives the value.
    fn noise_within(
        &self,
        parameters: &[f32],
        value: f64,
        share: &mut dyn FnMut() -> f64,
        noise: &mut [f64],
    ) {
        match *self {
            Normal { floor } | Tailed { floor } => {
                let (mean, deviation, _) = scale(parameters, floor);
                noise[0] = (value - mean) / deviation;
            }
            Cut { floor, low, high } => {
                let (mean, deviation, _) = scale(parameters, floor);
                let at = |bound: f64| (bound - mean) / deviation;
                noise[0] = match side(value, (low, high)) {
                    // What is expected beyond the bound needs no noise to be there; the tails hardly matter here.
                    Some(Side::Low) => normal_between(f64::NEG_INFINITY, at(low), share()),
                    Some(Side::High) => normal_between(at(high), f64::INFINITY, share()),
                    None => at(value),
                };
            }
            Rounded { half, floor } => {
                let (mean, deviation, _) = scale(parameters, floor);
                let (a, b) = ((value - half - mean) / deviation, (value + half - mean) / deviation);
                noise[0] = normal_between(a, b, share());
            }
            Bernoulli => {
                // Noise above -logit gives 1.
                let one = 1.0 / (1.0 + (-f64::from(parameters[0])).exp());
                let share = share();
                let at = if value > 0.5 { 1.0 - share * one } else { share * (1.0 - one) };
                noise[0] = logistic_quantile(at);
            }
            Categorical(labels) => {
                // The observed category has the largest sum of logit and noise; each other sum lies
                // below it (Oberst and Sontag 2019).
                let total = log_sum(&parameters[..labels]);
                let seen = index(value, labels);
                let largest = gumbel_quantile(share());
                for (at, noise) in noise[..labels].iter_mut().enumerate() {
                    let logit = f64::from(parameters[at]) - total;
                    *noise = if at == seen {
                        largest - logit
                    } else {
                        let below = (-(logit - largest).exp()).exp();
                        gumbel_quantile(share() * below).min(largest - logit - 1e-9)
                    };
                }
            }
            Bounded { floor } => {
                Normal { floor }.noise_within(parameters, arc_tanh(value), share, noise);
            }
        }
    }
}

/// The standard deviation of rounding by at most `half`.
fn rounding(half: f64) -> f64 {
    half / 3.0_f64.sqrt()
}

/// The log-likelihood of a value under a normal distribution with this [`scale`].
fn log_normal(
    (mean, deviation, slope): (f64, f64, f64),
    value: f64,
    derivatives: &mut [f32],
) -> f64 {
    let z = (value - mean) / deviation;
    write(derivatives, [z / deviation, (z * z - 1.0) / deviation * slope]);
    log_normal_density(z) - deviation.ln()
}

/// The log-likelihood of a value under a [`Tailed`] distribution with this [`scale`].
fn tailed((mean, deviation, slope): (f64, f64, f64), value: f64, derivatives: &mut [f32]) -> f64 {
    let (log, [by_mean, by_deviation]) = log_tailed(mean, deviation, value);
    write(derivatives, [by_mean, by_deviation * slope]);
    log
}

/// The end of a range that a value is cut at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Low,
    High,
}

/// The bound that a value is at.
fn side(value: f64, (low, high): (f64, f64)) -> Option<Side> {
    let near = |bound: f64| AT_BOUND * (1.0 + bound.abs());
    if low.is_finite() && value <= low + near(low) {
        return Some(Side::Low);
    }
    (high.is_finite() && value >= high - near(high)).then_some(Side::High)
}

/// The log-likelihood of a value under a [`Cut`] distribution with this [`scale`].
fn log_cut(
    (mean, deviation, slope): (f64, f64, f64),
    bounds: (f64, f64),
    value: f64,
    derivatives: &mut [f32],
) -> f64 {
    let (log, [by_mean, by_deviation]) = match side(value, bounds) {
        Some(Side::Low) => log_tailed_below(mean, deviation, bounds.0),
        Some(Side::High) => {
            let (log, [by_mean, by_deviation]) = log_tailed_below(-mean, deviation, -bounds.1);
            (log, [-by_mean, by_deviation])
        }
        None => log_tailed(mean, deviation, value),
    };
    write(derivatives, [by_mean, by_deviation * slope]);
    log
}

/// The log-likelihood of a value under a rounded normal distribution with this [`scale`].
fn log_rounded(
    (mean, deviation, slope): (f64, f64, f64),
    half: f64,
    value: f64,
    derivatives: &mut [f32],
) -> f64 {
    let (a, b) = ((value - half - mean) / deviation, (value + half - mean) / deviation);
    let (log, by_a, by_b) = log_normal_between(a, b);
    let by_deviation = -(by_a * a + by_b * b) / deviation;
    write(derivatives, [-(by_a + by_b) / deviation, by_deviation * slope]);
    log
}

fn write<const N: usize>(into: &mut [f32], values: [f64; N]) {
    for (into, value) in into.iter_mut().zip(values) {
        #[expect(clippy::cast_possible_truncation, reason = "gradients are single precision")]
        let value = value as f32;
        *into = value;
    }
}

/// Mean, standard deviation, and the derivative of the deviation with respect to the raw scale.
fn scale(parameters: &[f32], floor: f64) -> (f64, f64, f64) {
    let raw = f64::from(parameters[1]);
    (f64::from(parameters[0]), floor + softplus(raw), 1.0 / (1.0 + (-raw).exp()))
}

fn index(value: f64, labels: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let index = value.max(0.0) as usize;
    index.min(labels - 1)
}

/// The index of the largest number; the first if several are equal.
fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut best = (0, f64::NEG_INFINITY);
    for (at, number) in numbers.enumerate() {
        if number > best.1 {
            best = (at, number);
        }
    }
    best.0 as f64
}

fn log_sum(logits: &[f32]) -> f64 {
    let top = logits.iter().fold(f32::NEG_INFINITY, |top, &logit| top.max(logit));
    let top = f64::from(top);
    top + logits.iter().map(|&logit| (f64::from(logit) - top).exp()).sum::<f64>().ln()
}

fn arc_tanh(value: f64) -> f64 {
    value.clamp(-0.999_999, 0.999_999).atanh()
}

fn logistic_quantile(share: f64) -> f64 {
    let share = share.clamp(1e-300, 1.0 - 1e-16);
    (share / (1.0 - share)).ln()
}

fn gumbel_quantile(share: f64) -> f64 {
    -(-share.clamp(1e-300, 1.0 - 1e-16).ln()).ln()
}

/// A quantile of the standard normal distribution restricted to `a` to `b`.
fn normal_between(a: f64, b: f64, share: f64) -> f64 {
    if b < 0.0 {
        return -normal_between(-b, -a, 1.0 - share);
    }
    if a > 5.0 {
        // The tail falls like e^(-a x) here.
        let within = 1.0 - (-a * (b - a)).exp();
        return (a - (1.0 - share * within).ln() / a).clamp(a, b);
    }
    if a > 0.0 {
        // From the upper tail, to keep precision.
        let [above_a, above_b] = [a, b].map(|end| log_normal_cdf(-end).exp());
        let upper = above_a + share * (above_b - above_a);
        return (-normal_quantile(upper.max(1e-300))).clamp(a, b);
    }
    let [below_a, below_b] = [a, b].map(normal_cdf);
    let below = below_a + share * (below_b - below_a);
    normal_quantile(below.clamp(1e-300, 1.0 - 1e-16)).clamp(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(Distribution, [f32; 3], [f64; 3]); 9] = [
        (Normal { floor: 1e-3 }, [0.4, -0.3, 0.0], [0.3, -2.0, 5.0]),
        (Tailed { floor: 1e-3 }, [0.4, -0.3, 0.0], [0.3, -2.0, 5.0]),
        (Rounded { half: 0.25, floor: 1e-3 }, [0.4, -0.3, 0.0], [0.5, -2.0, 5.0]),
        (Rounded { half: 0.01, floor: 1e-3 }, [0.4, 0.3, 0.0], [0.5, -2.0, 3.0]),
        (Bernoulli, [0.7, 0.0, 0.0], [0.0, 1.0, 1.0]),
        (Categorical(3), [0.1, -0.5, 1.2], [0.0, 1.0, 2.0]),
        (Bounded { floor: 1e-3 }, [0.4, -0.3, 0.0], [0.5, -0.9, 0.99]),
        (BELOW, [0.4, -0.3, 0.0], [0.3, -2.0, 5.0]),
        (WITHIN, [0.4, -0.3, 0.0], [0.3, -1.0, 0.5]),
    ];

    const BELOW: Distribution = Cut { floor: 1e-3, low: -2.0, high: f64::INFINITY };
    const WITHIN: Distribution = Cut { floor: 1e-3, low: -1.0, high: 0.5 };

    type Measure<'a> = &'a dyn Fn(&[f32], &mut [f32]) -> f64;

    #[test]
    fn entropy_and_divergence_have_exact_derivatives() {
        for (distribution, parameters, _) in ALL {
            let before = [0.2, 0.1, -0.4];
            let nothing = distribution.divergence(&parameters, &parameters, &mut [0.0; 3]);
            assert!(nothing.abs() < 1e-9, "{distribution:?} from itself: {nothing}");
            let measures: [Measure<'_>; 2] = [&|p, d| distribution.entropy(p, d), &|p, d| {
                distribution.divergence(&before, p, d)
            }];
            for measure in measures {
                let mut derivatives = [0.0; 3];
                measure(&parameters, &mut derivatives);
                for at in 0..distribution.parameters() {
                    let moved = |step: f32| {
                        let mut moved = parameters;
                        moved[at] += step;
                        measure(&moved, &mut [0.0; 3])
                    };
                    let difference = (moved(1e-2) - moved(-1e-2)) / 2e-2;
                    let off = (difference - f64::from(derivatives[at])).abs();
                    assert!(off < 1e-3, "{distribution:?} by {at}: {difference} {derivatives:?}");
                }
            }
        }
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        for (distribution, parameters, values) in ALL {
            for value in values {
                let mut derivatives = [0.0; 3];
                distribution.log_likelihood(&parameters, value, &mut derivatives);
                for at in 0..distribution.parameters() {
                    let step = 1e-2_f32;
                    let near = |step| {
                        let mut moved = parameters;
                        moved[at] += step;
                        distribution.log_likelihood(&moved, value, &mut [0.0; 3])
                    };
                    let difference = (near(step) - near(-step)) / (2.0 * f64::from(step));
                    let error = (difference - f64::from(derivatives[at])).abs();
                    assert!(error < 2e-3 * (1.0 + difference.abs()), "{distribution:?} at {value}");
                }
            }
        }
    }

    #[test]
    fn the_noise_of_a_value_reproduces_the_value() {
        for (distribution, parameters, values) in ALL {
            for value in values {
                let mut noise = [0.0; 3];
                let half = match distribution {
                    Rounded { half, .. } => half,
                    _ => 1e-6,
                };
                let reproduces = |noise: &[f64]| {
                    let again = distribution.value(&parameters, noise);
                    let near = (again - value).abs() <= half * (1.0 + 1e-9);
                    assert!(near, "{distribution:?}: {value} became {again}");
                };
                distribution.noise_of(&parameters, value, &mut noise);
                reproduces(&noise);
                let mut stream = Stream::new(3);
                for _ in 0..100 {
                    distribution.draw_noise_of(&parameters, value, &mut stream, &mut noise);
                    reproduces(&noise);
                }
            }
        }
    }

    #[test]
    fn what_is_expected_beyond_a_bound_is_at_the_bound_and_is_no_surprise() {
        // Expected at -4 with a deviation of about 0.1, seen at the bound: nothing random happened.
        let parameters = [-4.0, -2.25];
        assert_eq!(BELOW.mean(&parameters), -2.0);
        assert_eq!(BELOW.value(&parameters, &[0.7]), -2.0);
        let mut noise = [1.0];
        BELOW.noise_of(&parameters, -2.0, &mut noise);
        assert!(noise[0].abs() < 1e-6, "{noise:?}");
        let mut slopes = [1.0; 2];
        let log = BELOW.log_likelihood(&parameters, -2.0, &mut slopes);
        assert!(log.abs() < 1e-9 && slopes.iter().all(|slope| slope.abs() < 1e-6), "{log}");
    }

    #[test]
    fn noise_drawn_given_values_is_the_noise_of_the_distribution() {
        // Values are drawn, then their noise, then what other parameters make of it: this must have the
        // distribution of the other parameters.
        const DRAWS: usize = 20_000;
        let others = [[-0.9_f32, 0.0, 0.0], [-0.9, 0.4, 0.2]];
        for ((distribution, parameters, _), other) in ALL[4..6].iter().zip(others) {
            let mut stream = Stream::new(8);
            let mut noise = [0.0; 3];
            let mut counts = [0_usize; 3];
            for _ in 0..DRAWS {
                distribution.draw(&mut stream, &mut noise);
                let value = distribution.value(parameters, &noise);
                distribution.draw_noise_of(parameters, value, &mut stream, &mut noise);
                counts[index(distribution.value(&other, &noise), 3)] += 1;
            }
            for (label, count) in counts.iter().enumerate().take(distribution.parameters().max(2)) {
                let chance = distribution.chance(&other, label as f64).expect("a label");
                let share = *count as f64 / DRAWS as f64;
                // Four standard errors.
                let error = 4.0 * (chance * (1.0 - chance) / DRAWS as f64).sqrt();
                assert!(
                    (share - chance).abs() < error,
                    "{distribution:?} {label}: {share} {chance}"
                );
            }
        }
    }

    #[test]
    fn the_frequencies_of_samples_match_their_likelihood() {
        let mut stream = Stream::new(3);
        for (distribution, parameters, _) in ALL {
            let draws = 40_000;
            let mut noise = [0.0; 3];
            let mut below = 0.0;
            let middle = distribution.mean(&parameters);
            let mut counts = [0.0; 3];
            for _ in 0..draws {
                distribution.draw(&mut stream, &mut noise);
                let value = distribution.value(&parameters, &noise);
                below += f64::from(u8::from(value < middle)) / f64::from(draws);
                counts[index(value, 3)] += 1.0 / f64::from(draws);
            }
            match distribution {
                Bernoulli | Categorical(_) => {
                    let labels = if distribution == Bernoulli { 2 } else { 3 };
                    for (label, count) in counts.iter().enumerate().take(labels) {
                        let log =
                            distribution.log_likelihood(&parameters, label as f64, &mut [0.0; 3]);
                        assert!((count - log.exp()).abs() < 0.01, "{distribution:?} {label}");
                    }
                }
                _ => assert!((below - 0.5).abs() < 0.01, "{distribution:?}"),
            }
        }
    }

    #[test]
    fn probabilities_sum_to_one() {
        let cells = 4000;
        let mut total = 0.0;
        for cell in 0..cells {
            let value = -1.0 + 2.0 * (f64::from(cell) + 0.5) / f64::from(cells);
            let log = Bounded { floor: 1e-3 }.log_likelihood(&[0.4, -0.3], value, &mut [0.0; 2]);
            total += log.exp() * 2.0 / f64::from(cells);
        }
        assert!((total - 1.0).abs() < 1e-3);
        let tailed = Tailed { floor: 1e-3 };
        let cells = (-20_000..20_000).map(|cell| (f64::from(cell) + 0.5) * 1e-3);
        let each =
            cells.map(|v| tailed.log_likelihood(&[0.4, -0.3], v, &mut [0.0; 2]).exp() * 1e-3);
        assert!((each.sum::<f64>() - 1.0).abs() < 1e-5);
        // Within the bounds there is a density, at each of them a probability.
        let cells = (0..1500).map(|cell| -1.0 + (f64::from(cell) + 0.5) * 1e-3);
        let inside: f64 =
            cells.map(|v| WITHIN.log_likelihood(&[0.4, -0.3], v, &mut [0.0; 2]).exp() * 1e-3).sum();
        let at = |v: f64| WITHIN.log_likelihood(&[0.4, -0.3], v, &mut [0.0; 2]).exp();
        assert!((inside + at(-1.0) + at(0.5) - 1.0).abs() < 2e-3);
        let rounded = Rounded { half: 0.25, floor: 1e-3 };
        let each = (-40..40)
            .map(|v| rounded.log_likelihood(&[0.4, -0.3], f64::from(v) * 0.5, &mut [0.0; 2]).exp());
        assert!((each.sum::<f64>() - 1.0).abs() < 1e-5);
    }
}

//! A normal density with exponential tails (Huber 1964).

use becausal_core::Stream;

use super::normal::{log_normal_density, normal_cdf};

/// Where the tails begin, in standard deviations of the middle. Of normal noise one value in 22 is beyond it.
const TAIL: f64 = 2.0;

/// The standard deviation of normal noise, divided by that of the middle of the density that fits it best: r with
/// r^2 (2 Phi(2 / r) - 1) = 1.
const NORMAL_NOISE: f64 = 1.026_76;

/// The masses of the middle and of the tails before they are normalised: 2 Phi(2) - 1 and 2 phi(2) / 2.
const MASSES: [f64; 2] = [0.954_499_736_103_641_6, 0.053_990_966_513_188_06];

/// The log-density of a value, and its derivatives with respect to the mean and to the deviation.
pub(super) fn log_tailed(mean: f64, deviation: f64, value: f64) -> (f64, [f64; 2]) {
    let middle = deviation / NORMAL_NOISE;
    let z = (value - mean) / middle;
    let pull = z.clamp(-TAIL, TAIL);
    let slopes = [pull / middle, (z * pull - 1.0) / deviation];
    let mass = MASSES[0] + MASSES[1];
    let log = log_normal_density(0.0) - mass.ln() - pull * (z - 0.5 * pull) - middle.ln();
    (log, slopes)
}

/// The logarithm of the probability of a value below a bound, and its derivatives with respect to the mean and to the deviation.
pub(super) fn log_tailed_below(mean: f64, deviation: f64, bound: f64) -> (f64, [f64; 2]) {
    let middle = deviation / NORMAL_NOISE;
    let z = (bound - mean) / middle;
    let (tail, mass) = (0.5 * MASSES[1], MASSES[0] + MASSES[1]);
    let log = if z < -TAIL {
        (tail / mass).ln() + TAIL * (z + TAIL)
    } else if z <= TAIL {
        ((tail + normal_cdf(z) - normal_cdf(-TAIL)) / mass).ln()
    } else {
        (-tail / mass * (-TAIL * (z - TAIL)).exp()).ln_1p()
    };
    let pull = z.clamp(-TAIL, TAIL);
    let density = log_normal_density(0.0) - mass.ln() - pull * (z - 0.5 * pull);
    let by_z = (density - log).exp();
    (log, [-by_z / middle, -by_z * z / deviation])
}

/// Noise, in standard deviations of the normal noise that the density is fitted to.
pub(super) fn draw_tailed(stream: &mut Stream) -> f64 {
    let tail = stream.unit() * (MASSES[0] + MASSES[1]) - MASSES[0];
    if tail > 0.0 {
        let beyond = TAIL - (1.0 - stream.unit()).ln() / TAIL;
        let signed = if 2.0 * tail > MASSES[1] { beyond } else { -beyond };
        return signed / NORMAL_NOISE;
    }
    loop {
        let middle = stream.normal();
        if middle.abs() <= TAIL {
            return middle / NORMAL_NOISE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fitted_to_normal_noise_its_deviation_is_that_of_the_noise() {
        // The mean slope of the likelihood by the deviation is 0 where noise of deviation 1 is seen with deviation 1.
        let slope = |value: f64| log_tailed(0.0, 1.0, value).1[1];
        let cells = (-8000..8000).map(|cell| (f64::from(cell) + 0.5) * 1e-3);
        let mean: f64 = cells.map(|z| slope(z) * log_normal_density(z).exp() * 1e-3).sum();
        assert!(mean.abs() < 1e-4, "{mean}");
    }

    #[test]
    fn tails_are_drawn_as_often_as_they_are_likely() {
        let mut stream = Stream::new(5);
        let draws: Vec<f64> =
            (0..40_000).map(|_| NORMAL_NOISE * draw_tailed(&mut stream)).collect();
        let share = |beyond: f64| {
            draws.iter().filter(|draw| draw.abs() > beyond).count() as f64 / draws.len() as f64
        };
        // e^(-2 (z - 2)) of the mass of the tails is beyond z.
        let tails = MASSES[1] / (MASSES[0] + MASSES[1]);
        for beyond in [2.0_f64, 2.5, 3.0, 4.0] {
            let expected = tails * (-2.0 * (beyond - 2.0)).exp();
            let error = 4.0 * (expected / draws.len() as f64).sqrt();
            assert!((share(beyond) - expected).abs() < error, "{beyond}: {}", share(beyond));
        }
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        assert!(mean.abs() < 0.025, "{mean}");
    }
}

//! A whole number as the stairs below it.
//!
//! A rule about counts turns at one of them: *no supply left*, *the first depot*. On the scale of
//! the spread that is a small difference, and a network is slow to learn so steep a step. So it is
//! also told, for each step between two values of the data, how much of it is climbed: 0 below, 1
//! above, and in between in proportion (Gorishniy et al. 2022, *On Embeddings for Numerical
//! Features*).

/// Steps at most.
const STEPS: usize = 16;

/// The steps between values of a variable.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Stairs {
    /// Where each step begins and the one before ends; ascending.
    ends: Vec<f64>,
}

impl Stairs {
    /// Over values from lowest to highest; of many, some that are evenly many apart.
    pub fn over(sorted: &[f64]) -> Self {
        let mut ends = sorted.to_vec();
        ends.dedup();
        if ends.len() > STEPS + 1 {
            let last = ends.len() - 1;
            ends = (0..=STEPS).map(|step| ends[step * last / STEPS]).collect();
        }
        Self { ends }
    }

    /// How many steps.
    pub fn count(&self) -> usize {
        self.ends.len().saturating_sub(1)
    }

    /// How much of each step a value has climbed, from 0 to 1.
    pub fn climbed(&self, value: f64) -> impl Iterator<Item = f64> {
        self.ends
            .windows(2)
            .map(move |ends| ((value - ends[0]) / (ends[1] - ends[0])).clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_a_step_each_and_many_share() {
        let few = Stairs::over(&[0.0, 0.0, 1.0, 2.0, 2.0, 5.0]);
        assert_eq!(few.climbed(1.0).collect::<Vec<_>>(), [1.0, 0.0, 0.0]);
        assert_eq!(few.climbed(3.5).collect::<Vec<_>>(), [1.0, 1.0, 0.5]);
        assert_eq!(few.climbed(-9.0).chain(few.climbed(9.0)).sum::<f64>(), 3.0);
        let many: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(Stairs::over(&many).count(), STEPS);
        assert_eq!(Stairs::over(&[4.0; 5]).count(), 0);
    }
}

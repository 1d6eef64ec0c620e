//! How sparse the model is that a training dreams with: the pairs that its networks read.

use becausal::render::{Chart, Series, SeriesPoint};

use crate::Failure;
use crate::curve::Curve;
use crate::number::{count, counted, mean_and_deviation};

/// A mask of at least this share of all pairs is nearly the full graph. A world without the other tenth is hardly another
/// one.
const NEARLY_FULL: f64 = 0.9;

/// The masks of the trainings with the causal model in one environment.
pub struct Masks<'a> {
    pub trainings: Vec<&'a Curve>,
    /// All pairs of a cause and an effect.
    pub pairs: usize,
}

impl Masks<'_> {
    /// After how many real steps a training's mask is no longer nearly the full graph, and stays so; `None` where it
    /// still is at the end.
    fn sparse_from(&self, training: &Curve) -> Option<usize> {
        let is_full = |edges: f64| edges >= NEARLY_FULL * self.pairs as f64;
        let last_full = training.edges_in_use.iter().rposition(|(_, edges)| is_full(*edges));
        let first_sparse = last_full.map_or(0, |place| place + 1);
        training.edges_in_use.get(first_sparse).map(|(steps, _)| *steps)
    }

    /// Whether the model dreams over nearly the full graph, and from which step on it does not.
    pub fn words(&self) -> String {
        let ends = |points: fn(&Curve) -> &[(usize, f64)]| {
            let last = self.trainings.iter().filter_map(|training| points(training).last());
            let values: Vec<String> = last.map(|(_, edges)| format!("{edges}")).collect();
            values.join(", ")
        };
        let since: Vec<String> = self
            .trainings
            .iter()
            .map(|training| match self.sparse_from(training) {
                Some(steps) => count(steps),
                None => "never".to_owned(),
            })
            .collect();
        format!(
            "Causal graph, each seed, of {}: {} found at the end, {} in use. The model dreams over less than {:.0} % of the \
             pairs from real step: {}.\n",
            counted(self.pairs, "pair"),
            ends(|training| &training.edges),
            ends(|training| &training.edges_in_use),
            100.0 * NEARLY_FULL,
            since.join(", "),
        )
    }

    /// Edges found and pairs in use over the real steps: mean and range over the seeds.
    pub fn chart(&self, id: &str) -> Result<Chart, Failure> {
        let of = |name: &str, points: fn(&Curve) -> &[(usize, f64)]| {
            let points = mean_and_range(&self.trainings, points);
            (!points.is_empty()).then(|| Series { name: name.to_owned(), points })
        };
        let mut series: Vec<Series> = [
            of("pairs in use", |training| &training.edges_in_use),
            of("edges found", |training| &training.edges),
        ]
        .into_iter()
        .flatten()
        .collect();
        let steps = || series.iter().flat_map(|one| &one.points).map(|point| point.x);
        let (first, last) = (steps().fold(f64::INFINITY, f64::min), steps().fold(0.0, f64::max));
        if first < last {
            let mean = self.pairs as f64;
            let at = |x: f64| SeriesPoint { x, mean, low: mean, high: mean };
            series
                .push(Series { name: "full graph".to_owned(), points: vec![at(first), at(last)] });
        }
        let seeds = counted(self.trainings.len(), "seed");
        let title = format!("{id}, causal graph: mean and range of {seeds}");
        Ok(Chart::new(title, "real steps", "pairs of a cause and an effect", series)?)
    }
}

/// The epochs of all trainings, one after another: with whole episodes their steps differ a little between seeds.
fn mean_and_range(trainings: &[&Curve], points: fn(&Curve) -> &[(usize, f64)]) -> Vec<SeriesPoint> {
    let epochs = trainings.iter().map(|training| points(training).len()).min().unwrap_or(0);
    let mut all: Vec<SeriesPoint> = Vec::new();
    for epoch in 0..epochs {
        let here: Vec<(usize, f64)> = trainings.iter().map(|one| points(one)[epoch]).collect();
        let values: Vec<f64> = here.iter().map(|(_, value)| *value).collect();
        let (mean, _) = mean_and_deviation(&values);
        let x = here.iter().map(|(steps, _)| *steps as f64).sum::<f64>() / here.len() as f64;
        let low = values.iter().copied().fold(mean, f64::min);
        let high = values.iter().copied().fold(mean, f64::max);
        if all.last().is_none_or(|before| before.x < x) {
            all.push(SeriesPoint { x, mean, low, high });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn training(edges_in_use: &[(usize, f64)]) -> Curve {
        Curve {
            kind: "causal".to_owned(),
            seed: 1,
            points: Vec::new(),
            edges: vec![(100, 4.0), (300, 6.0)],
            edges_in_use: edges_in_use.to_vec(),
            evaluation_episodes: 0,
            final_return: 0.0,
            seconds: 0.0,
        }
    }

    #[test]
    fn a_mask_is_sparse_from_the_step_after_which_it_stays_so() {
        let late = training(&[(100, 20.0), (200, 12.0), (300, 18.0), (400, 17.0)]);
        let never = training(&[(100, 20.0), (200, 19.0)]);
        let at_once = training(&[(100, 12.0), (200, 13.0)]);
        let masks = Masks { trainings: vec![&late, &never, &at_once], pairs: 20 };
        let words = masks.words();
        assert!(
            words.contains("of 20 pairs: 6, 6, 6 found at the end, 17, 19, 13 in use"),
            "{words}"
        );
        assert!(words.ends_with("from real step: 400, never, 100.\n"), "{words}");
    }

    #[test]
    fn the_chart_has_the_mean_and_the_range_of_every_epoch() {
        let one = training(&[(100, 20.0), (200, 12.0)]);
        let other = training(&[(110, 10.0), (210, 14.0), (300, 9.0)]);
        let points = mean_and_range(&[&one, &other], |curve| &curve.edges_in_use);
        assert_eq!(
            points,
            [
                SeriesPoint { x: 105.0, mean: 15.0, low: 10.0, high: 20.0 },
                SeriesPoint { x: 205.0, mean: 13.0, low: 12.0, high: 14.0 },
            ]
        );
    }
}

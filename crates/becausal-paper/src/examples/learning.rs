//! The paper's figure 6: the learning curves.

use becausal::progress::Listener;
use serde_json::json;

use crate::Failure;
use crate::comparison::{Agreement, Claim, ComparisonSection, Piece};
use crate::curve::Curve;
use crate::curves::{self, Curves, MODELS, name, of_model};
use crate::number::{brief, count, counted, mean_and_deviation, percent};

use super::folder::Folder;
use super::{Size, texts};

/// Two returns are close if they differ by at most this share of the larger one, or by at most the
/// standard deviation over the seeds.
const CLOSE_SHARE: f64 = 0.05;

/// Trainings that end before anything is learned: the quick version only shows that it all works.
const QUICK_SETTINGS: &str = "steps = 300\nwarm_up = 150\nepoch_steps = 75\nrounds = 2\n\
                              samples = 256\nmembers = 1\nfit_steps_first = 20\n\
                              fit_steps_graph = 10\nfit_steps = 10";

/// What the paper's figure shows of each environment, with the paper's name of it.
const PUBLISHED: [(&str, &str, Shows); 4] = [
    ("CartPole-v1", "Cartpole", Shows::Faster),
    ("LunarLander-v3", "Lunarlander-Discrete", Shows::Faster),
    ("LunarLanderContinuous-v3", "Lunarlander-Continuous", Shows::Close),
    ("BuildMarine-v0", "Build-Marine", Shows::Higher),
];

/// How training with a model compares with training without.
#[derive(Clone, Copy)]
enum Shows {
    Faster,
    Higher,
    Close,
}

/// The learning curves, reproduced.
pub struct Learning {
    curves: Vec<Curves>,
}

impl Learning {
    pub fn measure(
        listener: &Listener,
        size: &Size,
        environments: &[String],
        folder: &Folder,
    ) -> Result<Self, Failure> {
        let arguments = curves::Arguments {
            output: folder.path().join("curves"),
            env: environments.to_vec(),
            seeds: size.seeds.to_vec(),
            model: Vec::new(),
            preset: "default".to_owned(),
            resume: false,
            quick: size.quick,
        };
        let change = size.quick.then_some(QUICK_SETTINGS);
        Ok(Self { curves: curves::measure(listener, &arguments, change)? })
    }

    pub fn write(&self, folder: &Folder) -> Result<(), Failure> {
        let environments: Vec<_> = self.curves.iter().map(curves::as_json).collect();
        folder.json("curves.json", &json!({ "environments": environments }))
    }

    pub fn section(&self) -> Result<ComparisonSection, Failure> {
        let mut measured = vec![Piece::Text(
            "All get the same number of real steps. The bands show the range over the seeds."
                .to_owned(),
        )];
        for curves in &self.curves {
            measured.push(Piece::Picture(curves::chart(curves)?.drawing()));
            measured.push(Piece::Text(format!(
                "Final return: mean over {} of the best policy of each seed, in the environment's \
                 own reward. None of these episodes was used to choose the policy.",
                counted(curves.final_episodes, "episode"),
            )));
            measured.push(table(curves));
        }
        Ok(ComparisonSection {
            title: "Figure 6: learning with and without models".to_owned(),
            published: texts(&[
                "Returns over environment steps in four environments, for no model, a dense \
                 network, the full graph and the causal graph. The causal model is very close to \
                 the dense ones everywhere. Compared with no model, models learn faster in \
                 Cartpole and Lunarlander-Discrete, end higher in Build-Marine, and are close in \
                 Lunarlander-Continuous.",
                "Real steps in the paper: 40,000 in Cartpole (50 epochs of 800), 480,000 in each \
                 lander, 24,000 in Build-Marine.",
            ]),
            measured,
            claims: PUBLISHED.iter().flat_map(|published| self.claims(*published)).collect(),
        })
    }

    fn claims(&self, (id, name, shows): (&str, &str, Shows)) -> Vec<Claim> {
        let with_and_without = match shows {
            Shows::Faster => format!("{name}: models learn faster than no model."),
            Shows::Higher => format!("{name}: models end higher than no model."),
            Shows::Close => format!("{name}: returns with and without a model are close."),
        };
        let causal_and_dense = format!("{name}: the causal model is close to the dense ones.");
        match self.curves.iter().find(|curves| curves.id == id) {
            Some(curves) => compare(curves, shows, [with_and_without, causal_and_dense]),
            None => [with_and_without, causal_and_dense]
                .map(|published| Claim {
                    published,
                    measured: "Not measured in this run.".to_owned(),
                    agreement: Agreement::Open,
                    reason: format!("Measure it with `becausal-paper examples --env {id}`."),
                })
                .to_vec(),
        }
    }
}

/// Both claims about an environment, given what the paper says.
fn compare(
    curves: &Curves,
    shows: Shows,
    [with_and_without, causal_and_dense]: [String; 2],
) -> Vec<Claim> {
    let [none, dense, full, causal] = MODELS.map(|model| Returns::of(&curves.trainings, model));
    let each = |value: fn(&Returns) -> f64| {
        format!(
            "{} causal, {} full, {} dense, {} no model.",
            brief(value(&causal)),
            brief(value(&full)),
            brief(value(&dense)),
            brief(value(&none))
        )
    };
    let final_returns = format!("Final return: {}", each(|returns| returns.last));
    let models = [&dense, &full, &causal];
    let (same, measured) = match shows {
        Shows::Faster => (
            models.iter().all(|model| model.along > none.along),
            format!("Mean return over all evaluations: {}", each(|returns| returns.along)),
        ),
        Shows::Higher => (models.iter().all(|model| model.last > none.last), final_returns.clone()),
        Shows::Close => (models.iter().all(|model| model.is_close(&none)), final_returns.clone()),
    };
    let close = causal.is_close(&dense) && causal.is_close(&full);
    let steps = curves.trainings.iter().filter_map(|c| c.points.last()).map(|(x, _)| *x).max();
    let steps = format!("After {} real steps.", count(steps.unwrap_or(0)));
    let closeness = format!(
        "{steps} Close means within {} or one standard deviation over the seeds.",
        percent(CLOSE_SHARE)
    );
    let reason = |same: bool, words: &str| if same { String::new() } else { words.to_owned() };
    let is_closeness = matches!(shows, Shows::Close);
    vec![
        Claim {
            published: with_and_without,
            measured,
            agreement: Agreement::of(same),
            reason: reason(same, if is_closeness { &closeness } else { &steps }),
        },
        Claim {
            published: causal_and_dense,
            measured: final_returns,
            agreement: Agreement::of(close),
            reason: reason(close, &closeness),
        },
    ]
}

/// The returns of one kind of training.
struct Returns {
    /// The mean final return over the seeds.
    last: f64,
    /// Its standard deviation.
    deviation: f64,
    /// The mean of all evaluations during training.
    along: f64,
}

impl Returns {
    fn of(trainings: &[Curve], model: &str) -> Self {
        let last: Vec<f64> = of_model(trainings, model).map(|curve| curve.final_return).collect();
        let along: Vec<f64> = of_model(trainings, model)
            .flat_map(|curve| curve.points.iter().map(|(_, mean)| *mean))
            .collect();
        let (mean, deviation) = mean_and_deviation(&last);
        Self { last: mean, deviation, along: mean_and_deviation(&along).0 }
    }

    fn is_close(&self, other: &Self) -> bool {
        let difference = (self.last - other.last).abs();
        difference <= CLOSE_SHARE * self.last.abs().max(other.last.abs())
            || difference <= self.deviation.max(other.deviation)
    }
}

fn table(curves: &Curves) -> Piece {
    let row = |model: &&'static str| {
        let returns = Returns::of(&curves.trainings, model);
        vec![
            name(model).to_owned(),
            format!("{:.1}", returns.last),
            format!("{:.1}", returns.deviation),
            format!("{:.1}", returns.along),
        ]
    };
    Piece::Table {
        headings: [curves.id, "final return", "std", "mean of all evaluations"]
            .map(str::to_owned)
            .to_vec(),
        rows: MODELS.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_are_close_by_share_or_by_deviation() {
        let returns = |last: f64, deviation: f64| Returns { last, deviation, along: 0.0 };
        assert!(returns(100.0, 0.0).is_close(&returns(95.0, 0.0)));
        assert!(!returns(100.0, 0.0).is_close(&returns(94.0, 5.0)));
        assert!(returns(100.0, 0.0).is_close(&returns(94.0, 6.0)));
    }
}

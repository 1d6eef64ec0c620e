//! The paper's figure 6: the learning curves.

use becausal::render::{Agreement, Claim, ComparisonSection, Piece};
use serde_json::json;

use crate::arguments::{Common, ReproduceCurves};
use crate::failure::Failure;
use crate::number::{brief, count};
use crate::reproduce_curves::{self, Curve, Curves, MODELS, mean_and_spread, name, of_model};

use super::Size;
use super::folder::Folder;
use super::lander::texts;

/// Two returns are close when they differ by at most this share of the larger, or by no more than the spread
/// over the seeds.
const CLOSE: f64 = 0.05;

/// Trainings that are over before they have learned: the quick version shows that everything works.
const QUICK: &str = "steps = 300\nwarm_up = 150\nepoch_steps = 75\nrounds = 2\nsamples = 256\nmembers = 1\n\
                     fit_steps_first = 20\nfit_steps_graph = 10\nfit_steps = 10";

/// What the paper's figure shows of each environment.
const PUBLISHED: [(&str, &str, Shows); 4] = [
    ("CartPole-v1", "Cartpole", Shows::Faster),
    ("LunarLander-v3", "Lunarlander-Discrete", Shows::Faster),
    ("LunarLanderContinuous-v3", "Lunarlander-Continuous", Shows::Close),
    ("BuildMarine-v0", "Build-Marine", Shows::Higher),
];

/// How the trainings with a model compare with the one without.
#[derive(Clone, Copy)]
enum Shows {
    Faster,
    Higher,
    Close,
}

/// The learning curves, measured anew.
pub struct Learning {
    curves: Vec<Curves>,
}

impl Learning {
    pub fn measure(
        common: &Common,
        size: &Size,
        environments: &[String],
        folder: &Folder,
    ) -> Result<Self, Failure> {
        let arguments = ReproduceCurves {
            output: folder.path().join("curves"),
            env: environments.to_vec(),
            seeds: size.seeds.to_vec(),
            preset: "default".to_owned(),
            quick: size.quick,
            change: size.quick.then_some(QUICK),
        };
        Ok(Self { curves: reproduce_curves::measure(common, &arguments)? })
    }

    pub fn write(&self, folder: &Folder) -> Result<(), Failure> {
        let each = self.curves.iter().map(reproduce_curves::as_json);
        folder.json("curves.json", &json!({ "environments": each.collect::<Vec<_>>() }))
    }

    pub fn section(&self) -> Result<ComparisonSection, Failure> {
        let mut measured = vec![Piece::Text(
            "The same number of real steps for all; a band is the range of the seeds. The table has the return of the best policy of \
             each seed in 20 episodes that it was not chosen by, as the environment pays."
                .to_owned(),
        )];
        for curves in &self.curves {
            measured.push(Piece::Picture(reproduce_curves::chart(curves)?.drawing()));
            measured.push(table(curves.id, &curves.each));
        }
        Ok(ComparisonSection {
            title: "Figure 6: learning with and without models".to_owned(),
            published: texts(&[
                "Returns over environment steps in four environments, for no model, a dense network, the full graph and the causal graph. \
                 The causal model is very close to the dense ones everywhere; against no model, models learn faster in Cartpole and in \
                 Lunarlander-Discrete, end higher in Build-Marine, and are close in Lunarlander-Continuous.",
                "Cartpole took 40,000 real steps there (50 epochs of 800), the landers 480,000, Build-Marine 24,000.",
            ]),
            measured,
            claims: PUBLISHED.iter().flat_map(|published| self.claims(*published)).collect(),
        })
    }

    fn claims(&self, (id, name, shows): (&str, &str, Shows)) -> Vec<Claim> {
        let published = match shows {
            Shows::Faster => format!("{name}: models learn faster than no model."),
            Shows::Higher => format!("{name}: models end higher than no model."),
            Shows::Close => format!("{name}: returns with and without a model are close."),
        };
        let near = format!("{name}: the causal model is close to the dense ones.");
        let Some(Curves { each: curves, .. }) = self.curves.iter().find(|known| known.id == id)
        else {
            let open = |published| Claim {
                published,
                measured: "Not measured in this run.".to_owned(),
                agreement: Agreement::Open,
                reason: format!(
                    "`becausal reproduce examples --env {id}` measures it, which takes long."
                ),
            };
            return vec![open(published), open(near)];
        };
        let [none, dense, full, causal] = MODELS.map(|model| Returns::of(curves, model));
        let told = |pick: fn(&Returns) -> f64| {
            format!(
                "{} causal, {} full, {} dense, {} no model.",
                brief(pick(&causal)),
                brief(pick(&full)),
                brief(pick(&dense)),
                brief(pick(&none))
            )
        };
        let models = [&dense, &full, &causal];
        let (same, measured) = match shows {
            Shows::Faster => (
                models.iter().all(|model| model.along > none.along),
                format!("Mean return over the whole curve: {}", told(|r| r.along)),
            ),
            Shows::Higher => (
                models.iter().all(|model| model.last > none.last),
                format!("Return at the end: {}", told(|r| r.last)),
            ),
            Shows::Close => (
                models.iter().all(|model| model.is_close(&none)),
                format!("Return at the end: {}", told(|r| r.last)),
            ),
        };
        let close = causal.is_close(&dense) && causal.is_close(&full);
        let budget = curves.iter().filter_map(|c| c.points.last()).map(|(x, _)| *x).max();
        let reason = format!("After {} real steps of ours.", count(budget.unwrap_or(0)));
        let because = |same: bool| if same { String::new() } else { reason.clone() };
        vec![
            Claim { published, measured, agreement: Agreement::of(same), reason: because(same) },
            Claim {
                published: near,
                measured: format!("Return at the end: {}", told(|r| r.last)),
                agreement: Agreement::of(close),
                reason: because(close),
            },
        ]
    }
}

/// What the trainings with one kind of model came to.
struct Returns {
    /// Of the best policies, in new episodes: the mean and its spread over the seeds.
    last: f64,
    spread: f64,
    /// The mean of all evaluations along the curve.
    along: f64,
}

impl Returns {
    fn of(curves: &[Curve], model: &str) -> Self {
        let last: Vec<f64> = of_model(curves, model).map(|curve| curve.last).collect();
        let along: Vec<f64> =
            of_model(curves, model).flat_map(|c| c.points.iter().map(|(_, mean)| *mean)).collect();
        let (mean, spread) = mean_and_spread(&last);
        Self { last: mean, spread, along: mean_and_spread(&along).0 }
    }

    fn is_close(&self, other: &Self) -> bool {
        let apart = (self.last - other.last).abs();
        apart <= CLOSE * self.last.abs().max(other.last.abs())
            || apart <= self.spread.max(other.spread)
    }
}

fn table(id: &str, curves: &[Curve]) -> Piece {
    let row = |model: &&'static str| {
        let returns = Returns::of(curves, model);
        vec![
            name(model).to_owned(),
            format!("{:.1}", returns.last),
            format!("{:.1}", returns.spread),
            format!("{:.1}", returns.along),
        ]
    };
    Piece::Table {
        headings: [id, "return", "spread", "mean along the curve"].map(str::to_owned).to_vec(),
        rows: MODELS.iter().map(row).collect(),
    }
}

//! One training of the learning curves. Until it is done it lives in a folder of its own, from which it resumes.

use std::fs;
use std::path::{Path, PathBuf};

use becausal::data::write_atomically;
use becausal::env::{Entry, Options};
use becausal::learn::Settings;
use becausal::progress::{Advance, Listener};
use becausal::run::{Metrics, RunDirectory, TrainConfig, TrainingRun};
use becausal::text::read_text;
use becausal::{MemoryLimit, Preset};
use serde_json::{Value, json};

use crate::{Failure, progress};

/// Maximum size of the record of a training in bytes: some hundred evaluations.
const MAX_RECORD_BYTES: u64 = 16 << 20;

/// A training that is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What it is one of: a kind of model, or a change of the settings.
    pub kind: String,
    pub seed: u64,
    /// Real steps and mean return of every evaluation.
    pub points: Vec<(usize, f64)>,
    /// Real steps and edges of the graph, the verdicts, after every epoch that has one.
    pub edges: Vec<(usize, f64)>,
    /// Real steps and the pairs that the networks read, the mask, after every epoch with a model.
    pub edges_in_use: Vec<(usize, f64)>,
    /// Episodes of all evaluations, which chose the best policy.
    pub evaluation_episodes: usize,
    /// The mean return of the best policy in new episodes.
    pub final_return: f64,
    /// Seconds of learning.
    pub seconds: f64,
}

/// A training to make.
pub struct Task<'a> {
    pub entry: &'static Entry,
    pub options: &'a Options,
    /// Where the settings come from.
    pub preset: Preset,
    pub settings: &'a Settings,
    pub kind: &'a str,
    pub seed: u64,
    /// The folder of the trainings.
    pub folder: &'a Path,
    /// Whether what an earlier command left there is continued.
    pub resume: bool,
}

impl Task<'_> {
    /// Trains, or reads what an earlier command made with the same settings.
    pub fn train(&self, listener: &Listener, note: &str) -> Result<Curve, Failure> {
        let record = self.folder.join(format!("{}.json", self.name()));
        if self.resume && record.exists() {
            return self.read(&record);
        }
        let mut run = self.begin()?;
        let task = format!("{}, {}, seed {}", self.entry.id, self.kind, self.seed);
        let total = self.settings.steps;
        while !run.training.is_done() {
            let done = run.run_epoch()?.real_steps.min(total);
            let at = Advance { task: &task, unit: "real steps", done, total, note };
            progress::advance(listener, &at);
        }
        let final_return = run.training.final_evaluation()?.native_mean();
        let metrics = Metrics::read(run.directory().path())?;
        let metrics = metrics.ok_or_else(|| format!("{task}: the training left no metrics.csv"))?;
        let curve = self.curve(&metrics, final_return);
        write_atomically(&record, format!("{}\n", self.record(&curve)).as_bytes())?;
        // Its policy and model are of no further use, and forty of them take much room.
        drop(run);
        fs::remove_dir_all(self.run())?;
        Ok(curve)
    }

    /// `CartPole-v1-causal-11`, as a name of a file.
    fn name(&self) -> String {
        let kind = self.kind.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        format!("{}-{kind}-{}", self.entry.id, self.seed)
    }

    fn run(&self) -> PathBuf {
        self.folder.join(self.name())
    }

    /// Begins the training, or continues the one in its folder.
    fn begin(&self) -> Result<TrainingRun, Failure> {
        let path = self.run();
        let begun = RunDirectory::open(&path).and_then(|run| run.read_config()).ok();
        if let Some(begun) = begun.and_then(|text| TrainConfig::parse(&text).ok()) {
            if self.resume && path.join("checkpoint.json").exists() {
                refuse_other(&path, begun.settings == *self.settings)?;
                return Ok(TrainingRun::resume(&path, None, MemoryLimit::default())?);
            }
            fs::remove_dir_all(&path)?;
        }
        Ok(TrainingRun::begin(
            &path,
            self.entry,
            self.options,
            (self.preset, self.settings),
            self.seed,
        )?)
    }

    fn curve(&self, metrics: &Metrics, final_return: f64) -> Curve {
        let curve = |name: &str| {
            let points = metrics.curve(name).into_iter();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let points = points.map(|(steps, value)| (steps as usize, value));
            points.collect::<Vec<_>>()
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let evaluation_episodes = curve("eval/episodes").last().map_or(0, |(_, n)| *n as usize);
        Curve {
            kind: self.kind.to_owned(),
            seed: self.seed,
            points: curve("eval/mean_reward"),
            edges: curve("graph/edges"),
            edges_in_use: curve("graph/edges_in_use"),
            evaluation_episodes,
            final_return,
            seconds: curve("time/epoch_seconds").iter().map(|(_, seconds)| seconds).sum(),
        }
    }

    fn record(&self, curve: &Curve) -> Value {
        let mut value = as_json(curve);
        value["settings"] = json!(self.settings.to_toml());
        value
    }

    /// The record of a training that is done.
    fn read(&self, record: &Path) -> Result<Curve, Failure> {
        let text = read_text(record, MAX_RECORD_BYTES)?;
        let wrong = |what: &str| {
            format!(
                "{}: `{what}` is missing or wrong; delete the file, then train again",
                record.display()
            )
        };
        let value: Value =
            serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
        refuse_other(record, value["settings"] == json!(self.settings.to_toml()))?;
        let points = |name: &str| -> Result<Vec<(usize, f64)>, String> {
            let point = |point: &Value| Some((whole(&point[0])?, point[1].as_f64()?));
            let points = value[name].as_array().ok_or_else(|| wrong(name))?;
            points.iter().map(point).collect::<Option<_>>().ok_or_else(|| wrong(name))
        };
        let number = |name: &str| value[name].as_f64().ok_or_else(|| wrong(name));
        let episodes = "evaluation_episodes";
        Ok(Curve {
            kind: self.kind.to_owned(),
            seed: self.seed,
            points: points("curve")?,
            edges: points("edges")?,
            edges_in_use: points("edges_in_use")?,
            evaluation_episodes: whole(&value[episodes]).ok_or_else(|| wrong(episodes))?,
            final_return: number("final_return")?,
            seconds: number("seconds")?,
        })
    }
}

/// Refuses what an earlier command made with other settings.
fn refuse_other(path: &Path, is_same: bool) -> Result<(), Failure> {
    if is_same {
        return Ok(());
    }
    Err(format!(
        "{}: was made with other settings and cannot be continued; choose another folder with -o, or train anew without \
         --resume",
        path.display()
    )
    .into())
}

fn whole(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

pub fn as_json(curve: &Curve) -> Value {
    json!({
        "model": curve.kind,
        "seed": curve.seed,
        "final_return": curve.final_return,
        "evaluation_episodes": curve.evaluation_episodes,
        "seconds": curve.seconds,
        "curve": curve.points,
        "edges": curve.edges,
        "edges_in_use": curve.edges_in_use,
    })
}

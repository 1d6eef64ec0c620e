//! A training that lives in a run directory.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use becausal_core::data::write_atomically;
use becausal_core::env::Options;
use becausal_core::progress::Listener;
use becausal_core::{MemoryLimit, Preset};
use becausal_envs::Entry;
use becausal_learn::{EpochReport, Evaluation, LearningError, Settings, Training};
use becausal_model::WeightsError;

use super::claim::{Claim, begun_is_over};
use super::contents::BEGUN;
use super::directory::{NOTHING_TO_RESUME, RunDirectory, RunError};
use super::events::EventWriter;
use super::train_config::TrainConfig;

/// The columns of `metrics.csv` after epoch and real steps: names as TensorBoard shows them. The file of a training that an
/// earlier version began keeps its own.
const COLUMNS: [&str; 20] = [
    "rollout/ep_rew_mean",
    "rollout/ep_len_mean",
    "eval/mean_reward",
    "eval/mean_return",
    "eval/mean_ep_length",
    "model/log_likelihood",
    "graph/edges",
    "graph/edges_in_use",
    "eval/confirmed_reward",
    "eval/episodes",
    "eval/steps",
    "train/policy_gradient_loss",
    "train/value_loss",
    "train/entropy_loss",
    "train/approx_kl",
    "train/clip_fraction",
    "train/explained_variance",
    "train/learning_rate",
    "train/clip_range",
    "time/epoch_seconds",
];

/// A training in a run directory that cannot begin or be resumed. What was saved stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// Something in the folder.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Something in the learning.
    #[error(transparent)]
    Learning(#[from] LearningError),
}

impl From<WeightsError> for TrainError {
    fn from(error: WeightsError) -> Self {
        Self::Run(RunError { path: error.path, problem: error.problem })
    }
}

/// How far the checkpoint is that a training would resume from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Saved {
    /// Epochs done.
    pub epoch: usize,
    /// Real steps made.
    pub real_steps: usize,
}

impl Saved {
    /// The last checkpoint in the folder of a run; `None` where there is none.
    #[must_use]
    pub fn read(run: &Path) -> Option<Self> {
        let text = fs::read(run.join("checkpoint.json")).ok()?;
        let named: Value = serde_json::from_slice(&text).ok()?;
        let count = |key: &str| usize::try_from(named.get(key)?.as_u64()?).ok();
        Some(Self { epoch: count("epoch")?, real_steps: count("real_steps")? })
    }
}

/// A training that writes what it does into its run directory, epoch by epoch.
///
/// After every epoch the data, then a checkpoint in a folder of its own, and at last
/// `checkpoint.json`, which names that folder, are written: whenever the program is ended, the last
/// checkpoint that is named is whole. [`resume`](Self::resume) drops what was written after it.
pub struct TrainingRun {
    directory: RunDirectory,
    /// Nobody else writes into the folder meanwhile.
    _claim: Claim,
    config: TrainConfig,
    /// What is learned.
    pub training: Training,
    events: EventWriter,
    metrics: File,
    /// The columns of `metrics.csv` after epoch and real steps.
    columns: Vec<String>,
    saved: Saved,
}

impl TrainingRun {
    /// Begins a training in a new folder.
    ///
    /// # Errors
    /// When the folder holds something already, or a setting is wrong.
    pub fn begin(
        path: &Path,
        entry: &Entry,
        options: &Options,
        (preset, settings): (Preset, &Settings),
        seed: u64,
    ) -> Result<Self, TrainError> {
        let environment = entry.make(options).map_err(LearningError::from)?;
        let training = Training::new(&environment, settings, seed)?;
        let claim = Claim::to_train(path)?;
        let directory = RunDirectory::create(path, &entry.schema())?;
        let config = TrainConfig {
            environment: entry.id.to_owned(),
            options: options.clone(),
            preset,
            settings: settings.clone(),
            seed,
        };
        directory.write_config(&config.to_toml())?;
        let mut run = Self::open_logs((claim, directory), config, training, 0, 0)?;
        let header = format!("epoch,real_steps,{}\n", COLUMNS.join(","));
        run.log(|run| run.metrics.write_all(header.as_bytes()), "metrics.csv")?;
        run.checkpoint()?;
        begun_is_over(path);
        Ok(run)
    }

    /// Resumes the training in a folder from its last checkpoint. `steps`, if given, are the
    /// real steps in all from now on. Its data may take this much memory.
    ///
    /// # Errors
    /// When there is no checkpoint, or it is damaged.
    pub fn resume(
        path: &Path,
        steps: Option<usize>,
        memory: MemoryLimit,
    ) -> Result<Self, TrainError> {
        let directory = RunDirectory::open(path)?;
        let claim = Claim::to_resume(path)?;
        let refuse = |file: &str, problem: String| RunError { path: path.join(file), problem };
        let mut config = TrainConfig::parse(&directory.read_config()?)
            .map_err(|problem| refuse("config.toml", problem))?;
        if let Some(steps) = steps {
            config.settings.steps = steps;
            directory.write_config(&config.to_toml())?;
        }
        let file = path.join("checkpoint.json");
        let text = fs::read(&file).map_err(|error| {
            if path.join(BEGUN).exists() {
                return RunError { path: path.to_owned(), problem: NOTHING_TO_RESUME.to_owned() };
            }
            refuse(
                "checkpoint.json",
                format!("cannot be read ({error}): there is nothing to resume"),
            )
        })?;
        let named: Value = serde_json::from_slice(&text)
            .map_err(|error| refuse("checkpoint.json", error.to_string()))?;
        let folder = named["folder"].as_str().filter(|name| !name.contains(['/', '\\']));
        let folder = folder.ok_or_else(|| refuse("checkpoint.json", "names no folder".into()))?;
        let environment = config.make()?;
        let data = if path.join("data.parquet").exists() {
            Some(directory.read_data_with(memory, &Listener::NOBODY)?)
        } else {
            None
        };
        let training = Training::resume(
            &path.join("checkpoints").join(folder),
            &environment,
            &config.settings,
            config.seed,
            data.as_ref(),
        )?;
        // A kill may have come between a new checkpoint and the end of the one before.
        remove_others(&path.join("checkpoints"), folder);
        let bytes = |key: &str| named[key].as_u64().unwrap_or(0);
        let logs = (bytes("metrics"), bytes("events"));
        let run = Self::open_logs((claim, directory), config, training, logs.0, logs.1)?;
        begun_is_over(path);
        Ok(run)
    }

    fn open_logs(
        (claim, directory): (Claim, RunDirectory),
        config: TrainConfig,
        training: Training,
        metrics_bytes: u64,
        events_bytes: u64,
    ) -> Result<Self, TrainError> {
        let path = directory.path().join("metrics.csv");
        let failed = |path: PathBuf, error: std::io::Error| RunError {
            path,
            problem: format!("cannot be written: {error}"),
        };
        let metrics = (|| {
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            let keep = metrics_bytes.min(file.metadata()?.len());
            file.set_len(keep)?;
            file.seek(SeekFrom::Start(keep))?;
            Ok(file)
        })();
        let metrics = metrics.map_err(|error| failed(path.clone(), error))?;
        let columns = columns_of(&path);
        let path = directory.path().join("events.out.tfevents.becausal");
        let events = EventWriter::open(&path, events_bytes).map_err(|error| failed(path, error))?;
        let saved = Saved { epoch: training.epoch, real_steps: training.real_steps };
        Ok(Self { directory, _claim: claim, config, training, events, metrics, columns, saved })
    }

    /// The folder.
    #[must_use]
    pub fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    /// How the training was begun.
    #[must_use]
    pub fn config(&self) -> &TrainConfig {
        &self.config
    }

    /// The last checkpoint.
    #[must_use]
    pub fn saved(&self) -> Saved {
        self.saved
    }

    /// One epoch: learned, logged and saved.
    ///
    /// # Errors
    /// When the epoch fails or cannot be saved; the checkpoint before it stays.
    pub fn run_epoch(&mut self) -> Result<EpochReport, TrainError> {
        let report = self.training.run_epoch()?;
        let scalars = report.scalars();
        let value = |name: &String| {
            let found = scalars.iter().find(|(known, _)| known == name);
            found.map_or_else(String::new, |(_, value)| value.to_string())
        };
        let values: Vec<String> = self.columns.iter().map(value).collect();
        let line = format!("{},{},{}\n", report.epoch, report.real_steps, values.join(","));
        self.log(|run| run.metrics.write_all(line.as_bytes()), "metrics.csv")?;
        let step = report.real_steps as u64;
        self.log(|run| run.events.scalars(step, &scalars), "events.out.tfevents.becausal")?;
        self.checkpoint()?;
        Ok(report)
    }

    fn log(
        &mut self,
        write: impl FnOnce(&mut Self) -> std::io::Result<()>,
        name: &str,
    ) -> Result<(), TrainError> {
        let path = self.directory.path().join(name);
        write(self).map_err(|error| {
            TrainError::Run(RunError { path, problem: format!("cannot be written: {error}") })
        })
    }

    /// Writes all that is needed to resume from here.
    fn checkpoint(&mut self) -> Result<(), TrainError> {
        let training = &self.training;
        if !training.data.is_empty() {
            self.directory.write_data(&training.data)?;
        }
        let folder = format!("epoch-{:06}", training.epoch);
        let all = self.directory.path().join("checkpoints");
        let path = all.join(&folder);
        // Left over from a training that was ended here.
        let _ = fs::remove_dir_all(&path);
        let failed = |error: std::io::Error| RunError {
            path: path.clone(),
            problem: format!("cannot be written: {error}"),
        };
        fs::create_dir_all(&path).map_err(failed)?;
        if let Err(error) = training.save(&path) {
            // On a full disk half a checkpoint is in the way of those who make room.
            let _ = fs::remove_dir_all(&path);
            return Err(error.into());
        }
        let named = json!({
            "folder": folder,
            "epoch": training.epoch,
            "real_steps": training.real_steps,
            "metrics": self.metrics.metadata().map_err(failed)?.len(),
            "events": self.events.length().map_err(failed)?,
        });
        let file = self.directory.path().join("checkpoint.json");
        write_atomically(&file, format!("{named}\n").as_bytes())
            .map_err(|error| RunError { path: file, problem: error.problem.to_string() })?;
        self.saved = Saved { epoch: training.epoch, real_steps: training.real_steps };
        remove_others(&all, &folder);
        Ok(())
    }

    /// Ends the training: the best policy, data, graph and a world model fitted with care, ready to
    /// explain; and how good the policy is in new episodes. The checkpoint stays, to resume from.
    ///
    /// # Errors
    /// When the last fit fails, or something cannot be written.
    pub fn conclude(&self) -> Result<(Training, Evaluation), TrainError> {
        let mut training = self.training.clone();
        let evaluation = training.final_evaluation()?;
        self.write_policy()?;
        training.conclude()?;
        if training.data.len() > self.training.data.len() {
            // With what was recorded to explain it. To resume, only the rows of the training are read.
            self.directory.write_data(&training.data)?;
        }
        if let Some(graph) = &training.graph {
            self.directory.write_graph(graph)?;
        }
        if let Some(model) = &training.model {
            self.directory.write_model(model)?;
        }
        Ok((training, evaluation))
    }

    /// Writes the best policy so far where `explain` looks for it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_policy(&self) -> Result<(), TrainError> {
        self.training.best_agent().save(&self.directory.path().join("policy"))?;
        Ok(())
    }
}

/// The columns of a `metrics.csv` after epoch and real steps; ours where it has no line yet.
fn columns_of(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let header = text.lines().next().and_then(|line| line.strip_prefix("epoch,real_steps,"));
    let names: Vec<&str> =
        header.map_or_else(|| COLUMNS.to_vec(), |line| line.split(',').collect());
    names.into_iter().map(str::to_owned).collect()
}

/// Removes every checkpoint but one. What cannot be removed stays.
fn remove_others(checkpoints: &Path, folder: &str) {
    for entry in fs::read_dir(checkpoints).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy() != folder {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

//! Saving a training and resuming it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use becausal_core::data::{Transitions, write_atomically};
use becausal_core::env::AnyEnvironment;
use becausal_core::text::{counted, read_bytes, read_text};
use becausal_discovery::CausalGraph;
use becausal_model::WorldModel;
use becausal_nn::{Block, Parameters, from_safetensors, to_safetensors};
use becausal_nn::{WeightsError, take_blocks};

use super::actor_critic::ActorCritic;
use super::evaluation::{Confirmed, Evaluated};
use super::observation::Running;
use super::play::Play;
use super::settings::Settings;
use super::training::Training;

/// Maximum size of the texts of a checkpoint in bytes.
const MAX_TEXT_BYTES: u64 = 512 << 20;

/// Maximum of the counters in a checkpoint: epochs, updates, episodes. A training adds to them, so an
/// altered file must not bring one to the end of its range.
const MAX_COUNT: usize = 1 << 30;

/// Maximum number of real steps in a checkpoint.
const MAX_STEPS: usize = 1 << 53;

impl Training {
    /// Writes everything except the data into a folder. The folder must not hold a checkpoint that
    /// may still be needed.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), WeightsError> {
        let agent = &self.learner.agent;
        agent.save(&folder.join("agent"))?;
        if let Some((best, _)) = &self.best {
            best.save(&folder.join("best"))?;
        }
        if let Some(model) = &self.model {
            model.save(&folder.join("world-model"))?;
        }
        if let Some(graph) = &self.graph {
            write(&folder.join("graph.json"), graph.to_json().as_bytes())?;
        }
        let (first, second, steps) = self.learner.adam.memory();
        let blocks: Vec<(String, Block)> = agent
            .parameters
            .iter()
            .zip(first.iter().zip(second))
            .flat_map(|((name, block), (first, second))| {
                let of = |values: &Vec<f32>| Block::new(block.shape, values.clone());
                [(format!("first.{name}"), of(first)), (format!("second.{name}"), of(second))]
            })
            .collect();
        let moments = to_safetensors(blocks.iter().map(|(name, block)| (name.clone(), block)));
        write(&folder.join("optimiser.safetensors"), &moments)?;
        let (begun, playing) = self.play.as_ref().map(Play::memory).unwrap_or_default();
        let Running { count, mean, squares } = self.returns;
        let state = json!({
            "epoch": self.epoch,
            "real_steps": self.real_steps,
            "late": self.late,
            "rows": self.data.len(),
            "next_graph": self.next_graph,
            "optimiser_steps": steps,
            "returns": [count, mean, squares],
            "best": self.best.as_ref().map(|(_, mean)| mean),
            "begun": begun,
            "playing": playing,
            "has_model": self.model.is_some(),
            "has_graph": self.graph.is_some(),
            "evaluated": [self.evaluated.episodes, self.evaluated.steps],
            "confirmed": self.confirmed.map(|found| json!([found.mean, found.real_steps])),
        });
        write(&folder.join("state.json"), format!("{state}\n").as_bytes())
    }

    /// Resumes from a folder that [`save`](Self::save) wrote. `data` are the transitions of the run,
    /// at least as many as when it was saved.
    ///
    /// # Errors
    /// When a file is missing or damaged, or does not match the environment.
    pub fn resume(
        folder: &Path,
        environment: &AnyEnvironment,
        settings: &Settings,
        seed: u64,
        data: Option<&Transitions>,
    ) -> Result<Self, WeightsError> {
        let path = folder.join("state.json");
        let refuse = |problem: String| WeightsError { path: path.clone(), problem };
        let text = read_bytes(&path, MAX_TEXT_BYTES).map_err(|error| refuse(error.to_string()))?;
        let state: Value =
            serde_json::from_slice(&text).map_err(|error| refuse(error.to_string()))?;
        let mut training =
            Self::new(environment, settings, seed).map_err(|error| refuse(error.to_string()))?;
        let schema = std::sync::Arc::clone(&training.schema);
        let missing = |key: &str| refuse(format!("`{key}` is missing or wrong"));
        let count = |key: &str| {
            let number = state[key].as_u64().and_then(|number| usize::try_from(number).ok());
            number.ok_or_else(|| missing(key))
        };
        let at_most = |key: &str, most: usize| {
            count(key).and_then(|n| if n <= most { Ok(n) } else { Err(missing(key)) })
        };
        training.epoch = at_most("epoch", MAX_COUNT)?;
        training.real_steps = at_most("real_steps", MAX_STEPS)?;
        // Checkpoints of earlier versions have none.
        training.late = counter(&state["late"], MAX_COUNT).unwrap_or(0);
        training.next_graph = count("next_graph")?;
        training.evaluated = evaluated(&state["evaluated"]).ok_or_else(|| missing("evaluated"))?;
        training.confirmed = match &state["confirmed"] {
            Value::Null => None,
            found => Some(confirmed(found).ok_or_else(|| missing("confirmed"))?),
        };
        let rows = count("rows")?;
        let number = |at: usize| state["returns"][at].as_f64().ok_or_else(|| missing("returns"));
        training.returns = Running { count: number(0)?, mean: number(1)?, squares: number(2)? };
        training.data = match data {
            Some(data) if data.len() >= rows => data.slice(0..rows),
            None if rows == 0 => training.data,
            _ => {
                let got = data.map_or(0, Transitions::len);
                return Err(refuse(format!(
                    "the data of the run has {}, expected at least {rows}",
                    counted(got, "row")
                )));
            }
        };
        training.learner.agent = ActorCritic::load(&folder.join("agent"), &schema)?;
        let steps = i32::try_from(at_most("optimiser_steps", MAX_COUNT)?).unwrap_or(i32::MAX);
        let [first, second] = moments(folder, &training.learner.agent.parameters)?;
        training.learner.adam.restore(first, second, steps);
        if let Some(mean) = state["best"].as_f64() {
            training.best = Some((ActorCritic::load(&folder.join("best"), &schema)?, mean));
        }
        if state["has_model"] == true {
            training.model = Some(WorldModel::load(&folder.join("world-model"), &schema)?);
        }
        if state["has_graph"] == true {
            let path = folder.join("graph.json");
            let text =
                read_text(&path, MAX_TEXT_BYTES).map_err(|error| refuse(error.to_string()))?;
            let graph = CausalGraph::from_json(&text).and_then(|graph| graph.for_schema(&schema));
            training.graph = Some(graph.map_err(|error| refuse(error.to_string()))?);
        }
        if training.play.is_some() {
            let width = schema.action_slots().len();
            let episodes = playing(&state["playing"])
                .filter(|episodes| episodes.len() == settings.copies)
                .filter(|episodes| episodes.iter().all(|(_, a)| a.len().is_multiple_of(width)))
                .ok_or_else(|| missing("playing"))?;
            let begun = u32::try_from(at_most("begun", MAX_COUNT)?).unwrap_or(u32::MAX);
            let play = Play::resume(environment, seed, settings.discount, begun, &episodes);
            training.play = Some(play.map_err(|error| refuse(error.to_string()))?);
        }
        Ok(training)
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), WeightsError> {
    write_atomically(path, bytes)
        .map_err(|error| WeightsError { path: path.to_owned(), problem: error.problem.to_string() })
}

/// The first and second moments of the optimiser, parameter by parameter.
fn moments(folder: &Path, parameters: &Parameters) -> Result<[Vec<Vec<f32>>; 2], WeightsError> {
    let path: PathBuf = folder.join("optimiser.safetensors");
    let refuse = |problem: String| WeightsError { path: path.clone(), problem };
    let bytes = fs::read(&path).map_err(|error| refuse(error.to_string()))?;
    let mut blocks = from_safetensors(&bytes).map_err(refuse)?;
    let mut both = [Vec::new(), Vec::new()];
    for (prefix, into) in ["first.", "second."].iter().zip(&mut both) {
        let mut found = parameters.clone();
        blocks = take_blocks(&mut found, prefix, blocks).map_err(refuse)?;
        into.extend(found.iter().map(|(_, block)| block.values.clone()));
    }
    Ok(both)
}

/// A count of a checkpoint that a training adds to.
fn counter(value: &Value, most: usize) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok().filter(|count| *count <= most)
}

/// The evaluations so far; checkpoints of earlier versions do not say how many there were.
fn evaluated(value: &Value) -> Option<Evaluated> {
    if value.is_null() {
        return Some(Evaluated::default());
    }
    let (episodes, steps) = (counter(&value[0], MAX_COUNT)?, counter(&value[1], MAX_STEPS)?);
    Some(Evaluated { episodes, steps })
}

/// The policy that reached `until` twice.
fn confirmed(value: &Value) -> Option<Confirmed> {
    let mean = value[0].as_f64().filter(|mean| mean.is_finite())?;
    Some(Confirmed { mean, real_steps: counter(&value[1], MAX_STEPS)? })
}

/// The seed and the actions of each unfinished episode.
fn playing(value: &Value) -> Option<Vec<(u64, Vec<f64>)>> {
    let episode = |value: &Value| {
        let actions = value[1].as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
        Some((value[0].as_u64()?, actions))
    };
    value.as_array()?.iter().map(episode).collect()
}

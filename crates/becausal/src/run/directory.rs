//! A run directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use becausal_core::data::{self, ReadOptions, write_atomically};
use becausal_core::text::read_text;
use becausal_core::{MemoryLimit, Schema, Transitions};
use becausal_discovery::CausalGraph;
use becausal_learn::ActorCritic;
use becausal_model::WorldModel;

/// Maximum size of a graph in bytes: a line for each of some million pairs.
pub(crate) const MAX_GRAPH_BYTES: u64 = 512 << 20;

/// Maximum size of a schema in bytes.
const MAX_TEXT_BYTES: u64 = 16 << 20;

/// A run directory that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}", path = path.display())]
pub struct RunError {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub problem: String,
}

/// A folder with everything that was learned.
#[derive(Debug, Clone)]
pub struct RunDirectory {
    path: PathBuf,
    schema: Arc<Schema>,
}

impl RunDirectory {
    /// Makes a folder for a run, or takes one that holds a run already.
    ///
    /// # Errors
    /// When there is something else of this name, or it cannot be written.
    pub fn create(path: &Path, schema: &Arc<Schema>) -> Result<Self, RunError> {
        let refuse = |problem: String| RunError { path: path.to_owned(), problem };
        Self::refuse_others(path)?;
        fs::create_dir_all(path)
            .map_err(|error| refuse(format!("cannot make the folder: {error}")))?;
        let run = Self { path: path.to_owned(), schema: Arc::clone(schema) };
        run.write("schema.toml", &schema.to_toml())?;
        Ok(run)
    }

    /// Writes a run all at once: into a folder beside it that takes its place when `write` is done.
    /// Whatever goes wrong before, a run that was there stays as it was.
    ///
    /// # Errors
    /// When there is something else of this name, when `write` fails, or when the folders cannot be
    /// renamed.
    pub fn replace(
        path: &Path,
        schema: &Arc<Schema>,
        write: impl FnOnce(&Self) -> Result<(), RunError>,
    ) -> Result<Self, RunError> {
        Self::refuse_others(path)?;
        let (part, old) = (beside(path, "part")?, beside(path, "old")?);
        let failed = |problem: String| RunError { path: path.to_owned(), problem };
        if old.exists() && !path.exists() {
            // The last replacement was killed between its two renamings.
            fs::rename(&old, path)
                .map_err(|error| failed(format!("cannot restore what was here: {error}")))?;
        }
        for left_over in [&part, &old] {
            if left_over.exists() {
                fs::remove_dir_all(left_over).map_err(|error| {
                    failed(format!("cannot remove the remains of an earlier attempt: {error}"))
                })?;
            }
        }
        let written = Self::create(&part, schema).and_then(|run| write(&run));
        if let Err(error) = written {
            let _ = fs::remove_dir_all(&part);
            return Err(error);
        }
        let moved = |error: std::io::Error| failed(format!("cannot be put in place: {error}"));
        if path.exists() {
            fs::rename(path, &old).map_err(moved)?;
        }
        if let Err(error) = fs::rename(&part, path) {
            let _ = fs::rename(&old, path);
            return Err(moved(error));
        }
        let _ = fs::remove_dir_all(&old);
        Ok(Self { path: path.to_owned(), schema: Arc::clone(schema) })
    }

    /// Says that a run cannot be written here before it is worked for, not after.
    ///
    /// # Errors
    /// When there is a file of this name, or a folder with something else in it.
    pub fn refuse_others(path: &Path) -> Result<(), RunError> {
        let refuse =
            |problem: &str| Err(RunError { path: path.to_owned(), problem: problem.to_owned() });
        if path.is_file() {
            return refuse("is a file; give the name of a folder for the run");
        }
        let occupied = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        if occupied && !path.join("schema.toml").is_file() {
            return refuse("is a folder with something else in it; give another name");
        }
        Ok(())
    }

    /// Opens the folder of a run.
    ///
    /// # Errors
    /// When it is not one.
    pub fn open(path: &Path) -> Result<Self, RunError> {
        let file = path.join("schema.toml");
        let text = read_text(&file, MAX_TEXT_BYTES).map_err(|error| RunError {
            path: path.to_owned(),
            problem: format!(
                "is not a run directory: cannot read its schema.toml ({error}); \
                 `becausal fit` and `becausal train` make one"
            ),
        })?;
        let schema = Schema::parse(&text)
            .map_err(|error| RunError { path: file, problem: format!("{error}") })?;
        Ok(Self { path: path.to_owned(), schema: Arc::new(schema) })
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the variables are.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Writes how the run was made: TOML.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_config(&self, toml: &str) -> Result<(), RunError> {
        self.write("config.toml", toml)
    }

    /// How the run was made: TOML.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_config(&self) -> Result<String, RunError> {
        self.read("config.toml")
    }

    /// Writes the transitions that were learned from.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_data(&self, data: &Transitions) -> Result<(), RunError> {
        let path = self.path.join("data.parquet");
        data::write(&path, data)
            .map_err(|error| RunError { path, problem: error.problem.to_string() })
    }

    /// The transitions that were learned from.
    ///
    /// # Errors
    /// When they cannot be read, or do not fit the schema.
    pub fn read_data(&self) -> Result<Transitions, RunError> {
        self.read_data_within(MemoryLimit::default())
    }

    /// The transitions that were learned from, which may take this much memory.
    ///
    /// # Errors
    /// When they cannot be read, do not fit the schema, or take more.
    pub fn read_data_within(&self, memory: MemoryLimit) -> Result<Transitions, RunError> {
        let path = self.path.join("data.parquet");
        let options = ReadOptions {
            schema: Some(Arc::clone(&self.schema)),
            memory,
            ..ReadOptions::default()
        };
        let recording = data::read(&path, &options)
            .map_err(|error| RunError { path, problem: error.problem.to_string() })?;
        Ok(recording.transitions)
    }

    /// Writes the causal graph.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_graph(&self, graph: &CausalGraph) -> Result<(), RunError> {
        self.write("graph.json", &graph.to_json())
    }

    /// The causal graph; `None` when there is none, as in a run with a full model.
    ///
    /// # Errors
    /// When there is one that cannot be read.
    pub fn read_graph(&self) -> Result<Option<CausalGraph>, RunError> {
        let path = self.path.join("graph.json");
        if !path.exists() {
            return Ok(None);
        }
        let graph = CausalGraph::from_json(&self.read("graph.json")?);
        graph.map(Some).map_err(|error| RunError { path, problem: error.to_string() })
    }

    /// Whether there is a world model.
    #[must_use]
    pub fn has_model(&self) -> bool {
        self.path.join("world-model").exists()
    }

    /// Writes the world model.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_model(&self, model: &WorldModel) -> Result<(), RunError> {
        let written = model.save(&self.path.join("world-model"));
        written.map_err(|error| RunError { path: error.path, problem: error.problem })
    }

    /// The world model.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn read_model(&self) -> Result<WorldModel, RunError> {
        let read = WorldModel::load(&self.path.join("world-model"), &self.schema);
        read.map_err(|error| RunError { path: error.path, problem: error.problem })
    }

    /// The policy; `None` when there is none, as in a run made by `becausal fit`.
    ///
    /// # Errors
    /// When there is one that cannot be read.
    pub fn read_policy(&self) -> Result<Option<ActorCritic>, RunError> {
        let folder = self.path.join("policy");
        if !folder.exists() {
            return Ok(None);
        }
        let read = ActorCritic::load(&folder, &self.schema);
        read.map(Some).map_err(|error| RunError { path: error.path, problem: error.problem })
    }

    /// Writes the policy.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_policy(&self, policy: &ActorCritic) -> Result<(), RunError> {
        let written = policy.save(&self.path.join("policy"));
        written.map_err(|error| RunError { path: error.path, problem: error.problem })
    }

    fn write(&self, name: &str, text: &str) -> Result<(), RunError> {
        let path = self.path.join(name);
        write_atomically(&path, text.as_bytes())
            .map_err(|error| RunError { path, problem: error.problem.to_string() })
    }

    fn read(&self, name: &str) -> Result<String, RunError> {
        let path = self.path.join(name);
        read_text(&path, MAX_GRAPH_BYTES)
            .map_err(|error| RunError { path, problem: format!("cannot be read: {error}") })
    }
}

/// A hidden folder beside another.
fn beside(path: &Path, ending: &str) -> Result<PathBuf, RunError> {
    let refuse = || RunError {
        path: path.to_owned(),
        problem: "has no name of its own; give the name of a folder for the run".to_owned(),
    };
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(refuse)?;
    Ok(path.with_file_name(format!(".{name}.{ending}")))
}

#[cfg(test)]
mod tests {
    use becausal_envs::find;

    use super::*;

    #[test]
    fn a_run_is_replaced_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run");
        let schema = find("CartPole-v1").expect("an environment").schema();
        let made = |text: &'static str| move |run: &RunDirectory| run.write_config(text);
        RunDirectory::replace(&path, &schema, made("first")).expect("a run");
        fs::write(path.join("leftover"), "of the first").expect("a file");
        let failed = RunDirectory::replace(&path, &schema, |run| {
            run.write_config("second")?;
            Err(RunError { path: run.path().to_owned(), problem: "no space left".to_owned() })
        });
        assert!(failed.is_err_and(|error| error.problem == "no space left"));
        let run = RunDirectory::open(&path).expect("the first run");
        assert_eq!(run.read_config().expect("a configuration"), "first");
        assert!(path.join("leftover").exists());
        // As a kill between the two renamings leaves it; what then fails loses nothing either.
        fs::rename(&path, folder.path().join(".run.old")).expect("renamed");
        let failed = RunDirectory::replace(&path, &schema, |run| {
            Err(RunError { path: run.path().to_owned(), problem: "no space left".to_owned() })
        });
        assert!(failed.is_err() && path.join("leftover").exists());
        RunDirectory::replace(&path, &schema, made("third")).expect("a run");
        assert_eq!(run.read_config().expect("a configuration"), "third");
        assert!(!path.join("leftover").exists());
        let names = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(names, 1, "nothing is left beside the run");
    }
}

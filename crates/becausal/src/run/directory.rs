//! A run directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use becausal_core::data::{self, MAX_SCHEMA_BYTES, ReadOptions, write_atomically};
use becausal_core::progress::Listener;
use becausal_core::text::read_text;
use becausal_core::{MemoryLimit, Schema, Transitions};
use becausal_discovery::CausalGraph;
use becausal_explain::Audit;
use becausal_learn::ActorCritic;
use becausal_model::WorldModel;
use becausal_render::AuditText;

use super::claim::Claim;
use super::contents::{BEGUN, run_of};
use super::kept_audit::KeptAudit;

/// The file with the last audit under the run's own policy.
const AUDIT: &str = "audit.json";

/// Maximum size of a graph in bytes: a line for each of some million pairs.
pub(crate) const MAX_GRAPH_BYTES: u64 = 512 << 20;

/// A run directory that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}", path = path.display())]
pub struct RunError {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub problem: String,
}

/// What is said of a training that was ended too early.
pub(super) const NOTHING_TO_RESUME: &str = "the training was ended before its first checkpoint: there is nothing to resume; begin it again";

/// A folder with everything that was learned.
#[derive(Debug, Clone)]
pub struct RunDirectory {
    path: PathBuf,
    schema: Arc<Schema>,
}

impl RunDirectory {
    /// Begins a run in a folder that is claimed.
    pub(super) fn create(path: &Path, schema: &Arc<Schema>) -> Result<Self, RunError> {
        let refuse = |problem: String| RunError { path: path.to_owned(), problem };
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
    /// When something else was put into the folder since it was claimed, when `write` fails, or when
    /// the folders cannot be renamed.
    pub fn replace(
        claim: &Claim,
        schema: &Arc<Schema>,
        write: impl FnOnce(&Self) -> Result<(), RunError>,
    ) -> Result<Self, RunError> {
        let (part, old) = (claim.beside("part"), claim.beside("old"));
        let written = Self::create(&part, schema).and_then(|run| write(&run));
        let written = written.and_then(|()| claim.refuse_others());
        if let Err(error) = written {
            let _ = fs::remove_dir_all(&part);
            return Err(error);
        }
        let moved = |error: io::Error| claim.refused(&format!("cannot be put in place: {error}"));
        let folder = claim.folder();
        if folder.exists() {
            fs::rename(folder, &old).map_err(moved)?;
        }
        if let Err(error) = fs::rename(&part, folder) {
            let _ = fs::rename(&old, folder);
            return Err(moved(error));
        }
        let _ = fs::remove_dir_all(&old);
        Ok(Self { path: claim.path().to_owned(), schema: Arc::clone(schema) })
    }

    /// The folder of the run that a file is part of by its name, whether the file is there or not.
    /// Nothing but the run itself should write it.
    #[must_use]
    pub fn containing(file: &Path) -> Option<PathBuf> {
        run_of(file)
    }

    /// Opens the folder of a run.
    ///
    /// # Errors
    /// When it is not one.
    pub fn open(path: &Path) -> Result<Self, RunError> {
        if !path.exists() {
            Claim::recover(path)?;
        }
        let file = path.join("schema.toml");
        let text = read_text(&file, MAX_SCHEMA_BYTES).map_err(|error| RunError {
            path: path.to_owned(),
            problem: if path.join(BEGUN).exists() {
                NOTHING_TO_RESUME.to_owned()
            } else {
                format!(
                    "is not a run directory: cannot read its schema.toml ({error}); \
                     `becausal fit` and `becausal train` make one"
                )
            },
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
        self.write_data_heard(data, &Listener::NOBODY)
    }

    /// The same; a listener hears how much is written.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_data_heard(
        &self,
        data: &Transitions,
        progress: &Listener,
    ) -> Result<(), RunError> {
        let path = self.path.join("data.parquet");
        data::write_heard(&path, data, progress)
            .map_err(|error| RunError { path, problem: error.problem.to_string() })
    }

    /// The transitions that were learned from.
    ///
    /// # Errors
    /// When they cannot be read, or do not fit the schema.
    pub fn read_data(&self) -> Result<Transitions, RunError> {
        self.read_data_with(MemoryLimit::default(), &Listener::NOBODY)
    }

    /// The transitions that were learned from, which may take this much memory; a listener hears how
    /// much is read.
    ///
    /// # Errors
    /// When they cannot be read, do not fit the schema, take more, or the listener stops the reading.
    pub fn read_data_with(
        &self,
        memory: MemoryLimit,
        progress: &Listener,
    ) -> Result<Transitions, RunError> {
        let path = self.path.join("data.parquet");
        let options = ReadOptions {
            schema: Some(Arc::clone(&self.schema)),
            memory,
            progress: progress.clone(),
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

    /// Writes an audit of the answers.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_audit(&self, audit: &Audit) -> Result<(), RunError> {
        self.write(AUDIT, &format!("{:#}\n", audit.json()))
    }

    /// Deletes the audit that was kept: it is about another model, or another policy.
    fn forget_audit(&self) -> Result<(), RunError> {
        let path = self.path.join(AUDIT);
        if !path.exists() {
            return Ok(());
        }
        fs::remove_file(&path).map_err(|error| RunError {
            path,
            problem: format!("is about another model or policy and cannot be deleted: {error}"),
        })
    }

    /// The audit that was kept; `None` where none was.
    ///
    /// # Errors
    /// When there is one that cannot be read.
    pub fn read_audit(&self) -> Result<Option<KeptAudit>, RunError> {
        let path = self.path.join(AUDIT);
        if !path.exists() {
            return Ok(None);
        }
        let kept = KeptAudit::parse(&self.read(AUDIT)?, &self.schema);
        kept.map(Some).map_err(|problem| RunError {
            path,
            problem: format!("is not an audit: {problem}; delete it, then audit the run again"),
        })
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
        self.forget_audit()?;
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
        self.forget_audit()?;
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

#[cfg(test)]
mod tests {
    use becausal_envs::find;

    use super::*;

    const RECORD: &str =
        "command = \"fit\"\nmodel = \"causal\"\nmembers = 1\nsteps = 5\nseed = 0\n";

    fn schema() -> Arc<Schema> {
        find("CartPole-v1").expect("an environment").schema()
    }

    fn save(path: &Path, note: &'static str) -> Result<RunDirectory, RunError> {
        RunDirectory::replace(&Claim::to_replace(path)?, &schema(), |run| {
            run.write_config(&format!("# {note}\n{RECORD}"))
        })
    }

    fn note(path: &Path) -> String {
        let run = RunDirectory::open(path).expect("a run");
        let config = run.read_config().expect("a configuration");
        config.lines().next().expect("a line").trim_start_matches("# ").to_owned()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_run_is_replaced_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run");
        let full_disk = |path: &Path| {
            RunDirectory::replace(&Claim::to_replace(path)?, &schema(), |run| {
                run.write_config("second")?;
                Err(RunError { path: run.path().to_owned(), problem: "no space left".to_owned() })
            })
        };
        save(&path, "first").expect("a run");
        assert!(full_disk(&path).is_err_and(|error| error.problem == "no space left"));
        assert_eq!(note(&path), "first");
        // As a kill between the two renamings leaves it; what then fails loses nothing either.
        fs::rename(&path, folder.path().join(".run.old")).expect("renamed");
        assert!(full_disk(&path).is_err());
        assert_eq!(note(&path), "first");
        // Whoever only reads finds it too.
        fs::rename(&path, folder.path().join(".run.old")).expect("renamed");
        assert_eq!(note(&path), "first");
        // As a kill during the writing leaves it.
        fs::create_dir(folder.path().join(".run.part")).expect("a folder");
        fs::write(folder.path().join(".run.part/schema.toml"), "name =").expect("written");
        save(&path, "third").expect("a run");
        assert_eq!(note(&path), "third");
        assert_eq!(names(folder.path()), ["run"], "nothing is left beside the run");
    }

    #[test]
    fn what_is_not_a_run_is_never_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run");
        save(&path, "first").expect("a run");
        fs::write(path.join("notes.txt"), "mine").expect("written");
        let refused = |path: &Path| save(path, "second").expect_err("refused").problem;
        assert!(refused(&path).contains("notes.txt is not part of a run"));
        fs::remove_file(path.join("notes.txt")).expect("removed");
        fs::remove_file(path.join("config.toml")).expect("removed");
        assert!(refused(&path).contains("schema.toml, but no config.toml of a run"));
        fs::write(path.join("config.toml"), "lamp = \"on\"\n").expect("written");
        assert!(refused(&path).contains("something else in it"));
        assert_eq!(names(&path), ["config.toml", "schema.toml"]);
        // What is put there while the work goes on stays as well.
        let late = folder.path().join("late");
        let written =
            RunDirectory::replace(&Claim::to_replace(&late).expect("a place"), &schema(), |run| {
                fs::create_dir(&late).expect("a folder");
                fs::write(late.join("log.csv"), "mine").expect("written");
                run.write_config(RECORD)
            });
        assert!(written.is_err_and(|error| error.problem.contains("log.csv")));
        assert_eq!(names(&late), ["log.csv"]);
        // Nor what only has the name of remains.
        fs::create_dir_all(folder.path().join(".other.part/photos")).expect("folders");
        assert!(refused(&folder.path().join("other")).contains("photos is in the way"));
        assert_eq!(names(folder.path()), [".other.part", "late", "run"]);
    }

    #[test]
    fn the_second_process_is_told_who_holds_a_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new/run");
        let claim = Claim::to_replace(&path).expect("free");
        let problem = save(&path, "second").expect_err("held").problem;
        let holder = format!("is in use by process {}", std::process::id());
        assert!(problem.starts_with(&holder), "{problem}");
        drop(claim);
        assert_eq!(names(folder.path()), [""; 0], "folders that were made for nothing are gone");
        save(&path, "third").expect("free again");
        assert_eq!(names(&folder.path().join("new")), ["run"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_run_stays_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("link");
        save(&folder.path().join("run"), "first").expect("a run");
        std::os::unix::fs::symlink("run", &link).expect("a link");
        save(&link, "second").expect("a run");
        assert!(link.is_symlink());
        assert_eq!(note(&folder.path().join("run")), "second");
        std::os::unix::fs::symlink("nowhere", folder.path().join("gone")).expect("a link");
        let refused = save(&folder.path().join("gone"), "third").expect_err("refused");
        assert!(refused.problem.contains("leads nowhere"));
    }

    #[test]
    fn the_files_of_a_run_are_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run");
        save(&path, "first").expect("a run");
        fs::create_dir(path.join("world-model")).expect("a folder");
        let of_run = |name: &str| RunDirectory::containing(&path.join(name)).is_some();
        assert!(of_run("config.toml") && of_run("graph.json"));
        assert!(of_run("world-model/manifest.json") && of_run("world-model/../data.parquet"));
        assert!(!of_run("report.html") && !of_run("world-model/picture.svg"));
        assert_eq!(RunDirectory::containing(&folder.path().join("config.toml")), None);
    }
}

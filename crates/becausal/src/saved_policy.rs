//! A policy that was saved: in the folder of a run, or in a folder of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use becausal_core::Schema;
use becausal_core::data::MAX_SCHEMA_BYTES;
use becausal_core::schema::Role;
use becausal_core::text::read_text;
use becausal_learn::ActorCritic;

use crate::error::Error;
use crate::run::RunError;

/// Whose policy the answers of a run are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyOwner {
    /// The training that made the run.
    Training,
    /// An agent that was there before the run. With the path that its policy was read from; `None` where it was in
    /// memory, or belongs to another language.
    Agent(Option<String>),
}

impl PolicyOwner {
    /// In words: `its policy`, or `the policy of agent`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Training => "its policy".to_owned(),
            Self::Agent(None) => "the policy that it was given".to_owned(),
            Self::Agent(Some(path)) => format!("the policy of {path}"),
        }
    }
}

/// Reads the policy of an agent. `path` is the folder of a run that has one, its folder `policy`, or a file in that
/// folder.
///
/// # Errors
/// When there is no policy, its files are damaged, or it is one for another schema.
pub fn read_policy(path: impl AsRef<Path>, schema: &Arc<Schema>) -> Result<ActorCritic, Error> {
    let path = path.as_ref();
    let refuse = |problem: String| RunError { path: path.to_owned(), problem };
    let folder = folder_of(path).map_err(refuse)?;
    if let Some(own) = schema_beside(&folder)
        && own != **schema
    {
        return Err(refuse(other_schema(&own, schema)).into());
    }
    let read = ActorCritic::load(&folder, schema);
    Ok(read.map_err(|error| RunError { path: error.path, problem: error.problem })?)
}

/// The folder with the weights of a policy.
fn folder_of(path: &Path) -> Result<PathBuf, String> {
    let inside = path.join("policy");
    if inside.is_dir() {
        return Ok(inside);
    }
    if path.join("manifest.json").is_file() {
        return Ok(path.to_owned());
    }
    let beside = path.with_file_name("manifest.json");
    if path.is_file() && beside.is_file() {
        return Ok(path.parent().unwrap_or(Path::new("")).to_owned());
    }
    let expected =
        "expected the folder of a trained run, its folder `policy`, or a file in that folder";
    Err(if path.join("schema.toml").is_file() {
        format!("the run has no policy ({expected}); `becausal train` makes one")
    } else if path.exists() {
        format!("there is no policy ({expected})")
    } else {
        format!("there is no such file or folder ({expected})")
    })
}

/// The schema of the run that a policy lies in; `None` where it lies alone, or the schema cannot be read.
fn schema_beside(folder: &Path) -> Option<Schema> {
    let folder = folder.canonicalize().ok()?;
    let text = read_text(&folder.parent()?.join("schema.toml"), MAX_SCHEMA_BYTES).ok()?;
    Schema::parse(&text).ok()
}

/// What is wrong with a policy of this schema.
fn other_schema(own: &Schema, expected: &Schema) -> String {
    if own.variables() == expected.variables() {
        return format!(
            "the policy was learned with another schema of `{}`: the variables are the same, but rewards, bounds or the \
             end differ; use the schema of the agent's run",
            own.name()
        );
    }
    format!(
        "the policy is for {}, expected one for {}; give that of an agent with the same variables",
        variables(own),
        variables(expected)
    )
}

/// The name of a schema, what a policy of it reads and what it chooses.
fn variables(schema: &Schema) -> String {
    let names = |role: Role| {
        let names: Vec<&str> =
            schema.of_role(role).map(|variable| variable.name.as_str()).collect();
        names.join(", ")
    };
    format!("{} (states {}; actions {})", schema.name(), names(Role::State), names(Role::Action))
}

#[cfg(test)]
mod tests {
    use super::*;
    use becausal_core::{Policy, Stream};

    fn schema(id: &str) -> Arc<Schema> {
        becausal_envs::find(id).expect("an environment").schema()
    }

    /// The folder of a run with a policy, as far as a policy needs one.
    fn trained(at: &Path, id: &str) -> ActorCritic {
        let schema = schema(id);
        let agent = ActorCritic::new(&schema, &[4], &mut Stream::new(1)).expect("a policy");
        agent.save(&at.join("policy")).expect("saved");
        std::fs::write(at.join("schema.toml"), schema.to_toml()).expect("written");
        agent
    }

    #[test]
    fn a_policy_is_found_by_its_run_its_folder_or_a_file_of_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        let agent = trained(at, "CartPole-v1");
        let states = [vec![0.01, 0.4, -0.02, -0.3], vec![-1.0, 2.0, 0.1, 0.0]];
        for path in [at.to_owned(), at.join("policy"), at.join("policy/manifest.json")] {
            let found = read_policy(&path, &schema("CartPole-v1")).expect("a policy");
            let actions = [vec![0.0], vec![1.0]];
            assert_eq!(
                found.probabilities(&states, &actions),
                agent.probabilities(&states, &actions),
                "{}",
                path.display()
            );
        }
    }

    #[test]
    fn what_is_no_policy_or_one_for_others_is_refused_in_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        trained(at, "CartPole-v1");
        std::fs::create_dir(at.join("fitted")).expect("a folder");
        std::fs::write(at.join("fitted/schema.toml"), "").expect("written");
        std::fs::write(at.join("log.csv"), "x\n").expect("written");
        let said = |path: PathBuf, id: &str| {
            read_policy(path, &schema(id)).map(|_| ()).expect_err("refused").to_string()
        };
        let other = said(at.to_owned(), "BuildMarine-v0");
        assert!(other.contains("the policy is for CartPole-v1 (states position,"), "{other}");
        assert!(other.contains("expected one for BuildMarine-v0 (states workers,"), "{other}");
        let none = said(at.join("fitted"), "CartPole-v1");
        assert!(none.contains("the run has no policy"), "{none}");
        assert!(said(at.join("log.csv"), "CartPole-v1").contains("there is no policy"));
        assert!(said(at.join("nowhere"), "CartPole-v1").contains("no such file or folder"));
    }

    #[test]
    fn a_policy_learned_from_other_rewards_is_another_agents() {
        let folder = tempfile::tempdir().expect("a folder");
        trained(folder.path(), "CartPole-v1");
        let text = schema("CartPole-v1").to_toml().replace("balancing", "upright");
        let changed = Schema::parse(&text).expect("a schema");
        let error =
            read_policy(folder.path(), &Arc::new(changed)).map(|_| ()).expect_err("refused");
        assert!(error.to_string().contains("the variables are the same"), "{error}");
    }
}

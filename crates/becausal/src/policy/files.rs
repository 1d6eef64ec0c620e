//! Policies in files: weights as safetensors, and a manifest that says what they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::data::write_atomically;
use crate::model::fingerprint;
use crate::nn::{Block, Parameters, from_safetensors, to_safetensors};
use crate::random::Stream;
use crate::schema::Schema;

use super::Policy;
use super::actor_critic::ActorCritic;
use super::observation::Running;

/// The version of the format. A newer one is refused, an older one would be read.
const VERSION: u64 = 1;

/// The largest file of weights that is read.
const LARGEST: u64 = 1 << 30;

/// A policy that cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}", path = path.display())]
pub struct PolicyFileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub problem: String,
}

impl ActorCritic {
    /// Writes actor and critic into a folder, so that a kill at any moment leaves the last ones
    /// whole: first the weights under a name of their own, then the manifest that names them.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), PolicyFileError> {
        let failed = |path: &Path, error: &dyn std::fmt::Display| PolicyFileError {
            path: path.to_owned(),
            problem: format!("cannot be written: {error}"),
        };
        fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
        let weights =
            to_safetensors(self.parameters.iter().map(|(n, block)| (n.to_owned(), block)));
        let checksum = fingerprint(&weights);
        let name = format!("weights-{checksum}.safetensors");
        let path = folder.join(&name);
        write_atomically(&path, &weights).map_err(|error| failed(&path, &error.problem))?;
        let scales = self.observation.scales();
        let scales: Vec<[f64; 3]> = scales.iter().map(|s| [s.count, s.mean, s.squares]).collect();
        let manifest = json!({
            "format": "becausal policy",
            "version": VERSION,
            "schema": fingerprint(self.schema().to_toml().as_bytes()),
            "weights": name,
            "checksum": checksum,
            "hidden": self.hidden(),
            "observation": scales,
        });
        let path = folder.join("manifest.json");
        write_atomically(&path, format!("{manifest:#}\n").as_bytes())
            .map_err(|error| failed(&path, &error.problem))?;
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let other = entry.file_name();
            let other = other.to_string_lossy();
            if other.starts_with("weights-") && *other != *name {
                // What cannot be removed stays.
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// Reads actor and critic from a folder.
    ///
    /// # Errors
    /// When a file is missing, truncated, altered, of a newer version, or made for another schema.
    pub fn load(folder: &Path, schema: &Arc<Schema>) -> Result<Self, PolicyFileError> {
        let path = folder.join("manifest.json");
        let refuse = |problem: String| PolicyFileError { path: path.clone(), problem };
        let text = fs::read(&path).map_err(|error| {
            refuse(format!("cannot be read ({error}); `becausal train` makes a policy"))
        })?;
        let manifest: Value = serde_json::from_slice(&text)
            .map_err(|error| refuse(format!("is no JSON ({error}); train the policy again")))?;
        let (mut agent, file, checksum) = described(&manifest, schema).map_err(refuse)?;
        let path = folder.join(file);
        let refuse = |problem: String| PolicyFileError { path: path.clone(), problem };
        let size = fs::metadata(&path).map_err(|error| refuse(error.to_string()))?.len();
        if size > LARGEST {
            return Err(refuse(format!("{size} bytes are more than a policy has")));
        }
        let bytes = fs::read(&path).map_err(|error| refuse(error.to_string()))?;
        if fingerprint(&bytes) != checksum {
            return Err(refuse(
                "is not the file that was written (its checksum differs): it is truncated or was \
                 altered; train the policy again"
                    .to_owned(),
            ));
        }
        let blocks = from_safetensors(&bytes).map_err(refuse)?;
        take_blocks(&mut agent.parameters, "", blocks).map_err(refuse)?;
        Ok(agent)
    }
}

/// A policy as a manifest describes it, with other weights; the file of its weights and its checksum.
fn described(
    manifest: &Value,
    schema: &Arc<Schema>,
) -> Result<(ActorCritic, String, String), String> {
    let missing = |key: &str| format!("`{key}` is missing or wrong; train the policy again");
    let text = |key: &str| manifest[key].as_str().ok_or_else(|| missing(key));
    if text("format")? != "becausal policy" {
        return Err("is not the manifest of a policy".to_owned());
    }
    let version = manifest["version"].as_u64().ok_or_else(|| missing("version"))?;
    if version > VERSION {
        return Err(format!(
            "has format version {version}, this program reads up to {VERSION}: use a newer one"
        ));
    }
    if text("schema")? != fingerprint(schema.to_toml().as_bytes()) {
        return Err(format!(
            "was made for another schema than `{}`: variables, rewards or bounds differ. \
             Train the policy again",
            schema.name()
        ));
    }
    let file = text("weights")?.to_owned();
    if file.contains(['/', '\\']) {
        return Err("names weights outside its folder".to_owned());
    }
    let list = |key: &str| manifest[key].as_array().ok_or_else(|| missing(key));
    let width = |value: &Value| {
        let width = value.as_u64().and_then(|width| usize::try_from(width).ok());
        width.filter(|width| (1..=4096).contains(width)).ok_or_else(|| missing("hidden"))
    };
    let hidden = list("hidden")?.iter().map(width).collect::<Result<Vec<usize>, String>>()?;
    let mut agent = ActorCritic::new(schema, &hidden, &mut Stream::new(0))
        .map_err(|error| error.to_string())?;
    let scale = |value: &Value| {
        let number = |at: usize| value[at].as_f64().filter(|number| number.is_finite());
        Some(Running { count: number(0)?, mean: number(1)?, squares: number(2)? })
    };
    let scales = list("observation")?.iter().map(scale).collect::<Option<Vec<Running>>>();
    if !scales.is_some_and(|scales| agent.observation.restore(&scales)) {
        return Err(missing("observation"));
    }
    Ok((agent, file, text("checksum")?.to_owned()))
}

/// Puts blocks of these names, with `prefix` before them, into parameters; gives back the others.
pub(super) fn take_blocks(
    parameters: &mut Parameters,
    prefix: &str,
    blocks: Vec<(String, Block)>,
) -> Result<Vec<(String, Block)>, String> {
    let mut blocks = blocks;
    for (name, into) in parameters.iter_mut() {
        let name = format!("{prefix}{name}");
        let at = blocks.iter().position(|(found, _)| *found == name);
        let (_, block) = blocks.swap_remove(at.ok_or_else(|| format!("`{name}` is missing"))?);
        if block.shape != into.shape {
            return Err(format!("`{name}` is {:?}, expected {:?}", block.shape, into.shape));
        }
        if block.values.iter().any(|value| !value.is_finite()) {
            return Err(format!("`{name}` has numbers that are not finite"));
        }
        *into = block;
    }
    Ok(blocks)
}

//! Learned numbers in a folder: weights as safetensors, and a manifest that says what they are.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::{Block, Parameters, from_safetensors, to_safetensors};
use becausal_core::data::write_atomically;
use becausal_core::schema::Schema;

/// The largest file of weights that is read.
const LARGEST: u64 = 4 << 30;

/// Learned numbers that cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}", path = path.display())]
pub struct WeightsError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub problem: String,
}

/// What kind of thing is kept in a folder.
pub struct Kept {
    /// Its name in a sentence: "world model".
    pub noun: &'static str,
    /// The version of its format. Any other is refused.
    pub version: u64,
    /// The command that makes it.
    pub maker: &'static str,
}

/// A number that changes with every change of some bytes: FNV-1a of 64 bits, in hexadecimal.
#[must_use]
pub fn fingerprint(bytes: &[u8]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let mut text = String::new();
    let _ = write!(text, "{hash:016x}");
    text
}

impl Kept {
    /// Writes blocks and a manifest with these `fields`, so that a kill at any moment leaves the last
    /// ones whole: first the weights under a name of their own, then the manifest that names them.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn save(
        &self,
        folder: &Path,
        schema: &Schema,
        blocks: &[(String, &Block)],
        fields: Map<String, Value>,
    ) -> Result<(), WeightsError> {
        let failed = |path: &Path, error: &dyn std::fmt::Display| WeightsError {
            path: path.to_owned(),
            problem: format!("cannot be written: {error}"),
        };
        fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
        let weights = to_safetensors(blocks.iter().map(|(name, block)| (name.clone(), *block)));
        let checksum = fingerprint(&weights);
        let name = format!("weights-{checksum}.safetensors");
        let path = folder.join(&name);
        write_atomically(&path, &weights).map_err(|error| failed(&path, &error.problem))?;
        let mut manifest = Map::new();
        manifest.insert("format".to_owned(), json!(self.format()));
        manifest.insert("version".to_owned(), json!(self.version));
        manifest.insert("schema".to_owned(), json!(fingerprint(schema.to_toml().as_bytes())));
        manifest.insert("weights".to_owned(), json!(name));
        manifest.insert("checksum".to_owned(), json!(checksum));
        manifest.extend(fields);
        let manifest = Value::Object(manifest);
        let path = folder.join("manifest.json");
        write_atomically(&path, format!("{manifest:#}\n").as_bytes())
            .map_err(|error| failed(&path, &error.problem))?;
        remove_others(folder, &name);
        Ok(())
    }

    /// Reads the manifest and the blocks.
    ///
    /// Refuses what is missing, truncated, altered, of another version, or made for another schema.
    ///
    /// # Errors
    /// When they cannot be read, are damaged, or belong to another schema.
    pub fn load(
        &self,
        folder: &Path,
        schema: &Schema,
    ) -> Result<(Value, Vec<(String, Block)>), WeightsError> {
        let path = folder.join("manifest.json");
        let refuse = |problem: String| WeightsError { path: path.clone(), problem };
        let text = fs::read(&path).map_err(|error| {
            let Self { noun, maker, .. } = self;
            refuse(format!("cannot be read ({error}); `{maker}` makes a {noun}"))
        })?;
        let manifest: Value = serde_json::from_slice(&text)
            .map_err(|error| refuse(format!("is no JSON ({error}); {}", self.remedy())))?;
        let (file, checksum) = self.check(&manifest, schema).map_err(refuse)?;
        let path = folder.join(file);
        let refuse = |problem: String| WeightsError { path: path.clone(), problem };
        let size = fs::metadata(&path).map_err(|error| refuse(error.to_string()))?.len();
        if size > LARGEST {
            return Err(refuse(format!("{size} bytes are more than a {} has", self.noun)));
        }
        let bytes = fs::read(&path).map_err(|error| refuse(error.to_string()))?;
        if fingerprint(&bytes) != checksum {
            return Err(refuse(format!(
                "is not the file that was written (its checksum differs): it is truncated or was \
                 altered; {}",
                self.remedy()
            )));
        }
        Ok((manifest, from_safetensors(&bytes).map_err(refuse)?))
    }

    /// What is said of a manifest in which something is missing.
    #[must_use]
    pub fn missing(&self, key: &str) -> String {
        format!("`{key}` is missing or wrong; {}", self.remedy())
    }

    /// An error about the manifest of a folder.
    #[must_use]
    pub fn refused(folder: &Path, problem: String) -> WeightsError {
        WeightsError { path: folder.join("manifest.json"), problem }
    }

    fn format(&self) -> String {
        format!("becausal {}", self.noun)
    }

    fn remedy(&self) -> String {
        format!("make the {} again (`{}`)", self.noun, self.maker)
    }

    /// The file of the weights and its checksum, from a manifest that fits.
    fn check(&self, manifest: &Value, schema: &Schema) -> Result<(String, String), String> {
        let text = |key: &str| manifest[key].as_str().ok_or_else(|| self.missing(key));
        if text("format")? != self.format() {
            return Err(format!("is not the manifest of a {}", self.noun));
        }
        let version = manifest["version"].as_u64().ok_or_else(|| self.missing("version"))?;
        if version > self.version {
            return Err(format!(
                "has format version {version}, this program reads {}: use a newer one",
                self.version
            ));
        }
        if version < self.version {
            return Err(format!(
                "has format version {version}, this program reads {}: {}",
                self.version,
                self.remedy()
            ));
        }
        if text("schema")? != fingerprint(schema.to_toml().as_bytes()) {
            return Err(format!(
                "was made for another schema than `{}`: variables, rewards or bounds differ; {}",
                schema.name(),
                self.remedy()
            ));
        }
        let file = text("weights")?.to_owned();
        if file.contains(['/', '\\']) {
            return Err("names weights outside its folder".to_owned());
        }
        Ok((file, text("checksum")?.to_owned()))
    }
}

/// Removes the weights of earlier times; what cannot be removed stays.
fn remove_others(folder: &Path, keep: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("weights-") && *name != *keep {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Puts blocks of these names, with `prefix` before them, into parameters; gives back the others.
///
/// # Errors
/// What is missing or does not fit, in words.
pub fn take_blocks(
    parameters: &mut Parameters,
    prefix: &str,
    mut blocks: Vec<(String, Block)>,
) -> Result<Vec<(String, Block)>, String> {
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

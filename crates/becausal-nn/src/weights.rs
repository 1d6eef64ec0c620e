//! Weights in a folder: a safetensors file, and a manifest that describes it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::{Block, Parameters, from_safetensors, to_safetensors};
use becausal_core::data::write_atomically;
use becausal_core::schema::Schema;
use becausal_core::text::read_bytes;

/// Maximum size of a weights file in bytes.
const MAX_WEIGHTS_BYTES: u64 = 4 << 30;

/// Maximum size of a manifest in bytes.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// Weights could not be written or read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}", path = path.display())]
pub struct WeightsError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub problem: String,
}

/// What the weights in a folder belong to.
pub struct WeightsFormat {
    /// The name in a sentence: "world model".
    pub noun: &'static str,
    /// The version of the format. Any other version is rejected.
    pub version: u64,
    /// The command that creates it.
    pub maker: &'static str,
}

/// A hash of some bytes: 64-bit FNV-1a, in hexadecimal.
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

impl WeightsFormat {
    /// Writes blocks and a manifest with these `fields`. First it writes the weights under a new
    /// name, then the manifest that refers to them. So if the process is killed, the previous ones
    /// stay intact.
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
        manifest.insert("format".to_owned(), json!(self.format_name()));
        manifest.insert("version".to_owned(), json!(self.version));
        manifest.insert("schema".to_owned(), json!(fingerprint(schema.to_toml().as_bytes())));
        manifest.insert("weights".to_owned(), json!(name));
        manifest.insert("checksum".to_owned(), json!(checksum));
        let numbers = fields_fingerprint(&fields, &checksum);
        manifest.insert("fields_checksum".to_owned(), json!(numbers));
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
    /// # Errors
    /// When a file is missing, truncated, altered, of another version, or belongs to another
    /// schema.
    pub fn load(
        &self,
        folder: &Path,
        schema: &Schema,
    ) -> Result<(Value, Vec<(String, Block)>), WeightsError> {
        let path = folder.join("manifest.json");
        let refuse = |problem: String| WeightsError { path: path.clone(), problem };
        let text = read_bytes(&path, MAX_MANIFEST_BYTES).map_err(|error| {
            let Self { noun, maker, .. } = self;
            refuse(format!("cannot be read ({error}); `{maker}` creates a {noun}"))
        })?;
        let manifest: Value = serde_json::from_slice(&text)
            .map_err(|error| refuse(format!("is not valid JSON ({error}); {}", self.remedy())))?;
        let (file, checksum) = self.check(&manifest, schema).map_err(refuse)?;
        let path = folder.join(file);
        let refuse = |problem: String| WeightsError { path: path.clone(), problem };
        let size = fs::metadata(&path).map_err(|error| refuse(error.to_string()))?.len();
        if size > MAX_WEIGHTS_BYTES {
            return Err(refuse(format!(
                "has {size} bytes, expected at most {MAX_WEIGHTS_BYTES} for a {}",
                self.noun
            )));
        }
        let bytes = read_bytes(&path, MAX_WEIGHTS_BYTES).map_err(|e| refuse(e.to_string()))?;
        if fingerprint(&bytes) != checksum {
            return Err(refuse(format!(
                "has a wrong checksum: the file is truncated or was altered; {}",
                self.remedy()
            )));
        }
        Ok((manifest, from_safetensors(&bytes).map_err(refuse)?))
    }

    /// The message for a manifest in which a key is missing or wrong.
    #[must_use]
    pub fn missing(&self, key: &str) -> String {
        format!("`{key}` is missing or wrong; {}", self.remedy())
    }

    /// An error about the manifest of a folder.
    #[must_use]
    pub fn refused(folder: &Path, problem: String) -> WeightsError {
        WeightsError { path: folder.join("manifest.json"), problem }
    }

    fn format_name(&self) -> String {
        format!("becausal {}", self.noun)
    }

    fn remedy(&self) -> String {
        format!("create the {} again with `{}`", self.noun, self.maker)
    }

    /// Checks a manifest and returns the name of the weights file and its checksum.
    fn check(&self, manifest: &Value, schema: &Schema) -> Result<(String, String), String> {
        let text = |key: &str| manifest[key].as_str().ok_or_else(|| self.missing(key));
        if text("format")? != self.format_name() {
            return Err(format!("is not the manifest of a {}", self.noun));
        }
        let version = manifest["version"].as_u64().ok_or_else(|| self.missing("version"))?;
        if version > self.version {
            return Err(format!(
                "has format version {version}, but this program reads version {}: \
                 use a newer program",
                self.version
            ));
        }
        if version < self.version {
            return Err(format!(
                "has format version {version}, but this program reads version {}: {}",
                self.version,
                self.remedy()
            ));
        }
        if text("schema")? != fingerprint(schema.to_toml().as_bytes()) {
            return Err(format!(
                "belongs to another schema than `{}`: variables, rewards or bounds differ; {}",
                schema.name(),
                self.remedy()
            ));
        }
        // Manifests written before this check have no such key.
        let fields_checksum = &manifest["fields_checksum"];
        if !fields_checksum.is_null() {
            let fields = manifest.as_object().into_iter().flatten();
            let fields = fields.filter(|(key, _)| !OWN_KEYS.contains(&key.as_str()));
            let fields = fields.map(|(key, value)| (key.clone(), value.clone())).collect();
            if *fields_checksum != json!(fields_fingerprint(&fields, text("checksum")?)) {
                return Err(format!(
                    "has numbers that do not belong to its weights: the file was altered; {}",
                    self.remedy()
                ));
            }
        }
        let file = text("weights")?.to_owned();
        if file.contains(['/', '\\']) {
            return Err("refers to weights outside its folder".to_owned());
        }
        Ok((file, text("checksum")?.to_owned()))
    }
}

/// The keys of a manifest that every kind of weights has.
const OWN_KEYS: [&str; 6] =
    ["format", "version", "schema", "weights", "checksum", "fields_checksum"];

/// A hash of the other fields of a manifest and of the weights that they belong to. The order of the
/// fields and white space do not matter.
fn fields_fingerprint(fields: &Map<String, Value>, weights: &str) -> String {
    let mut entries: Vec<String> =
        fields.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    entries.sort_unstable();
    entries.push(weights.to_owned());
    fingerprint(entries.join("\n").as_bytes())
}

/// Removes older weights files; ignores those that cannot be removed.
fn remove_others(folder: &Path, keep: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("weights-") && *name != *keep {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Moves the blocks whose names are `prefix` and the name of a parameter into the parameters.
/// Returns the other blocks.
///
/// # Errors
/// A message that says which block is missing or does not match.
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
            return Err(format!("`{name}` has {:?}, expected {:?}", block.shape, into.shape));
        }
        if block.values.iter().any(|value| !value.is_finite()) {
            return Err(format!("`{name}` contains numbers that are not finite"));
        }
        *into = block;
    }
    Ok(blocks)
}

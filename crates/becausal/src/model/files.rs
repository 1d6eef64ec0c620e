//! World models in files: weights as safetensors, and a manifest that says what they are.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::data::write_atomically;
use crate::nn::{Block, Parameters, Shape, from_safetensors, to_safetensors};
use crate::random::Stream;
use crate::schema::Schema;

use super::encoding::Encoding;
use super::member::{Member, ModelKind};
use super::network::Sizes;
use super::persistence::Persistence;
use super::structure::Structure;
use super::world_model::WorldModel;

/// The version of the format. A newer one is refused, an older one would be read.
const VERSION: u64 = 1;

/// The largest file of weights that is read.
const LARGEST: u64 = 4 << 30;

/// A world model that cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}", path = path.display())]
pub struct ModelFileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub problem: String,
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

impl WorldModel {
    /// Writes the model into a folder, so that a kill at any moment leaves the last one whole: first
    /// the weights under a name of their own, then the manifest that names them.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), ModelFileError> {
        let failed = |path: &Path, error: &dyn std::fmt::Display| ModelFileError {
            path: path.to_owned(),
            problem: format!("cannot be written: {error}"),
        };
        fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
        let weights = self.weights_file();
        let checksum = fingerprint(&weights);
        let name = format!("weights-{checksum}.safetensors");
        let path = folder.join(&name);
        write_atomically(&path, &weights).map_err(|error| failed(&path, &error))?;
        let manifest = folder.join("manifest.json");
        let text = format!("{:#}\n", self.manifest(&name, &checksum));
        write_atomically(&manifest, text.as_bytes()).map_err(|error| failed(&manifest, &error))?;
        remove_others(folder, &name);
        Ok(())
    }

    /// Reads a model from a folder.
    ///
    /// # Errors
    /// When a file is missing, truncated, altered, of a newer version, or made for another schema.
    pub fn load(folder: &Path, schema: &Arc<Schema>) -> Result<Self, ModelFileError> {
        let path = folder.join("manifest.json");
        let refuse = |problem: String| ModelFileError { path: path.clone(), problem };
        let text = fs::read(&path).map_err(|error| {
            refuse(format!("cannot be read ({error}); `becausal fit` makes a world model"))
        })?;
        let manifest: Value = serde_json::from_slice(&text)
            .map_err(|error| refuse(format!("is no JSON ({error}); fit the model again")))?;
        let described = Described::of(&manifest, schema).map_err(refuse)?;
        let weights = folder.join(&described.file);
        let refuse = |problem: String| ModelFileError { path: weights.clone(), problem };
        let size = fs::metadata(&weights).map_err(|error| refuse(format!("{error}")))?.len();
        if size > LARGEST {
            return Err(refuse(format!("{size} bytes are more than a world model has")));
        }
        let bytes = fs::read(&weights).map_err(|error| refuse(format!("{error}")))?;
        if fingerprint(&bytes) != described.checksum {
            return Err(refuse(
                "is not the file that was written (its checksum differs): it is truncated or was \
                 altered; fit the model again"
                    .to_owned(),
            ));
        }
        let blocks = from_safetensors(&bytes).map_err(refuse)?;
        described.build(schema, blocks).map_err(refuse)
    }

    fn weights_file(&self) -> Vec<u8> {
        let mut blocks: Vec<(String, Block)> = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            for (name, block) in member.parameters.iter() {
                blocks.push((format!("{at}.{name}"), block.clone()));
            }
            if let Some(pruned) = &member.pruned {
                let values = pruned.iter().map(|&pruned| if pruned { 1.0 } else { 0.0 }).collect();
                let states = self.structure.states();
                let effects = self.structure.effects();
                let rows = pruned.len() / (states * effects).max(1);
                let block = Block::new(Shape::new(effects, rows, states), values);
                blocks.push((format!("{at}.pruned"), block));
            }
        }
        blocks.push(("persistence".to_owned(), self.persistence.stays.clone()));
        to_safetensors(blocks.iter().map(|(name, block)| (name.clone(), block)))
    }

    fn manifest(&self, file: &str, checksum: &str) -> Value {
        let (inputs, seen, targets) = self.encoding.to_numbers();
        let Sizes { encoder, hidden, action, key } = self.sizes;
        let parents: Vec<&[usize]> =
            (0..self.structure.effects()).map(|effect| self.structure.parents(effect)).collect();
        json!({
            "format": "becausal world model",
            "version": VERSION,
            "schema": fingerprint(self.schema().to_toml().as_bytes()),
            "weights": file,
            "checksum": checksum,
            "kind": self.kind.name(),
            "members": self.members.len(),
            "sizes": { "encoder": encoder, "hidden": hidden, "action": action, "key": key },
            "parents": parents,
            "normalisation": { "inputs": inputs, "seen": seen, "targets": targets },
        })
    }
}

/// Removes the weights of earlier models; what cannot be removed stays.
fn remove_others(folder: &Path, keep: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let path = Path::new(name);
        let weights = name.starts_with("weights-")
            && path.extension().is_some_and(|extension| extension == "safetensors");
        if weights && name != keep {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// What a manifest says.
struct Described {
    file: String,
    checksum: String,
    kind: ModelKind,
    members: usize,
    sizes: Sizes,
    structure: Structure,
    encoding: Encoding,
}

impl Described {
    fn of(manifest: &Value, schema: &Arc<Schema>) -> Result<Self, String> {
        let missing = |key: &str| format!("`{key}` is missing or wrong; fit the model again");
        let text = |key: &str| manifest[key].as_str().ok_or_else(|| missing(key));
        let whole = |value: &Value, key: &str| {
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            number.filter(|&number| (1..=4096).contains(&number)).ok_or_else(|| missing(key))
        };
        if text("format")? != "becausal world model" {
            return Err("is not the manifest of a world model".to_owned());
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
                 Fit the model again",
                schema.name()
            ));
        }
        let file = text("weights")?.to_owned();
        if file.contains(['/', '\\']) {
            return Err("names weights outside its folder".to_owned());
        }
        let sizes = &manifest["sizes"];
        let size = |key: &str| whole(&sizes[key], key);
        let full = Structure::full(schema);
        let parents: Vec<Vec<usize>> =
            numbers(&manifest["parents"]).ok_or_else(|| missing("parents"))?;
        let causes = full.states() + full.actions();
        let fitting = parents.len() == full.effects()
            && parents.iter().all(|list| {
                list.is_sorted_by(|a, b| a < b) && list.iter().all(|&cause| cause < causes)
            });
        if !fitting {
            return Err(missing("parents"));
        }
        let scales = &manifest["normalisation"];
        let encoding = (|| {
            let inputs: Vec<[f64; 2]> = numbers(&scales["inputs"])?;
            let seen: Vec<Vec<f64>> = numbers(&scales["seen"])?;
            let targets: Vec<[f64; 3]> = numbers(&scales["targets"])?;
            Encoding::from_numbers(schema, &inputs, &seen, &targets)
        })();
        Ok(Self {
            file,
            checksum: text("checksum")?.to_owned(),
            kind: ModelKind::of(text("kind")?).ok_or_else(|| missing("kind"))?,
            members: whole(&manifest["members"], "members")?,
            sizes: Sizes {
                encoder: size("encoder")?,
                hidden: size("hidden")?,
                action: size("action")?,
                key: size("key")?,
            },
            structure: Structure::new(full.states(), full.actions(), parents),
            encoding: encoding.ok_or_else(|| missing("normalisation"))?,
        })
    }

    fn build(
        self,
        schema: &Arc<Schema>,
        blocks: Vec<(String, Block)>,
    ) -> Result<WorldModel, String> {
        let mut blocks: std::collections::HashMap<String, Block> = blocks.into_iter().collect();
        let (encoding, structure) = (Arc::new(self.encoding), Arc::new(self.structure));
        let actions = encoding.action_table().map_or(1, |table| table.len());
        let shape = Shape::new(structure.effects(), actions, 1);
        let stays = blocks.remove("persistence").filter(|block| block.shape == shape);
        let persistence = Persistence { stays: stays.ok_or("it has no `persistence`")? };
        let mut members = Vec::with_capacity(self.members);
        for at in 0..self.members {
            // Drawn only to be overwritten: extents and names come from the same place as ever.
            let mut member = Member::new(
                self.kind,
                &encoding,
                &structure,
                &persistence,
                self.sizes,
                &mut Stream::new(0),
            );
            take(&mut member.parameters, at, &mut blocks)?;
            if let Some(block) = blocks.remove(&format!("{at}.pruned")) {
                if block.shape != Shape::new(structure.effects(), actions, structure.states()) {
                    return Err(format!("`{at}.pruned` has another extent"));
                }
                member.pruned = Some(block.values.iter().map(|&value| value != 0.0).collect());
            }
            members.push(member);
        }
        debug_assert_eq!(encoding.schema().name(), schema.name());
        Ok(WorldModel {
            kind: self.kind,
            encoding,
            structure,
            persistence,
            sizes: self.sizes,
            members,
        })
    }
}

/// Puts the blocks of a member into its parameters.
fn take(
    parameters: &mut Parameters,
    member: usize,
    blocks: &mut std::collections::HashMap<String, Block>,
) -> Result<(), String> {
    for (name, into) in parameters.iter_mut() {
        let name = format!("{member}.{name}");
        let block = blocks.remove(&name).ok_or_else(|| format!("`{name}` is missing"))?;
        if block.shape != into.shape {
            return Err(format!("`{name}` is {:?}, expected {:?}", block.shape, into.shape));
        }
        if block.values.iter().any(|value| !value.is_finite()) {
            return Err(format!("`{name}` has numbers that are not finite"));
        }
        *into = block;
    }
    Ok(())
}

fn numbers<T: FromNumbers>(value: &Value) -> Option<T> {
    T::from_numbers(value)
}

/// Lists of numbers in JSON.
trait FromNumbers: Sized {
    fn from_numbers(value: &Value) -> Option<Self>;
}

impl FromNumbers for f64 {
    fn from_numbers(value: &Value) -> Option<Self> {
        value.as_f64()
    }
}

impl FromNumbers for usize {
    fn from_numbers(value: &Value) -> Option<Self> {
        value.as_u64().and_then(|number| Self::try_from(number).ok())
    }
}

impl<T: FromNumbers> FromNumbers for Vec<T> {
    fn from_numbers(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(T::from_numbers).collect()
    }
}

impl<const N: usize> FromNumbers for [f64; N] {
    fn from_numbers(value: &Value) -> Option<Self> {
        Vec::from_numbers(value)?.try_into().ok()
    }
}

//! Saves and loads world models.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use becausal_core::Stream;
use becausal_core::schema::Schema;
use becausal_nn::{Block, Shape};

use super::encoding::{Encoding, Numbers};
use super::kept::Kept;
use super::member::{Member, ModelKind};
use super::network::Sizes;
use super::persistence::Persistence;
use super::shared_noise::SharedNoise;
use super::structure::Structure;
use super::world_model::WorldModel;
use becausal_nn::{WeightsError, WeightsFormat, take_blocks};

const FORMAT: WeightsFormat =
    WeightsFormat { noun: "world model", version: 4, maker: "becausal fit" };

impl WorldModel {
    /// Writes the model into a folder. If the process is killed, the previous model stays intact.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), WeightsError> {
        let pruned: Vec<Option<Block>> = self.members.iter().map(|m| self.pruned(m)).collect();
        let mut blocks: Vec<(String, &Block)> = Vec::new();
        for (at, (member, pruned)) in self.members.iter().zip(&pruned).enumerate() {
            let parameters = member.parameters.iter();
            blocks.extend(parameters.map(|(name, block)| (format!("{at}.{name}"), block)));
            blocks.extend(pruned.iter().map(|block| (format!("{at}.pruned"), block)));
        }
        // Under another name where there are laws: a program that knows none would predict without them.
        let stays = if self.persistence.laws.is_some() { "own" } else { "persistence" };
        blocks.push((stays.to_owned(), &self.persistence.stays));
        blocks.extend(self.persistence.laws.iter().map(|laws| ("laws".to_owned(), laws)));
        blocks.extend(self.shared_noise.iter().flat_map(|shared| shared.blocks()));
        FORMAT.save(folder, self.schema(), &blocks, self.fields())
    }

    /// Reads a model from a folder.
    ///
    /// # Errors
    /// When a file is missing, truncated, altered, of another version, or belongs to another
    /// schema.
    pub fn load(folder: &Path, schema: &Arc<Schema>) -> Result<Self, WeightsError> {
        let (manifest, blocks) = FORMAT.load(folder, schema)?;
        let model = Described::of(&manifest, schema).and_then(|described| described.build(blocks));
        model.map_err(|problem| WeightsFormat::refused(folder, problem))
    }

    /// What a member has pruned, as 1 or 0: `[effects, distinct actions, states]`.
    fn pruned(&self, member: &Member) -> Option<Block> {
        let pruned = member.pruned.as_ref()?;
        let (states, effects) = (self.structure.states(), self.structure.effects());
        let actions = pruned.len() / (states * effects).max(1);
        let values = pruned.iter().map(|&pruned| if pruned { 1.0 } else { 0.0 }).collect();
        Some(Block::new(Shape::new(effects, actions, states), values))
    }

    fn fields(&self) -> Map<String, Value> {
        let Numbers { plain, inputs, magnitudes, seen, targets, cuts, stops } =
            self.encoding.to_numbers();
        let Sizes { encoder, hidden, action, key } = self.sizes;
        let parents: Vec<&[usize]> =
            (0..self.structure.effects()).map(|effect| self.structure.parents(effect)).collect();
        let sizes = json!({ "encoder": encoder, "hidden": hidden, "action": action, "key": key });
        // Under another name where numbers are cut: a program that knows of no cuts would predict what is beyond them.
        let name = if cuts.is_empty() { "targets" } else { "cut_targets" };
        let mut scales = json!({
            "plain": plain, "inputs": inputs, "magnitudes": magnitudes, "seen": seen, name: targets,
        });
        if !cuts.is_empty() {
            scales["cuts"] = json!(cuts);
            scales["stops"] = json!(stops);
        }
        [
            ("kind", json!(self.kind.name())),
            ("members", json!(self.members.len())),
            ("sizes", sizes),
            ("parents", json!(parents)),
            ("normalisation", scales),
            ("shares_noise", json!(self.shared_noise.is_some())),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into_iter()
        .collect()
    }
}

/// The contents of a manifest.
struct Described {
    kind: ModelKind,
    members: usize,
    sizes: Sizes,
    structure: Structure,
    encoding: Encoding,
    shares_noise: bool,
}

impl Described {
    fn of(manifest: &Value, schema: &Arc<Schema>) -> Result<Self, String> {
        let missing = |key: &str| FORMAT.missing(key);
        let whole = |value: &Value, key: &str| {
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            number.filter(|&number| (1..=4096).contains(&number)).ok_or_else(|| missing(key))
        };
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
        let is_cut = !scales["cut_targets"].is_null();
        let encoding = (|| {
            let stored = Numbers {
                plain: scales["plain"].as_bool()?,
                inputs: numbers(&scales["inputs"])?,
                magnitudes: numbers(&scales["magnitudes"])?,
                seen: numbers(&scales["seen"])?,
                targets: numbers(&scales[if is_cut { "cut_targets" } else { "targets" }])?,
                cuts: if is_cut { numbers(&scales["cuts"])? } else { Vec::new() },
                stops: if is_cut { numbers(&scales["stops"])? } else { Vec::new() },
            };
            Encoding::from_numbers(schema, &stored)
        })();
        let kind = manifest["kind"].as_str().and_then(ModelKind::of);
        Ok(Self {
            kind: kind.ok_or_else(|| missing("kind"))?,
            members: whole(&manifest["members"], "members")?,
            sizes: Sizes {
                encoder: size("encoder")?,
                hidden: size("hidden")?,
                action: size("action")?,
                key: size("key")?,
            },
            structure: Structure::new(full.states(), full.actions(), parents),
            encoding: encoding.ok_or_else(|| missing("normalisation"))?,
            // Models of earlier versions say nothing about it.
            shares_noise: manifest["shares_noise"].as_bool().unwrap_or(false),
        })
    }

    fn build(self, mut blocks: Vec<(String, Block)>) -> Result<WorldModel, String> {
        let (encoding, structure) = (Arc::new(self.encoding), Arc::new(self.structure));
        let actions = encoding.action_table().map_or(1, |table| table.len());
        let shape = Shape::new(structure.effects(), actions, 1);
        let laws = take(&mut blocks, "laws");
        let name = if laws.is_some() { "own" } else { "persistence" };
        let stays = take(&mut blocks, name).filter(|block| block.shape == shape);
        let stays =
            stays.ok_or(format!("the weights `{name}` are missing or have the wrong shape"))?;
        let persistence = Persistence { stays, laws };
        if !persistence.fits(&encoding, &structure) {
            return Err("the weights `laws` are not those of its variables".to_owned());
        }
        let stored: usize = blocks.iter().map(|(_, block)| block.values.len()).sum();
        if largest_layer(self.kind, self.sizes, &structure) > stored {
            return Err(FORMAT.missing("sizes"));
        }
        let mut members = Vec::with_capacity(self.members);
        for at in 0..self.members {
            // This defines names and shapes; the random parameters are overwritten.
            let mut member = Member::new(
                self.kind,
                &encoding,
                &structure,
                &persistence,
                self.sizes,
                &mut Stream::new(0),
            );
            blocks = take_blocks(&mut member.parameters, &format!("{at}."), blocks)?;
            if let Some(block) = take(&mut blocks, &format!("{at}.pruned")) {
                if block.shape != Shape::new(structure.effects(), actions, structure.states()) {
                    return Err(format!("the weights `{at}.pruned` have the wrong shape"));
                }
                member.pruned = Some(block.values.iter().map(|&value| value != 0.0).collect());
            }
            members.push(member);
        }
        let mut model = WorldModel {
            kind: self.kind,
            encoding,
            structure,
            persistence,
            sizes: self.sizes,
            members,
            kept: Kept::default(),
            shared_noise: None,
        };
        if self.shares_noise {
            model.shared_noise = Some(Arc::new(SharedNoise::stored(&model, blocks)?));
        }
        Ok(model)
    }
}

/// The numbers in the largest layer of a network with these sizes. A network is allocated before its
/// weights are looked up, so a manifest may not claim a larger one than the weights file holds.
fn largest_layer(kind: ModelKind, sizes: Sizes, structure: &Structure) -> usize {
    let Sizes { encoder, hidden, action, key } = sizes;
    let (states, effects) = (structure.states(), structure.effects());
    match kind {
        ModelKind::Causal | ModelKind::Full | ModelKind::ActionBlind => {
            let of_state = encoder * encoder;
            let of_effect = [hidden * hidden, encoder * hidden, action * encoder, action * action];
            let of_effect = of_effect.into_iter().chain([action * key, action * hidden]);
            (states * of_state).max(effects * of_effect.max().unwrap_or(0))
        }
        ModelKind::Mlp => 16 * hidden * hidden,
        ModelKind::Identity => 0,
    }
}

/// Removes the block with this name and returns it.
fn take(blocks: &mut Vec<(String, Block)>, name: &str) -> Option<Block> {
    let at = blocks.iter().position(|(found, _)| found == name)?;
    Some(blocks.swap_remove(at).1)
}

fn numbers<T: FromNumbers>(value: &Value) -> Option<T> {
    T::from_numbers(value)
}

/// Reads nested lists of numbers from JSON.
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

impl<T: FromNumbers, const N: usize> FromNumbers for [T; N] {
    fn from_numbers(value: &Value) -> Option<Self> {
        Vec::from_numbers(value)?.try_into().ok()
    }
}

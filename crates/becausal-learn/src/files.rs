//! Policies in files.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use becausal_core::Stream;
use becausal_core::schema::Schema;
use becausal_nn::Block;
use becausal_nn::{WeightsError, WeightsFormat, take_blocks};

use super::actor_critic::ActorCritic;
use super::observation::Running;
use becausal_core::Policy;

/// The format of a saved policy.
const POLICY_FILES: WeightsFormat =
    WeightsFormat { noun: "policy", version: 1, maker: "becausal train" };

impl ActorCritic {
    /// Writes actor and critic into a folder. If the process is killed while writing, the files
    /// written before stay intact.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), WeightsError> {
        let blocks: Vec<(String, &Block)> =
            self.parameters.iter().map(|(name, block)| (name.to_owned(), block)).collect();
        let scales = self.observation.scales();
        let scales: Vec<[f64; 3]> = scales.iter().map(|s| [s.count, s.mean, s.squares]).collect();
        let mut fields = vec![("hidden", json!(self.hidden())), ("observation", json!(scales))];
        fields.extend(self.value_unit.map(|unit| ("value_unit", json!(unit))));
        let fields = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        POLICY_FILES.save(folder, self.schema(), &blocks, fields)
    }

    /// Reads actor and critic from a folder.
    ///
    /// # Errors
    /// When a file is missing, truncated or altered, or belongs to another version or schema.
    pub fn load(folder: &Path, schema: &Arc<Schema>) -> Result<Self, WeightsError> {
        let (manifest, blocks) = POLICY_FILES.load(folder, schema)?;
        let stored = blocks.iter().map(|(_, block)| block.values.len()).sum();
        let read = described(&manifest, schema, stored).and_then(|mut agent| {
            take_blocks(&mut agent.parameters, "", blocks)?;
            Ok(agent)
        });
        read.map_err(|problem| WeightsFormat::refused(folder, problem))
    }
}

/// A policy as the manifest describes it, with initial weights. The weights file holds `stored`
/// numbers.
fn described(manifest: &Value, schema: &Arc<Schema>, stored: usize) -> Result<ActorCritic, String> {
    let missing = |key: &str| POLICY_FILES.missing(key);
    let list = |key: &str| manifest[key].as_array().ok_or_else(|| missing(key));
    let width = |value: &Value| {
        let width = value.as_u64().and_then(|width| usize::try_from(width).ok());
        width.filter(|width| (1..=4096).contains(width)).ok_or_else(|| missing("hidden"))
    };
    let hidden = list("hidden")?.iter().map(width).collect::<Result<Vec<usize>, String>>()?;
    // Allocated before the weights are looked up, so they may not be larger than those.
    let numbers: usize = hidden.windows(2).map(|widths| widths[0] * widths[1]).sum();
    if hidden.iter().sum::<usize>().max(numbers) > stored {
        return Err(missing("hidden"));
    }
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
    let unit = manifest["value_unit"].as_f64();
    if unit.is_some_and(|unit| !unit.is_finite() || unit <= 0.0) {
        return Err(missing("value_unit"));
    }
    agent.value_unit = unit;
    Ok(agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_may_not_claim_larger_networks_than_its_weights() {
        let schema = becausal_envs::find("CartPole-v1").expect("an environment").schema();
        let agent = ActorCritic::new(&schema, &[2, 3], &mut Stream::new(0)).expect("a policy");
        let folder = tempfile::tempdir().expect("a folder");
        agent.save(folder.path()).expect("saved");
        let path = folder.path().join("manifest.json");
        let text = std::fs::read(&path).expect("a manifest");
        let mut manifest: Value = serde_json::from_slice(&text).expect("a manifest");
        manifest.as_object_mut().expect("an object").remove("fields_checksum");
        std::fs::write(&path, manifest.to_string()).expect("written");
        assert!(ActorCritic::load(folder.path(), &schema).is_ok());
        for hidden in [vec![4096], vec![4096; 1000], vec![1; 100_000]] {
            manifest["hidden"] = json!(hidden);
            std::fs::write(&path, manifest.to_string()).expect("written");
            let error = ActorCritic::load(folder.path(), &schema).expect_err("refused");
            assert!(error.problem.contains("`hidden` is missing or wrong"), "{error}");
        }
    }
}

//! How a training was begun: the `config.toml` of its run.

use toml_edit::{Document, DocumentMut, Item, Table, Value};

use becausal_core::Preset;
use becausal_core::env::{AnyEnvironment, Options};
use becausal_envs::find;
use becausal_learn::{LearningError, Settings};

/// How a training was begun, with every setting.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainConfig {
    /// The id of the environment.
    pub environment: String,
    /// Its options.
    pub options: Options,
    /// Whose settings it began with.
    pub preset: Preset,
    /// All settings.
    pub settings: Settings,
    /// The seed of all that is random.
    pub seed: u64,
}

impl TrainConfig {
    /// As TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut document = DocumentMut::new();
        let mut put = |name: &str, value: Value| document.insert(name, Item::Value(value));
        put("command", "train".into());
        put("environment", self.environment.as_str().into());
        put("preset", self.preset.name().into());
        // TOML's whole numbers have 64 bits with a sign: as text it is always exact.
        put("seed", self.seed.to_string().into());
        let mut options = Table::new();
        for (name, value) in self.options.iter() {
            options.insert(name, Item::Value(value.into()));
        }
        document.insert("environment_options", Item::Table(options));
        let text = document.to_string();
        format!("{text}\n[settings]\n{}", self.settings.to_toml())
    }

    /// From TOML.
    ///
    /// # Errors
    /// What is missing or wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let document = Document::parse(text).map_err(|error| error.to_string())?;
        let word = |name: &str| {
            let found = document.get(name).and_then(Item::as_str).map(str::to_owned);
            found.ok_or_else(|| format!("`{name}` is missing; is this a run of `becausal train`?"))
        };
        let command = word("command")?;
        if command != "train" {
            return Err(format!("the run was made by `becausal {command}`, not by a training"));
        }
        let seed = word("seed")?;
        let seed = seed.parse().map_err(|_| format!("`seed` is {seed:?}, expected a number"))?;
        let mut options = Options::default();
        if let Some(table) = document.get("environment_options").and_then(Item::as_table) {
            for (name, value) in table {
                options.set(name, value.as_str().unwrap_or_default());
            }
        }
        // Earlier versions did not say.
        let preset = match document.get("preset").and_then(Item::as_str) {
            Some(name) => name.parse().map_err(|error| format!("`preset`: {error}"))?,
            None => Preset::Default,
        };
        let table = document.get("settings").and_then(Item::as_table);
        let settings = Settings::of(table.ok_or("the table `settings` is missing")?, "settings");
        Ok(Self {
            environment: word("environment")?,
            options,
            preset,
            settings: settings.map_err(|error| error.to_string())?,
            seed,
        })
    }

    /// Makes the environment.
    ///
    /// # Errors
    /// When there is none of this id, or an option is wrong.
    pub fn make(&self) -> Result<AnyEnvironment, LearningError> {
        Ok(find(&self.environment)?.make(&self.options)?)
    }
}

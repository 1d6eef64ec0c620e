//! Where recorded data come from.

use toml_edit::{Document, DocumentMut, Item, Table, value};

use crate::env::Options;

/// Which environment was recorded, with which options, from which seed, and who acted.
///
/// Files that becausal writes carry it, so that what is learned from a windy lander is not checked in
/// one without wind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The id of the environment.
    pub environment: String,
    /// Its options.
    pub options: Options,
    /// The seed of the recording, where episode `e` begins with
    /// [`episode_seed`](crate::env::episode_seed); `None` where it began otherwise.
    pub seed: Option<u64>,
    /// Who acted, in a word: `random`, or the name of a run.
    pub policy: String,
}

impl Origin {
    /// As the table `[origin]` of a TOML file.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut table = Table::new();
        table["environment"] = value(&self.environment);
        // Whole numbers of TOML have a sign: as text a seed is always exact.
        if let Some(seed) = self.seed {
            table["seed"] = value(seed.to_string());
        }
        table["policy"] = value(&self.policy);
        let mut options = Table::new();
        for (name, text) in self.options.iter() {
            options[name] = value(text);
        }
        if !options.is_empty() {
            table["options"] = Item::Table(options);
        }
        let mut document = DocumentMut::new();
        document["origin"] = Item::Table(table);
        document.to_string()
    }

    /// The table `[origin]` of a TOML file; `None` where there is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let document = Document::parse(text).ok()?;
        let table = document.get("origin")?.as_table_like()?;
        let word = |name: &str| table.get(name).and_then(Item::as_str).map(str::to_owned);
        let mut options = Options::default();
        if let Some(given) = table.get("options").and_then(Item::as_table_like) {
            for (name, item) in given.iter() {
                options.set(name, item.as_str()?);
            }
        }
        Some(Self {
            environment: word("environment")?,
            options,
            seed: word("seed").and_then(|seed| seed.parse().ok()),
            policy: word("policy").unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_survives_its_file() {
        let mut origin = Origin {
            environment: "LunarLander-v3".to_owned(),
            seed: Some(u64::MAX),
            policy: "random".to_owned(),
            ..Origin::default()
        };
        assert_eq!(Origin::parse(&origin.to_toml()), Some(origin.clone()));
        origin.options.set("enable_wind", "true");
        origin.seed = None;
        assert_eq!(Origin::parse(&origin.to_toml()), Some(origin));
        assert_eq!(Origin::parse("name = \"other\""), None);
    }
}

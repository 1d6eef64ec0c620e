//! The settings of a training.

use toml_edit::{Document, DocumentMut, Item, Value};

use super::error::LearningError;
use super::setting::{Imagination, Ramp, Setting};
use becausal_core::env::MAX_EPISODE_STEPS;
use becausal_core::schema::suggestion;
use becausal_discovery::Method;
use becausal_model::{MAX_MEMBERS, Parents, Sizes};

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr,)*) => {
        /// The settings of a training.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Settings {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl Settings {
            /// The names of all settings.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Sets one setting. `None` if the name is unknown, an error with the expected value if
            /// the value is wrong.
            fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), &'static str>> {
                match name {
                    $(stringify!($name) => Some(match <$type as Setting>::read(value) {
                        Some(value) => {
                            self.$name = value;
                            Ok(())
                        }
                        None => Err(<$type as Setting>::EXPECTED),
                    }),)*
                    _ => None,
                }
            }

            fn values(&self) -> Vec<(&'static str, Value)> {
                vec![$((stringify!($name), self.$name.write())),*]
            }
        }
    };
}

settings! {
    /// The model that generates experience for the policy.
    model: Imagination = Imagination::Model(becausal_model::ModelKind::Causal),
    /// Real steps in total.
    steps: usize = 20_000,
    /// Real steps with random actions before the first epoch.
    warm_up: usize = 1_000,
    /// Real steps per epoch. With a model, episodes are played to their end.
    epoch_steps: usize = 1_000,
    /// Episodes for the buffer are truncated after this many steps; 0 for the environment's own limit.
    longest_episode: usize = 0,
    /// The share of an epoch's real steps, the first ones, in whose episodes there are urges: one
    /// random action that the agent is drawn to for a while.
    exploring: f64 = 0.5,
    /// The largest share of such an episode's steps with an urge.
    exploration: f64 = 0.5,
    /// The longest urge, in steps. Longer urges are rarer.
    longest_urge: usize = 1,
    /// The share of an epoch's real steps, the last ones, with the most likely action.
    greedy: f64 = 0.0,
    /// Epochs between two discoveries of the graph.
    graph_epochs: Ramp = Ramp { from: 3.0, to: 5.0 },
    /// Whether an edge that was found once stays for the rest of the training: the data of a policy
    /// that has settled shows fewer edges than earlier data.
    keep_edges: bool = false,
    /// Pairs with a p-value of at most this are edges.
    eta: f64 = 0.001,
    /// Epochs after the last real step, with a model: it is fitted to all rows, and the policy dreams on, without
    /// optimism and with a learning rate that falls to 0. More policies to choose the best one from.
    late_epochs: usize = 0,
    /// The most rows that the graph is found from. A larger buffer is sampled evenly over its kinds of
    /// states.
    graph_rows: usize = 20_000,
    /// Networks in the ensemble of the world model.
    members: usize = 5,
    /// Width of the world model's encoders and decoders.
    model_width: usize = 64,
    /// Optimiser steps of each network after a new graph.
    fit_steps_graph: usize = 300,
    /// Optimiser steps of each network in other epochs.
    fit_steps: usize = 120,
    /// Optimiser steps of each network in the first fit.
    fit_steps_first: usize = 600,
    /// Rows per optimiser step of the fit.
    fit_batch: usize = 256,
    /// Rows added to the fit, as a share of the buffer, in which rare states are as frequent as common
    /// ones.
    rare_rows: f64 = 0.0,
    /// The highest learning rate of the fit.
    fit_rate: f64 = 6e-3,
    /// Whether the learning rate of a fit rises and falls; otherwise it is constant.
    fit_annealed: bool = true,
    /// Weight decay of the fit.
    fit_decay: f64 = 1e-3,
    /// The largest norm of a gradient of the fit.
    fit_clip: f64 = 5.0,
    /// How much the gradients of almost certain values are damped in the fit: 0 for not at all.
    balance: f64 = 1.0,
    /// Whether a number that persists under an action is predicted as its value before plus a change.
    persist: bool = true,
    /// Whether numbers are read and predicted as the paper does it: their values alone, and normal distributions.
    plain: bool = false,
    /// Width of the world model's contributions; 0 for `model_width`.
    hidden_width: usize = 0,
    /// Width of the world model's action embedding.
    action_width: usize = 32,
    /// Width of the world model's keys and queries.
    key_width: usize = 32,
    /// The independence test: `auto`, or `fcit` as published.
    method: Method = Method::Auto,
    /// What the world model reads: `edges` alone, or also what the data cannot rule out (`cautious`).
    parents: Parents = Parents::Cautious,
    /// Whether the graph and the model that trained the policy also explain it. Otherwise new ones are made
    /// at the end, from `final_rows` more steps.
    same_model: bool = false,
    /// Policy updates per epoch with a model. Without one, `epoch_steps` and `samples` decide.
    rounds: usize = 20,
    /// Samples per policy update.
    samples: usize = 4096,
    /// The factor on the model's noise of continuous variables in dreams: 0 for none, 1 for all of it.
    noise: f64 = 1.0,
    /// The share of dreamed steps that take the best prediction of the ensemble instead of a random one.
    optimism: Ramp = Ramp { from: 0.0, to: 0.0 },
    /// Steps of a rollout of the model.
    rollout: Ramp = Ramp { from: 5.0, to: 20.0 },
    /// Copies of the environment that are played in parallel without a model.
    copies: usize = 8,
    /// The widths of the hidden layers of actor and critic.
    policy_widths: Vec<usize> = vec![64, 64],
    /// The discount factor per step.
    discount: f64 = 0.99,
    /// The lambda of generalised advantage estimation.
    lambda: f64 = 0.95,
    /// Passes over the samples of an update.
    passes: usize = 6,
    /// Samples per step of the policy's optimiser.
    batch: usize = 512,
    /// The learning rate of the policy.
    policy_rate: Ramp = Ramp { from: 1e-3, to: 5e-4 },
    /// The clipping of PPO; 0 for none.
    clip: Ramp = Ramp { from: 0.2, to: 0.2 },
    /// The weight of the KL divergence from the old policy.
    divergence: f64 = 0.0,
    /// Stops the passes of an update when the KL divergence is larger; 0 for never.
    largest_divergence: f64 = 0.03,
    /// The weight of the entropy bonus.
    entropy: Ramp = Ramp { from: 0.01, to: 0.002 },
    /// The weight of the critic's error.
    value_weight: f64 = 0.5,
    /// Epochs between two evaluations.
    evaluate_every: usize = 1,
    /// Episodes per evaluation.
    evaluation_episodes: usize = 20,
    /// Other episodes that the best policy plays at the end: their mean return is the one that is reported.
    final_episodes: usize = 100,
    /// Optimiser steps of each network in the final fit, for explanations; 0 for no fit.
    final_fit_steps: usize = 2000,
    /// Real steps recorded at the end for explanations, beside those of the training; 0 for none.
    final_rows: usize = 20_000,
    /// States in which other actions are tried at the end, for explanations, in copies of the environment that meet the
    /// same noise; 0 for none.
    final_forks: usize = 0,
    /// Changes of each of these states that are tried as well, where the environment can be put into a state.
    final_changes: usize = 0,
}

/// The most other actions that are tried in a state: all that the landers have.
pub const FORK_ACTIONS: usize = 3;

/// Steps for which a copy of the environment is followed: those of a chain.
pub const FORK_STEPS: usize = 5;

/// Settings that trainings of earlier versions have in their records.
const RETIRED: [&str; 1] = ["graph_from"];

/// The built-in settings of each environment. The landers share a file; what differs with throttles instead of engines is
/// in tables whose names end in `-continuous`.
const PRESETS: [(&str, &str); 4] = [
    ("CartPole-v1", include_str!("presets/cart_pole.toml")),
    ("LunarLander-v3", include_str!("presets/lunar_lander.toml")),
    ("LunarLanderContinuous-v3", include_str!("presets/lunar_lander.toml")),
    ("BuildMarine-v0", include_str!("presets/build_marine.toml")),
];

/// The built-in settings of all other environments.
const OTHER_ENVIRONMENTS: &str = include_str!("presets/any.toml");

impl Settings {
    /// The most rows that are recorded at the end, for explanations.
    #[must_use]
    pub fn explaining_rows(&self) -> usize {
        let courses = self.final_changes.saturating_add(FORK_ACTIONS);
        let forked = self.final_forks.saturating_mul(courses.saturating_mul(FORK_STEPS));
        self.final_rows.saturating_add(forked)
    }

    /// The built-in settings of an environment: `default` are ours, `paper` those of the paper's
    /// table. Some differ without a model.
    ///
    /// # Errors
    /// When the preset is unknown.
    pub fn preset(
        environment: &str,
        preset: &str,
        model: Option<Imagination>,
    ) -> Result<Self, LearningError> {
        let found = PRESETS.iter().find(|(id, _)| *id == environment);
        let text = found.map_or(OTHER_ENVIRONMENTS, |(_, text)| text);
        let document = Document::parse(text).map_err(|error| wrong(error.to_string()))?;
        let mut settings = Self::default();
        // A name with a dash is a part of a preset.
        let found = document.get(preset).filter(|_| !preset.contains('-'));
        let Some(Item::Table(table)) = found else {
            let known = document.iter().map(|(name, _)| name).filter(|name| !name.contains('-'));
            let hint = suggestion(preset, known.collect::<Vec<_>>());
            return Err(wrong(format!("{environment} has no preset `{preset}` ({hint})")));
        };
        settings.take(table, environment)?;
        let is_continuous = environment.contains("Continuous");
        let take =
            |settings: &mut Self, ending: &str| match document.get(&format!("{preset}{ending}")) {
                Some(Item::Table(table)) => settings.take(table, environment),
                _ => Ok(()),
            };
        if is_continuous {
            take(&mut settings, "-continuous")?;
        }
        settings.model = model.unwrap_or(settings.model);
        if settings.model == Imagination::None {
            take(&mut settings, "-free")?;
            if is_continuous {
                take(&mut settings, "-free-continuous")?;
            }
        }
        Ok(settings)
    }

    /// The settings of a TOML table; `name` appears in error messages. Settings of earlier versions that are gone are
    /// passed over.
    ///
    /// # Errors
    /// When a setting is unknown or has a wrong value.
    pub fn of(table: &toml_edit::Table, name: &str) -> Result<Self, LearningError> {
        let mut settings = Self::default();
        let mut table = table.clone();
        for name in RETIRED {
            table.remove(name);
        }
        settings.take(&table, name)?;
        settings.check()?;
        Ok(settings)
    }

    /// Changes settings by a TOML text; `name` appears in error messages.
    ///
    /// # Errors
    /// When the text is not TOML, or a setting is unknown or has a wrong value.
    pub fn change(&mut self, text: &str, name: &str) -> Result<(), LearningError> {
        let document = Document::parse(text).map_err(|error| wrong(format!("{name}: {error}")))?;
        // No setting has this name, but every record of a run begins with it.
        if document.contains_key("command") {
            let hint = if document.contains_key("settings") {
                ": the lines under [settings], in a file of their own, are such settings"
            } else {
                ""
            };
            return Err(wrong(format!(
                "{name}: is the record of a run, expected settings, for instance `members = 3`{hint}"
            )));
        }
        self.take(document.as_table(), name)?;
        self.check()
    }

    fn take(&mut self, table: &toml_edit::Table, name: &str) -> Result<(), LearningError> {
        for (key, item) in table {
            let value = item.as_value();
            let found = value.and_then(|value| self.set(key, value));
            match found {
                Some(Ok(())) => {}
                Some(Err(expected)) => {
                    let given = item.to_string();
                    return Err(wrong(format!(
                        "{name}: `{key}` is {}, expected {expected}",
                        given.trim()
                    )));
                }
                None => {
                    let hint = suggestion(key, Self::NAMES.iter().copied());
                    return Err(wrong(format!("{name}: there is no setting `{key}` ({hint})")));
                }
            }
        }
        Ok(())
    }

    /// Checks the ranges of all values.
    ///
    /// # Errors
    /// The first value out of range, with the expected range.
    pub fn check(&self) -> Result<(), LearningError> {
        let positive = [
            ("steps", self.steps),
            ("epoch_steps", self.epoch_steps),
            ("members", self.members),
            ("model_width", self.model_width),
            ("action_width", self.action_width),
            ("key_width", self.key_width),
            ("fit_batch", self.fit_batch),
            ("rounds", self.rounds),
            ("samples", self.samples),
            ("copies", self.copies),
            ("longest_urge", self.longest_urge),
            ("passes", self.passes),
            ("batch", self.batch),
            ("evaluate_every", self.evaluate_every),
            ("evaluation_episodes", self.evaluation_episodes),
            ("final_episodes", self.final_episodes),
        ];
        if let Some((name, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(wrong(format!("`{name}` is 0, expected at least 1")));
        }
        if self.longest_urge > MAX_EPISODE_STEPS {
            let given = self.longest_urge;
            return Err(wrong(format!(
                "`longest_urge` is {given}, expected 1 to {MAX_EPISODE_STEPS} steps"
            )));
        }
        // Numbers that memory is reserved for: larger ones are typing errors.
        let limited = [
            ("members", self.members, MAX_MEMBERS),
            ("model_width", self.model_width, 4096),
            ("hidden_width", self.hidden_width, 4096),
            ("action_width", self.action_width, 4096),
            ("key_width", self.key_width, 4096),
            ("warm_up", self.warm_up, 1_000_000_000),
            ("epoch_steps", self.epoch_steps, 1_000_000_000),
            ("fit_batch", self.fit_batch, 10_000_000),
            ("samples", self.samples, 100_000_000),
            ("copies", self.copies, 100_000),
            ("batch", self.batch, 100_000_000),
            ("evaluation_episodes", self.evaluation_episodes, 1_000_000),
            ("final_episodes", self.final_episodes, 1_000_000),
            ("final_rows", self.final_rows, 1_000_000_000),
            ("final_forks", self.final_forks, 10_000_000),
            ("final_changes", self.final_changes, 1000),
        ];
        if let Some((name, given, most)) = limited.iter().find(|(_, given, most)| given > most) {
            return Err(wrong(format!("`{name}` is {given}, expected at most {most}")));
        }
        let rollout = self.rollout.from.max(self.rollout.to);
        if rollout > MAX_EPISODE_STEPS as f64 {
            return Err(wrong(format!(
                "`rollout` is {rollout}, expected at most {MAX_EPISODE_STEPS} steps"
            )));
        }
        if self.fit_clip <= 0.0 {
            let given = self.fit_clip;
            return Err(wrong(format!("`fit_clip` is {given}, expected above 0")));
        }
        let shares = [
            ("exploring", self.exploring),
            ("exploration", self.exploration),
            ("greedy", self.greedy),
            ("rare_rows", self.rare_rows),
            ("noise", self.noise),
            ("balance", self.balance),
            ("optimism", self.optimism.from.max(self.optimism.to)),
            ("eta", self.eta),
            ("discount", self.discount),
            ("lambda", self.lambda),
        ];
        match shares.iter().find(|(_, value)| *value > 1.0) {
            Some((name, value)) => Err(wrong(format!("`{name}` is {value}, expected 0 to 1"))),
            None => Ok(()),
        }
    }

    /// The widths of the world model's networks.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        Sizes {
            encoder: self.model_width,
            hidden: if self.hidden_width == 0 { self.model_width } else { self.hidden_width },
            action: self.action_width,
            key: self.key_width,
        }
    }

    /// All settings as TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut document = DocumentMut::new();
        for (name, value) in self.values() {
            document.insert(name, Item::Value(value));
        }
        document.to_string()
    }
}

fn wrong(message: String) -> LearningError {
    LearningError::Setting(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid_and_survives_a_round_trip_through_toml() {
        for (id, _) in PRESETS.iter().chain(&[("Vacuum-v0", "")]) {
            for preset in ["default", "paper"] {
                for model in ["causal", "none"] {
                    let settings = Settings::preset(id, preset, Imagination::of(model));
                    let settings = settings.expect("a preset");
                    assert_eq!(settings.model.name(), model);
                    settings.check().expect("valid values");
                    let mut again = Settings::default();
                    again.change(&settings.to_toml(), "text").expect("its own text");
                    assert_eq!(again, settings);
                }
            }
        }
    }

    #[test]
    fn the_record_of_an_earlier_version_is_read_without_the_settings_that_are_gone() {
        let document: DocumentMut = "steps = 7\ngraph_from = 3".parse().expect("TOML");
        let settings = Settings::of(document.as_table(), "a run").expect("settings");
        assert_eq!(settings, Settings { steps: 7, ..Settings::default() });
        let error = Settings::default().change("graph_from = 3", "my.toml").expect_err("gone");
        assert!(error.to_string().contains("there is no setting `graph_from`"), "{error}");
    }

    #[test]
    fn errors_name_the_setting_and_the_expected_value() {
        let cases = [
            ("stepz = 3", "there is no setting `stepz` (did you mean `steps`?)"),
            ("steps = -3", "`steps` is -3, expected a whole number of at least 0"),
            ("rollout = [1]", "`rollout` is [1], expected a number, or two"),
            ("model = \"dense\"", "expected \"causal\", \"full\", \"mlp\" or \"none\""),
            ("discount = 1.5", "`discount` is 1.5, expected 0 to 1"),
            ("rare_rows = 1e12", "`rare_rows` is 1000000000000, expected 0 to 1"),
            ("optimism = [0.5, 2]", "`optimism` is 2, expected 0 to 1"),
            ("noise = 3", "`noise` is 3, expected 0 to 1"),
            ("method = \"magic\"", "`method` is \"magic\", expected \"auto\" or \"fcit\""),
            ("parents = 3", "`parents` is 3, expected \"edges\" or \"cautious\""),
            ("key_width = 0", "`key_width` is 0, expected at least 1"),
            ("longest_urge = 9000000000", "`longest_urge` is 9000000000, expected 1 to"),
            ("rounds = 0", "`rounds` is 0, expected at least 1"),
            ("samples = 1000000000000", "`samples` is 1000000000000, expected at most 100000000"),
            ("members = 1000000", "`members` is 1000000, expected at most 1000"),
            ("rollout = 1e12", "`rollout` is 1000000000000, expected at most"),
            (
                "command = \"train\"\n[settings]\nsteps = 3",
                "expected settings, for instance `members = 3`",
            ),
            ("keep_edges = 1", "`keep_edges` is 1, expected true or false"),
            ("rounds = ", "TOML"),
        ];
        for (text, expected) in cases {
            let error = Settings::default().change(text, "my.toml").expect_err(text).to_string();
            assert!(error.contains(expected), "{error}\n  expected {expected}");
        }
    }
}

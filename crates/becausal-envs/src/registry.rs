//! The built-in environments, by id.

use std::sync::Arc;

use super::aim_test::{self, AimTest};
use super::build_marine::{self, BuildMarine};
use super::cart_pole::{self, CartPole};
use super::lunar_lander::{self, LunarLander, LunarLanderOptions};
use super::trial::{Circumstances, Trial};
use super::truth::Truth;
use super::vacuum::{self, Vacuum};
use becausal_core::Transitions;
use becausal_core::env::AnyEnvironment;
use becausal_core::env::EnvironmentError;
use becausal_core::env::TimeLimit;
use becausal_core::env::{OptionDescription, Options};
use becausal_core::schema::{Schema, suggestion};

/// An environment in the registry.
pub struct Entry {
    /// Name and version, as in Gymnasium.
    pub id: &'static str,
    /// Steps after which episodes are truncated, unless `max_episode_steps` says otherwise.
    pub max_episode_steps: Option<usize>,
    options: &'static [OptionDescription],
    schema: &'static str,
    make: fn(&'static str, Arc<Schema>, &Options) -> Result<AnyEnvironment, EnvironmentError>,
    truth: Option<fn(&Schema) -> Truth>,
    /// Set for environments whose causes are found by trying.
    circumstances: Option<Circumstances>,
}

/// An option of every environment.
const MAX_EPISODE_STEPS: OptionDescription = OptionDescription {
    name: "max_episode_steps",
    default: "",
    description: "steps after which an episode is truncated",
};

const LANDER_OPTIONS: &[OptionDescription] = &[
    OptionDescription {
        name: "gravity",
        default: "-10.0",
        description: "between -12 and 0, both excluded",
    },
    OptionDescription {
        name: "enable_wind",
        default: "false",
        description: "whether wind pushes and turns the craft while it flies",
    },
    OptionDescription {
        name: "wind_power",
        default: "15.0",
        description: "maximum force of the wind, 0 to 20 recommended",
    },
    OptionDescription {
        name: "turbulence_power",
        default: "1.5",
        description: "maximum torque of the wind, 0 to 2 recommended",
    },
];

fn make_lander(
    id: &'static str,
    schema: Arc<Schema>,
    options: &Options,
) -> Result<AnyEnvironment, EnvironmentError> {
    let default = LunarLanderOptions::default();
    let chosen = LunarLanderOptions {
        gravity: options.number(id, "gravity", default.gravity)?,
        enable_wind: options.boolean(id, "enable_wind", default.enable_wind)?,
        wind_power: options.number(id, "wind_power", default.wind_power)?,
        turbulence_power: options.number(id, "turbulence_power", default.turbulence_power)?,
    };
    LunarLander::new(schema, chosen).map(AnyEnvironment::new).map_err(|message| {
        let (option, message) = message.split_once(": ").unwrap_or(("gravity", &message));
        EnvironmentError::Option {
            id: id.to_owned(),
            option: option.to_owned(),
            message: message.to_owned(),
        }
    })
}

const ENTRIES: [Entry; 6] = [
    Entry {
        id: "AimTest-v0",
        max_episode_steps: None,
        options: &[],
        schema: aim_test::SCHEMA,
        make: |_, schema, _| Ok(AnyEnvironment::new(AimTest::new(schema))),
        truth: Some(AimTest::truth),
        circumstances: None,
    },
    Entry {
        id: "BuildMarine-v0",
        max_episode_steps: None,
        options: &[],
        schema: build_marine::SCHEMA,
        make: |_, schema, _| Ok(AnyEnvironment::new(BuildMarine::new(schema))),
        truth: Some(BuildMarine::truth),
        circumstances: None,
    },
    Entry {
        id: "CartPole-v1",
        max_episode_steps: Some(500),
        options: &[OptionDescription {
            name: "sutton_barto_reward",
            default: "false",
            description: "reward 0 per step and -1 for falling, instead of 1 per step",
        }],
        schema: cart_pole::SCHEMA,
        make: |id, schema, options| {
            let reward = options.boolean(id, "sutton_barto_reward", false)?;
            Ok(AnyEnvironment::new(CartPole::new(schema, reward)))
        },
        truth: Some(CartPole::truth),
        circumstances: None,
    },
    Entry {
        id: "LunarLander-v3",
        max_episode_steps: Some(1000),
        options: LANDER_OPTIONS,
        schema: lunar_lander::SCHEMA,
        make: make_lander,
        truth: None,
        circumstances: Some(lunar_lander::CIRCUMSTANCES),
    },
    Entry {
        id: "LunarLanderContinuous-v3",
        max_episode_steps: Some(1000),
        options: LANDER_OPTIONS,
        schema: lunar_lander::CONTINUOUS_SCHEMA,
        make: make_lander,
        truth: None,
        circumstances: Some(lunar_lander::CIRCUMSTANCES),
    },
    Entry {
        id: "Vacuum-v0",
        max_episode_steps: Some(50),
        options: &[],
        schema: vacuum::SCHEMA,
        make: |_, schema, _| Ok(AnyEnvironment::new(Vacuum::new(schema))),
        truth: Some(Vacuum::truth),
        circumstances: None,
    },
];

/// All environments, by id.
#[must_use]
pub fn entries() -> &'static [Entry] {
    &ENTRIES
}

/// The environment with this id.
///
/// # Errors
/// When there is none; with the id that was probably meant.
pub fn find(id: &str) -> Result<&'static Entry, EnvironmentError> {
    ENTRIES.iter().find(|entry| entry.id == id).ok_or_else(|| EnvironmentError::Unknown {
        id: id.to_owned(),
        hint: suggestion(id, ENTRIES.iter().map(|entry| entry.id)),
    })
}

impl Entry {
    /// Its schema.
    ///
    /// # Panics
    /// Never: the built-in schemas are tested.
    #[must_use]
    pub fn schema(&self) -> Arc<Schema> {
        let schema = Schema::parse(self.schema);
        Arc::new(schema.unwrap_or_else(|error| panic!("{}: {error}", self.id)))
    }

    /// Its true causal graph by its rules, if it is known.
    #[must_use]
    pub fn truth(&self) -> Option<Truth> {
        self.truth.map(|truth| truth(&self.schema()))
    }

    /// What causes what in it, by trying, with the default options: for the landers, whose rules are the
    /// physics of rigid bodies. Takes about a second.
    ///
    /// # Panics
    /// Never: the built-in environments accept their default options and random actions.
    #[must_use]
    pub fn trial(&self) -> Option<Trial> {
        self.circumstances.map(|circumstances| {
            let environment = self.make(&Options::default());
            let trial = environment.and_then(|environment| Trial::of(&environment, circumstances));
            trial.unwrap_or_else(|error| panic!("{}: {error}", self.id))
        })
    }

    /// The same at moments of a log that are in the first circumstance. `None` also if an action of the log is not one
    /// of the environment's.
    #[must_use]
    pub fn trial_of_log(&self, log: &Transitions) -> Option<Trial> {
        let environment = self.make(&Options::default()).ok()?;
        Trial::of_log(&environment, self.circumstances?, log).ok()
    }

    /// The options it has.
    pub fn options(&self) -> impl Iterator<Item = OptionDescription> + Clone {
        self.options.iter().copied().chain([MAX_EPISODE_STEPS])
    }

    /// Makes the environment, with its time limit.
    ///
    /// # Errors
    /// When it lacks one of the options, or a value is invalid.
    pub fn make(&self, options: &Options) -> Result<AnyEnvironment, EnvironmentError> {
        let endless = self.make_endless(options)?;
        let given = options.count(self.id, MAX_EPISODE_STEPS.name)?;
        Ok(match given.or(self.max_episode_steps) {
            Some(limit) => AnyEnvironment::new(TimeLimit::new(endless, limit)),
            None => endless,
        })
    }

    /// Makes the environment without any time limit.
    ///
    /// # Errors
    /// When it lacks one of the options, or a value is invalid.
    pub fn make_endless(&self, options: &Options) -> Result<AnyEnvironment, EnvironmentError> {
        options.check_names(self.id, self.options().map(|option| option.name))?;
        (self.make)(self.id, self.schema(), options)
    }
}
